//! What a format can store, and what it therefore leaves out of an asset.

use std::collections::HashMap;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DAffine3;
use pliant_rig::Slider;

use crate::{Asset, Object, Shape, UpAxis};

/// An asset as the bytes of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EncodedAsset {
    /// The file.
    pub bytes: Vec<u8>,
    /// Further files to which it refers, with their names in the same folder.
    pub sidecar_files: Vec<(String, Vec<u8>)>,
    /// What the format cannot store, one phrase each.
    pub left_out: Vec<String>,
}

/// Which up axes a format can express, and with them the unit of its positions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpAxes {
    /// None: it stores neither the axis nor the unit.
    #[default]
    Unspecified,
    /// Always this one, in metres; the writer converts.
    Fixed(UpAxis),
    /// Any, and any unit.
    Any,
}

/// What a format can store besides vertices. The default is nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
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
    /// The look of materials: colours and textures.
    pub textures: bool,
    /// Smoothing groups.
    pub smoothing: bool,
    /// Morph targets.
    pub targets: bool,
    /// In-betweens of targets.
    pub in_betweens: bool,
    /// Combinations of sliders.
    pub combinations: bool,
    /// Limits, locks, groups and other settings of sliders.
    pub slider_settings: bool,
    /// Rest weights other than zero.
    pub rest_weights: bool,
    /// How many clips.
    pub clips: usize,
    /// Animations of weights; if false, clips store positions.
    pub weight_tracks: bool,
    /// Skins; if false, clips store positions.
    pub skins: bool,
    /// A rest pose of joints other than the bind pose.
    pub rest_pose: bool,
    /// Names of frames.
    pub frame_names: bool,
    /// The up axis.
    pub up_axes: UpAxes,
}

impl Capabilities {
    /// Everything.
    pub const ALL: Self = Self {
        faces: true,
        polygons: true,
        objects: true,
        uv_layers: usize::MAX,
        color_layers: usize::MAX,
        normals: true,
        groups: true,
        materials: true,
        textures: true,
        smoothing: true,
        targets: true,
        in_betweens: true,
        combinations: true,
        slider_settings: true,
        rest_weights: true,
        clips: usize::MAX,
        weight_tracks: true,
        skins: true,
        rest_pose: true,
        frame_names: true,
        up_axes: UpAxes::Any,
    };

    /// Lists what `asset` has and the format cannot store, and what else was in its file.
    #[must_use]
    pub fn left_out_of(&self, asset: &Asset) -> Vec<String> {
        let mut phrases = self.losses_of(asset);
        phrases.extend(asset.other_content.iter().cloned());
        phrases
    }

    /// Lists what `asset` itself has and the format cannot store.
    pub(crate) fn losses_of(&self, asset: &Asset) -> Vec<String> {
        let mut lost = Losses::default();
        self.mesh_losses(asset, &mut lost);
        self.label_losses(asset, &mut lost);
        self.target_losses(asset, &mut lost);
        self.motion_losses(asset, &mut lost);

        let mut phrases = lost.phrases;
        phrases.extend(clips_left_out(asset, self.clips));
        phrases.extend(self.space_left_out(asset));
        if self.skins && !self.rest_pose {
            phrases.extend(rest_pose_left_out(asset));
        }
        phrases
    }

    /// Objects, faces, UV sets, colours and normals.
    fn mesh_losses(&self, asset: &Asset, lost: &mut Losses) {
        let borders = asset.objects.len().saturating_sub(1);
        lost.add_unless(
            self.objects,
            borders,
            "object border(s) (all objects become one)",
        );

        let faces = meshes(asset).map(Mesh::face_count).sum();
        lost.add_unless(self.faces, faces, "face(s)");
        if self.faces {
            let faces = meshes(asset).flat_map(Mesh::faces);
            let polygons = faces.filter(|face| face.len() > 3).count();
            lost.add_unless(
                self.polygons,
                polygons,
                "polygon(s) of more than 3 corners (split into triangles)",
            );
        }

        let uv_layers = greatest(asset, |mesh| mesh.uv_layers().len());
        lost.add(uv_layers.saturating_sub(self.uv_layers), "UV set(s)");
        let color_layers = greatest(asset, |mesh| mesh.colors().len());
        let extra = color_layers.saturating_sub(self.color_layers);
        lost.add(extra, "set(s) of vertex colours");

        let layers = meshes(asset).filter_map(Mesh::normals);
        let normals = layers.map(|layer| layer.values.len()).sum();
        lost.add_unless(self.normals, normals, "normal(s)");
    }

    /// Groups, materials and smoothing groups of faces.
    fn label_losses(&self, asset: &Asset, lost: &mut Losses) {
        let groups = greatest(asset, |mesh| mesh.groups().names.len());
        lost.add_unless(self.groups, groups, "group(s) of faces");
        let materials = greatest(asset, |mesh| mesh.materials().names.len());
        lost.add_unless(self.materials, materials, "material name(s)");

        let textures = asset.materials.iter().map(|m| m.textures().count()).sum();
        lost.add_unless(self.textures, textures, "texture(s)");
        lost.add_unless(
            self.textures,
            asset.materials.len(),
            "material(s) (colours and how they reflect light)",
        );

        let smoothing = asset.objects.iter().map(|o| o.smoothing.names.len()).max();
        lost.add_unless(self.smoothing, smoothing.unwrap_or(0), "smoothing group(s)");
    }

    /// Targets, in-betweens and rest weights.
    fn target_losses(&self, asset: &Asset, lost: &mut Losses) {
        lost.add_unless(self.targets, asset.target_names().len(), "target(s)");
        if !self.targets {
            return;
        }

        let targets = asset.objects.iter().flat_map(|o| o.rig.targets());
        let in_betweens = targets.map(|target| target.in_betweens.len()).sum();
        lost.add_unless(self.in_betweens, in_betweens, "in-between(s)");

        let combinations = asset.objects.iter().map(|o| o.rig.combinations().len());
        lost.add_unless(
            self.combinations,
            combinations.sum(),
            "combination(s) of sliders (their shapes are lost)",
        );
        let sliders = asset.objects.iter().flat_map(|o| o.rig.sliders());
        let set = sliders.filter(|slider| **slider != Slider::default());
        let groups = asset.objects.iter().map(|o| o.rig.groups().len());
        let pairs = asset.objects.iter().map(|o| o.rig.exclusive_pairs().len());
        for (count, what) in [
            (set.count(), "slider(s) with limits, locks or smooth paths"),
            (groups.sum(), "group(s) of sliders"),
            (pairs.sum(), "exclusive pair(s) of sliders"),
        ] {
            lost.add_unless(self.slider_settings, count, what);
        }

        let weights = asset.objects.iter().flat_map(|o| &o.rest_weights);
        lost.add_unless(
            self.rest_weights,
            weights.filter(|w| **w != 0.0).count(),
            "weight(s) at rest (all targets rest at zero)",
        );
    }

    /// Skins, curves of weights and names of frames.
    fn motion_losses(&self, asset: &Asset, lost: &mut Losses) {
        let skins = asset.objects.iter().filter(|o| o.skin.is_some()).count();
        lost.add_unless(
            self.skins,
            skins,
            "skin(s) (clips hold the resulting positions)",
        );
        if self.clips == 0 {
            return;
        }

        let motions = asset.clips.iter().flat_map(|clip| &clip.motions);
        let weight_tracks = motions.filter(|motion| matches!(motion.shape, Shape::Weights(_)));
        lost.add_unless(
            self.weight_tracks,
            weight_tracks.count(),
            "animation(s) of weights (written as positions)",
        );

        let frame_names = asset.clips.iter().map(|clip| clip.frame_names.len()).sum();
        lost.add_unless(self.frame_names, frame_names, "name(s) of frames");
    }

    /// The up axis and the unit. Without a unit in the file, others take the numbers for metres.
    fn space_left_out(&self, asset: &Asset) -> Vec<String> {
        let mut lost = Vec::new();
        if self.up_axes != UpAxes::Unspecified {
            return lost;
        }
        if asset.up_axis != UpAxis::default() {
            lost.push(format!("the up axis {}", asset.up_axis));
        }
        if let Some(unit) = asset.meters_per_unit.filter(|unit| *unit != 1.0) {
            lost.push(format!("the unit (one unit is {unit} m)"));
        }
        lost
    }
}

/// Phrases about what was left out.
#[derive(Default)]
struct Losses {
    phrases: Vec<String>,
}

impl Losses {
    fn add(&mut self, count: usize, what: &str) {
        if count > 0 {
            self.phrases.push(format!("{count} {what}"));
        }
    }

    fn add_unless(&mut self, stored: bool, count: usize, what: &str) {
        if !stored {
            self.add(count, what);
        }
    }
}

fn meshes(asset: &Asset) -> impl Iterator<Item = &Mesh> {
    asset.objects.iter().map(|object| object.rig.neutral())
}

/// The greatest count over all meshes.
fn greatest(asset: &Asset, count: impl Fn(&Mesh) -> usize) -> usize {
    meshes(asset).map(count).max().unwrap_or(0)
}

/// Joints that rest in another pose than the bind pose.
fn rest_pose_left_out(asset: &Asset) -> Option<String> {
    let rests_elsewhere = |object: &&Object| {
        let joints = object.rest_motions().map(|(_, motions)| motions);
        let mut joints = joints.unwrap_or_default().iter();
        joints.any(|motion| !motion.abs_diff_eq(DAffine3::IDENTITY, 1e-6))
    };
    let count = asset.objects.iter().filter(rests_elsewhere).count();
    (count > 0).then(|| format!("the rest pose of {count} object(s) (they rest in the bind pose)"))
}

/// The clips after the first `stored` ones, by name.
pub(crate) fn clips_left_out(asset: &Asset, stored: usize) -> Option<String> {
    const MOST_NAMES: usize = 8;

    let lost = asset.clips.get(stored..).filter(|lost| !lost.is_empty())?;
    // Eight names are enough for a message.
    let mut names: Vec<String> = lost
        .iter()
        .take(MOST_NAMES)
        .map(|clip| format!("'{}'", clip.name))
        .collect();

    if lost.len() > MOST_NAMES {
        names.push("…".into());
    }

    let s = if lost.len() == 1 { "" } else { "s" };
    Some(format!("{} clip{s} ({})", lost.len(), names.join(", ")))
}

/// The lines in the same order, each once, with a count if it occurs more often.
pub(crate) fn with_repeat_counts(lines: Vec<String>) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for line in &lines {
        *times.entry(line).or_default() += 1;
    }

    let mut distinct = Vec::with_capacity(times.len());
    for line in &lines {
        match times.remove(line.as_str()) {
            None => {}
            Some(1) => distinct.push(line.clone()),
            Some(count) => distinct.push(format!("{line} ({count} times)")),
        }
    }

    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Animation;

    #[test]
    fn lost_clips_are_listed_by_name() {
        let clips = ["walk", "run", "stretch"]
            .map(|name| Animation::new(name, 1))
            .to_vec();
        let asset = Asset {
            clips,
            ..Asset::default()
        };

        assert_eq!(clips_left_out(&asset, 2).unwrap(), "1 clip ('stretch')");
        assert_eq!(
            clips_left_out(&asset, 0).unwrap(),
            "3 clips ('walk', 'run', 'stretch')"
        );
        assert_eq!(clips_left_out(&asset, 3), None);
        assert_eq!(clips_left_out(&asset, usize::MAX), None);
    }

    #[test]
    fn repeated_lines_are_listed_once_with_their_count() {
        let lines = ["b", "a", "b", "c", "b"].map(String::from).to_vec();
        assert_eq!(with_repeat_counts(lines), ["b (3 times)", "a", "c"]);
    }

    #[test]
    fn a_lost_up_axis_is_reported() {
        let up = |up_axis| Asset {
            up_axis,
            ..Asset::default()
        };

        let left_out = |up_axes, axis| {
            Capabilities {
                up_axes,
                ..Capabilities::ALL
            }
            .left_out_of(&up(axis))
        };

        assert_eq!(left_out(UpAxes::Unspecified, UpAxis::Z), ["the up axis Z"]);
        for (up_axes, axis) in [
            (UpAxes::Any, UpAxis::Z),
            (UpAxes::Unspecified, UpAxis::Y),
            (UpAxes::Fixed(UpAxis::Y), UpAxis::Z),
        ] {
            assert!(left_out(up_axes, axis).is_empty(), "{up_axes:?} {axis}");
        }
    }

    #[test]
    fn a_lost_unit_is_reported_unless_numbers_are_metres_anyway() {
        let left_out = |up_axes, meters_per_unit| {
            let asset = Asset {
                meters_per_unit,
                ..Asset::default()
            };
            let format = Capabilities {
                up_axes,
                ..Capabilities::ALL
            };
            format.left_out_of(&asset)
        };

        assert_eq!(
            left_out(UpAxes::Unspecified, Some(0.01)),
            ["the unit (one unit is 0.01 m)"]
        );
        for (up_axes, unit) in [
            (UpAxes::Unspecified, Some(1.0)),
            (UpAxes::Unspecified, None),
            (UpAxes::Any, Some(0.01)),
            (UpAxes::Fixed(UpAxis::Y), Some(0.01)),
        ] {
            assert!(left_out(up_axes, unit).is_empty(), "{up_axes:?} {unit:?}");
        }
    }
}
