//! The weights of every vertex, with the motions of the bones held.
//!
//! **Equation.** For each vertex, over at most `K` bones: `min Σ_f |Σⱼ wⱼ Tⱼf vʳ − v_f|²`, `w ≥ 0`,
//! `Σ w = 1`. Since the weights sum to 1, that is the norm of `Σⱼ wⱼ (Tⱼf vʳ − v_f)`: see [`Hull`].
//!
//! **Source.** Le and Deng, "Smooth skinning decomposition with rigid bones", 2012, for the
//! subproblem.
//!
//! **Ours.** Each vertex begins with the bones that it has, so that an update never makes it worse.
//! Where there are many bones it chooses among those that are nearest to its own at rest.

use pliant_linalg::parallel;
use pliant_linalg::wide::{Kernel, run_wide};
use pliant_mesh::Rows;
use pliant_mesh::glam::DVec3;

use super::moving_points::{Motion, MovingPoints};
use super::nearest_in_hull::{Hull, Mix};

/// How many bones a vertex chooses among. *Ours*: all of them for a body; about three rings of
/// bones for a thousand.
pub(super) const CANDIDATES: usize = 32;

/// Vertices in one task.
const GRAIN: usize = 128;

/// Bones to choose among, with their motions laid out by coordinates.
struct Candidates {
    bones: Vec<u32>,
    /// For each frame and axis four rows over the bones: the linear coefficients of x, y, z, and
    /// the shift.
    coefficients: Vec<f64>,
}

impl Candidates {
    fn of(bones: Vec<u32>, motions: &[Vec<Motion>], frames: usize) -> Self {
        let mut coefficients = Vec::with_capacity(frames * 12 * bones.len());
        for frame in 0..frames {
            for axis in 0..3 {
                let entry = |k: usize, motion: &Motion| {
                    if k < 3 {
                        motion.turn.col(k)[axis]
                    } else {
                        motion.shift[axis]
                    }
                };
                for k in 0..4 {
                    coefficients.extend(
                        bones
                            .iter()
                            .map(|&bone| entry(k, &motions[bone as usize][frame])),
                    );
                }
            }
        }
        Self {
            bones,
            coefficients,
        }
    }
}

/// How far weights are drawn to the mean of their neighbours'.
#[derive(Debug, Clone, Copy)]
pub(super) struct Smoothing<'a> {
    pub(super) stiffness: f64,
    pub(super) neighbors: &'a Rows,
}

/// Which vertices look at all bones, and which only weigh those they have.
///
/// **Ours.** A vertex that looked around twice and stayed with its bones looks again every fourth
/// round only. *Measured*: a fifth to a third of the time of a fit goes, and its RMS rises by 1 %
/// on bodies.
#[derive(Debug)]
pub(super) struct Curiosity {
    /// Looks in vain, vertex by vertex.
    in_vain: Vec<u8>,
    round: usize,
}

impl Curiosity {
    /// Looks in vain after which a vertex rests.
    const PATIENCE: u8 = 2;
    /// Rounds between the looks of a vertex that rests.
    const REST: usize = 4;

    pub(super) fn new(vertices: usize) -> Self {
        Self {
            in_vain: vec![0; vertices],
            round: 0,
        }
    }

    fn looks(&self, vertex: usize) -> bool {
        self.in_vain[vertex] < Self::PATIENCE || (self.round + vertex).is_multiple_of(Self::REST)
    }

    fn learn(&mut self, before: &[Mix], after: &[Mix]) {
        for vertex in (0..before.len())
            .filter(|&vertex| self.looks(vertex))
            .collect::<Vec<_>>()
        {
            let stayed = before[vertex].has_points_of(&after[vertex]);
            self.in_vain[vertex] = if stayed {
                self.in_vain[vertex].saturating_add(1)
            } else {
                0
            };
        }
        self.round += 1;
    }
}

/// Improves the weights of every vertex, of at most `most` bones each, and gives what was made
/// least: the sum of their squared errors, and of what smoothing adds to them.
pub(super) fn improve_weights(
    points: &MovingPoints,
    motions: &[Vec<Motion>],
    most: usize,
    smoothing: Option<Smoothing<'_>>,
    curiosity: &mut Curiosity,
    mixes: &mut Vec<Mix>,
) -> f64 {
    let groups = Groups::of(points, motions, mixes);
    let (before, curious): (&[Mix], &Curiosity) = (mixes, curiosity);
    let done = parallel::map(groups.tasks.len(), 1, |task| {
        let (candidates, vertices) = groups.task(task);
        let mut hull = Hull::default();
        let improve = |&vertex: &u32| {
            let vertex = vertex as usize;
            if curious.looks(vertex) {
                improved(
                    points, candidates, vertex, most, smoothing, before, &mut hull,
                )
            } else {
                rebalanced(points, motions, vertex, smoothing, before, &mut hull)
            }
        };
        vertices.iter().map(improve).collect::<Vec<_>>()
    });
    let mut errors = vec![0.0; points.vertex_count()];
    let mut found = mixes.clone();
    for (task, results) in done.into_iter().enumerate() {
        for (&vertex, (mix, error)) in groups.task(task).1.iter().zip(results) {
            (found[vertex as usize], errors[vertex as usize]) = (mix, error);
        }
    }
    curiosity.learn(mixes, &found);
    *mixes = found;
    errors.iter().sum()
}

/// The best weights of the bones that a vertex has, and its squared error.
fn rebalanced(
    points: &MovingPoints,
    motions: &[Vec<Motion>],
    vertex: usize,
    smoothing: Option<Smoothing<'_>>,
    before: &[Mix],
    hull: &mut Hull,
) -> (Mix, f64) {
    let (own, rest, moved) = (&before[vertex], points.rest[vertex], points.moved(vertex));
    let rows = hull.begin(own.len, 3 * moved.len());
    for (k, (bone, _)) in own.iter().enumerate() {
        for (frame, (motion, place)) in motions[bone].iter().zip(moved).enumerate() {
            let miss = motion.apply(rest) - *place;
            (0..3).for_each(|axis| rows[(3 * frame + axis) * own.len + k] = miss[axis]);
        }
    }
    let place = |bone: usize| own.iter().position(|(known, _)| known == bone);
    let drawn = draw_to_neighbors(hull, smoothing, vertex, before, place);
    let mut mix = local(own, place);
    let error = hull.balance(&mut mix) + drawn;
    for k in 0..mix.len {
        mix.points[k] = own.points[mix.points[k] as usize];
    }
    (mix, error)
}

/// The best weights among all candidates, and the squared error.
fn improved(
    points: &MovingPoints,
    candidates: &Candidates,
    vertex: usize,
    most: usize,
    smoothing: Option<Smoothing<'_>>,
    before: &[Mix],
    hull: &mut Hull,
) -> (Mix, f64) {
    let (count, moved) = (candidates.bones.len(), points.moved(vertex));
    let rows = hull.begin(count, 3 * moved.len());
    run_wide(Misses {
        count,
        coefficients: &candidates.coefficients,
        rest: points.rest[vertex],
        moved,
        rows,
    });
    let place = |bone: usize| candidates.bones.binary_search(&(bone as u32)).ok();
    let drawn = draw_to_neighbors(hull, smoothing, vertex, before, place);
    let mut mix = local(&before[vertex], place);
    let error = hull.nearest(&mut mix, most) + drawn;
    for k in 0..mix.len {
        mix.points[k] = candidates.bones[mix.points[k] as usize];
    }
    (mix, error)
}

/// Draws the weights of a vertex to the mean `w̄` of its neighbours', bones in terms of `place`, and
/// gives `μ |w̄|²`: the part of the draw that the weights do not change, but that differs from round
/// to round.
fn draw_to_neighbors(
    hull: &mut Hull,
    smoothing: Option<Smoothing<'_>>,
    vertex: usize,
    before: &[Mix],
    place: impl Fn(usize) -> Option<usize>,
) -> f64 {
    let Some(Smoothing {
        stiffness,
        neighbors,
    }) = smoothing.filter(|s| !s.neighbors.row(vertex).is_empty())
    else {
        return 0.0;
    };
    let around = neighbors.row(vertex);
    let share = 1.0 / around.len() as f64;
    let mut theirs: Vec<(usize, f64)> = around
        .iter()
        .flat_map(|&other| before[other as usize].iter())
        .collect();
    theirs.sort_by_key(|own| own.0);
    let mean: Vec<(usize, f64)> = theirs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| (same[0].0, share * same.iter().map(|own| own.1).sum::<f64>()))
        .collect();
    hull.draw(
        stiffness,
        mean.iter()
            .filter_map(|&(bone, weight)| Some((place(bone)?, weight))),
    );
    stiffness * mean.iter().map(|own| own.1 * own.1).sum::<f64>()
}

/// The same mix in terms of candidates, without bones that are none.
fn local(mix: &Mix, place: impl Fn(usize) -> Option<usize>) -> Mix {
    let mut own = *mix;
    own.len = 0;
    for (bone, weight) in mix.iter() {
        if let Some(candidate) = place(bone) {
            (own.points[own.len], own.weights[own.len]) = (candidate as u32, weight);
            own.len += 1;
        }
    }
    own
}

/// Vertices by their strongest bone, and what they choose among.
struct Groups {
    candidates: Vec<Candidates>,
    vertices: Vec<u32>,
    /// The candidates and the range of vertices of each task.
    tasks: Vec<(usize, std::ops::Range<usize>)>,
}

impl Groups {
    fn of(points: &MovingPoints, motions: &[Vec<Motion>], mixes: &[Mix]) -> Self {
        let (bones, frames) = (motions.len(), points.frame_count());
        if bones <= CANDIDATES {
            let candidates = vec![Candidates::of((0..bones as u32).collect(), motions, frames)];
            let vertices: Vec<u32> = (0..points.vertex_count() as u32).collect();
            let tasks = (0..vertices.len())
                .step_by(GRAIN)
                .map(|start| (0, start..(start + GRAIN).min(vertices.len())))
                .collect();
            return Self {
                candidates,
                vertices,
                tasks,
            };
        }
        let strongest = |mix: &Mix| {
            mix.iter()
                .fold(
                    (0, 0.0),
                    |best, own| if own.1 > best.1 { own } else { best },
                )
                .0
        };
        let mut members = vec![Vec::new(); bones];
        mixes
            .iter()
            .enumerate()
            .for_each(|(vertex, mix)| members[strongest(mix)].push(vertex as u32));
        let near = nearest_bones(points, &members, mixes);
        let candidates = parallel::map(bones, 4, |bone| {
            Candidates::of(near[bone].clone(), motions, frames)
        });
        let (mut vertices, mut tasks) = (Vec::with_capacity(mixes.len()), Vec::new());
        for (bone, own) in members.iter().enumerate() {
            let (start, end) = (vertices.len(), vertices.len() + own.len());
            vertices.extend_from_slice(own);
            tasks.extend(
                (start..end)
                    .step_by(GRAIN)
                    .map(|from| (bone, from..(from + GRAIN).min(end))),
            );
        }
        Self {
            candidates,
            vertices,
            tasks,
        }
    }

    fn task(&self, task: usize) -> (&Candidates, &[u32]) {
        let (candidates, range) = &self.tasks[task];
        (&self.candidates[*candidates], &self.vertices[range.clone()])
    }
}

/// For each bone those whose vertices are nearest to its own at rest, itself included, ascending.
fn nearest_bones(points: &MovingPoints, members: &[Vec<u32>], mixes: &[Mix]) -> Vec<Vec<u32>> {
    let mean = |own: &Vec<u32>| {
        own.iter().map(|&v| points.rest[v as usize]).sum::<DVec3>() / own.len().max(1) as f64
    };
    let centers: Vec<DVec3> = members.iter().map(mean).collect();
    parallel::map(members.len(), 4, |bone| {
        // What its vertices follow already stays; the rest is filled by distance.
        let mut near: Vec<u32> = members[bone]
            .iter()
            .flat_map(|&v| mixes[v as usize].iter().map(|(other, _)| other as u32))
            .collect();
        near.push(bone as u32);
        near.sort_unstable();
        near.dedup();
        let mut order: Vec<u32> = (0..members.len() as u32)
            .filter(|other| near.binary_search(other).is_err())
            .collect();
        let away = |other: u32| centers[other as usize].distance_squared(centers[bone]);
        order.sort_by(|&a, &b| away(a).total_cmp(&away(b)).then(a.cmp(&b)));
        near.extend(
            order
                .into_iter()
                .take(CANDIDATES.saturating_sub(near.len())),
        );
        near.sort_unstable();
        near
    })
}

/// The ways from where a vertex goes to where each bone takes it.
struct Misses<'a> {
    count: usize,
    coefficients: &'a [f64],
    rest: DVec3,
    moved: &'a [DVec3],
    rows: &'a mut [f64],
}

impl Kernel for Misses<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (n, [x, y, z]) = (self.count, self.rest.to_array());
        for ((k, row), of_axis) in self
            .rows
            .chunks_exact_mut(n)
            .enumerate()
            .zip(self.coefficients.chunks_exact(4 * n))
        {
            let place = self.moved[k / 3][k % 3];
            let (of_x, rest) = of_axis.split_at(n);
            let (of_y, rest) = rest.split_at(n);
            let (of_z, shift) = rest.split_at(n);
            for j in 0..n {
                row[j] = of_x[j] * x + of_y[j] * y + of_z[j] * z + shift[j] - place;
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

    #[test]
    fn what_is_made_least_is_the_squared_misses_and_the_draw_in_every_round() {
        let mesh = bar();
        let points = MovingPoints::of(
            &Clip::new("bar", mesh.clone(), vec![bent(0.5, 0.1), bent(-0.4, 0.6)]).unwrap(),
        )
        .unwrap();
        let turned =
            |angle: f64| DMat3::from_rotation_z(angle) * DMat3::from_rotation_x(0.4 * angle);
        let moves = |bone: u32| {
            [0.3, -0.5]
                .map(|turn| Motion {
                    turn: turned(turn * f64::from(bone)),
                    shift: DVec3::ZERO,
                })
                .to_vec()
        };
        let motions: Vec<Vec<Motion>> = (0..4).map(moves).collect();
        let smoothing = Smoothing {
            stiffness: 0.01,
            neighbors: mesh.topology().vertex_neighbors(),
        };
        let mut mixes: Vec<Mix> = (0..mesh.vertex_count() as u32)
            .map(|v| Mix::one(v / 50))
            .collect();
        let mut curiosity = Curiosity::new(mesh.vertex_count());
        let dense = |mix: &Mix| {
            let mut weights = [0.0; 4];
            mix.iter().for_each(|(bone, weight)| weights[bone] = weight);
            weights
        };
        // Enough rounds for vertices that look around and for those that rest.
        for _ in 0..4 {
            let before = mixes.clone();
            let told = improve_weights(
                &points,
                &motions,
                3,
                Some(smoothing),
                &mut curiosity,
                &mut mixes,
            );
            let mut expected = 0.0;
            for (v, mix) in mixes.iter().enumerate() {
                for (frame, place) in points.moved(v).iter().enumerate() {
                    let shown: DVec3 = mix
                        .iter()
                        .map(|(bone, weight)| motions[bone][frame].apply(points.rest[v]) * weight)
                        .sum();
                    expected += (shown - *place).length_squared();
                }
                let around = smoothing.neighbors.row(v);
                for bone in 0..4 {
                    let mean = around
                        .iter()
                        .map(|&w| dense(&before[w as usize])[bone])
                        .sum::<f64>()
                        / around.len() as f64;
                    expected += smoothing.stiffness * (dense(mix)[bone] - mean).powi(2);
                }
            }
            assert!(
                (told - expected).abs() < 1e-9 * expected,
                "{told} for {expected}"
            );
        }
    }
}
