//! Pose library: saved poses that are applied, mirrored and blended on any rig with these sliders.
//!
//! **Problem.** A smile that was made once should be one click away, at any strength, on either side,
//! and on another rig that has sliders of the same names.
//!
//! **Equation.** With the current weights `w`, the saved weights `p`, the amount `t` and the limits
//! `[l, u]` of each slider,
//!
//! ```text
//! wₖ′ = clamp((1 − t) wₖ + t pₖ, lₖ, uₖ)    for the sliders of the pose
//! wₖ′ = wₖ                                   for all others, and for locked sliders
//! ```
//!
//! A pose of [all sliders](PoseScope::All) has `pₖ = 0` where it names no weight. At `t = 0` and
//! `t = 1` the weights are those of before and, inside the limits, of the pose, to the last bit.
//!
//! **Departures.** None from linear blending of weights. Names that a rig lacks are reported, not
//! guessed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Rig, SliderPairs};

/// Saved poses, each name once in its folder.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PoseLibrary {
    /// The poses, in the order of the list.
    pub poses: Vec<SavedPose>,
}

/// Slider weights under a name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SavedPose {
    /// Its name, such as `Smile`.
    pub name: String,
    /// The folder that it is in, such as `Mouth`; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Which sliders it moves.
    #[serde(default)]
    pub scope: PoseScope,
    /// Weights by the names of sliders.
    pub weights: BTreeMap<String, f64>,
}

/// Which sliders a saved pose moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoseScope {
    /// All of the rig: those without a weight go to zero.
    All,
    /// Only those that it names.
    #[default]
    Named,
}

/// The weights of a rig after a saved pose was blended in.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseBlend {
    /// One weight for each slider.
    pub weights: Vec<f64>,
    /// Names of the pose that the rig has no slider for.
    pub unknown: Vec<String>,
}

impl SavedPose {
    /// A pose from a typed name: `Mouth/Smile` is the pose `Smile` in the folder `Mouth`.
    #[must_use]
    pub fn new(path: &str, scope: PoseScope, weights: BTreeMap<String, f64>) -> Self {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Self {
            name: name.trim().to_owned(),
            folder: folder.trim().trim_matches('/').to_owned(),
            scope,
            weights,
        }
    }

    /// The name with its folder, as [`new`](Self::new) takes it.
    #[must_use]
    pub fn path(&self) -> String {
        if self.folder.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.folder, self.name)
        }
    }

    /// The pose of the other side, for sliders paired by the names of `rig`. A slider without a
    /// partner keeps its weight.
    #[must_use]
    pub fn mirrored(&self, rig: &Rig) -> Self {
        let names: Vec<&str> = rig.targets().iter().map(|target| &*target.name).collect();
        let pairs = SliderPairs::by_name(&names);
        let partner = |name: &str| {
            let slider = names.iter().position(|known| *known == name)?;
            pairs.partners()[slider].map(|partner| names[partner].to_owned())
        };
        let weights = self
            .weights
            .iter()
            .map(|(name, weight)| (partner(name).unwrap_or_else(|| name.clone()), *weight));

        Self {
            weights: weights.collect(),
            ..self.clone()
        }
    }

    /// The weights of `rig` with the share `amount` (0 to 1) of this pose blended into `weights`.
    #[must_use]
    pub fn blend(&self, rig: &Rig, weights: &[f64], amount: f64) -> PoseBlend {
        let amount = amount.clamp(0.0, 1.0);
        let mut blended = Vec::with_capacity(rig.targets().len());
        for (k, (target, slider)) in rig.targets().iter().zip(rig.sliders()).enumerate() {
            let before = weights.get(k).copied().unwrap_or(0.0);
            let saved = self.weights.get(&target.name).copied();
            let goal = saved.or((self.scope == PoseScope::All).then_some(0.0));
            blended.push(match goal {
                Some(goal) if amount > 0.0 && !slider.locked && goal.is_finite() => {
                    slider.limits.clamp((1.0 - amount) * before + amount * goal)
                }
                _ => before,
            });
        }

        let known = |name: &str| rig.targets().iter().any(|target| target.name == name);
        let unknown = self.weights.keys().filter(|name| !known(name));
        PoseBlend {
            weights: blended,
            unknown: unknown.cloned().collect(),
        }
    }
}

impl PoseLibrary {
    /// The names of the folders, sorted, the empty one first if a pose is in no folder.
    #[must_use]
    pub fn folders(&self) -> Vec<&str> {
        let mut folders: Vec<&str> = self.poses.iter().map(|pose| &*pose.folder).collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// The place of a pose, by its folder and name.
    #[must_use]
    pub fn position(&self, folder: &str, name: &str) -> Option<usize> {
        self.poses
            .iter()
            .position(|pose| pose.folder == folder && pose.name == name)
    }

    /// Adds a pose; one of the same name in the same folder is replaced and keeps its place.
    pub fn put(&mut self, pose: SavedPose) {
        match self.position(&pose.folder, &pose.name) {
            Some(place) => self.poses[place] = pose,
            None => self.poses.push(pose),
        }
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::{DVec3, Vec3};

    use super::*;
    use crate::{Limits, Target};

    fn rig() -> Rig {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
        let mesh = Mesh::from_triangles(corners, &[[0, 1, 2]]).unwrap();
        let target = |name: &str| Target::from_dense(name, vec![Vec3::Z; 3]);
        let names = ["smile_L", "smile_R", "jawOpen", "wide"];
        Rig::new(mesh, names.map(target).to_vec()).unwrap()
    }

    fn smirk(scope: PoseScope) -> SavedPose {
        let weights = [("smile_L", 0.7), ("jawOpen", 0.3)];
        let weights = weights.map(|(name, weight)| (name.to_owned(), weight));
        SavedPose::new("Mouth/Smirk", scope, weights.into())
    }

    #[test]
    fn a_blend_goes_straight_from_the_current_weights_to_the_saved_ones() {
        let before = [0.1, 0.2, 0.3, 0.6];
        let after = |scope, amount| smirk(scope).blend(&rig(), &before, amount).weights;

        assert_eq!(after(PoseScope::All, 0.0), before);
        assert_eq!(after(PoseScope::All, 1.0), [0.7, 0.0, 0.3, 0.0]);
        assert_eq!(after(PoseScope::Named, 1.0), [0.7, 0.2, 0.3, 0.6]);
        assert_eq!(after(PoseScope::Named, 0.5)[0], 0.5 * (0.1 + 0.7));
        assert_eq!(after(PoseScope::All, 7.0), after(PoseScope::All, 1.0));
    }

    #[test]
    fn the_mirror_image_is_on_the_other_side_and_its_mirror_image_is_the_pose() {
        let pose = smirk(PoseScope::All);
        let mirrored = pose.mirrored(&rig());
        let weights = mirrored.blend(&rig(), &[0.0; 4], 1.0).weights;
        assert_eq!(weights, [0.0, 0.7, 0.3, 0.0]);
        assert_eq!(mirrored.mirrored(&rig()), pose);
    }

    #[test]
    fn locked_sliders_stay_and_limits_hold() {
        let rig = rig();
        let mut sliders = rig.sliders().to_vec();
        sliders[0].limits = Limits::new(0.0, 0.4);
        sliders[2].locked = true;
        let rig = rig.with_sliders(sliders).unwrap();
        let weights = smirk(PoseScope::All).blend(&rig, &[0.0, 0.0, 0.9, 0.0], 1.0);
        assert_eq!(weights.weights, [0.4, 0.0, 0.9, 0.0]);
    }

    #[test]
    fn names_that_the_rig_lacks_are_reported() {
        let mut pose = smirk(PoseScope::Named);
        pose.weights.insert("tailUp".into(), 1.0);
        assert_eq!(pose.blend(&rig(), &[0.0; 4], 1.0).unknown, ["tailUp"]);
    }

    #[test]
    fn a_typed_name_holds_the_folder_and_each_name_is_there_once() {
        let mut library = PoseLibrary::default();
        library.put(smirk(PoseScope::All));
        library.put(SavedPose::new("Rest", PoseScope::All, BTreeMap::new()));
        library.put(smirk(PoseScope::Named));

        assert_eq!(library.folders(), ["", "Mouth"]);
        assert_eq!(library.poses.len(), 2);
        assert_eq!(library.poses[0].path(), "Mouth/Smirk");
        assert_eq!(library.poses[0].scope, PoseScope::Named);
    }
}
