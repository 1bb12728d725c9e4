//! The document: the part of a project that undo covers.
//!
//! A document stores choices and results, never what is computed from them. Assets are named, not
//! embedded. Sliders are named, so that a document keeps its meaning when a rig gains targets.
//! Large data is behind an [`Arc`], so that a copy of a document is cheap enough for every step of
//! the [history](crate::model::history).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::blob::Blob;
use super::room::RoomName;
use super::timeline::{TakeFrames, Timeline};
use super::{blend, learn, pose, touch, transfer};

/// An asset as the command line names it: a file, a part of one, or `specimen:NAME`.
pub type Locator = String;

/// Weights of sliders by name; those that are not there are zero.
pub type Weights = BTreeMap<String, f64>;

/// Everything that is edited.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// The rig that is posed and touched.
    pub character: Character,
    /// Keys and takes.
    pub timeline: Timeline,
    /// The room for posing.
    pub pose: pose::Setup,
    /// The room for touching.
    pub touch: touch::Setup,
    /// The room for blending.
    pub blend: blend::Setup,
    /// The room for transferring.
    pub transfer: transfer::Setup,
    /// The room for learning.
    pub learn: learn::Setup,
}

/// A rig and the state of its sliders.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Character {
    /// Where the rig comes from; empty before there is one.
    pub asset: Locator,
    /// The pose.
    pub weights: Weights,
    /// Sliders that solvers do not change.
    pub locked: BTreeSet<String>,
    /// Muted sliders: evaluated as zero.
    pub muted: BTreeSet<String>,
    /// Solo sliders: if there are any, all others are evaluated as zero.
    pub solo: BTreeSet<String>,
    /// Limits that differ from the rig's, `[min, max]`.
    pub limits: BTreeMap<String, [f64; 2]>,
    /// Sliders that are listed before all others.
    pub favourites: BTreeSet<String>,
    /// Whether a slider also moves its mirror partner.
    pub mirrored: bool,
    /// Targets made in the studio, after those of the asset.
    pub added: Vec<AddedTarget>,
}

/// A target made in the studio: a residual promoted, a touch or a blend kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AddedTarget {
    /// The slider's name.
    pub name: String,
    /// The vertices it moves.
    #[serde(with = "crate::model::shared")]
    pub vertices: Arc<Vec<u32>>,
    /// Their displacements at weight 1.
    #[serde(with = "crate::model::shared")]
    pub deltas: Arc<Vec<[f32; 3]>>,
}

impl PartialEq for AddedTarget {
    fn eq(&self, other: &Self) -> bool {
        // This runs in every frame, so equal arrays are recognised by their address.
        let same = Arc::ptr_eq(&self.vertices, &other.vertices)
            && Arc::ptr_eq(&self.deltas, &other.deltas);
        self.name == other.name
            && (same || (&self.vertices, &self.deltas) == (&other.vertices, &other.deltas))
    }
}

impl Document {
    /// Visits every name of an asset, so that a project can write paths in its own way.
    pub fn for_each_locator(&mut self, visit: &mut dyn FnMut(&mut Locator)) {
        visit(&mut self.character.asset);
        for take in &mut self.timeline.takes {
            visit(&mut take.of);
            if let TakeFrames::Clip(locator) = &mut take.frames {
                visit(locator);
            }
        }

        // Touch names no assets.
        self.pose.for_each_locator(visit);
        self.blend.for_each_locator(visit);
        self.transfer.for_each_locator(visit);
        self.learn.for_each_locator(visit);
    }

    /// Visits every large result, so that a project can keep it beside its text.
    pub fn for_each_blob(&mut self, visit: &mut dyn FnMut(&mut Blob)) {
        self.timeline
            .takes
            .iter_mut()
            .filter_map(|take| take.blob_mut())
            .for_each(&mut *visit);
        for room in RoomName::ALL {
            self.for_each_blob_of(room, visit);
        }
    }

    /// Visits every large result that a room has, takes aside.
    pub fn for_each_blob_of(&mut self, room: RoomName, visit: &mut dyn FnMut(&mut Blob)) {
        match room {
            RoomName::Learn => self.learn.for_each_blob(visit),
            RoomName::Pose | RoomName::Touch | RoomName::Blend | RoomName::Transfer => {}
        }
    }
}

impl Character {
    /// Whether a slider counts as zero: muted ones do, and those beside solo ones.
    #[must_use]
    pub fn is_inactive(&self, slider: &str) -> bool {
        self.muted.contains(slider) || !(self.solo.is_empty() || self.solo.contains(slider))
    }

    /// The evaluated weight.
    #[must_use]
    pub fn shown_weight(&self, slider: &str) -> f64 {
        if self.is_inactive(slider) {
            0.0
        } else {
            self.weights.get(slider).copied().unwrap_or(0.0)
        }
    }

    /// Sets a weight; zero is not remembered.
    pub fn set_weight(&mut self, slider: &str, weight: f64) {
        if weight == 0.0 {
            self.weights.remove(slider);
        } else {
            self.weights.insert(slider.to_owned(), weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_compare_by_identity_and_then_by_value() {
        let numbers = |z: f32| Arc::new(vec![[0.0, 1.0, z]]);
        let target = AddedTarget {
            name: "dent".into(),
            vertices: Arc::new(vec![3]),
            deltas: numbers(f32::NAN),
        };

        // NaN is unequal to itself, so only identity can make these equal.
        assert_eq!(target, target.clone(), "what is shared is not looked at");
        let finite = AddedTarget {
            deltas: numbers(2.0),
            ..target
        };

        assert_eq!(
            finite,
            AddedTarget {
                deltas: numbers(2.0),
                ..finite.clone()
            }
        );

        assert_ne!(
            finite,
            AddedTarget {
                deltas: numbers(3.0),
                ..finite.clone()
            }
        );
    }
}
