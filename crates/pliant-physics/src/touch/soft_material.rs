//! What a soft patch is made of.
//!
//! **Problem.** Meshes come in any unit, and nobody knows the density of a drawing; still stiffness
//! is to mean the same whatever the mesh's resolution, the time step or the number of iterations.
//!
//! **Equation.** A sheet of mass `ρ` per area on a bed of springs, `ρ ü = E ∇²u − B ∇⁴u − K u − 2ζω
//! ρ u̇`, is told by how fast it swings and how far a touch is felt:
//!
//! ```text
//! ω = 2πf = √(K/ρ)        a = √(E/K)        b = ⁴√(B/K)        ζ
//! ```
//!
//! `a` is the distance at which what is dragged along the surface has fallen to `1/e`, `b` about
//! the one at which a dent has. Edges at rest have no tension, so that a shallow dent is a matter
//! of bending and of the bed, and a deep one of all.
//!
//! **Source.** Timoshenko and Woinowsky-Krieger, "Theory of plates and shells", 1959, chapter 8
//! (plates on an elastic foundation).
//!
//! **Ours.** Lengths are shares of the patch's radius, so that a mesh in metres and the same in
//! centimetres behave alike.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::soft_mesh::SoftMesh;
use super::soft_region::SoftRegion;
use crate::PhysicsError;

/// Above this a number of a material is a slip: ours.
const LARGEST: f64 = 1e12;
const STRAIN_LIMIT: &str = "strain limit";

/// How soft a patch is, in shares of its radius and in seconds. A number that a file does not name
/// is that of [`default`](Self::default).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SoftMaterial {
    /// How often the bed alone swings in a second, in hertz; volume and bending make a patch
    /// quicker.
    pub frequency_hz: f64,
    /// The damping ratio: 0 swings for ever, 0.3 some swings, 1 comes back without overshoot.
    pub damping_ratio: f64,
    /// How far a drag along the surface is felt, as a share of the radius; deep dents, which
    /// stretch the skin, are wider with it, too.
    pub spread: f64,
    /// How far a dent is felt by bending, as a share of the radius; creases are wider than this.
    pub roundness: f64,
    /// How much the form of triangles counts beside the length of edges.
    pub shear: f64,
    /// How much the area of triangles counts beside the length of edges.
    pub area: f64,
    /// How deep the flesh under it is, as a share of the radius.
    pub depth: f64,
    /// How much the volume of that flesh counts beside its bed: the more, the more it bulges.
    pub volume: f64,
    /// By which part edges may grow or shrink at most; infinite for as much as they like.
    pub strain_limit: f64,
}

impl Default for SoftMaterial {
    /// Skin over flesh: ours, judged by eye on cheeks and chins.
    fn default() -> Self {
        Self {
            frequency_hz: 5.0,
            damping_ratio: 0.3,
            spread: 0.3,
            roundness: 0.15,
            shear: 0.5,
            area: 0.0,
            depth: 0.3,
            volume: 2.0,
            strain_limit: 0.75,
        }
    }
}

/// The same in the mesh's own unit, with mass one per area.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SheetConstants {
    pub(crate) bed: f64,
    pub(crate) stretch: f64,
    pub(crate) shear: f64,
    pub(crate) area: f64,
    pub(crate) bend: f64,
    pub(crate) volume: f64,
    pub(crate) depth: f64,
    pub(crate) damping_rate: f64,
    pub(crate) strain_limit: f64,
}

/// Edges that waves along the sheet, and those of bending, may go in a substep, one over: measured,
/// see [`SoftMaterial::substeps`].
const WAVES: f64 = 1.0;
const BENDING_WAVES: f64 = 2.0;

impl SoftMaterial {
    /// Measured: half as many leave a cheek that lies on its back a fifth too soft, these a
    /// thirtieth.
    pub const LEAST_SUBSTEPS: usize = 20;
    /// Ours: beyond, a patch is so fine that it stays a little softer than it should be.
    pub const MOST_SUBSTEPS: usize = 60;

    /// # Errors
    /// [`PhysicsError::Material`] where a number is not finite, negative, or zero where nothing
    /// works without it.
    pub(crate) fn require(&self) -> Result<(), PhysicsError> {
        let numbers = [
            ("frequency", self.frequency_hz, true),
            ("damping", self.damping_ratio, false),
            ("spread", self.spread, false),
            ("roundness", self.roundness, false),
            ("shear", self.shear, false),
            ("area", self.area, false),
            ("depth", self.depth, true),
            ("volume", self.volume, false),
            (STRAIN_LIMIT, self.strain_limit, true),
        ];
        let is_sound = |what: &str, value: f64, positive: bool| {
            // The square of a number that is far too large would be none.
            let finite = value < LARGEST || (what == STRAIN_LIMIT && value == f64::INFINITY);
            finite && value >= 0.0 && (value > 0.0 || !positive)
        };
        let wrong = numbers
            .iter()
            .find(|&&(what, value, positive)| !is_sound(what, value, positive));
        wrong.map_or(Ok(()), |&(what, value, positive)| {
            Err(PhysicsError::Material {
                what,
                value,
                least: if positive { "above 0" } else { "0 or more" },
            })
        })
    }

    /// Substeps in a frame of so many seconds, on patches that reach so far and have edges of this
    /// mean length.
    ///
    /// A sweep carries what happens by about an edge, so that waves along the sheet, `√((E + μ +
    /// κt)/ρ)`, and those of bending, `√(B/ρ)/ℓ`, set the pace: measured on sheets and cheeks,
    /// where twice as many change a sag by less than a tenth.
    #[must_use]
    pub fn substeps(&self, reaches: &[f64], edge: f64, secs: f64) -> usize {
        let wanted = |&reach: &f64| {
            let sheet = self.constants(reach);
            let (along, bending) = (
                (sheet.stretch + sheet.shear + sheet.area + sheet.volume * sheet.depth).sqrt(),
                sheet.bend.sqrt() / edge,
            );
            (secs * (WAVES * along + BENDING_WAVES * bending) / edge).ceil()
        };
        let most = reaches.iter().map(wanted).fold(0.0, f64::max);
        (most as usize).clamp(Self::LEAST_SUBSTEPS, Self::MOST_SUBSTEPS)
    }

    pub(crate) fn constants(&self, radius: f64) -> SheetConstants {
        let omega = TAU * self.frequency_hz;
        let bed = omega * omega;
        let (spread, roundness, depth) = (
            self.spread * radius,
            self.roundness * radius,
            self.depth * radius,
        );
        let stretch = bed * spread * spread;
        SheetConstants {
            bed,
            stretch,
            shear: self.shear * stretch,
            area: self.area * stretch,
            bend: bed * roundness * roundness * (roundness * roundness),
            volume: self.volume * bed * depth,
            depth,
            damping_rate: 2.0 * self.damping_ratio * omega,
            strain_limit: self.strain_limit,
        }
    }
}

/// What every node is made of; held ones are made of what a soft neighbour is made of.
pub(crate) fn constants_of_nodes(
    part: &SoftMesh,
    region: &SoftRegion,
    material: &SoftMaterial,
) -> Vec<SheetConstants> {
    let of_patch: Vec<SheetConstants> = region
        .reaches()
        .iter()
        .map(|&reach| material.constants(reach))
        .collect();
    let mut all: Vec<Option<SheetConstants>> = region
        .patch_of()
        .iter()
        .map(|&patch| Some(of_patch[patch]))
        .collect();
    all.resize(part.vertices.len(), None);
    let mut lend = |nodes: &[u32]| {
        let known = nodes.iter().find_map(|&n| all[n as usize]);
        nodes
            .iter()
            .for_each(|&n| all[n as usize] = all[n as usize].or(known));
    };
    part.connections
        .triangles
        .iter()
        .for_each(|triangle| lend(triangle));
    part.connections.hinges.iter().for_each(|hinge| lend(hinge));
    all.into_iter()
        .map(|constants| constants.unwrap_or(of_patch[0]))
        .collect()
}
