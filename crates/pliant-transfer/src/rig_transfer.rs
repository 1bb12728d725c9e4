//! The expressions of one head on another: a rig from a rig.
//!
//! **Problem.** A head has targets, another one has none. Give it the same ones, with in-betweens
//! and combinations, so that every slider does to it what it does to the first.
//!
//! **Method.** What a shape means is the face it makes, so each shape is transferred as a pose: the
//! neutral with the target at weight one, with the in-between at its key, and for a combination the
//! face of all its drivers at one, from which the shapes that are transferred already are taken
//! away again. A pose becomes deformation gradients, these become vertices of the target
//! ([`Synthesis`]), what the pose leaves still is held to the bit, and lids and lips that it closes
//! are closed.
//!
//! **Source.** Sumner and Popović, "Deformation transfer for triangle meshes", 2004, pose by pose.
//!
//! **Ours.** The source is first turned and scaled to the target as a whole, so that a head that
//! lies on its side gets targets that lie on their side. Names, limits, locks, groups and exclusive
//! pairs are those of the source.

use std::borrow::Cow;

use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Laplacian, Mesh, Progress};
use pliant_rig::{Clip, Combination, InBetween, Rig, Target};

use crate::closure::{ClosureReport, Closures};
use crate::extent::size;
use crate::still_region::{free_islands, hold_still, still_vertices};
use crate::synthesis::check_map;
use crate::{
    Correspondence, CorrespondenceMethod, Layer, Reconstruction, ReconstructionForm, Similarity,
    Source, Synthesis, SynthesisOptions, TransferError, TriangleMap,
};

/// Poses that are in memory at a time.
const POSES_AT_A_TIME: usize = 16;

/// How a rig is transferred.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigTransferOptions {
    still: f64,
    closures: bool,
}

impl Default for RigTransferOptions {
    fn default() -> Self {
        Self {
            still: Self::DEFAULT_STILL,
            closures: true,
        }
    }
}

impl RigTransferOptions {
    /// *Ours*: a quarter of a micrometre on a head, ten times what single precision rounds.
    pub const DEFAULT_STILL: f64 = 1e-6;

    /// Displacements up to this part of the size are none, in the source and in the result.
    /// Default: [`DEFAULT_STILL`](Self::DEFAULT_STILL).
    #[must_use]
    pub fn with_still(self, still: f64) -> Self {
        Self { still, ..self }
    }

    /// Whether lids and lips that close in the source are closed in the target. Default: yes.
    #[must_use]
    pub fn with_closures(self, closures: bool) -> Self {
        Self { closures, ..self }
    }
}

/// What became of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeReport {
    /// The target's name, with the weight of an in-between, or that of a combination.
    pub name: String,
    /// Vertices of the target that it moves.
    pub moved: usize,
    /// Pairs of places that close in the source and have their counterparts on the target.
    pub pairs: usize,
    /// Pairs that close in the source and have no counterparts.
    pub lost_pairs: usize,
    /// How far pairs were at most from the gap that they have in the source, as a part of the
    /// target's size.
    pub gap_before: f64,
    /// The same after the correction.
    pub gap_after: f64,
}

impl ShapeReport {
    /// Gaps above this part of the size are seen: a quarter of a millimetre on a head.
    pub const VISIBLE_GAP: f64 = 1e-3;

    /// What a person should know, one sentence each.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.gap_after > Self::VISIBLE_GAP {
            let percent = 100.0 * self.gap_after;
            problems.push(format!(
                "'{}': places that close in the source stay {percent:.2} % of the size apart; add markers along them",
                self.name
            ));
        }
        if self.lost_pairs > self.pairs {
            problems.push(format!(
                "'{}': {} of {} places that close in the source have no counterpart; add markers there",
                self.name,
                self.lost_pairs,
                self.lost_pairs + self.pairs
            ));
        }
        problems
    }
}

/// A rig made from another one.
#[derive(Debug, Clone)]
pub struct TransferredRig {
    /// The target with the source's sliders.
    pub rig: Rig,
    /// What became of each shape, in the order of [`pliant_rig::Activation`].
    pub shapes: Vec<ShapeReport>,
    /// What a person should know, one sentence each.
    pub problems: Vec<String>,
}

/// A rig that is to be transferred.
#[derive(Debug, Clone)]
pub struct RigTransfer<'a> {
    source: &'a Rig,
    target: &'a Mesh,
    found: &'a Correspondence,
    options: RigTransferOptions,
    /// To the target's place, size and directions.
    to_target: Similarity,
    /// The source's neutral there.
    neutral: Mesh,
    map: TriangleMap,
    reconstruction: Reconstruction,
    laplacian: Laplacian,
}

/// A shape that is to be transferred: the coefficients of the pose that shows it.
#[derive(Debug, Clone, PartialEq)]
struct Pose {
    shape: usize,
    name: String,
    coefficients: Vec<(usize, f64)>,
    /// For an in-between its place on the way to its target, which is the last pose before it that
    /// is none.
    on_the_way: Option<f64>,
}

/// The displacements of a transferred shape.
type Deltas = (Vec<u32>, Vec<Vec3>);

impl<'a> RigTransfer<'a> {
    /// Factors the target's system.
    ///
    /// # Errors
    /// A rig without targets, a map of other meshes, and numbers that are not finite.
    pub fn new(
        source: &'a Rig,
        target: &'a Mesh,
        found: &'a Correspondence,
        options: RigTransferOptions,
    ) -> Result<Self, TransferError> {
        source.require_finite()?;
        if source.targets().is_empty() {
            return Err(TransferError::NoTargets);
        }
        if !(options.still >= 0.0 && options.still.is_finite()) {
            return Err(TransferError::BadNumber {
                what: "the still part",
                value: options.still,
                needed: "zero or more",
            });
        }
        TransferError::check_count("the map", found.map.len(), target.triangles().len())?;
        check_map(&found.map, source.neutral())?;
        let to_target = Similarity::fit(source.neutral().positions(), &found.source_on_target)?;
        let neutral = source
            .neutral()
            .posed(to_target.apply_all(source.neutral().positions()))?;
        let row = |t: usize| {
            if found.unmatched[t] {
                &[]
            } else {
                found.map.row(t)
            }
        };
        let map = TriangleMap::new((0..found.map.len()).map(row));
        let reconstruction = Reconstruction::factor(target, ReconstructionForm::default())?;
        let laplacian = Laplacian::robust(target)?;
        Ok(Self {
            source,
            target,
            found,
            options,
            to_target,
            neutral,
            map,
            reconstruction,
            laplacian,
        })
    }

    /// The target with all shapes of the source.
    ///
    /// # Errors
    /// [`TransferError::Stopped`] if `progress` asks for it.
    pub fn rig(&self, progress: &dyn Progress) -> Result<TransferredRig, TransferError> {
        let poses = self.poses();
        let closures = match self.options.closures {
            true => Some(Closures::new(
                &self.neutral,
                self.target,
                &self.laplacian,
                self.found,
            )?),
            false => None,
        };
        let mut shapes: Vec<Deltas> = vec![Deltas::default(); poses.len()];
        let mut reports: Vec<Option<ShapeReport>> = vec![None; poses.len()];
        // That of a target is in use until its in-betweens are done, which follow it.
        let mut correction: Vec<DVec3> = vec![DVec3::ZERO; self.target.vertex_count()];
        for (k, some) in poses.chunks(POSES_AT_A_TIME).enumerate() {
            let clip = self.clip(some)?;
            let mut synthesis = self.synthesis(&clip)?;
            for (frame, pose) in some.iter().enumerate() {
                let done = (k * POSES_AT_A_TIME + frame) as f64 / poses.len() as f64;
                if progress
                    .report(&format!("transferring {}", pose.name), done)
                    .is_break()
                {
                    return Err(TransferError::Stopped);
                }
                let mut positions = synthesis.frame(frame).to_vec();
                let closed = self.finish(
                    pose,
                    &clip.frames()[frame],
                    closures.as_ref(),
                    &mut correction,
                    &mut positions,
                )?;
                shapes[pose.shape] = self.deltas(pose, &positions, &shapes);
                reports[pose.shape] = Some(report(pose, shapes[pose.shape].0.len(), &closed));
            }
        }
        let shape_reports: Vec<ShapeReport> = reports.into_iter().flatten().collect();
        let problems = shape_reports
            .iter()
            .flat_map(ShapeReport::problems)
            .collect();
        Ok(TransferredRig {
            rig: self.assembled(shapes)?,
            shapes: shape_reports,
            problems,
        })
    }

    /// The poses that show the shapes: targets and in-betweens one by one, then combinations from
    /// few drivers to many.
    fn poses(&self) -> Vec<Pose> {
        let mut poses = Vec::new();
        for target in self.source.targets() {
            let whole = std::iter::once((target.name.clone(), None));
            let keys = target.in_betweens.iter().map(|key| {
                (
                    format!("{} at {}", target.name, key.weight),
                    Some(key.weight),
                )
            });
            for (name, on_the_way) in whole.chain(keys) {
                poses.push(Pose {
                    shape: poses.len(),
                    name,
                    coefficients: vec![(poses.len(), 1.0)],
                    on_the_way,
                });
            }
        }
        let first = poses.len();
        let mut order: Vec<usize> = (0..self.source.combinations().len()).collect();
        order.sort_by_key(|&c| self.source.drivers_of(c).len());
        for c in order {
            let mut weights = vec![0.0; self.source.targets().len()];
            self.source
                .drivers_of(c)
                .iter()
                .for_each(|&slider| weights[slider] = 1.0);
            let all = self.source.activation().coefficients(&weights);
            let known =
                |shape: usize| shape == first + c || poses.iter().any(|pose| pose.shape == shape);
            let coefficients = all
                .iter()
                .copied()
                .enumerate()
                .filter(|&(shape, value)| value != 0.0 && known(shape))
                .collect();
            let name = self.source.combinations()[c].name.clone();
            poses.push(Pose {
                shape: first + c,
                name,
                coefficients,
                on_the_way: None,
            });
        }
        poses
    }

    /// The source in these poses, at the target's place.
    fn clip(&self, poses: &[Pose]) -> Result<Clip, TransferError> {
        let turn = |delta: &Vec3| {
            self.to_target.motion.rotation * (delta.as_dvec3() * self.to_target.scale)
        };
        let shapes: Vec<(&[u32], &[Vec3])> = self.source.shapes().collect();
        let frame = |pose: &Pose| {
            let mut positions = self.neutral.positions().to_vec();
            for &(shape, value) in &pose.coefficients {
                let (vertices, deltas) = shapes[shape];
                vertices
                    .iter()
                    .zip(deltas)
                    .for_each(|(&v, delta)| positions[v as usize] += turn(delta) * value);
            }
            positions
        };
        Ok(Clip::new(
            "shapes",
            self.neutral.clone(),
            poses.iter().map(frame).collect(),
        )?)
    }

    fn synthesis<'b>(&'b self, clip: &'b Clip) -> Result<Synthesis<'b>, TransferError> {
        let layer = Layer::whole(0, vec![1.0; self.map.len()], clip.frames().len());
        let source = Source {
            clip,
            map: Cow::Borrowed(&self.map),
        };
        let options = SynthesisOptions::default().with_size_ratio(1.0);
        Synthesis::with_factor(
            self.target,
            &self.reconstruction,
            vec![source],
            vec![layer],
            options,
        )
    }

    /// Holds what the pose leaves still, and closes what it closes; an in-between gets its part of
    /// its target's `correction`.
    fn finish(
        &self,
        pose: &Pose,
        posed: &[DVec3],
        closures: Option<&Closures<'_>>,
        correction: &mut [DVec3],
        positions: &mut [DVec3],
    ) -> Result<ClosureReport, TransferError> {
        let least = self.least();
        let moved: Vec<bool> = posed
            .iter()
            .zip(self.neutral.positions())
            .map(|(p, rest)| p.distance(*rest) > least)
            .collect();
        let mut still = still_vertices(self.target, &self.map, self.neutral.triangles(), &moved);
        if self.found.method != CorrespondenceMethod::Identity {
            free_islands(self.target, &mut still);
        }
        hold_still(self.target, &self.laplacian, &still, positions)?;
        if let Some(part) = pose.on_the_way {
            (0..still.len())
                .filter(|&v| !still[v])
                .for_each(|v| positions[v] += correction[v] * part);
            return Ok(ClosureReport::default());
        }
        let Some(closures) = closures else {
            return Ok(ClosureReport::default());
        };
        let open = positions.to_vec();
        let report = closures.close(posed, &moved, &still, positions)?;
        correction
            .iter_mut()
            .zip(positions.iter().zip(open))
            .for_each(|(by, (&closed, open))| *by = closed - open);
        Ok(report)
    }

    /// The length of displacements that are none.
    fn least(&self) -> f64 {
        self.options.still * size(self.target)
    }

    /// What the pose adds to the shapes that it is made of besides its own.
    fn deltas(&self, pose: &Pose, positions: &[DVec3], shapes: &[Deltas]) -> Deltas {
        let mut moved: Vec<DVec3> = positions
            .iter()
            .zip(self.target.positions())
            .map(|(p, rest)| *p - *rest)
            .collect();
        for &(shape, value) in pose
            .coefficients
            .iter()
            .filter(|(shape, _)| *shape != pose.shape)
        {
            let (vertices, deltas) = &shapes[shape];
            vertices
                .iter()
                .zip(deltas)
                .for_each(|(&v, delta)| moved[v as usize] -= delta.as_dvec3() * value);
        }
        let least = self.least();
        moved
            .iter()
            .enumerate()
            .filter(|(_, d)| d.length() > least)
            .map(|(v, d)| (v as u32, d.as_vec3()))
            .unzip()
    }

    /// The target with these shapes, and the source's settings.
    fn assembled(&self, shapes: Vec<Deltas>) -> Result<Rig, TransferError> {
        let mut shapes = shapes.into_iter();
        let mut next = || shapes.next().expect("one for each shape");
        let mut targets = Vec::new();
        for old in self.source.targets() {
            let (vertices, deltas) = next();
            let mut between = |key: &InBetween| {
                let (vertices, deltas) = next();
                InBetween {
                    name: key.name.clone(),
                    weight: key.weight,
                    vertices,
                    deltas,
                }
            };
            let in_betweens = old.in_betweens.iter().map(&mut between).collect();
            targets.push(Target {
                name: old.name.clone(),
                vertices,
                deltas,
                in_betweens,
            });
        }
        let mut combination = |old: &Combination| {
            let (vertices, deltas) = next();
            Combination {
                name: old.name.clone(),
                drivers: old.drivers.clone(),
                rule: old.rule,
                vertices,
                deltas,
            }
        };
        let combinations = self
            .source
            .combinations()
            .iter()
            .map(&mut combination)
            .collect();
        let rig = Rig::new(self.target.clone(), targets)?
            .with_sliders(self.source.sliders().to_vec())?
            .with_combinations(combinations)?;
        Ok(rig
            .with_groups(self.source.groups().to_vec())?
            .with_exclusive_pairs(self.source.exclusive_pairs().to_vec())?)
    }
}

fn report(pose: &Pose, moved: usize, closed: &ClosureReport) -> ShapeReport {
    ShapeReport {
        name: pose.name.clone(),
        moved,
        pairs: closed.pairs,
        lost_pairs: closed.lost,
        gap_before: closed.before,
        gap_after: closed.after,
    }
}
