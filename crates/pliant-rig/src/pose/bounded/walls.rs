//! Walls: the two sides of a cheek, a lip or a lid do not pass through each other.
//!
//! **Problem.** Two sliders that each leave a cheek thick may push the inside of the mouth through it
//! together.
//!
//! **Equation.** A wall is a vertex `v` with normal `n` and a vertex `u` behind it, on a surface that looks
//! the other way, in the neutral. With the displacements `d` of a pose, its thickness relative to the
//! neutral is
//!
//! ```text
//! θ(w) = 1 + (dᵥ − dᵤ)·n / ((xᵥ − xᵤ)·n)
//! ```
//!
//! The change `Δ` of a drag is shortened to `tΔ`, `t ≤ 1`, such that at every wall
//!
//! ```text
//! θ(w₀ + tΔ) ≥ min(θ₁, θ(w₀))        θ₁ = min(0.1, the least θ by a single slider at a limit)
//! ```
//!
//! Short goals that give all three coordinates say exactly where to go, and are followed: with their part
//! `e` (`reach`), the change is shortened to `t + e (1 − t)` of it.
//!
//! **Source.** Ours.
//!
//! **Departures.** Up to 200 walls take part: those that all sliders together could close, the worst first,
//! a hundredth of the size apart. Between the start and the end of a drag `θ` counts as linear, as it is
//! without in-betweens and combinations.

use pliant_mesh::glam::DVec3;
use pliant_mesh::vertex_normals;

use crate::Rig;
use crate::model::SurfaceGram;
use crate::point_grid::PointGrid;

/// `θ₁` where single sliders keep a wall thicker. *Measured* (MakeHuman): far drags whose cheeks an eye
/// finds broken have walls of −0.3 to −0.1, all others 0.06 and more.
const LEAST_THICKNESS: f64 = 0.1;
/// The thickest wall relative to the size of the rig. *Chosen*: a cheek is 1.5 cm thick.
const THICKEST: f64 = 0.08;
/// The thinnest one. *Chosen*: scans have doubled surfaces.
const THINNEST: f64 = 0.002;
/// The largest cosine of the normals of the two sides. *Chosen*.
const OPPOSITE: f64 = -0.3;
/// How far aside `u` may lie, relative to the thickness. *Chosen*.
const ASIDE: f64 = 0.7;
/// The most vertices that are asked for their walls.
const MOST_QUERIES: usize = 2000;
const MOST_WALLS: usize = 200;
/// The distance between walls relative to the size of the rig.
const SPACING: f64 = 0.01;
/// Changes of the relative thickness below this are rounding.
const LEAST_CHANGE: f64 = 1e-4;

/// Two sides of a thin part.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::pose) struct Wall {
    /// Shapes with the change of `θ` at coefficient 1.
    changes: Vec<(u32, f64)>,
    /// `θ₁`.
    least: f64,
}

/// A wall with the place where it is and the least `θ` that all shapes together give it.
struct Candidate {
    changes: Vec<(u32, f64)>,
    place: DVec3,
    worst: f64,
}

/// The walls of a rig of the given size that its sliders could close.
pub(in crate::pose) fn walls(rig: &Rig, gram: &SurfaceGram, size: f64) -> Vec<Wall> {
    let mesh = rig.neutral();
    if mesh.require_surface().is_err() || size <= 0.0 {
        return Vec::new();
    }

    let mut candidates = candidates(rig, gram, size);
    candidates.sort_by(|a, b| a.worst.total_cmp(&b.worst));

    let mut chosen: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        let is_apart = |other: &Candidate| other.place.distance(candidate.place) > SPACING * size;
        if chosen.len() < MOST_WALLS && chosen.iter().all(is_apart) {
            chosen.push(candidate);
        }
    }

    let alone = single_slider_coefficients(rig);
    let wall = |candidate: Candidate| {
        let thickness = |coefficients: &Vec<f64>| thickness(&candidate.changes, coefficients);
        let single = alone.iter().map(thickness);
        Wall {
            least: single.fold(LEAST_THICKNESS, f64::min),
            changes: candidate.changes,
        }
    };
    chosen.into_iter().map(wall).collect()
}

/// The walls behind an even choice of the vertices that move, if shapes can close them.
fn candidates(rig: &Rig, gram: &SurfaceGram, size: f64) -> Vec<Candidate> {
    let mesh = rig.neutral();
    let positions = mesh.positions();
    let normals = vertex_normals(mesh);
    let grid = PointGrid::new(positions, THICKEST * size);
    let ranges = coefficient_ranges(rig);

    let moving: Vec<usize> = (0..positions.len())
        .filter(|&v| !gram.entries_of(v).is_empty())
        .collect();
    let stride = moving.len().div_ceil(MOST_QUERIES).max(1);

    let mut candidates = Vec::new();
    for &v in moving.iter().step_by(stride) {
        let normal = normals[v];
        let depth_of = |u: u32| (positions[v] - positions[u as usize]).dot(normal);
        let is_behind = |u: u32| {
            let depth = depth_of(u);
            let aside = (positions[v] - positions[u as usize] - normal * depth).length();
            normals[u as usize].dot(normal) < OPPOSITE
                && depth > THINNEST * size
                && aside < ASIDE * depth
        };
        let Some(behind) = grid.nearest(positions[v], THICKEST * size, is_behind) else {
            continue;
        };

        let scaled = normal / depth_of(behind.index);
        let changes = changes(gram, v, behind.index as usize, scaled);
        let mut worst = 1.0;
        for &(shape, change) in &changes {
            let [low, high] = ranges[shape as usize];
            worst += (change * low).min(change * high);
        }
        if worst < LEAST_THICKNESS {
            candidates.push(Candidate {
                changes,
                place: positions[v],
                worst,
            });
        }
    }

    candidates
}

/// `(dᵥ − dᵤ)·n` of each shape that moves one of two vertices, ascending by shape.
fn changes(gram: &SurfaceGram, v: usize, u: usize, normal: DVec3) -> Vec<(u32, f64)> {
    let mut all: Vec<(u32, f64)> = Vec::new();
    for (vertex, sign) in [(v, 1.0), (u, -1.0)] {
        for (shape, delta) in gram.entries_of(vertex) {
            all.push((*shape, sign * delta.as_dvec3().dot(normal)));
        }
    }

    all.sort_by_key(|(shape, _)| *shape);
    let mut changes: Vec<(u32, f64)> = Vec::new();
    for (shape, change) in all {
        match changes.last_mut() {
            Some((last, sum)) if *last == shape => *sum += change,
            _ => changes.push((shape, change)),
        }
    }
    changes.retain(|(_, change)| change.abs() > LEAST_CHANGE);
    changes
}

/// The least and the largest coefficient of each shape.
fn coefficient_ranges(rig: &Rig) -> Vec<[f64; 2]> {
    let mut ranges = Vec::with_capacity(rig.activation().shape_count());
    for (target, slider) in rig.targets().iter().zip(rig.sliders()) {
        ranges.push([slider.limits.min.min(0.0), slider.limits.max.max(0.0)]);
        ranges.extend(vec![[0.0, 1.0]; target.in_betweens.len()]);
    }
    ranges.resize(rig.activation().shape_count(), [0.0, 1.0]);
    ranges
}

/// The coefficients of the shapes with one slider at a limit and all others at zero.
fn single_slider_coefficients(rig: &Rig) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    let mut weights = vec![0.0; rig.targets().len()];
    for (k, slider) in rig.sliders().iter().enumerate() {
        for limit in [slider.limits.min, slider.limits.max] {
            if limit != 0.0 {
                weights[k] = limit;
                all.push(rig.activation().coefficients(&weights));
            }
        }
        weights[k] = 0.0;
    }
    all
}

/// `θ`.
fn thickness(changes: &[(u32, f64)], coefficients: &[f64]) -> f64 {
    let sum = changes.iter().map(|(s, c)| c * coefficients[*s as usize]);
    1.0 + sum.sum::<f64>()
}

impl Wall {
    /// `t` of this wall between two poses, given by the coefficients of their shapes.
    pub(super) fn fraction(&self, start: &[f64], end: &[f64]) -> f64 {
        let after = thickness(&self.changes, end);
        if after >= self.least {
            return 1.0;
        }

        let before = thickness(&self.changes, start);
        let bound = self.least.min(before);
        if after >= bound {
            1.0
        } else {
            ((before - bound) / (before - after)).clamp(0.0, 1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bounded, Pin, Poser, Range, Target};
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::Vec3;
    use pliant_mesh::shapes::flat_sheet;

    const SIDE: usize = 8;

    /// Two sheets, 0.1 apart, that look away from each other; two sliders push the lower one up by
    /// `push` each, and the upper one a little.
    fn rig(push: f32) -> Rig {
        let sheet = flat_sheet(SIDE, 0.0);
        let count = sheet.vertex_count();
        let mut positions = sheet.positions().to_vec();
        positions.extend(sheet.positions().iter().map(|p| *p - DVec3::Z * 0.1));
        let upper: Vec<Vec<u32>> = sheet.faces().map(<[u32]>::to_vec).collect();
        let lower = upper.iter().map(|face| {
            let turned = face.iter().rev();
            turned.map(|&v| v + count as u32).collect()
        });
        let faces: Vec<Vec<u32>> = upper.iter().cloned().chain(lower).collect();
        let mesh = Mesh::from_polygons(positions, &faces).unwrap();

        let target = |name: &str, aside: f32| {
            let delta = |v: usize| match v < count {
                true => Vec3::new(aside, 0.0, 0.01),
                false => Vec3::new(aside, 0.0, push),
            };
            let deltas: Vec<Vec3> = (0..2 * count).map(delta).collect();
            Target::from_dense(name, deltas)
        };
        Rig::new(mesh, vec![target("a", 0.3), target("b", 0.2)]).unwrap()
    }

    #[test]
    fn a_wall_has_the_thickness_of_the_posed_mesh() {
        let rig = rig(0.08);
        let gram = SurfaceGram::of(&rig);
        let walls = walls(&rig, &gram, 2.0);
        assert!(!walls.is_empty());

        let weights = [0.3, 0.6];
        let posed = rig.evaluate(&weights);
        let count = posed.len() / 2;
        let expected = (posed[0].z - posed[count].z) / 0.1;
        for wall in &walls {
            assert!((thickness(&wall.changes, &weights) - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn sliders_together_leave_a_wall_as_thick_as_one_alone_or_a_tenth() {
        // One alone leaves 0.3 of the wall, or pushes through it by a tenth.
        for (push, least) in [(0.08_f32, 0.1), (0.12, -0.1)] {
            let rig = rig(push);
            let poser = Poser::new(&rig).unwrap();
            let solver = Bounded::default();
            let mut grab = poser
                .grab(&[], &[Pin::hold(20)], &solver, Range::Clip)
                .unwrap();
            let mut thinnest = f64::INFINITY;
            for k in 0..=40 {
                let goal = DVec3::X * (0.025 * f64::from(k));
                let weights = grab.solve(&[goal]).weights;
                let posed = rig.evaluate(&weights);
                let count = posed.len() / 2;
                thinnest = thinnest.min((posed[0].z - posed[count].z) / 0.1);
            }
            assert!(thinnest > least - 1e-5, "{thinnest}");
            assert!(thinnest < least + 0.5, "the drag is far: {thinnest}");
        }
    }

    #[test]
    fn a_rig_without_opposite_surfaces_has_no_walls() {
        let sheet = flat_sheet(SIDE, 0.0);
        let deltas = vec![Vec3::Z; sheet.vertex_count()];
        let rig = Rig::new(sheet, vec![Target::from_dense("a", deltas)]).unwrap();
        assert!(walls(&rig, &SurfaceGram::of(&rig), 1.0).is_empty());
    }
}
