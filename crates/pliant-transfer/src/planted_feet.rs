//! Planted feet: what stands is held, and the rest of the body gives way.
//!
//! **Problem.** Feet that stand in a source creep on a target of other proportions, each in its own
//! way, so no motion of the root alone stops them. Held feet must neither tear the body nor pop
//! when they land and leave.
//!
//! **Equation.** A vertex stands with half of the triangles around it, and a foot is a connected
//! part of what stands at some time. Over each run `S` of frames in which some of it stands, with
//! the vertices `B` that stand both in a frame and in the one before, their places `x` and that of
//! the ground `G`,
//!
//! ```text
//! s(k) = s(k−1) + mean_{v∈B} ((x_v(k) − G(k)) − (x_v(k−1) − G(k−1)))        d(k) = mean_{j∈S} s(j) − s(k)
//! ```
//!
//! is the correction of the whole foot; before and after the run `d` keeps its first and last
//! value, times a smooth step down to zero. All other vertices follow by `min_d Σ_ij w_ij |d_i −
//! d_j|²`, with `d` given on every foot.
//!
//! **Ground.** It moves as that of the source, times the one factor that fits the target's own
//! standing vertices best: legs of other lengths take other steps.
//!
//! **Ours.** All of it. A foot is shifted as one piece, so it keeps its shape; what it turns and
//! bends while it stands is left. The feet are the same in every frame, so the system is factored
//! once and the correction changes in time as smoothly as `d` does. The weights are those of an
//! intrinsic Delaunay triangulation, none negative: no vertex is moved further than some
//! foot. Shells on which nothing stands go with the nearest point of one on which something does.

use pliant_linalg::{LeastSquares, SparseMatrix};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, SurfaceIndex, Topology};

use crate::TransferError;
use crate::dual_graph::DisjointSets;
use crate::planting::Stance;

/// Frames over which a correction comes in and goes out. *Ours*: a sixth of a second in film.
const EASE_FRAMES: usize = 4;

/// The least weight of an edge, so that no vertex is cut off.
const LEAST_WEIGHT: f64 = 1e-6;

/// What planting did. Lengths are in the units of the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeetReport {
    /// Vertices that stand at some time.
    pub vertices: usize,
    /// How far the ground moves from frame to frame, in the mean; zero where it rests.
    pub ground_step: DVec3,
    /// How far a standing vertex got on the ground from where it came down, at most, with the root
    /// led by the feet, before each was held.
    pub slide_before: f64,
    /// The same with feet held.
    pub slide_after: f64,
    /// How far a vertex was moved, at most.
    pub largest_correction: f64,
}

/// Holds what stands in `frames`, given the stance of each.
pub(crate) fn plant_feet(
    target: &Mesh,
    stances: &[Stance],
    frames: &mut [Vec<DVec3>],
) -> Result<FeetReport, TransferError> {
    let stands = Stands::of(target, stances, frames);
    let feet = stands.feet(target, frames);
    let mut report = FeetReport {
        vertices: stands.vertices.len(),
        ground_step: stands
            .ground
            .last()
            .map_or(DVec3::ZERO, |way| *way / (frames.len().max(2) - 1) as f64),
        slide_before: stands.slide(frames),
        slide_after: 0.0,
        largest_correction: 0.0,
    };
    if stands.vertices.is_empty() {
        return Ok(report);
    }
    let spread = Spread::factor(target, &stands.vertices)?;
    for (k, frame) in frames.iter_mut().enumerate() {
        let corrections: Vec<DVec3> = feet
            .runs
            .iter()
            .map(|runs| eased_correction(k, runs))
            .collect();
        let goals: Vec<DVec3> = feet
            .of_vertex
            .iter()
            .map(|&foot| corrections[foot as usize])
            .collect();
        if goals.iter().all(|goal| *goal == DVec3::ZERO) {
            continue;
        }
        for (position, correction) in frame.iter_mut().zip(spread.solve(&goals)) {
            *position += correction;
            report.largest_correction = report.largest_correction.max(correction.length());
        }
    }
    report.slide_after = stands.slide(frames);
    Ok(report)
}

/// Who stands when, and where the ground is.
struct Stands {
    /// All vertices that stand at some time, ascending.
    vertices: Vec<u32>,
    /// For each of those its runs: first frame, and the frame after the last.
    runs: Vec<Vec<[usize; 2]>>,
    /// The way of the ground up to each frame.
    ground: Vec<DVec3>,
}

impl Stands {
    fn of(target: &Mesh, stances: &[Stance], frames: &[Vec<DVec3>]) -> Self {
        let mut runs: Vec<Vec<[usize; 2]>> = vec![Vec::new(); target.vertex_count()];
        let around = target.topology().vertex_triangles();
        let mut standing = vec![0; target.vertex_count()];
        for (k, stance) in stances.iter().enumerate() {
            standing.fill(0);
            stance
                .triangles
                .iter()
                .flat_map(|&t| &target.triangles()[t as usize])
                .for_each(|&v| standing[v as usize] += 1);
            let stands = |v: &usize| standing[*v] > 0 && 2 * standing[*v] >= around.row(*v).len();
            for v in (0..standing.len()).filter(stands) {
                match runs[v].last_mut() {
                    Some([_, end]) if *end == k => *end = k + 1,
                    _ => runs[v].push([k, k + 1]),
                }
            }
        }
        runs.iter_mut()
            .for_each(|runs| runs.retain(|[first, end]| end - first > 1));
        let vertices: Vec<u32> = (0..runs.len() as u32)
            .filter(|&v| !runs[v as usize].is_empty())
            .collect();
        let runs: Vec<_> = vertices
            .iter()
            .map(|&v| std::mem::take(&mut runs[v as usize]))
            .collect();
        let factor = ground_factor(&vertices, &runs, stances, frames);
        let mut way = DVec3::ZERO;
        let ground = stances.iter().enumerate().map(|(k, stance)| {
            way += if k > 0 {
                stance.ground_step * factor
            } else {
                DVec3::ZERO
            };
            way
        });
        Self {
            ground: ground.collect(),
            vertices,
            runs,
        }
    }

    /// Where a vertex is on the ground.
    fn place(&self, frames: &[Vec<DVec3>], k: usize, v: u32) -> DVec3 {
        frames[k][v as usize] - self.ground[k]
    }

    /// How far a standing vertex gets from where its run began, at most.
    fn slide(&self, frames: &[Vec<DVec3>]) -> f64 {
        let each = self
            .vertices
            .iter()
            .zip(&self.runs)
            .flat_map(|(&v, runs)| runs.iter().map(move |run| (v, *run)));
        let slide = |(v, [first, end]): (u32, [usize; 2])| {
            let start = self.place(frames, first, v);
            (first..end)
                .map(|k| self.place(frames, k, v).distance(start))
                .fold(0.0, f64::max)
        };
        each.map(slide).fold(0.0, f64::max)
    }

    /// The feet, and what holds each of them.
    fn feet(&self, target: &Mesh, frames: &[Vec<DVec3>]) -> Feet {
        let mut slots = vec![None; target.vertex_count()];
        self.vertices
            .iter()
            .enumerate()
            .for_each(|(slot, &v)| slots[v as usize] = Some(slot as u32));
        let mut parts = DisjointSets::new(self.vertices.len());
        for ends in target.topology().edges() {
            if let [Some(a), Some(b)] = ends.map(|v| slots[v as usize]) {
                parts.join(a, b);
            }
        }
        let (of_vertex, count) = parts.numbered();
        // What slips from the frame before, and by how many vertices.
        let mut slips = vec![vec![(DVec3::ZERO, 0.0); frames.len()]; count];
        for ((&v, runs), &foot) in self.vertices.iter().zip(&self.runs).zip(&of_vertex) {
            for k in runs.iter().flat_map(|[first, end]| first + 1..*end) {
                let (slip, vertices) = &mut slips[foot as usize][k];
                *slip += self.place(frames, k, v) - self.place(frames, k - 1, v);
                *vertices += 1.0;
            }
        }
        Feet {
            of_vertex,
            runs: slips.iter().map(|slips| held_runs(slips)).collect(),
        }
    }
}

/// What stands at some time, in connected parts.
struct Feet {
    /// For each vertex that stands at some time its foot.
    of_vertex: Vec<u32>,
    runs: Vec<Vec<HeldRun>>,
}

/// Frames in which a foot stands, and its correction in each.
struct HeldRun {
    first: usize,
    corrections: Vec<DVec3>,
}

/// The runs of a foot, given for each frame the sum of what slips since the one before and the
/// number of those vertices.
fn held_runs(slips: &[(DVec3, f64)]) -> Vec<HeldRun> {
    let mut runs: Vec<HeldRun> = Vec::new();
    for (k, &(slip, vertices)) in slips
        .iter()
        .enumerate()
        .filter(|(_, (_, vertices))| *vertices > 0.0)
    {
        match runs.last_mut() {
            Some(run) if run.first + run.corrections.len() == k => {
                let before = run.corrections[run.corrections.len() - 1];
                run.corrections.push(before - slip / vertices);
            }
            _ => runs.push(HeldRun {
                first: k - 1,
                corrections: vec![DVec3::ZERO, -slip / vertices],
            }),
        }
    }
    for run in &mut runs {
        let mean = run.corrections.iter().copied().sum::<DVec3>() / run.corrections.len() as f64;
        run.corrections
            .iter_mut()
            .for_each(|correction| *correction -= mean);
    }
    runs
}

/// The correction of a foot in frame `k`: that of the run it is in, or part of that at the ends of
/// the runs near it.
fn eased_correction(k: usize, runs: &[HeldRun]) -> DVec3 {
    let (mut sum, mut shares) = (DVec3::ZERO, 0.0);
    for HeldRun { first, corrections } in runs {
        let last = first + corrections.len() - 1;
        let correction = corrections[k.clamp(*first, last) - first];
        let away = first.saturating_sub(k).max(k.saturating_sub(last));
        if away == 0 {
            return correction;
        }
        let x = (1.0 - away as f64 / (EASE_FRAMES + 1) as f64).max(0.0);
        let share = x * x * (3.0 - 2.0 * x);
        sum += correction * share;
        shares += share;
    }
    sum / f64::max(shares, 1.0)
}

/// What the source's ground is to be multiplied by to move like the target's standing vertices.
fn ground_factor(
    vertices: &[u32],
    runs: &[Vec<[usize; 2]>],
    stances: &[Stance],
    frames: &[Vec<DVec3>],
) -> f64 {
    let (mut along, mut square) = (0.0, 0.0);
    for (&v, runs) in vertices.iter().zip(runs) {
        for k in runs.iter().flat_map(|[first, end]| first + 1..*end) {
            let ground = stances[k].ground_step;
            along += (frames[k][v as usize] - frames[k - 1][v as usize]).dot(ground);
            square += ground.length_squared();
        }
    }
    if square > 0.0 { along / square } else { 0.0 }
}

/// Corrections of some vertices, spread over all.
struct Spread {
    system: LeastSquares,
    rows: usize,
    /// Vertices without an equation, after those that are held.
    bystanders: usize,
    /// For each of those the vertex that it goes with.
    follows: Vec<(u32, u32)>,
}

impl Spread {
    fn factor(target: &Mesh, held: &[u32]) -> Result<Self, TransferError> {
        let laplacian = Laplacian::robust(target)?.matrix;
        let follows = followers(target, held, |v| {
            laplacian.get(v as usize, v as usize) > 0.0
        })?;
        let mut triplets = Vec::new();
        let mut rows = 0;
        for i in 0..target.vertex_count() {
            let (columns, values) = laplacian.row(i);
            for (&j, &value) in columns.iter().zip(values).filter(|(j, _)| **j as usize > i) {
                let weight = (-value).max(LEAST_WEIGHT).sqrt();
                triplets.extend([(rows, i as u32, weight), (rows, j, -weight)]);
                rows += 1;
            }
        }
        let differences =
            SparseMatrix::from_triplets(rows as usize, target.vertex_count(), &triplets);
        let known: Vec<usize> = held
            .iter()
            .copied()
            .chain(follows.iter().map(|(v, _)| *v))
            .map(|v| v as usize)
            .collect();
        let system = LeastSquares::factor(&differences, &[], &known)?;
        Ok(Self {
            system,
            rows: rows as usize,
            bystanders: follows.len(),
            follows,
        })
    }

    fn solve(&self, held: &[DVec3]) -> Vec<DVec3> {
        let known = [held, &vec![DVec3::ZERO; self.bystanders]].concat();
        let mut corrections = self
            .system
            .solve_points(&vec![DVec3::ZERO; self.rows], &[], &known);
        self.follows
            .iter()
            .for_each(|&(v, leader)| corrections[v as usize] = corrections[leader as usize]);
        corrections
    }
}

/// The vertices of shells without a held one, and those without a face or another equation, each
/// with the held shells' vertex near the centre of its shell.
fn followers(
    target: &Mesh,
    held: &[u32],
    has_equation: impl Fn(u32) -> bool,
) -> Result<Vec<(u32, u32)>, TransferError> {
    let shell_of = target.topology().component_of_vertex();
    let mut leads = vec![false; target.topology().component_count()];
    held.iter()
        .for_each(|&v| leads[shell_of[v as usize] as usize] = true);
    let alone = |v: u32| shell_of[v as usize] == Topology::NONE || !has_equation(v);
    let follows = |v: &u32| alone(*v) || !leads[shell_of[*v as usize] as usize];
    let vertices: Vec<u32> = (0..target.vertex_count() as u32).filter(follows).collect();
    if vertices.is_empty() {
        return Ok(Vec::new());
    }
    let mut centers = vec![(DVec3::ZERO, 0.0); leads.len()];
    for &v in vertices.iter().filter(|v| !alone(**v)) {
        let (sum, count) = &mut centers[shell_of[v as usize] as usize];
        *sum += target.positions()[v as usize];
        *count += 1.0;
    }
    let index = SurfaceIndex::new(target)?;
    let leader = |center: DVec3| {
        let on_leading =
            |t: u32| leads[shell_of[target.triangles()[t as usize][0] as usize] as usize];
        let place = index
            .closest_point_where(center, on_leading)
            .expect("something stands, on a triangle")
            .place;
        let nearest = (0..3)
            .max_by(|&i, &j| place.barycentric[i].total_cmp(&place.barycentric[j]))
            .expect("three corners");
        target.triangles()[place.triangle as usize][nearest]
    };
    let of_shell: Vec<Option<u32>> = centers
        .iter()
        .map(|&(sum, count)| (count > 0.0).then(|| leader(sum / count)))
        .collect();
    let of_vertex = |v: u32| {
        of_shell
            .get(shell_of[v as usize] as usize)
            .copied()
            .flatten()
    };
    Ok(vertices
        .iter()
        .map(|&v| {
            (
                v,
                of_vertex(v).unwrap_or_else(|| leader(target.positions()[v as usize])),
            )
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::leg;
    use pliant_mesh::shapes;

    const FRAMES: usize = 30;

    /// A sheet whose first and last rows of triangles stand in turn and creep, each its own way,
    /// over a ground that moves.
    fn creeping(ground: DVec3) -> (Mesh, Vec<Stance>, Vec<Vec<DVec3>>) {
        let sheet = shapes::bumpy_sheet(8, 0.1);
        let count = sheet.triangles().len() as u32;
        let stance = |k: usize| {
            let first = (5..14).contains(&k).then_some(0..16);
            let last = (12..24).contains(&k).then_some(count - 16..count);
            Stance {
                triangles: first.into_iter().chain(last).flatten().collect(),
                ground_step: ground,
            }
        };
        let creep = |p: DVec3, k: f64| {
            let part = ((p.x - 0.2) / 0.6).clamp(0.0, 1.0);
            DVec3::new(
                0.004 * k * part,
                0.01 * (0.7 * k).sin(),
                0.002 * k * (1.0 - part),
            ) + ground * 1.3 * k
        };
        let frame = |k: usize| {
            sheet
                .positions()
                .iter()
                .map(|p| *p + creep(*p, k as f64))
                .collect()
        };
        let parts = (
            (0..FRAMES).map(stance).collect(),
            (0..FRAMES).map(frame).collect(),
        );
        (sheet, parts.0, parts.1)
    }

    #[test]
    fn what_stands_does_not_slide_and_nothing_moves_further_than_some_foot() {
        for ground in [DVec3::ZERO, DVec3::new(0.0, 0.0, -0.05)] {
            let (mesh, stances, before) = creeping(ground);
            let mut after = before.clone();
            let report = plant_feet(&mesh, &stances, &mut after).unwrap();
            assert!(
                report.slide_before > 0.01 && report.slide_after < 1e-12,
                "{report:?}"
            );
            assert!(
                (report.ground_step.distance(ground * 1.3)) < 0.1 * ground.length() + 1e-15,
                "{report:?}"
            );
            let feet = Stands::of(&mesh, &stances, &before).feet(&mesh, &before);
            assert_eq!(feet.runs.len(), 2, "two feet");
            for k in 0..FRAMES {
                let most = feet
                    .runs
                    .iter()
                    .map(|runs| eased_correction(k, runs).length())
                    .fold(0.0, f64::max);
                assert!(
                    before[k]
                        .iter()
                        .zip(&after[k])
                        .all(|(b, a)| a.distance(*b) <= most + 1e-12),
                    "frame {k}"
                );
            }
        }
    }

    #[test]
    fn corrections_come_and_go_without_a_jump_and_far_from_any_stand_nothing_changes() {
        let (mesh, stances, before) = creeping(DVec3::ZERO);
        let mut after = before.clone();
        let report = plant_feet(&mesh, &stances, &mut after).unwrap();
        assert_eq!(
            (&after[0], &after[FRAMES - 1]),
            (&before[0], &before[FRAMES - 1])
        );
        let correction = |k: usize, v: usize| after[k][v] - before[k][v];
        let own = |k: usize, v: usize| before[k][v].distance(before[k - 1][v]);
        for k in 1..FRAMES {
            for v in 0..mesh.vertex_count() {
                let jump = correction(k, v).distance(correction(k - 1, v));
                let most = (0..mesh.vertex_count())
                    .map(|v| own(k, v))
                    .fold(0.0, f64::max);
                // A smooth step over five frames rises by 0.296 in one at most.
                assert!(
                    jump <= 2.0 * most + 0.3 * report.largest_correction,
                    "frame {k}, vertex {v}: {jump}"
                );
            }
        }
    }

    #[test]
    fn shells_and_lone_vertices_go_with_the_body_and_a_body_that_never_stands_stays() {
        let mut builder = leg(1.0).to_builder();
        let first = builder.positions.len() as u32;
        builder.positions.extend([
            DVec3::new(0.1, 1.0, 0.1),
            DVec3::new(0.2, 1.0, 0.1),
            DVec3::new(0.1, 1.1, 0.1),
            DVec3::splat(2.0),
        ]);
        builder.push_face(&[first, first + 1, first + 2]);
        let mesh = builder.build().unwrap();
        let stance = || Stance {
            triangles: vec![0, 1],
            ground_step: DVec3::ZERO,
        };
        let frame = |k: usize| {
            mesh.positions()
                .iter()
                .map(|p| *p + DVec3::X * 0.01 * k as f64)
                .collect()
        };
        let before: Vec<Vec<DVec3>> = (0..5).map(frame).collect();
        let mut after = before.clone();
        plant_feet(
            &mesh,
            &[stance(), stance(), stance(), stance(), stance()],
            &mut after,
        )
        .unwrap();
        for (after, before) in after.iter().zip(&before) {
            let shift = after[0] - before[0];
            assert!(
                after
                    .iter()
                    .zip(before)
                    .all(|(a, b)| (*a - *b).distance(shift) < 1e-12),
                "the whole creeps alike and is held alike"
            );
        }
        let mut still = before.clone();
        let report = plant_feet(&mesh, &vec![Stance::default(); 5], &mut still).unwrap();
        assert_eq!((report.vertices, still), (0, before));
    }
}
