//! What a soft patch is made of.
//!
//! **Problem.** Meshes come in any unit, and nobody knows the density of a drawing; still stiffness is to mean the same whatever the
//! mesh's resolution, the time step or the number of iterations.
//!
//! **Equation.** A sheet of mass `ρ` per area on a bed of springs, `ρ ü = E ∇²u − B ∇⁴u − K u − 2ζω ρ u̇`, is told by how fast it swings and how
//! far a touch is felt:
//!
//! ```text
//! ω = 2πf = √(K/ρ)        a = √(E/K)        b = ⁴√(B/K)        ζ
//! ```
//!
//! `a` is the distance at which a dent has fallen to `1/e` by tension, `b` the one by bending.
//!
//! **Source.** Timoshenko and Woinowsky-Krieger, "Theory of plates and shells", 1959, chapter 8 (plates on an elastic foundation).
//!
//! **Ours.** Lengths are shares of the patch's radius, so that a mesh in metres and the same in centimetres behave alike.

use std::f64::consts::TAU;

use crate::PhysicsError;

const STRAIN_LIMIT: &str = "strain limit";

/// How soft a patch is, in shares of its radius and in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftMaterial {
    /// How often it swings in a second when it is let go, in hertz.
    pub frequency_hz: f64,
    /// Which part of a swing is lost: 0 swings for ever, 1 comes back without overshoot.
    pub damping_ratio: f64,
    /// How far a touch is felt along the surface by tension, as a share of the radius.
    pub spread: f64,
    /// How far it is felt by bending, as a share of the radius; creases are wider than this.
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
            roundness: 0.25,
            shear: 0.5,
            area: 0.0,
            depth: 0.5,
            volume: 4.0,
            strain_limit: 0.75,
        }
    }
}

/// The same in the mesh's own unit, with mass one per area.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stiffness {
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

impl SoftMaterial {
    /// # Errors
    /// [`PhysicsError::Material`] where a number is not finite, negative, or zero where nothing works without it.
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
            let finite = value.is_finite() || (what == STRAIN_LIMIT && value == f64::INFINITY);
            finite && value >= 0.0 && (value > 0.0 || !positive)
        };
        let wrong = numbers.iter().find(|&&(what, value, positive)| !is_sound(what, value, positive));
        wrong.map_or(Ok(()), |&(what, value, positive)| {
            Err(PhysicsError::Material { what, value, least: if positive { "above 0" } else { "0 or more" } })
        })
    }

    pub(crate) fn stiffness(&self, radius: f64) -> Stiffness {
        let omega = TAU * self.frequency_hz;
        let bed = omega * omega;
        let (spread, roundness, depth) = (self.spread * radius, self.roundness * radius, self.depth * radius);
        let stretch = bed * spread * spread;
        Stiffness {
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
