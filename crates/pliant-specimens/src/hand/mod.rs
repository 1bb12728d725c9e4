//! A hand with 14 gestures and creases that depend on the pose.
//!
//! **Problem.** Learning detail from examples needs detail that depends on the pose.
//!
//! **Departures.** Bones and flesh ([`anatomy`]) make a surface ([`crate::surface_nets`]); gestures
//! ([`poses`]) move it by its skin ([`crate::skeleton`]); then [`creases`] fold and bulge it along
//! its normals. The open hand is the reference.

mod anatomy;
mod creases;
mod landmarks;
mod poses;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Clip, Rig};

use crate::math::{bell, smoothstep_between};
use crate::skeleton::Skin;
use crate::surface_nets::{self, Grid};
use anatomy::Anatomy;
use creases::Creases;
pub use landmarks::HandLandmark;
use poses::{GESTURES, Gesture};

/// Rounds of smoothing and projection; beyond this the quads change little.
const EVENING_ROUNDS: usize = 18;
/// Rounds of diffusion of the skin's weights.
const DIFFUSION_ROUNDS: usize = 14;

/// Frames from one gesture of [`poses::PLAY`] to the next.
const FRAMES_PER_GESTURE: usize = 12;

/// Everything that moves the hand.
struct Hand {
    anatomy: Anatomy,
    skin: Skin,
    /// Without creases.
    smooth: Mesh,
    creases: Creases,
}

impl Hand {
    fn new() -> Self {
        let anatomy = anatomy::anatomy();

        // Surface, skin weights and creases all follow from the solids.
        let quads = surface_nets::mesh(&anatomy.body, &grid(), EVENING_ROUNDS);
        let skin = Skin::bind(
            &anatomy.body,
            anatomy.skeleton.bones.len(),
            &quads,
            DIFFUSION_ROUNDS,
        );

        let parts = skin.parts(&anatomy.skeleton, &quads);
        let smooth = quads.into_mesh("hand", parts, |p| complexion(&anatomy, p));
        let creases = Creases::of(&anatomy, &smooth, &skin);

        Self {
            anatomy,
            skin,
            smooth,
            creases,
        }
    }

    fn skinned(&self, gesture: &Gesture) -> Vec<DVec3> {
        let motions = self
            .anatomy
            .skeleton
            .motions(&gesture.rotations(&self.anatomy), DVec3::ZERO);
        self.skin.pose(&motions, self.smooth.positions())
    }

    fn folded(&self, gesture: &Gesture) -> Vec<DVec3> {
        self.creases
            .fold(gesture, &self.smooth, self.skinned(gesture))
    }

    /// The open hand and a clip, all poses made by `pose`.
    fn with_clip(
        &self,
        name: &str,
        gestures: &[Gesture],
        pose: impl Fn(&Gesture) -> Vec<DVec3>,
    ) -> (Rig, Clip) {
        let open = self
            .smooth
            .posed(pose(&Gesture::REST))
            .expect("a pose has one position per vertex");
        let clip = Clip::new(name, open.clone(), gestures.iter().map(pose).collect())
            .expect("frames are poses of the mesh");

        (
            Rig::new(open, Vec::new()).expect("a rig without targets is always consistent"),
            clip,
        )
    }
}

/// The hand and its clip `gestures`, one named frame each.
pub(crate) fn build() -> (Rig, Vec<Clip>) {
    let hand = Hand::new();
    named(hand.with_clip("gestures", &GESTURES, |gesture| hand.folded(gesture)))
}

/// The same gestures without creases.
pub(crate) fn smooth() -> (Rig, Vec<Clip>) {
    let hand = Hand::new();
    named(hand.with_clip("gestures", &GESTURES, |gesture| hand.skinned(gesture)))
}

fn named((rig, clip): (Rig, Clip)) -> (Rig, Vec<Clip>) {
    (
        rig,
        vec![
            clip.with_frame_names(
                GESTURES
                    .iter()
                    .map(|gesture| gesture.name.to_owned())
                    .collect(),
            ),
        ],
    )
}

/// The hand and its clip `play`, which shows some gestures and returns to the open hand.
pub(crate) fn play() -> (Rig, Vec<Clip>) {
    let hand = Hand::new();
    let (rig, clip) = hand.with_clip("play", &poses::play(FRAMES_PER_GESTURE), |gesture| {
        hand.folded(gesture)
    });
    (rig, vec![clip])
}

/// The named points of the hand.
#[must_use]
pub fn landmarks() -> Vec<HandLandmark> {
    let hand = Hand::new();
    landmarks::of(&hand.anatomy, &hand.smooth)
}

fn grid() -> Grid {
    // Fingers lie along y: closer rows give their creases something to fold.
    let rows = |y: f64| if y < 6.5 { 0.25 } else { 0.172 };
    Grid {
        planes: [
            Grid::planes(-5.6, 8.4, |_| 0.215),
            Grid::planes(-5.4, 20.0, rows),
            Grid::planes(-2.6, 3.6, |_| 0.205),
        ],
    }
}

/// Skin that is rosier at the tips and joints, and paler nails.
fn complexion(anatomy: &Anatomy, p: DVec3) -> DVec3 {
    let skin = DVec3::new(0.80, 0.60, 0.48);
    let rosy = DVec3::new(0.82, 0.50, 0.42);
    let nail = DVec3::new(0.90, 0.74, 0.68);

    let (mut warmth, mut plate) = (0.0_f64, 0.0_f64);

    // Joints and tips are rosy …
    for digit in &anatomy.digits {
        for joint in &digit.joints {
            warmth = warmth.max(0.6 * bell(p.distance(*joint) / 1.3));
        }

        // … and the nail is an ellipse on the outside of the tip, in units of its radius.
        let tip = digit.joints[3];
        let radius = digit.radii[3];
        let along = digit.along(2);
        let inward = digit.inward(2);
        let offset = p - tip;
        let length = offset.dot(along) / radius - 0.1;
        let depth = offset.dot(inward) / radius;
        let across = offset.dot(digit.hinge(2)) / radius;
        let ellipse = length * length / 1.1 + across * across / 0.52;
        plate = plate.max(
            (1.0 - smoothstep_between(0.75, 1.05, ellipse))
                * (1.0 - smoothstep_between(-0.55, -0.35, depth)),
        );
    }

    skin.lerp(rosy, warmth).lerp(nail, plate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::MeshReport;
    use std::sync::LazyLock;

    /// Built once for all claims.
    static HAND: LazyLock<(Rig, Vec<Clip>)> = LazyLock::new(build);

    fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(p, q)| p.distance(*q))
            .fold(0.0, f64::max)
    }

    #[test]
    fn the_hand_is_one_closed_quad_mesh_without_defects() {
        let (rig, _) = &*HAND;
        let mesh = rig.neutral();
        assert!(
            (6_000..=15_000).contains(&mesh.vertex_count()),
            "{} vertices",
            mesh.vertex_count()
        );

        assert!(mesh.faces().all(|face| face.len() == 4));
        let health = MeshReport::of(mesh);
        assert!(
            health.problems().is_empty() && health.components == 1 && mesh.topology().is_closed()
        );
    }

    #[test]
    fn gestures_are_named_differ_by_a_centimetre_and_keep_the_volume_within_four_percent() {
        let (rig, clips) = &*HAND;
        let clip = &clips[0];
        assert!(clip.frames().len() >= 10 && clip.frame_names().len() == clip.frames().len());

        for (k, frame) in clip.frames().iter().enumerate() {
            let name = &clip.frame_names()[k];
            assert!(
                farthest(frame, rig.neutral().positions()) > 1.0,
                "{name} is the open hand"
            );

            assert!(
                clip.frames()[..k]
                    .iter()
                    .all(|other| farthest(frame, other) > 1.0),
                "{name} is not new"
            );

            let posed = clip.mesh_at(k).unwrap();
            let volume = posed.signed_volume() / rig.neutral().signed_volume();
            assert!(
                (volume - 1.0).abs() < 0.04,
                "{name} has {volume} of the volume"
            );

            assert_eq!(MeshReport::of(&posed).degenerate_triangles, 0, "{name}");
        }
    }

    #[test]
    fn creases_deepen_where_fingers_bend_and_leave_the_forearm_alone() {
        let hand = Hand::new();
        let depth = |name: &str| {
            let gesture = GESTURES
                .iter()
                .find(|g| g.name == name)
                .unwrap_or(&Gesture::REST);
            let (skinned, folded) = (hand.skinned(gesture), hand.folded(gesture));
            let forearm = hand
                .smooth
                .positions()
                .iter()
                .position(|p| p.y < -2.0)
                .unwrap();

            assert_eq!(folded[forearm], skinned[forearm]);
            farthest(&folded, &skinned)
        };

        assert!(depth("fist") > 2.0 * depth("open"));
        assert!(depth("open") > 0.02);
    }

    #[test]
    fn a_fist_brings_fingertips_to_the_palm_and_a_pinch_joins_two_tips() {
        let anatomy = anatomy::anatomy();
        let tip = |name: &str, digit: usize| {
            let gesture = GESTURES.iter().find(|g| g.name == name).unwrap();
            let motions = anatomy
                .skeleton
                .motions(&gesture.rotations(&anatomy), DVec3::ZERO);
            let digit = &anatomy.digits[digit];

            (
                motions[digit.first_bone + 2].apply(digit.joints[3]),
                motions[1],
            )
        };

        for digit in 1..5 {
            let (tip, palm) = tip("fist", digit);
            let in_palm = palm.rotation.conjugate() * (tip - palm.shift);
            assert!(
                in_palm.y < 8.0 && in_palm.z < 3.0,
                "digit {digit} ends at {in_palm}"
            );
        }

        assert!(tip("pinch", 0).0.distance(tip("pinch", 1).0) < 1.5);
    }

    #[test]
    fn the_play_begins_and_ends_open_and_passes_through_gestures() {
        let (rig, clips) = play();
        let frames = clips[0].frames();
        assert!(farthest(&frames[0], rig.neutral().positions()) < 1e-12);
        assert!(farthest(frames.last().unwrap(), rig.neutral().positions()) < 1e-12);

        let (_, gestures) = &*HAND;
        let shown = poses::PLAY.iter().map(|name| {
            gestures[0]
                .frame_names()
                .iter()
                .position(|known| known == name)
                .unwrap()
        });

        for gesture in shown {
            assert!(
                frames
                    .iter()
                    .any(|frame| farthest(frame, &gestures[0].frames()[gesture]) < 1e-9)
            );
        }
    }
}
