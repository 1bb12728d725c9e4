//! What a person makes: the part of a project that undo knows.
//!
//! A document holds choices and results, never what follows from them: assets are named, not
//! embedded, and sliders are named, so that a document still means the same when a rig gains
//! targets. Whatever is big sits behind an [`Arc`], and a copy of a document is cheap enough to
//! make one for every step of the [history](crate::history).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::blob::Blob;
use crate::rooms::{RoomName, blend, learn, pose, touch, transfer};
use crate::timeline::{TakeFrames, Timeline};

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
    /// Sliders that solvers leave where they are.
    pub locked: BTreeSet<String>,
    /// Sliders that count as zero.
    pub muted: BTreeSet<String>,
    /// Where there are some, all other sliders count as zero.
    pub solo: BTreeSet<String>,
    /// Limits that differ from the rig's, `[min, max]`.
    pub limits: BTreeMap<String, [f64; 2]>,
    /// Whether a slider takes its mirror partner along.
    pub mirrored: bool,
    /// Targets made here, after those of the asset.
    pub added: Vec<AddedTarget>,
}

/// A target made in the studio: a residual promoted, a touch or a blend kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AddedTarget {
    /// The slider's name.
    pub name: String,
    /// The vertices it moves.
    #[serde(with = "crate::shared")]
    pub vertices: Arc<Vec<u32>>,
    /// Their displacements at weight 1.
    #[serde(with = "crate::shared")]
    pub deltas: Arc<Vec<[f32; 3]>>,
}

impl PartialEq for AddedTarget {
    fn eq(&self, other: &Self) -> bool {
        // Asked in every frame: thousands of numbers are looked at only where they may differ.
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
        self.pose.for_each_locator(visit);
        self.blend.for_each_locator(visit);
        self.transfer.for_each_locator(visit);
        self.learn.for_each_locator(visit);
    }

    /// Visits every big result, so that a project can keep it beside its text.
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

    /// Visits every big result that a room has, takes aside.
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
    pub fn is_silent(&self, slider: &str) -> bool {
        self.muted.contains(slider) || !(self.solo.is_empty() || self.solo.contains(slider))
    }

    /// The weight that counts for the shape.
    #[must_use]
    pub fn shown_weight(&self, slider: &str) -> f64 {
        if self.is_silent(slider) {
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
    fn a_target_is_the_same_as_its_copy_and_as_one_of_equal_numbers() {
        let numbers = |z: f32| Arc::new(vec![[0.0, 1.0, z]]);
        let target = AddedTarget {
            name: "dent".into(),
            vertices: Arc::new(vec![3]),
            deltas: numbers(f32::NAN),
        };
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
