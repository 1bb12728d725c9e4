//! Two unlike quadrupeds: a lean hound that walks and a bulky tapir with a short trunk.
//!
//! **Problem.** Motion transfer needs animals whose parts correspond while their proportions,
//! vertex counts and connectivity do not.
//!
//! **Departures.** Both share the names of their bones ([`frame`]); solids around the bones make
//! the surface ([`crate::implicit`], [`crate::surface_nets`]) and its skin ([`crate::skeleton`]).
//! [`gait`] moves them, and [`landmarks`] finds corresponding vertices from the bones.

mod frame;
mod gait;
mod hound;
mod landmarks;
mod legs;
mod stretch;
mod tapir;
#[cfg(test)]
mod tests;

use pliant_linalg::parallel;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Clip, Rig};

use crate::implicit::Body;
use crate::skeleton::{Skeleton, Skin};
use crate::surface_nets::{self, Grid};
use frame::Joints;
use legs::Posture;

/// The colour of the hide at a point of the rest pose.
type Coat = fn(DVec3) -> DVec3;

/// Rounds of smoothing and projection; beyond this the quads change little.
const EVENING_ROUNDS: usize = 16;
/// The rate of all clips: a walk of about one stride in a second.
const FRAMES_PER_SECOND: f64 = 30.0;
/// Frames of the walk, one cycle.
const WALK_FRAMES: usize = 32;
/// Frames of the stretch, from rest to rest.
const STRETCH_FRAMES: usize = 61;
/// Frames of the trunk's swing, one cycle.
const TRUNK_FRAMES: usize = 48;

/// The construction of an animal.
struct Animal {
    name: &'static str,
    joints: Joints,
    skeleton: Skeleton,
    body: Body,
    grid: Grid,
    /// Rounds of diffusion of the skin's weights.
    diffusion: usize,
    coat: Coat,
}

/// An animal with its surface and skin weights.
struct Built {
    animal: Animal,
    mesh: Mesh,
    skin: Skin,
}

impl Animal {
    fn build(self) -> Built {
        let quads = surface_nets::mesh(&self.body, &self.grid, EVENING_ROUNDS);
        let skin = Skin::bind(
            &self.body,
            self.skeleton.bones.len(),
            &quads,
            self.diffusion,
        );

        let parts = skin.parts(&self.skeleton, &quads);
        let mesh = quads.into_mesh(self.name, parts, self.coat);
        Built {
            animal: self,
            mesh,
            skin,
        }
    }
}

impl Built {
    /// A clip of `frames` postures over the unit of time; a loop leaves out its end, which is its
    /// start again.
    fn clip(
        &self,
        name: &str,
        frames: usize,
        looped: bool,
        posture: impl Fn(&Skeleton, f64) -> Posture,
    ) -> Clip {
        let skeleton = &self.animal.skeleton;

        // A loop ends one frame before its start.
        let steps = if looped { frames } else { frames - 1 };
        let pose = |k: usize| {
            self.skin.pose(
                &posture(skeleton, k as f64 / steps as f64).motions(skeleton),
                self.mesh.positions(),
            )
        };

        let clip = Clip::new(name, self.mesh.clone(), (0..frames).map(pose).collect())
            .expect("frames are poses of the mesh");
        clip.with_frames_per_second(FRAMES_PER_SECOND)
    }

    fn finish(self, clips: Vec<Clip>) -> (Rig, Vec<Clip>) {
        (
            Rig::new(self.mesh, Vec::new()).expect("a rig without targets is always consistent"),
            clips,
        )
    }
}

/// The hound with its clips `walk` and `stretch`.
pub(crate) fn hound() -> (Rig, Vec<Clip>) {
    let built = hound::animal().build();
    let clips = vec![
        built.clip("walk", WALK_FRAMES, true, gait::walk),
        built.clip("stretch", STRETCH_FRAMES, false, stretch::stretch),
    ];
    built.finish(clips)
}

/// The tapir with its clip `trunk`.
pub(crate) fn tapir() -> (Rig, Vec<Clip>) {
    let built = tapir::animal().build();
    let clips = vec![built.clip("trunk", TRUNK_FRAMES, true, tapir::swing_trunk)];
    built.finish(clips)
}

/// Pairs of corresponding vertices, hound first, tapir second: snout, ears, neck, back, belly,
/// legs, feet and tail.
#[must_use]
pub fn markers() -> Vec<[u32; 2]> {
    let (hound, tapir) = parallel::join(
        || landmarks::vertices(&hound::animal().build()),
        || landmarks::vertices(&tapir::animal().build()),
    );
    hound.into_iter().zip(tapir).map(|(h, t)| [h, t]).collect()
}
