//! Documents to start with in the Learn room: the built-in hand with control points and joints.
//!
//! **Implementation.** The control points are those of
//! [`hand_landmarks`](pliant::specimens::hand_landmarks). They are written down here because
//! computing them takes too long for a menu.

use pliant::recipes::{JointEntry, NaturalEntry, RootEntry, SkeletonFile};

use super::setup::{Capture, Details, Drive, DrivenBy, Setup, TrainingSettings};
use crate::model::document::Document;
use crate::model::examples::Example;

/// Name, vertex, and which point it hangs on.
const POINTS: [(&str, u32, Option<usize>); 22] = [
    ("forearm", 5, None),
    ("wrist", 249, Some(0)),
    ("palm", 1006, Some(1)),
    ("thumb 1", 10383, Some(2)),
    ("thumb 2", 12376, Some(3)),
    ("thumb tip", 14220, Some(4)),
    ("index 1", 1618, Some(2)),
    ("index 2", 2561, Some(6)),
    ("index 3", 3647, Some(7)),
    ("index tip", 7086, Some(8)),
    ("middle 1", 1644, Some(2)),
    ("middle 2", 2621, Some(10)),
    ("middle 3", 2696, Some(11)),
    ("middle tip", 6419, Some(12)),
    ("ring 1", 1606, Some(2)),
    ("ring 2", 2566, Some(14)),
    ("ring 3", 3667, Some(15)),
    ("ring tip", 6399, Some(16)),
    ("little 1", 2077, Some(2)),
    ("little 2", 3242, Some(18)),
    ("little 3", 4481, Some(19)),
    ("little tip", 6955, Some(20)),
];

/// The gestures without creases, with the creases as detail.
const SMOOTH: &str = "specimen:hand:smooth";
/// The same gestures with creases.
const CREASED: &str = "specimen:hand";
/// A motion that it has not seen.
const PLAY: &str = "specimen:hand:play";

/// The examples of this room: a name, and how to make one.
#[must_use]
pub fn examples() -> Vec<Example> {
    vec![
        ("Drive a hand", drive_a_hand),
        ("Train a hand model", train_a_hand_model),
    ]
}

/// A hand that is learned from its gestures as soon as it is opened, and then driven by its
/// fingertips.
#[must_use]
pub fn drive_a_hand() -> Document {
    let points = POINTS.iter().map(|(_, vertex, _)| *vertex).collect();
    let recipe = TrainingSettings {
        sources: vec![SMOOTH.into()],
        details: Details::Asset(CREASED.into()),
        points,
        ..TrainingSettings::default()
    };

    let capture = Some(Capture {
        source: PLAY.into(),
        ..Capture::default()
    });

    let drive = Drive {
        by: DrivenBy::Effectors,
        ..Drive::default()
    };

    of(Setup {
        recipe,
        trains_itself: true,
        skeleton: Some(skeleton()),
        drive,
        capture,
        ..Setup::default()
    })
}

/// The same hand before anything was chosen.
#[must_use]
pub fn train_a_hand_model() -> Document {
    of(Setup {
        recipe: TrainingSettings {
            sources: vec![CREASED.into()],
            ..TrainingSettings::default()
        },
        ..Setup::default()
    })
}

fn of(learn: Setup) -> Document {
    Document {
        learn,
        ..Document::default()
    }
}

/// A joint at each point; the user moves the fingertips and the palm, and the forearm stays where
/// it is.
#[must_use]
pub fn skeleton() -> SkeletonFile {
    let joint = |(k, (name, _, parent)): (usize, &(&str, u32, Option<usize>))| JointEntry {
        name: (*name).to_owned(),
        parent: parent.map(|parent| POINTS[parent].0.to_owned()),
        control: Some(k),
        vertex: None,
        at: None,
        effector: *name == "palm" || name.ends_with("tip"),
        stiffness: None,
        // The forearm is the fixed root.
        limit_degrees: parent.is_none().then_some(0.0),
    };
    SkeletonFile {
        joints: POINTS.iter().enumerate().map(joint).collect(),
        root: RootEntry::Fixed,
        natural: NaturalEntry::Examples,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_points_equal_the_landmarks_of_the_specimen() {
        let points = pliant::specimens::hand_landmarks();
        assert_eq!(points.len(), POINTS.len());
        for (point, joint) in points.iter().zip(&skeleton().joints) {
            let (name, vertex, parent) = POINTS[joint.control.unwrap()];
            assert_eq!(
                (&*point.name, point.vertex, point.parent),
                (name, vertex, parent)
            );
            assert_eq!(joint.effector, point.is_tip || point.name == "palm");
        }
    }
}
