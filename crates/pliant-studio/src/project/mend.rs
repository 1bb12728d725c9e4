//! What a project's file may say but no document may hold: numbers that everything else takes for
//! granted.
//!
//! **Problem.** A file that a person edited, or one made to do harm, asks for a take of four
//! thousand million frames, for a goal at 10³⁰⁰, or for five shapes in a triangle. Nobody should
//! lose a project for that, and no room should have to expect it.
//!
//! **Ours.** What has a natural bound is brought inside it; what has none is left out, or is as it
//! would be in a new document. What depends on an asset, such as a vertex that a mesh does not
//! have, is no matter of this place: the asset is not there yet.

mod rooms;

use crate::desk::Desk;
use crate::document::{Character, Document, Weights};
use crate::timeline::Timeline;
use crate::view::Camera;

/// Beyond any scene and any weight, and its square is still a number, even a short one.
const FAR: f64 = 1e12;

/// Sets right what no document may hold, and says what it was.
pub(super) fn mend(document: &mut Document) -> Vec<String> {
    let before = document.clone();
    mend_timeline(&mut document.timeline);
    mend_character(&mut document.character);
    rooms::mend_pose(&mut document.pose);
    rooms::mend_touch(&mut document.touch);
    rooms::mend_blend(&mut document.blend);
    rooms::mend_transfer(&mut document.transfer);
    rooms::mend_learn(&mut document.learn);
    let count = |document: &Document| document.character.added.len();
    let others = |document: &Document| Character {
        added: Vec::new(),
        ..document.character.clone()
    };
    let told = [
        (
            before.timeline != document.timeline,
            "the timeline's numbers were set right",
        ),
        (
            count(&before) != count(document),
            "an added target that is not whole was left out",
        ),
        (
            others(&before) != others(document),
            "sliders' weights or limits that are none were left out",
        ),
        (
            before.pose != document.pose,
            "numbers of the Pose room were set right",
        ),
        (
            before.touch != document.touch,
            "numbers of the Touch room were set right",
        ),
        (
            before.blend != document.blend,
            "numbers of the Blend room were set right",
        ),
        (
            before.transfer != document.transfer,
            "numbers of the Transfer room were set right",
        ),
        (
            before.learn != document.learn,
            "numbers of the Learn room were set right",
        ),
    ];
    told.into_iter()
        .filter(|(is_mended, _)| *is_mended)
        .map(|(_, sentence)| sentence.into())
        .collect()
}

/// Cameras that see something, and a frame that there is: not worth a word.
pub(super) fn mend_desk(desk: &mut Desk) {
    desk.frame = within(desk.frame, [0.0, f64::from(Timeline::MAX_FRAME)], 0.0);
    for seen in desk
        .cameras
        .values_mut()
        .flatten()
        .filter(|seen| !sees(&seen.camera))
    {
        // Without a subject it is put in front of the one that is there.
        *seen = Default::default();
    }
}

fn sees(camera: &Camera) -> bool {
    let angles = [camera.yaw, camera.pitch];
    let opens = (1e-3..=3.1).contains(&camera.fov_y_rad);
    is_place(&camera.target.to_array())
        && angles.into_iter().all(is_sound)
        && is_size(camera.distance)
        && opens
}

/// Keys ascend, each frame has one, and time runs.
fn mend_timeline(timeline: &mut Timeline) {
    let runs = |rate: f64| (0.01..=10_000.0).contains(&rate);
    if !runs(timeline.frames_per_second) {
        timeline.frames_per_second = Timeline::default().frames_per_second;
    }
    timeline.last_frame = timeline.last_frame.min(Timeline::MAX_FRAME);
    timeline.shown_frame = within(
        timeline.shown_frame,
        [0.0, f64::from(Timeline::MAX_FRAME)],
        0.0,
    );
    for keys in timeline.keys.values_mut() {
        keys.retain(|key| key.frame <= Timeline::MAX_FRAME && is_sound(key.weight));
        keys.sort_by_key(|key| key.frame);
        keys.dedup_by_key(|key| key.frame);
    }
    for take in timeline
        .takes
        .iter_mut()
        .filter(|take| !runs(take.frames_per_second))
    {
        take.frames_per_second = Timeline::default().frames_per_second;
    }
}

fn mend_character(character: &mut Character) {
    mend_weights(&mut character.weights);
    character
        .limits
        .retain(|_, [min, max]| is_sound(*min) && is_sound(*max) && min <= max);
    let is_whole = |delta: &[f32; 3]| is_place(&delta.map(f64::from));
    character.added.retain(|target| {
        target.vertices.len() == target.deltas.len() && target.deltas.iter().all(is_whole)
    });
}

fn mend_weights(weights: &mut Weights) {
    weights.retain(|_, weight| is_sound(*weight));
}

/// Whether everything else can go on with a number.
fn is_sound(number: f64) -> bool {
    number.abs() <= FAR
}

fn is_size(number: f64) -> bool {
    (1.0 / FAR..=FAR).contains(&number)
}

fn is_place(place: &[f64; 3]) -> bool {
    place.iter().all(|number| is_sound(*number))
}

/// The number brought between the two, or `otherwise` for one that is none.
fn within(number: f64, [least, most]: [f64; 2], otherwise: f64) -> f64 {
    if number.is_finite() {
        number.clamp(least, most)
    } else {
        otherwise
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::desk::SeenBy;
    use crate::document::AddedTarget;
    use crate::rooms::RoomName;
    use crate::timeline::{Ease, Key};

    #[test]
    fn a_sound_document_stays_and_a_wild_one_becomes_sound() {
        let mut document = Document::default();
        document.timeline.set_key("smile", 3, 0.5);
        let sound = document.clone();
        assert_eq!((mend(&mut document), &document), (vec![], &sound));
        document.timeline.keys.insert(
            "jaw".into(),
            [9, 2, 9]
                .map(|frame| Key {
                    frame,
                    weight: 1.0,
                    ease: Ease::Linear,
                })
                .to_vec()
                .into(),
        );
        document.timeline.frames_per_second = -0.0;
        document.timeline.last_frame = u32::MAX;
        document.character.added.push(AddedTarget {
            name: "half".into(),
            vertices: Arc::new(vec![1, 2]),
            deltas: Arc::default(),
        });
        assert_eq!(mend(&mut document).len(), 2);
        assert_eq!(
            document.timeline.keys["jaw"]
                .iter()
                .map(|key| key.frame)
                .collect::<Vec<_>>(),
            [2, 9]
        );
        assert!(document.character.added.is_empty() && document.timeline.frames_per_second > 0.0);
    }

    #[test]
    fn examples_of_every_room_stay_as_they_are() {
        for (name, example) in RoomName::ALL.into_iter().flat_map(crate::rooms::examples) {
            let (mut document, told) = (example(), Vec::<String>::new());
            assert_eq!(mend(&mut document), told, "{name}");
        }
    }

    #[test]
    fn wild_sliders_and_keys_are_left_out_and_the_others_stay() {
        let text = r#"{"character": {"weights": {"smile": 0.5, "jaw": 1e300},
            "limits": {"smile": [0, 1], "jaw": [1, 0], "brow": [-1e300, 1]},
            "added": [{"name": "long", "vertices": [0], "deltas": [[1e30, 0, 0]]}]},
            "timeline": {"shown_frame": -4, "keys": {"smile": [{"frame": 4294967295, "weight": 1}, {"frame": 3, "weight": 1e200},
            {"frame": 5, "weight": 0.25}]}}}"#;
        let mut document: Document = serde_json::from_str(text).unwrap();
        assert_eq!(mend(&mut document).len(), 3);
        let (character, timeline) = (&document.character, &document.timeline);
        assert_eq!(
            (
                character.weights.len(),
                character.limits.len(),
                character.added.len()
            ),
            (1, 1, 0)
        );
        assert_eq!(
            (character.weights["smile"], character.limits["smile"]),
            (0.5, [0.0, 1.0])
        );
        assert_eq!(
            (&timeline.keys["smile"][..], timeline.shown_frame),
            (
                &[Key {
                    frame: 5,
                    weight: 0.25,
                    ease: Ease::Linear
                }][..],
                0.0
            )
        );
        assert_eq!(mend(&mut document), Vec::<String>::new(), "once is enough");
    }

    #[test]
    fn a_camera_that_sees_nothing_is_put_anew_and_one_that_sees_stays() {
        let seen = |change: fn(&mut Camera)| {
            let mut seen = SeenBy {
                subject: "specimen:head".into(),
                camera: Camera::default(),
            };
            change(&mut seen.camera);
            seen
        };
        let good = seen(|camera| camera.distance = 3.0);
        let blind = [
            seen(|camera| camera.distance = 0.0),
            seen(|camera| camera.distance = f64::NAN),
            seen(|camera| camera.fov_y_rad = 0.0),
            seen(|camera| camera.fov_y_rad = f64::NAN),
            seen(|camera| camera.pitch = f64::INFINITY),
            seen(|camera| camera.target.y = 1e300),
        ];
        let count = blind.len();
        let mut desk = Desk {
            frame: f64::NAN,
            ..Desk::default()
        };
        desk.cameras.insert(
            RoomName::Pose,
            blind.into_iter().chain([good.clone()]).collect(),
        );
        mend_desk(&mut desk);
        let cameras = &desk.cameras[&RoomName::Pose];
        assert!(
            cameras[..count]
                .iter()
                .all(|seen| *seen == SeenBy::default())
        );
        assert_eq!((&cameras[count], desk.frame), (&good, 0.0));
    }
}
