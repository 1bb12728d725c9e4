//! What a format can hold, and what it therefore leaves out of an asset.

use crate::{Asset, Shape};

/// An asset as the bytes of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Written {
    /// The file.
    pub bytes: Vec<u8>,
    /// Further files that it names, by their names beside it.
    pub beside: Vec<(String, Vec<u8>)>,
    /// What the format could not hold, one phrase each.
    pub left_out: Vec<String>,
}

/// What a format can hold besides vertices. The default is nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holds {
    /// Faces at all.
    pub faces: bool,
    /// Faces of more than three corners.
    pub polygons: bool,
    /// Several objects, and their names.
    pub objects: bool,
    /// How many UV sets.
    pub uv_layers: usize,
    /// How many sets of vertex colours.
    pub color_layers: usize,
    /// Authored normals.
    pub normals: bool,
    /// Groups of faces.
    pub groups: bool,
    /// Materials of faces.
    pub materials: bool,
    /// Smoothing groups.
    pub smoothing: bool,
    /// Morph targets.
    pub targets: bool,
    /// In-betweens of targets.
    pub in_betweens: bool,
    /// Weights other than zero at which an object rests.
    pub rest_weights: bool,
    /// How many clips.
    pub clips: usize,
    /// Animations of weights as such; where false, clips hold positions.
    pub weight_tracks: bool,
    /// Names of frames.
    pub frame_names: bool,
}

impl Holds {
    /// Names what `asset` has and the format has no place for.
    #[must_use]
    pub fn left_out_of(&self, asset: &Asset) -> Vec<String> {
        let mut lost = Vec::new();
        let mut say = |held: bool, count: usize, what: &str| {
            if !held && count > 0 {
                lost.push(format!("{count} {what}"));
            }
        };
        let meshes = || asset.objects.iter().map(|o| o.rig.neutral());
        let targets = || asset.objects.iter().flat_map(|o| o.rig.targets());
        let most = |count: &dyn Fn(&pliant_mesh::Mesh) -> usize| meshes().map(count).max().unwrap_or(0);
        say(self.objects, asset.objects.len().saturating_sub(1), "object border(s) (all objects become one)");
        say(self.faces, meshes().map(pliant_mesh::Mesh::face_count).sum(), "face(s)");
        if self.faces {
            let large = meshes().flat_map(|m| m.faces()).filter(|f| f.len() > 3).count();
            say(self.polygons, large, "polygon(s) of more than 3 corners (split into triangles)");
        }
        say(false, most(&|m| m.uv_layers().len()).saturating_sub(self.uv_layers), "UV set(s)");
        say(false, most(&|m| m.colors().len()).saturating_sub(self.color_layers), "set(s) of vertex colours");
        say(self.normals, meshes().filter_map(|m| m.normals()).map(|n| n.values.len()).sum(), "normal(s)");
        say(self.groups, most(&|m| m.groups().names.len()), "group(s) of faces");
        say(self.materials, most(&|m| m.materials().names.len()), "material name(s)");
        say(self.smoothing, asset.objects.iter().map(|o| o.smoothing.names.len()).max().unwrap_or(0), "smoothing group(s)");
        say(self.targets, asset.target_names().len(), "target(s)");
        if self.targets {
            say(self.in_betweens, targets().map(|t| t.in_betweens.len()).sum(), "in-between(s)");
            let resting = asset.objects.iter().flat_map(|o| &o.rest_weights).filter(|w| **w != 0.0);
            say(self.rest_weights, resting.count(), "weight(s) at rest (all targets rest at zero)");
        }
        say(false, asset.clips.len().saturating_sub(self.clips), "clip(s)");
        if self.clips > 0 {
            let by_weight = asset.clips.iter().flat_map(|c| &c.motions).filter(|m| matches!(m.shape, Shape::Weights(_)));
            say(self.weight_tracks, by_weight.count(), "animation(s) of weights (written as positions)");
            say(self.frame_names, asset.clips.iter().map(|c| c.frame_names.len()).sum(), "name(s) of frames");
        }
        lost
    }
}
