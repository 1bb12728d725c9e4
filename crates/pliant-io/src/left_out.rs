//! What a format can hold, and what it therefore leaves out of an asset.

use std::collections::HashMap;

use crate::{Asset, Shape, UpAxis};

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

/// Which up axes a format can express.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpAxes {
    /// It does not speak of them.
    #[default]
    Unsaid,
    /// Always this one.
    Fixed(UpAxis),
    /// Any, or none is missed.
    Any,
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
    /// Skins as such; where false, clips hold positions.
    pub skins: bool,
    /// Names of frames.
    pub frame_names: bool,
    /// Which way is up.
    pub up_axes: UpAxes,
}

impl Holds {
    /// Everything: nothing is missed.
    pub const ALL: Self = Self {
        faces: true,
        polygons: true,
        objects: true,
        uv_layers: usize::MAX,
        color_layers: usize::MAX,
        normals: true,
        groups: true,
        materials: true,
        smoothing: true,
        targets: true,
        in_betweens: true,
        rest_weights: true,
        clips: usize::MAX,
        weight_tracks: true,
        skins: true,
        frame_names: true,
        up_axes: UpAxes::Any,
    };

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
        let most =
            |count: &dyn Fn(&pliant_mesh::Mesh) -> usize| meshes().map(count).max().unwrap_or(0);
        say(
            self.objects,
            asset.objects.len().saturating_sub(1),
            "object border(s) (all objects become one)",
        );
        say(
            self.faces,
            meshes().map(pliant_mesh::Mesh::face_count).sum(),
            "face(s)",
        );
        if self.faces {
            let large = meshes()
                .flat_map(|m| m.faces())
                .filter(|f| f.len() > 3)
                .count();
            say(
                self.polygons,
                large,
                "polygon(s) of more than 3 corners (split into triangles)",
            );
        }
        say(
            false,
            most(&|m| m.uv_layers().len()).saturating_sub(self.uv_layers),
            "UV set(s)",
        );
        say(
            false,
            most(&|m| m.colors().len()).saturating_sub(self.color_layers),
            "set(s) of vertex colours",
        );
        say(
            self.normals,
            meshes()
                .filter_map(|m| m.normals())
                .map(|n| n.values.len())
                .sum(),
            "normal(s)",
        );
        say(
            self.groups,
            most(&|m| m.groups().names.len()),
            "group(s) of faces",
        );
        say(
            self.materials,
            most(&|m| m.materials().names.len()),
            "material name(s)",
        );
        say(
            self.smoothing,
            asset
                .objects
                .iter()
                .map(|o| o.smoothing.names.len())
                .max()
                .unwrap_or(0),
            "smoothing group(s)",
        );
        say(self.targets, asset.target_names().len(), "target(s)");
        if self.targets {
            say(
                self.in_betweens,
                targets().map(|t| t.in_betweens.len()).sum(),
                "in-between(s)",
            );
            let resting = asset
                .objects
                .iter()
                .flat_map(|o| &o.rest_weights)
                .filter(|w| **w != 0.0);
            say(
                self.rest_weights,
                resting.count(),
                "weight(s) at rest (all targets rest at zero)",
            );
        }
        say(
            self.skins,
            asset.objects.iter().filter(|o| o.skin.is_some()).count(),
            "skin(s) (clips hold the positions that come of them)",
        );
        if self.clips > 0 {
            let by_weight = asset
                .clips
                .iter()
                .flat_map(|c| &c.motions)
                .filter(|m| matches!(m.shape, Shape::Weights(_)));
            say(
                self.weight_tracks,
                by_weight.count(),
                "animation(s) of weights (written as positions)",
            );
            say(
                self.frame_names,
                asset.clips.iter().map(|c| c.frame_names.len()).sum(),
                "name(s) of frames",
            );
        }
        lost.extend(clips_left_out(asset, self.clips));
        lost.extend(self.up_axis_left_out(asset.up_axis));
        lost
    }

    fn up_axis_left_out(&self, up: UpAxis) -> Option<String> {
        match self.up_axes {
            UpAxes::Unsaid if up != UpAxis::default() => Some(format!("the up axis {up}")),
            UpAxes::Fixed(own) if up != own => Some(format!(
                "the up axis {up}: this format is {own} up, so the model lies on its side"
            )),
            _ => None,
        }
    }
}

/// The clips beyond the first `held`, by name.
pub(crate) fn clips_left_out(asset: &Asset, held: usize) -> Option<String> {
    const MOST_NAMES: usize = 8;
    let lost = asset.clips.get(held..).filter(|lost| !lost.is_empty())?;
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

/// The same lines in the same order, each once, with a count where it came more often.
pub(crate) fn counted(lines: Vec<String>) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    lines
        .iter()
        .for_each(|line| *times.entry(line).or_default() += 1);
    let once = lines
        .iter()
        .filter_map(|line| match times.remove(line.as_str())? {
            1 => Some(line.clone()),
            count => Some(format!("{line} ({count} times)")),
        });
    once.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Animation;

    #[test]
    fn clips_that_are_lost_are_named() {
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
    fn lines_that_repeat_are_told_once_with_their_number() {
        let lines = ["b", "a", "b", "c", "b"].map(String::from).to_vec();
        assert_eq!(counted(lines), ["b (3 times)", "a", "c"]);
    }

    #[test]
    fn an_up_axis_is_told_where_it_is_lost() {
        let up = |up_axis| Asset {
            up_axis,
            ..Asset::default()
        };
        let told = |up_axes, axis| {
            Holds {
                up_axes,
                ..Holds::ALL
            }
            .left_out_of(&up(axis))
        };
        assert_eq!(told(UpAxes::Unsaid, UpAxis::Z), ["the up axis Z"]);
        assert!(
            told(UpAxes::Fixed(UpAxis::Y), UpAxis::Z)[0]
                .contains("is Y up, so the model lies on its side")
        );
        for (up_axes, axis) in [
            (UpAxes::Any, UpAxis::Z),
            (UpAxes::Unsaid, UpAxis::Y),
            (UpAxes::Fixed(UpAxis::Y), UpAxis::Y),
        ] {
            assert!(told(up_axes, axis).is_empty(), "{up_axes:?} {axis}");
        }
    }
}
