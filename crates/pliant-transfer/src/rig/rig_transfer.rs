//! Rig transfer: the blendshape targets of one rig on another mesh.
//!
//! **Problem.** One head has targets, another one has none. Give it the same targets, with
//! in-betweens and combinations, so that every slider has the same effect.
//!
//! **Method.** Each shape is transferred as the [pose](super::shape_pose) that shows it. The
//! deformation gradients of the pose give vertices of the target ([`Synthesis`]). Vertices that the
//! pose does not move are fixed, and eyelids and lips that it closes are closed.
//!
//! **Source.** Sumner and Popović, "Deformation transfer for triangle meshes", 2004, pose by pose.
//!
//! **Departures.** The source is first rotated and scaled to the target as a whole, so that a head
//! of another orientation gets targets of that orientation. Names, limits, locks, groups and
//! exclusive pairs are those of the source.

use std::borrow::Cow;

use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Laplacian, Mesh, Progress};
use pliant_rig::{Clip, Combination, InBetween, Rig, Target};

use super::closure::{ClosureCorrection, ClosureReport};
use super::shape_pose::{ShapePose, shape_poses};
use super::shape_report::{ShapeReport, TransferredRig};
use super::stationary_vertices::{fix_stationary, release_islands, stationary_vertices};
use crate::extent::size;
use crate::{
    Correspondence, CorrespondenceMethod, Layer, Reconstruction, ReconstructionWeighting,
    Similarity, Source, Synthesis, SynthesisOptions, TransferError, TriangleMap,
};

/// Poses in memory at a time.
const POSES_AT_A_TIME: usize = 16;

/// Options of a rig transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigTransferOptions {
    tolerance: f64,
    closures: bool,
}

impl Default for RigTransferOptions {
    fn default() -> Self {
        Self {
            tolerance: Self::DEFAULT_TOLERANCE,
            closures: true,
        }
    }
}

impl RigTransferOptions {
    /// Chosen: a quarter of a micrometre on a head, ten times the rounding of single precision.
    pub const DEFAULT_TOLERANCE: f64 = 1e-6;

    /// Displacements up to this, relative to the size, count as zero, in the source and in the
    /// result. Default: [`DEFAULT_TOLERANCE`](Self::DEFAULT_TOLERANCE).
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Whether eyelids and lips that close in the source are closed in the target. Default: yes.
    #[must_use]
    pub fn with_closures(self, closures: bool) -> Self {
        Self { closures, ..self }
    }
}

/// A rig and the mesh that receives its targets.
#[derive(Debug, Clone)]
pub struct RigTransfer<'a> {
    source: &'a Rig,
    target: &'a Mesh,
    correspondence: &'a Correspondence,
    options: RigTransferOptions,
    /// Takes the source to position, size and orientation of the target.
    to_target: Similarity,
    /// The source's neutral there.
    neutral: Mesh,
    map: TriangleMap,
    reconstruction: Reconstruction,
    laplacian: Laplacian,
}

/// The displacements of a transferred shape: vertices and deltas.
type Deltas = (Vec<u32>, Vec<Vec3>);

/// The state of a transfer while its poses are computed one after the other.
struct Progression<'t> {
    closure: Option<ClosureCorrection<'t>>,
    /// The displacements of each shape.
    shapes: Vec<Deltas>,
    reports: Vec<Option<ShapeReport>>,
    /// The closure correction of the last target; its in-betweens, which follow it, take a part.
    correction: Vec<DVec3>,
}

impl<'a> RigTransfer<'a> {
    /// Factors the target's system.
    ///
    /// # Errors
    /// A rig without targets, a map of other meshes, and numbers that are not finite.
    pub fn new(
        source: &'a Rig,
        target: &'a Mesh,
        correspondence: &'a Correspondence,
        options: RigTransferOptions,
    ) -> Result<Self, TransferError> {
        source.require_finite()?;
        if source.targets().is_empty() {
            return Err(TransferError::NoTargets);
        }
        if !(options.tolerance >= 0.0 && options.tolerance.is_finite()) {
            return Err(TransferError::BadNumber {
                what: "the tolerance of a rig transfer",
                value: options.tolerance,
                needed: "zero or more",
            });
        }

        let map = &correspondence.map;
        TransferError::check_count("the map", map.len(), target.triangles().len())?;
        map.check_source(source.neutral())?;

        // The whole source is aligned first, so that the deltas are in the target's directions.
        let rest = source.neutral().positions();
        let to_target = Similarity::fit(rest, &correspondence.source_on_target)?;
        Ok(Self {
            source,
            target,
            correspondence,
            options,
            to_target,
            neutral: source.neutral().posed(to_target.apply_all(rest))?,
            map: matched_map(correspondence),
            reconstruction: Reconstruction::factor(target, ReconstructionWeighting::default())?,
            laplacian: Laplacian::robust(target)?,
        })
    }

    /// The target with all shapes of the source.
    ///
    /// # Errors
    /// [`TransferError::Stopped`] if `progress` asks for it.
    pub fn rig(&self, progress: &dyn Progress) -> Result<TransferredRig, TransferError> {
        let poses = shape_poses(self.source);
        let mut progression = Progression {
            closure: self.closure_correction()?,
            shapes: vec![Deltas::default(); poses.len()],
            reports: vec![None; poses.len()],
            correction: vec![DVec3::ZERO; self.target.vertex_count()],
        };

        // Batches bound the memory: a clip holds all poses of a batch.
        for (k, batch) in poses.chunks(POSES_AT_A_TIME).enumerate() {
            let clip = self.clip(batch)?;
            let mut synthesis = self.synthesis(&clip)?;
            for (frame, pose) in batch.iter().enumerate() {
                let done = (k * POSES_AT_A_TIME + frame) as f64 / poses.len() as f64;
                let stage = format!("transferring {}", pose.name);
                progress.proceed(&stage, done)?;

                let mut positions = synthesis.frame(frame).to_vec();
                let posed = &clip.frames()[frame];
                let closed = self.finish(pose, posed, &mut progression, &mut positions)?;
                progression.store(
                    pose,
                    self.deltas(pose, &positions, &progression.shapes),
                    closed,
                );
            }
        }

        // Reports are in the order of shapes; poses are not.
        let shapes: Vec<ShapeReport> = progression.reports.into_iter().flatten().collect();
        Ok(TransferredRig {
            rig: self.assembled(progression.shapes)?,
            warnings: shapes.iter().flat_map(ShapeReport::warnings).collect(),
            shapes,
        })
    }

    fn closure_correction(&self) -> Result<Option<ClosureCorrection<'_>>, TransferError> {
        if !self.options.closures {
            return Ok(None);
        }
        let correction = ClosureCorrection::new(
            &self.neutral,
            self.target,
            &self.laplacian,
            self.correspondence,
        )?;
        Ok(Some(correction))
    }

    /// The source in these poses, aligned with the target.
    fn clip(&self, poses: &[ShapePose]) -> Result<Clip, TransferError> {
        let shapes: Vec<(&[u32], &[Vec3])> = self.source.shapes().collect();
        let rotation = self.to_target.motion.rotation;
        let scale = self.to_target.scale;

        let mut frames = Vec::with_capacity(poses.len());
        // Deltas are directions: they are rotated and scaled, but not translated.
        for pose in poses {
            let mut positions = self.neutral.positions().to_vec();
            for &(shape, value) in &pose.coefficients {
                let (vertices, deltas) = shapes[shape];
                for (&v, delta) in vertices.iter().zip(deltas) {
                    positions[v as usize] += rotation * (delta.as_dvec3() * scale) * value;
                }
            }
            frames.push(positions);
        }
        Ok(Clip::new("shapes", self.neutral.clone(), frames)?)
    }

    fn synthesis<'b>(&'b self, clip: &'b Clip) -> Result<Synthesis<'b>, TransferError> {
        let layer = Layer::whole(0, vec![1.0; self.map.len()], clip.frames().len());
        let source = Source {
            clip,
            map: Cow::Borrowed(&self.map),
        };
        Synthesis::with_factor(
            self.target,
            &self.reconstruction,
            vec![source],
            vec![layer],
            SynthesisOptions::default().with_size_ratio(1.0),
        )
    }

    /// Fixes the vertices that the pose does not move, and closes what it closes; an in-between gets
    /// its part of the correction of its target.
    fn finish(
        &self,
        pose: &ShapePose,
        posed: &[DVec3],
        progression: &mut Progression<'_>,
        positions: &mut [DVec3],
    ) -> Result<ClosureReport, TransferError> {
        let least = self.least_displacement();
        let mut moves = Vec::with_capacity(posed.len());
        for (p, rest) in posed.iter().zip(self.neutral.positions()) {
            moves.push(p.distance(*rest) > least);
        }

        // A map between different surfaces errs in places; poses of one mesh correspond exactly.
        let triangles = self.neutral.triangles();
        let mut stationary = stationary_vertices(self.target, &self.map, triangles, &moves);
        if self.correspondence.method != CorrespondenceMethod::Identity {
            release_islands(self.target, &mut stationary);
        }
        fix_stationary(self.target, &self.laplacian, &stationary, positions)?;

        // A half-closed eyelid takes half the correction of the closed one.
        if let Some(weight) = pose.in_between {
            for v in (0..stationary.len()).filter(|&v| !stationary[v]) {
                positions[v] += progression.correction[v] * weight;
            }
            return Ok(ClosureReport::default());
        }
        let Some(closure) = &progression.closure else {
            return Ok(ClosureReport::default());
        };

        // The correction is kept for the in-betweens of this target.
        let open = positions.to_vec();
        let report = closure.close(posed, &moves, &stationary, positions)?;
        for (v, correction) in progression.correction.iter_mut().enumerate() {
            *correction = positions[v] - open[v];
        }
        Ok(report)
    }

    /// Shorter displacements count as zero.
    fn least_displacement(&self) -> f64 {
        self.options.tolerance * size(self.target)
    }

    /// The displacements of a pose without those of the other shapes in it.
    fn deltas(&self, pose: &ShapePose, positions: &[DVec3], shapes: &[Deltas]) -> Deltas {
        let mut displacements = Vec::with_capacity(positions.len());
        for (p, rest) in positions.iter().zip(self.target.positions()) {
            displacements.push(*p - *rest);
        }

        // The pose of a combination contains its drivers; only the rest is its own.
        for &(shape, value) in &pose.coefficients {
            if shape != pose.shape {
                let (vertices, deltas) = &shapes[shape];
                for (&v, delta) in vertices.iter().zip(deltas) {
                    displacements[v as usize] -= delta.as_dvec3() * value;
                }
            }
        }

        // Targets are sparse: displacements below the tolerance are left out.
        let least = self.least_displacement();
        let mut deltas = Deltas::default();
        for (v, displacement) in displacements.iter().enumerate() {
            if displacement.length() > least {
                deltas.0.push(v as u32);
                deltas.1.push(displacement.as_vec3());
            }
        }
        deltas
    }

    /// The target with these shapes and the source's settings.
    fn assembled(&self, shapes: Vec<Deltas>) -> Result<Rig, TransferError> {
        let mut shapes = shapes.into_iter();
        let mut next = || shapes.next().expect("one for each shape");

        // Shapes are in the order of the rig: each target, its in-betweens, then combinations.
        let mut targets = Vec::with_capacity(self.source.targets().len());
        for old in self.source.targets() {
            let (vertices, deltas) = next();
            let in_betweens = old.in_betweens.iter();
            targets.push(Target {
                name: old.name.clone(),
                vertices,
                deltas,
                in_betweens: in_betweens.map(|key| in_between(key, next())).collect(),
            });
        }

        let combinations = self.source.combinations().iter();
        let combinations = combinations.map(|old| combination(old, next())).collect();
        let rig = Rig::new(self.target.clone(), targets)?
            .with_sliders(self.source.sliders().to_vec())?
            .with_combinations(combinations)?
            .with_groups(self.source.groups().to_vec())?
            .with_exclusive_pairs(self.source.exclusive_pairs().to_vec())?;
        Ok(rig)
    }
}

impl Progression<'_> {
    fn store(&mut self, pose: &ShapePose, deltas: Deltas, closed: ClosureReport) {
        self.reports[pose.shape] = Some(ShapeReport {
            name: pose.name.clone(),
            moved: deltas.0.len(),
            pairs: closed.pairs,
            lost_pairs: closed.lost,
            gap_before: closed.before,
            gap_after: closed.after,
        });
        self.shapes[pose.shape] = deltas;
    }
}

/// The map without the components that have no counterpart: they follow their surroundings.
fn matched_map(correspondence: &Correspondence) -> TriangleMap {
    let rows = correspondence.map.rows().zip(&correspondence.unmatched);
    TriangleMap::new(rows.map(|(row, &unmatched)| if unmatched { &[] } else { row }))
}

fn in_between(old: &InBetween, (vertices, deltas): Deltas) -> InBetween {
    InBetween {
        name: old.name.clone(),
        weight: old.weight,
        vertices,
        deltas,
    }
}

fn combination(old: &Combination, (vertices, deltas): Deltas) -> Combination {
    Combination {
        name: old.name.clone(),
        drivers: old.drivers.clone(),
        rule: old.rule,
        vertices,
        deltas,
    }
}
