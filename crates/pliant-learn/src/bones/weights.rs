//! Skinning weights for given bone motions.
//!
//! **Equation.** For each vertex, over at most `K` bones: `min Σ_f |Σⱼ wⱼ Tⱼf vʳ − v_f|²`, `w ≥ 0`,
//! `Σ w = 1`. Since the weights sum to 1, this is the norm of `Σⱼ wⱼ (Tⱼf vʳ − v_f)`: see
//! [`MinimumNormSolver`].
//!
//! **Source.** Le and Deng, "Smooth skinning decomposition with rigid bones", 2012, for the
//! subproblem.
//!
//! **Departures.** The solver starts from the current bones of each vertex, so that an update never
//! increases the error. With many bones, a vertex chooses among those nearest to its own at rest.

use pliant_linalg::parallel;
use pliant_linalg::simd::{Kernel, run_vectorized};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Progress, Rows, Stopped, map_with_progress};

use super::fit::STAGE;
use super::minimum_norm_point::{Combination, MinimumNormSolver};
use super::trajectories::{Motion, Trajectories};

/// Number of bones that a vertex chooses among. *Chosen*: all bones of a body; about three rings of
/// neighbours for a thousand bones.
pub(super) const CANDIDATES: usize = 32;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 128;

/// Bones to choose among, with their motions stored by coordinates.
struct Candidates {
    bones: Vec<u32>,
    /// For each frame and axis four rows over the bones: the linear coefficients of x, y, z, and
    /// the translation.
    coefficients: Vec<f64>,
}

impl Candidates {
    fn of(bones: Vec<u32>, motions: &[Vec<Motion>], frames: usize) -> Self {
        let mut coefficients = Vec::with_capacity(frames * 12 * bones.len());
        for frame in 0..frames {
            for axis in 0..3 {
                for k in 0..4 {
                    for &bone in &bones {
                        let motion = &motions[bone as usize][frame];
                        coefficients.push(match k {
                            0..3 => motion.linear.col(k)[axis],
                            _ => motion.translation[axis],
                        });
                    }
                }
            }
        }

        Self {
            bones,
            coefficients,
        }
    }
}

/// Penalty on the difference between the weights of a vertex and the mean of its neighbours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Smoothing<'a> {
    pub(super) stiffness: f64,
    pub(super) neighbors: &'a Rows,
}

/// Which vertices search among all candidates, and which only update the weights of their bones.
///
/// A vertex that kept its bones in two searches searches again in every fourth round only.
/// *Measured*: this saves a fifth to a third of the time of a fit and raises the RMS of bodies by
/// 1 %.
#[derive(Debug)]
pub(super) struct SearchSchedule {
    /// Searches of each vertex in sequence that did not change its bones.
    unchanged: Vec<u8>,
    round: usize,
}

impl SearchSchedule {
    /// Searches without a change after which a vertex pauses.
    const PATIENCE: u8 = 2;
    /// Rounds between the searches of a vertex that pauses.
    const INTERVAL: usize = 4;

    pub(super) fn new(vertices: usize) -> Self {
        Self {
            unchanged: vec![0; vertices],
            round: 0,
        }
    }

    fn searches(&self, vertex: usize) -> bool {
        self.unchanged[vertex] < Self::PATIENCE
            || (self.round + vertex).is_multiple_of(Self::INTERVAL)
    }

    fn record(&mut self, before: &[Combination], after: &[Combination]) {
        for vertex in 0..before.len() {
            if !self.searches(vertex) {
                continue;
            }
            let same = before[vertex].has_points_of(&after[vertex]);
            self.unchanged[vertex] = if same {
                self.unchanged[vertex].saturating_add(1)
            } else {
                0
            };
        }
        self.round += 1;
    }
}

/// Improves the weights of every vertex, with at most `most` bones each. Returns the objective: the
/// sum of the squared errors and of the smoothing penalty.
pub(super) fn improve_weights(
    points: &Trajectories,
    motions: &[Vec<Motion>],
    most: usize,
    smoothing: Option<Smoothing<'_>>,
    schedule: &mut SearchSchedule,
    combinations: &mut Vec<Combination>,
    progress: &dyn Progress,
) -> Result<f64, Stopped> {
    let groups = Groups::of(points, motions, combinations);
    let update = Update {
        points,
        motions,
        most,
        smoothing,
        before: combinations,
    };
    // Each task has its own workspace.
    let updated = map_with_progress(progress, STAGE, groups.tasks.len(), 1, |task| {
        let (candidates, vertices) = groups.task(task);
        let mut solver = MinimumNormSolver::default();
        let mut results = Vec::with_capacity(vertices.len());
        for &vertex in vertices {
            let vertex = vertex as usize;
            results.push(if schedule.searches(vertex) {
                update.search(candidates, vertex, &mut solver)
            } else {
                update.reweight(vertex, &mut solver)
            });
        }
        results
    })?;

    // Results return to the order of the vertices, so that sums do not depend on the tasks.
    let mut after = combinations.clone();
    let mut errors = vec![0.0; points.vertex_count()];
    for (task, results) in updated.into_iter().enumerate() {
        for (&vertex, (combination, error)) in groups.task(task).1.iter().zip(results) {
            after[vertex as usize] = combination;
            errors[vertex as usize] = error;
        }
    }

    schedule.record(combinations, &after);
    *combinations = after;
    Ok(errors.iter().sum())
}

/// The input of a weight update.
struct Update<'a> {
    points: &'a Trajectories,
    motions: &'a [Vec<Motion>],
    most: usize,
    smoothing: Option<Smoothing<'a>>,
    before: &'a [Combination],
}

impl Update<'_> {
    /// The best weights of the current bones of a vertex, and its squared error.
    fn reweight(&self, vertex: usize, solver: &mut MinimumNormSolver) -> (Combination, f64) {
        let own = &self.before[vertex];
        let rest = self.points.rest[vertex];
        let moved = self.points.moved(vertex);
        // The points of the solver are the residuals of the current bones.
        let rows = solver.begin(own.len, 3 * moved.len());
        for (k, (bone, _)) in own.iter().enumerate() {
            for (frame, (motion, position)) in self.motions[bone].iter().zip(moved).enumerate() {
                let residual = motion.apply(rest) - *position;
                for axis in 0..3 {
                    rows[(3 * frame + axis) * own.len + k] = residual[axis];
                }
            }
        }

        let index = |bone: usize| own.iter().position(|(known, _)| known == bone);
        let constant = self.add_smoothing(solver, vertex, index);
        let mut combination = local(own, index);
        let error = solver.reweight(&mut combination) + constant;
        for k in 0..combination.len {
            combination.points[k] = own.points[combination.points[k] as usize];
        }
        (combination, error)
    }

    /// The best weights among all candidates, and the squared error.
    fn search(
        &self,
        candidates: &Candidates,
        vertex: usize,
        solver: &mut MinimumNormSolver,
    ) -> (Combination, f64) {
        let count = candidates.bones.len();
        let moved = self.points.moved(vertex);
        let rows = solver.begin(count, 3 * moved.len());
        run_vectorized(ResidualRows {
            count,
            coefficients: &candidates.coefficients,
            rest: self.points.rest[vertex],
            moved,
            rows,
        });

        // The solver numbers the candidates; bones are numbered over the whole skin.
        let index = |bone: usize| candidates.bones.binary_search(&(bone as u32)).ok();
        let constant = self.add_smoothing(solver, vertex, index);
        let mut combination = local(&self.before[vertex], index);
        let error = solver.minimise(&mut combination, self.most) + constant;
        for k in 0..combination.len {
            combination.points[k] = candidates.bones[combination.points[k] as usize];
        }
        (combination, error)
    }

    /// Adds the penalty `μ |w − w̄|²` with the mean weights `w̄` of the neighbours; `index` maps
    /// bones to points of the solver. Returns `μ |w̄|²`, the part of the penalty that does not
    /// depend on the weights but differs between rounds.
    fn add_smoothing(
        &self,
        solver: &mut MinimumNormSolver,
        vertex: usize,
        index: impl Fn(usize) -> Option<usize>,
    ) -> f64 {
        let Some(Smoothing {
            stiffness,
            neighbors,
        }) = self.smoothing
        else {
            return 0.0;
        };
        let around = neighbors.row(vertex);
        if around.is_empty() {
            return 0.0;
        }

        let mean = mean_weights(self.before, around);
        let toward = mean.iter();
        solver.add_smoothing(
            stiffness,
            toward.filter_map(|&(bone, weight)| Some((index(bone)?, weight))),
        );
        stiffness * mean.iter().map(|own| own.1 * own.1).sum::<f64>()
    }
}

/// `w̄`: the mean weights of some vertices, by bone.
fn mean_weights(combinations: &[Combination], vertices: &[u32]) -> Vec<(usize, f64)> {
    let part = 1.0 / vertices.len() as f64;
    let mut weights: Vec<(usize, f64)> = Vec::new();
    for &vertex in vertices {
        weights.extend(combinations[vertex as usize].iter());
    }
    weights.sort_by_key(|own| own.0);
    weights
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| (same[0].0, part * same.iter().map(|own| own.1).sum::<f64>()))
        .collect()
}

/// The same combination in terms of candidates, without bones that are not candidates.
fn local(combination: &Combination, index: impl Fn(usize) -> Option<usize>) -> Combination {
    let mut own = *combination;
    own.len = 0;
    for (bone, weight) in combination.iter() {
        if let Some(candidate) = index(bone) {
            (own.points[own.len], own.weights[own.len]) = (candidate as u32, weight);
            own.len += 1;
        }
    }
    own
}

/// Vertices grouped by their strongest bone, with the candidates of each group.
struct Groups {
    candidates: Vec<Candidates>,
    vertices: Vec<u32>,
    /// The candidates and the range of vertices of each task.
    tasks: Vec<(usize, std::ops::Range<usize>)>,
}

impl Groups {
    fn of(points: &Trajectories, motions: &[Vec<Motion>], combinations: &[Combination]) -> Self {
        let bones = motions.len();
        let frames = points.frame_count();
        if bones <= CANDIDATES {
            let all = Candidates::of((0..bones as u32).collect(), motions, frames);
            let mut groups = Self::new(vec![all]);
            groups.push(0, &(0..points.vertex_count() as u32).collect::<Vec<_>>());
            return groups;
        }

        // Vertices of the same strongest bone share their candidates.
        let mut members = vec![Vec::new(); bones];
        for (vertex, combination) in combinations.iter().enumerate() {
            members[strongest(combination)].push(vertex as u32);
        }
        let near = nearest_bones(points, &members, combinations);
        let mut groups = Self::new(parallel::map(bones, 4, |bone| {
            Candidates::of(near[bone].clone(), motions, frames)
        }));
        for (bone, own) in members.iter().enumerate() {
            groups.push(bone, own);
        }
        groups
    }

    fn new(candidates: Vec<Candidates>) -> Self {
        Self {
            candidates,
            vertices: Vec::new(),
            tasks: Vec::new(),
        }
    }

    /// Adds vertices in tasks of bounded size.
    fn push(&mut self, candidates: usize, vertices: &[u32]) {
        let start = self.vertices.len();
        let end = start + vertices.len();
        self.vertices.extend_from_slice(vertices);
        for from in (start..end).step_by(VERTICES_PER_TASK) {
            let range = from..(from + VERTICES_PER_TASK).min(end);
            self.tasks.push((candidates, range));
        }
    }

    fn task(&self, task: usize) -> (&Candidates, &[u32]) {
        let (candidates, range) = &self.tasks[task];
        (&self.candidates[*candidates], &self.vertices[range.clone()])
    }
}

/// The bone with the largest weight; the first one of equals.
fn strongest(combination: &Combination) -> usize {
    let mut best = (0, 0.0);
    for own in combination.iter() {
        if own.1 > best.1 {
            best = own;
        }
    }
    best.0
}

/// For each bone, the bones whose vertices are nearest to its own at rest, including itself,
/// ascending.
fn nearest_bones(
    points: &Trajectories,
    members: &[Vec<u32>],
    combinations: &[Combination],
) -> Vec<Vec<u32>> {
    let mut centers = Vec::with_capacity(members.len());
    for own in members {
        let sum: DVec3 = own.iter().map(|&v| points.rest[v as usize]).sum();
        centers.push(sum / own.len().max(1) as f64);
    }

    parallel::map(members.len(), 4, |bone| {
        // The current bones of its vertices stay candidates; the others follow by distance.
        let mut near = vec![bone as u32];
        for &v in &members[bone] {
            near.extend(
                combinations[v as usize]
                    .iter()
                    .map(|(other, _)| other as u32),
            );
        }
        near.sort_unstable();
        near.dedup();

        let mut others: Vec<u32> = (0..members.len() as u32)
            .filter(|other| near.binary_search(other).is_err())
            .collect();
        let distance = |other: u32| centers[other as usize].distance_squared(centers[bone]);
        others.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)));
        others.truncate(CANDIDATES.saturating_sub(near.len()));

        near.extend(others);
        near.sort_unstable();
        near
    })
}

/// The residuals `Tⱼf vʳ − v_f` of all candidates.
struct ResidualRows<'a> {
    count: usize,
    coefficients: &'a [f64],
    rest: DVec3,
    moved: &'a [DVec3],
    rows: &'a mut [f64],
}

impl Kernel for ResidualRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let n = self.count;
        let [x, y, z] = self.rest.to_array();
        for ((k, row), of_axis) in self
            .rows
            .chunks_exact_mut(n)
            .enumerate()
            .zip(self.coefficients.chunks_exact(4 * n))
        {
            let position = self.moved[k / 3][k % 3];
            let (of_x, rest) = of_axis.split_at(n);
            let (of_y, rest) = rest.split_at(n);
            let (of_z, translation) = rest.split_at(n);
            for j in 0..n {
                row[j] = of_x[j] * x + of_y[j] * y + of_z[j] * z + translation[j] - position;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bar::{bar, bent};
    use pliant_mesh::glam::DMat3;
    use pliant_rig::Clip;

    /// Four bones that rotate about the origin.
    fn motions() -> Vec<Vec<Motion>> {
        let mut motions = Vec::new();
        for bone in 0..4 {
            let of_frames = [0.3, -0.5].map(|rotation| {
                let angle = rotation * f64::from(bone);
                Motion {
                    linear: DMat3::from_rotation_z(angle) * DMat3::from_rotation_x(0.4 * angle),
                    translation: DVec3::ZERO,
                }
            });
            motions.push(of_frames.to_vec());
        }
        motions
    }

    fn dense(combination: &Combination) -> [f64; 4] {
        let mut weights = [0.0; 4];
        for (bone, weight) in combination.iter() {
            weights[bone] = weight;
        }
        weights
    }

    /// The squared error of a vertex by its skinned positions.
    fn squared_error(points: &Trajectories, v: usize, combination: &Combination) -> f64 {
        let motions = motions();
        let mut error = 0.0;
        for (frame, position) in points.moved(v).iter().enumerate() {
            let mut skinned = DVec3::ZERO;
            for (bone, weight) in combination.iter() {
                skinned += motions[bone][frame].apply(points.rest[v]) * weight;
            }
            error += (skinned - *position).length_squared();
        }
        error
    }

    /// `|w − w̄|²` with the mean weights of the neighbours `before` the update.
    fn squared_difference(own: &Combination, before: &[Combination], neighbors: &[u32]) -> f64 {
        let mut sum = 0.0;
        for bone in 0..4 {
            let weights = neighbors.iter().map(|&w| dense(&before[w as usize])[bone]);
            let mean = weights.sum::<f64>() / neighbors.len() as f64;
            sum += (dense(own)[bone] - mean).powi(2);
        }
        sum
    }

    #[test]
    fn the_objective_is_the_sum_of_squared_errors_and_smoothing_in_every_round() {
        let mesh = bar();
        let frames = vec![bent(0.5, 0.1), bent(-0.4, 0.6)];
        let clip = Clip::new("bar", mesh.clone(), frames).unwrap();
        let points = Trajectories::of(&clip).unwrap();
        let motions = motions();
        let smoothing = Smoothing {
            stiffness: 0.01,
            neighbors: mesh.topology().vertex_neighbors(),
        };
        let mut schedule = SearchSchedule::new(mesh.vertex_count());
        let vertices = 0..mesh.vertex_count() as u32;
        let mut combinations: Vec<Combination> =
            vertices.map(|v| Combination::one(v / 50)).collect();

        // Enough rounds for vertices that search and for vertices that pause.
        for _ in 0..4 {
            let before = combinations.clone();
            let objective = improve_weights(
                &points,
                &motions,
                3,
                Some(smoothing),
                &mut schedule,
                &mut combinations,
                &(),
            )
            .unwrap();

            let mut expected = 0.0;
            for (v, own) in combinations.iter().enumerate() {
                let difference = squared_difference(own, &before, smoothing.neighbors.row(v));
                expected += squared_error(&points, v, own) + smoothing.stiffness * difference;
            }
            assert!(
                (objective - expected).abs() < 1e-9 * expected,
                "{objective} for {expected}"
            );
        }
    }
}
