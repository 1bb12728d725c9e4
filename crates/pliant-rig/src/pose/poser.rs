//! A rig prepared for direct manipulation: size, Gram matrix and geodesic discs.

use pliant_linalg::smoothstep;
use std::sync::{Arc, Mutex, OnceLock};

use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;

use super::bounded::{
    Landmark, Wall, landmarks as landmarks_of, peaks as peaks_of, walls as walls_of,
};
use super::pin_discs::PinDiscs;
use super::{Bounded, Grab, Pin, PinSystem, Pose, PoseSolver, Range};
use crate::model::SurfaceGram;
use crate::{Rig, RigError};

/// A rig prepared for direct manipulation. Clones share what was prepared.
#[derive(Debug, Clone)]
pub struct Poser {
    prepared: Arc<PreparedRig>,
}

#[derive(Debug)]
struct PreparedRig {
    rig: Rig,
    size: f64,
    gram: OnceLock<SurfaceGram>,
    landmarks: OnceLock<Vec<Landmark>>,
    walls: OnceLock<Vec<Wall>>,
    peaks: OnceLock<Vec<f64>>,
    discs: Mutex<Option<PinDiscs>>,
}

impl Poser {
    /// Prepares `rig`.
    ///
    /// # Errors
    /// [`RigError::NoTargets`] for a rig without targets, [`RigError::NotFinite`] if a number of it
    /// is not finite.
    pub fn new(rig: &Rig) -> Result<Self, RigError> {
        if rig.targets().is_empty() {
            return Err(RigError::NoTargets);
        }
        rig.require_finite()?;

        Ok(Self {
            prepared: Arc::new(PreparedRig {
                rig: rig.clone(),
                size: size_of_moved_surface(rig),
                gram: OnceLock::new(),
                landmarks: OnceLock::new(),
                walls: OnceLock::new(),
                peaks: OnceLock::new(),
                discs: Mutex::new(None),
            }),
        })
    }

    /// The rig.
    #[must_use]
    pub fn rig(&self) -> &Rig {
        &self.prepared.rig
    }

    /// The unit of relative lengths: `√12` times the root mean square distance of the vertices that
    /// targets move from their mean.
    ///
    /// For a box filled with vertices this is the diagonal. Unlike the diagonal of the bounds it
    /// does not change when the scene is rotated, and a face on a whole body has the size of a
    /// face.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.prepared.size
    }

    /// Prepares a drag of `pins` at the pose `weights` (missing weights count as zero).
    pub fn grab(
        &self,
        weights: &[f64],
        pins: &[Pin],
        solver: &dyn PoseSolver,
        range: Range,
    ) -> Result<Grab, RigError> {
        if pins.is_empty() {
            return Err(RigError::NoPins);
        }
        Grab::new(PinSystem::new(self, weights, pins)?, solver, range)
    }

    /// The pose for `pins` from the pose `weights`, with the default solver.
    pub fn pose(&self, weights: &[f64], pins: &[Pin]) -> Result<Pose, RigError> {
        let displacements: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
        let mut grab = self.grab(weights, pins, &Bounded::default(), Range::Clip)?;
        Ok(grab.solve(&displacements))
    }

    pub(super) fn gram(&self) -> &SurfaceGram {
        self.prepared
            .gram
            .get_or_init(|| SurfaceGram::of(self.rig()))
    }

    /// The vertices that each slider moves most.
    pub(super) fn landmarks(&self) -> &[Landmark] {
        let landmarks = &self.prepared.landmarks;
        landmarks.get_or_init(|| landmarks_of(self.rig()))
    }

    /// The thin parts that sliders could close together.
    pub(super) fn walls(&self) -> &[Wall] {
        let walls = &self.prepared.walls;
        walls.get_or_init(|| walls_of(self.rig(), self.gram(), self.size()))
    }

    /// The largest displacement by each target at weight 1.
    pub(super) fn peaks(&self) -> &[f64] {
        self.prepared.peaks.get_or_init(|| peaks_of(self.rig()))
    }

    /// The vertices within `reach` of the pins with a mask: 1 at a pin, 0 at the rim, a smoothstep
    /// between.
    ///
    /// Distances are geodesic distances on the neutral; on a mesh without faces there are no such
    /// vertices.
    pub(super) fn near_pins(
        &self,
        system: &PinSystem,
        reach: f64,
    ) -> Result<Vec<(u32, f64)>, RigError> {
        if self.rig().neutral().require_surface().is_err() {
            return Ok(Vec::new());
        }

        // The geodesic solver is built with the first drag, and shared by later ones.
        let mut cached = self
            .prepared
            .discs
            .lock()
            .expect("no thread panics inside the lock");
        let discs = match cached.as_mut() {
            Some(discs) => discs,
            None => cached.insert(PinDiscs::new(self.rig().neutral())?),
        };

        let sources: Vec<SurfacePoint> = system.pins().iter().map(|pin| pin.at).collect();
        let mut masks = discs.around(&sources, reach)?;
        for (_, value) in &mut masks {
            *value = falloff(*value, reach);
        }
        masks.retain(|(_, mask)| *mask > 0.0);

        Ok(masks)
    }
}

/// `1 − smoothstep(distance / reach)`; 0 everywhere if `reach` is 0.
fn falloff(distance: f64, reach: f64) -> f64 {
    let t = if reach > 0.0 {
        (distance / reach).min(1.0)
    } else {
        1.0
    };
    1.0 - smoothstep(t)
}

/// A vertex counts as moved above this part of the largest displacement. *Chosen*: scans leave
/// noise everywhere.
const MOVED: f32 = 0.01;

fn size_of_moved_surface(rig: &Rig) -> f64 {
    let positions = rig.neutral().positions();
    let mut motion = vec![0.0_f32; positions.len()];
    for (target, slider) in rig.targets().iter().zip(rig.sliders()) {
        // Over the slider's range, so that its scale does not matter.
        let range = slider.limits.range() as f32;
        for (&v, delta) in target.vertices.iter().zip(&target.deltas) {
            let largest = &mut motion[v as usize];
            *largest = largest.max(range * delta.length());
        }
    }

    // Vertices with noise only do not count.
    let least = MOVED * motion.iter().copied().fold(0.0, f32::max);
    let mut moved = Vec::new();
    for (position, motion) in positions.iter().zip(&motion) {
        if *motion > least {
            moved.push(*position);
        }
    }

    // A single vertex has no spread.
    let size = spread(&moved);
    if size > 0.0 { size } else { spread(positions) }
}

/// `√12` times the root mean square distance from the mean.
fn spread(positions: &[DVec3]) -> f64 {
    let count = positions.len().max(1) as f64;
    let mean = positions.iter().sum::<DVec3>() / count;
    let squares = positions.iter().map(|p| p.distance_squared(mean));
    (12.0 * squares.sum::<f64>() / count).sqrt()
}

impl Rig {
    /// The pose that brings `pins` to their goals, from the neutral, with the default solver.
    ///
    /// This prepares the rig with every call; a [`Poser`] does so once.
    pub fn pose(&self, pins: &[Pin]) -> Result<Pose, RigError> {
        Poser::new(self)?.pose(&[], pins)
    }
}
