//! Material of soft skin: stiffness and damping as frequency and lengths.
//!
//! **Problem.** Meshes have any unit, and a drawing has no density; still the stiffness should mean
//! the same for any resolution, time step and number of iterations.
//!
//! **Equation.** A sheet of mass `ρ` per area on an elastic foundation, `ρ ü = E ∇²u − B ∇⁴u − K u
//! − 2ζω ρ u̇`, is described by its frequency and by characteristic lengths:
//!
//! ```text
//! ω = 2πf = √(K/ρ)        a = √(E/K)        b = ⁴√(B/K)        ζ
//! ```
//!
//! `a` is the distance at which a tangential displacement has fallen to `1/e`, `b` about the
//! distance at which a dent has. Edges at rest have no tension, so that a shallow dent depends on
//! bending and the foundation, and a deep one on all terms.
//!
//! **Source.** Timoshenko and Woinowsky-Krieger, "Theory of plates and shells", 1959, chapter 8
//! (plates on an elastic foundation).
//!
//! **Departures.** Lengths are relative to the radius of the patch, so that a mesh in metres and
//! the same in centimetres behave alike.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::options::TouchOptions;
use super::soft_mesh::SoftMesh;
use super::soft_region::SoftRegion;
use crate::PhysicsError;

/// Larger numbers of a material are rejected. Chosen.
const LARGEST: f64 = 1e12;
const STRAIN_LIMIT: &str = "strain limit";

/// The material of a patch, with lengths relative to its radius and times in seconds. Numbers that
/// a file does not contain are those of [`default`](Self::default).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SoftMaterial {
    /// Frequency of the foundation alone, in hertz; volume and bending make a patch faster.
    pub frequency_hz: f64,
    /// The damping ratio: 0 is undamped, 0.3 oscillates a few times, 1 returns without overshoot.
    pub damping_ratio: f64,
    /// The range of a tangential displacement relative to the radius; deep dents, which stretch the
    /// skin, become wider with it, too.
    pub spread: f64,
    /// The range of a dent by bending relative to the radius; creases are wider than this.
    pub roundness: f64,
    /// Stiffness of the shape of triangles relative to that of edges.
    pub shear: f64,
    /// Stiffness of the area of triangles relative to that of edges.
    pub area: f64,
    /// Thickness of the soft layer relative to the radius.
    pub depth: f64,
    /// Stiffness of the volume of that layer relative to the foundation: larger values bulge more.
    pub volume: f64,
    /// The largest relative change of the length of edges; infinite for no limit.
    pub strain_limit: f64,
}

impl Default for SoftMaterial {
    /// Skin over flesh. Chosen by eye on cheeks and chins.
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

/// The same in the unit of the mesh, with mass one per area.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SheetConstants {
    pub(crate) foundation: f64,
    pub(crate) stretch: f64,
    pub(crate) shear: f64,
    pub(crate) area: f64,
    pub(crate) bend: f64,
    pub(crate) volume: f64,
    pub(crate) depth: f64,
    pub(crate) damping_rate: f64,
    pub(crate) strain_limit: f64,
}

/// Edges that waves along the sheet, and bending waves, may travel in a substep, inverted.
/// Measured, see [`SoftMaterial::substeps`].
const WAVES: f64 = 1.0;
const BENDING_WAVES: f64 = 2.0;

impl SoftMaterial {
    /// Measured (`reproduce touch`): half as many leave a cheek under gravity two fifths too soft,
    /// these a sixth.
    pub const MIN_SUBSTEPS: usize = 20;
    /// Chosen: a patch that is too fine for it is a little softer than specified.
    pub const MAX_SUBSTEPS: usize = 60;

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
            // The square of a far too large number would not be finite.
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

    /// Substeps in a frame of the given duration, on patches with the given reaches and mean edge.
    ///
    /// A sweep propagates a change by about an edge, so that the speeds of waves along the sheet,
    /// `√((E + μ + κt)/ρ)`, and of bending waves, `√(B/ρ)/ℓ`, determine the number. Measured on
    /// sheets and cheeks, where twice as many change a sag by less than a tenth.
    #[must_use]
    pub fn substeps(&self, reaches: &[f64], edge: f64, secs: f64) -> usize {
        let needed = |&reach: &f64| {
            // Wave speeds along the sheet and of bending.
            let sheet = self.constants(reach);
            let along =
                (sheet.stretch + sheet.shear + sheet.area + sheet.volume * sheet.depth).sqrt();
            let bending = sheet.bend.sqrt() / edge;
            (secs * (WAVES * along + BENDING_WAVES * bending) / edge).ceil()
        };

        let most = reaches.iter().map(needed).fold(0.0, f64::max);
        (most as usize).clamp(Self::MIN_SUBSTEPS, Self::MAX_SUBSTEPS)
    }

    pub(crate) fn constants(&self, radius: f64) -> SheetConstants {
        // With mass one per area, K = ω², E = K a² and B = K b⁴.
        let omega = TAU * self.frequency_hz;
        let foundation = omega * omega;
        let spread = self.spread * radius;
        let roundness = self.roundness * radius;
        let depth = self.depth * radius;

        let stretch = foundation * spread * spread;
        SheetConstants {
            foundation,
            stretch,
            shear: self.shear * stretch,
            area: self.area * stretch,
            bend: foundation * roundness * roundness * (roundness * roundness),
            volume: self.volume * foundation * depth,
            depth,
            damping_rate: 2.0 * self.damping_ratio * omega,
            strain_limit: self.strain_limit,
        }
    }
}

/// The constants of every node; held nodes have those of a soft neighbour.
pub(crate) fn constants_of_nodes(
    part: &SoftMesh,
    region: &SoftRegion,
    options: &TouchOptions,
) -> Vec<SheetConstants> {
    let reaches = region.reaches().iter().enumerate();
    let of_patch: Vec<SheetConstants> = reaches
        .map(|(patch, &reach)| options.material_of(patch).constants(reach))
        .collect();
    let mut all: Vec<Option<SheetConstants>> = region
        .patch_of()
        .iter()
        .map(|&patch| Some(of_patch[patch]))
        .collect();
    all.resize(part.vertices.len(), None);

    for triangle in &part.connections.triangles {
        share_constants(triangle, &mut all);
    }
    for hinge in &part.connections.hinges {
        share_constants(hinge, &mut all);
    }

    // The others share no constraint with a soft node, so that any constants will do.
    all.into_iter()
        .map(|constants| constants.unwrap_or(of_patch[0]))
        .collect()
}

/// Gives nodes without constants those of the first node that has some.
fn share_constants(nodes: &[u32], all: &mut [Option<SheetConstants>]) {
    let known = nodes.iter().find_map(|&n| all[n as usize]);
    for &n in nodes {
        all[n as usize] = all[n as usize].or(known);
    }
}
