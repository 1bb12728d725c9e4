//! Repair of documents: numbers of a project file that no document may contain.
//!
//! **Problem.** A file that was edited by hand, or a malicious one, requests a take of four
//! thousand million frames, a goal at 10³⁰⁰, or five shapes in a triangle. The project must still
//! open, and no room should have to expect such values.
//!
//! **Implementation.** A value with a natural bound is clamped to it; others are removed or
//! replaced by the default. Values that depend on an asset, such as a vertex that a mesh does not
//! have, are not checked here because the asset is not loaded yet.

use super::repair_rooms;
use crate::model::camera::Camera;
use crate::model::document::{Character, Document, Weights};
use crate::model::timeline::Timeline;
use crate::model::view_state::ViewState;

/// Beyond any scene and any weight; its square is finite even in single precision.
pub(super) const FAR: f64 = 1e12;

/// Repairs values that no document may contain, and returns what was corrected.
pub(crate) fn repair(document: &mut Document) -> Vec<String> {
    let before = document.clone();
    repair_timeline(&mut document.timeline);
    repair_character(&mut document.character);
    repair_rooms::repair_pose(&mut document.pose);
    repair_rooms::repair_touch(&mut document.touch);
    repair_rooms::repair_blend(&mut document.blend);
    repair_rooms::repair_transfer(&mut document.transfer);
    repair_rooms::repair_learn(&mut document.learn);

    let count = |document: &Document| document.character.added.len();
    // Added targets are reported apart from the sliders.
    let others = |document: &Document| Character {
        added: Vec::new(),
        ..document.character.clone()
    };

    let corrections = [
        (
            before.timeline != document.timeline,
            "invalid numbers of the timeline were corrected",
        ),
        (
            count(&before) != count(document),
            "an incomplete added target was removed",
        ),
        (
            others(&before) != others(document),
            "invalid weights or limits of sliders were removed",
        ),
        (
            before.pose != document.pose,
            "invalid numbers of the Pose room were corrected",
        ),
        (
            before.touch != document.touch,
            "invalid numbers of the Touch room were corrected",
        ),
        (
            before.blend != document.blend,
            "invalid numbers of the Blend room were corrected",
        ),
        (
            before.transfer != document.transfer,
            "invalid numbers of the Transfer room were corrected",
        ),
        (
            before.learn != document.learn,
            "invalid numbers of the Learn room were corrected",
        ),
    ];

    corrections
        .into_iter()
        .filter(|(is_mended, _)| *is_mended)
        .map(|(_, message)| message.into())
        .collect()
}

/// Repairs cameras and the shown frame, without a message.
pub(crate) fn repair_view_state(view_state: &mut ViewState) {
    view_state.frame = within(view_state.frame, [0.0, f64::from(Timeline::MAX_FRAME)], 0.0);
    for seen in view_state
        .cameras
        .values_mut()
        .flatten()
        .filter(|seen| !sees(&seen.camera))
    {
        // Without a subject the camera frames the present one.
        *seen = Default::default();
    }
}

fn sees(camera: &Camera) -> bool {
    let angles = [camera.yaw, camera.pitch];
    let opens = (1e-3..=3.1).contains(&camera.fov_y_rad);
    is_place(&camera.target.to_array())
        && angles.into_iter().all(is_valid)
        && is_size(camera.distance)
        && opens
}

/// Keys ascend, each frame has one, and time runs.
fn repair_timeline(timeline: &mut Timeline) {
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

    // Curves expect ascending frames, one key each.
    for keys in timeline.keys.values_mut() {
        keys.retain(|key| key.frame <= Timeline::MAX_FRAME && is_valid(key.weight));
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

fn repair_character(character: &mut Character) {
    repair_weights(&mut character.weights);
    character
        .limits
        .retain(|_, [min, max]| is_valid(*min) && is_valid(*max) && min <= max);
    let is_whole = |delta: &[f32; 3]| is_place(&delta.map(f64::from));
    character.added.retain(|target| {
        target.vertices.len() == target.deltas.len() && target.deltas.iter().all(is_whole)
    });
}

pub(super) fn repair_weights(weights: &mut Weights) {
    weights.retain(|_, weight| is_valid(*weight));
}

/// Whether everything else can go on with a number.
pub(super) fn is_valid(number: f64) -> bool {
    number.abs() <= FAR
}

pub(super) fn is_size(number: f64) -> bool {
    (1.0 / FAR..=FAR).contains(&number)
}

pub(super) fn is_place(place: &[f64; 3]) -> bool {
    place.iter().all(|number| is_valid(*number))
}

/// The number brought between the two, or `otherwise` for one that is none.
pub(super) fn within(number: f64, [least, most]: [f64; 2], otherwise: f64) -> f64 {
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
    use crate::model::document::AddedTarget;
    use crate::model::room::RoomName;
    use crate::model::timeline::{Ease, Key};
    use crate::model::view_state::FramedCamera;

    #[test]
    fn valid_documents_stay_and_invalid_ones_are_repaired() {
        let mut document = Document::default();
        document.timeline.set_key("smile", 3, 0.5);
        let sound = document.clone();

        assert_eq!((repair(&mut document), &document), (vec![], &sound));
        // Keys out of order and twice at one frame.
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

        // A rate of zero and a target whose lists differ in length.
        document.timeline.frames_per_second = -0.0;
        document.timeline.last_frame = u32::MAX;
        document.character.added.push(AddedTarget {
            name: "half".into(),
            vertices: Arc::new(vec![1, 2]),
            deltas: Arc::default(),
        });

        assert_eq!(repair(&mut document).len(), 2);
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
    fn examples_of_every_room_need_no_repair() {
        for (name, example) in RoomName::ALL
            .into_iter()
            .flat_map(crate::model::examples::examples)
        {
            let mut document = example();
            let corrections = Vec::<String>::new();
            assert_eq!(repair(&mut document), corrections, "{name}");
        }
    }

    #[test]
    fn invalid_sliders_and_keys_are_removed_and_others_stay() {
        let text = r#"{"character": {"weights": {"smile": 0.5, "jaw": 1e300},
            "limits": {"smile": [0, 1], "jaw": [1, 0], "brow": [-1e300, 1]},
            "added": [{"name": "long", "vertices": [0], "deltas": [[1e30, 0, 0]]}]},
            "timeline": {"shown_frame": -4, "keys": {"smile": [{"frame": 4294967295, "weight": 1}, {"frame": 3, "weight": 1e200},
            {"frame": 5, "weight": 0.25}]}}}"#;
        let mut document: Document = serde_json::from_str(text).unwrap();

        assert_eq!(repair(&mut document).len(), 3);
        // Only what can be shown stays: the weight, the limits and the key of the smile.
        let character = &document.character;
        let timeline = &document.timeline;
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

        assert_eq!(
            repair(&mut document),
            Vec::<String>::new(),
            "once is enough"
        );
    }

    #[test]
    fn an_invalid_camera_is_reset_and_a_valid_one_stays() {
        let seen = |change: fn(&mut Camera)| {
            let mut seen = FramedCamera {
                subject: "specimen:head".into(),
                camera: Camera::default(),
            };
            change(&mut seen.camera);
            seen
        };

        let good = seen(|camera| camera.distance = 3.0);
        // Each of these cameras would show nothing.
        let blind = [
            seen(|camera| camera.distance = 0.0),
            seen(|camera| camera.distance = f64::NAN),
            seen(|camera| camera.fov_y_rad = 0.0),
            seen(|camera| camera.fov_y_rad = f64::NAN),
            seen(|camera| camera.pitch = f64::INFINITY),
            seen(|camera| camera.target.y = 1e300),
        ];

        let count = blind.len();
        let mut view_state = ViewState {
            frame: f64::NAN,
            ..ViewState::default()
        };

        view_state.cameras.insert(
            RoomName::Pose,
            blind.into_iter().chain([good.clone()]).collect(),
        );
        repair_view_state(&mut view_state);

        let cameras = &view_state.cameras[&RoomName::Pose];
        assert!(
            cameras[..count]
                .iter()
                .all(|seen| *seen == FramedCamera::default())
        );

        assert_eq!((&cameras[count], view_state.frame), (&good, 0.0));
    }
}
