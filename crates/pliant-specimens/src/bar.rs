//! A bar with bevelled edges that bends, twists and stretches.
//!
//! **Problem.** Linear blending shortens a bend and thins a twist. A bar whose exact shapes are
//! known in closed form shows the error.
//!
//! **Equation.** The bar lies along `x` in `[−L/2, L/2]` with the section in `y`, `z`. Bent by `φ`,
//! with the curvature `κ = φ / L`, the section at `x` rotates by `κx` and follows an arc of the
//! same length:
//!
//! ```text
//! (x, y, z) ↦ (sin κx / κ − y sin κx,  (1 − cos κx) / κ + y cos κx,  z)
//! ```
//!
//! Twisted by `φ`, the section rotates by `κx` about the axis; stretched by `s`, it shrinks by
//! `1/√s` and keeps the volume.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Clip, Rig, Target};

use crate::math;

/// Length of the bar; its sections are squares with sides of one.
const LENGTH: f64 = 6.0;
const HALF_SIDE: f64 = 0.5;
/// Radius of the rounded edges.
const BEVEL: f64 = 0.14;
/// How far the target `stretched` pulls.
const STRETCH: f64 = 1.5;
/// Steps of each clip from rest (first frame) to its end (last frame).
const CLIP_STEPS: usize = 24;

/// The number of quads of the bar.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Resolution {
    Coarse,
    Medium,
    Fine,
}

impl Resolution {
    /// Segments along the length, across a side, and around half of a bevel's arc.
    fn segments(self) -> [usize; 3] {
        match self {
            Self::Coarse => [18, 3, 1],
            Self::Medium => [48, 8, 2],
            Self::Fine => [120, 18, 4],
        }
    }
}

/// The bar with targets `bent`, `twisted` and `stretched` and a clip that leads to each of the
/// first two.
pub(crate) fn build(resolution: Resolution) -> (Rig, Vec<Clip>) {
    let mesh = mesh(resolution).named("bar");
    let target = |name: &str, place: &dyn Fn(DVec3) -> DVec3| {
        Target::from_dense(
            name,
            mesh.positions().iter().map(|&p| (place(p) - p).as_vec3()),
        )
    };

    // Displacements from the straight bar at full weight.
    let targets = vec![
        target("bent", &|p| bent(p, FRAC_PI_2)),
        target("twisted", &|p| twisted(p, FRAC_PI_2)),
        target("stretched", &|p| stretched(p, STRETCH)),
    ];
    let clips = vec![clip("bend", &mesh, bent), clip("twist", &mesh, twisted)];

    (
        Rig::new(mesh, targets).expect("targets are made from the bar's own vertices"),
        clips,
    )
}

fn clip(name: &str, mesh: &Mesh, place: impl Fn(DVec3, f64) -> DVec3) -> Clip {
    let frames = (0..=CLIP_STEPS).map(|k| {
        let angle_rad = FRAC_PI_2 * math::smoothstep_between(0.0, CLIP_STEPS as f64, k as f64);
        mesh.positions()
            .iter()
            .map(|&p| place(p, angle_rad))
            .collect()
    });
    Clip::new(name, mesh.clone(), frames.collect())
        .expect("frames are made from the bar's own vertices")
}

/// Where a point of the straight bar goes when the bar is bent upwards by `angle_rad` in all.
fn bent(p: DVec3, angle_rad: f64) -> DVec3 {
    let curvature = angle_rad / LENGTH;

    // Without curvature the arc has no radius; the limit is the bar itself.
    if curvature == 0.0 {
        return p;
    }

    let sin = math::sin(curvature * p.x);
    let cos = math::cos(curvature * p.x);
    DVec3::new(
        sin / curvature - p.y * sin,
        (1.0 - cos) / curvature + p.y * cos,
        p.z,
    )
}

/// Where a point goes when one end is rotated against the other by `angle_rad`.
fn twisted(p: DVec3, angle_rad: f64) -> DVec3 {
    math::rotation_about(DVec3::X, angle_rad * p.x / LENGTH) * p
}

/// Where a point goes when the bar becomes `factor` times as long and keeps its volume.
fn stretched(p: DVec3, factor: f64) -> DVec3 {
    let thinning = 1.0 / factor.sqrt();
    DVec3::new(p.x * factor, p.y * thinning, p.z * thinning)
}

/// The box's surface as a lattice, its edges rounded.
fn mesh(resolution: Resolution) -> Mesh {
    let [along, across, bevel] = resolution.segments();
    let lines = [
        lattice_lines(0.5 * LENGTH, along, bevel),
        lattice_lines(HALF_SIDE, across, bevel),
        lattice_lines(HALF_SIDE, across, bevel),
    ];

    // Sides share the vertices on the edges of the box, which are found by their lattice indices.
    let mut vertex_of: HashMap<[usize; 3], u32> = HashMap::new();
    let mut positions = Vec::new();
    let mut quads = Vec::new();
    for axis in 0..3 {
        for far_side in [false, true] {
            side_quads(&lines, axis, far_side, |corners| {
                quads.push(
                    corners
                        .map(|at| {
                            *vertex_of.entry(at).or_insert_with(|| {
                                positions.push(rounded(DVec3::new(
                                    lines[0][at[0]],
                                    lines[1][at[1]],
                                    lines[2][at[2]],
                                )));
                                positions.len() as u32 - 1
                            })
                        })
                        .to_vec(),
                );
            });
        }
    }

    Mesh::from_polygons(positions, &quads).expect("lattice corners are numbered as they are met")
}

/// Calls `emit` with the lattice corners of every quad on one side of the box, counter-clockwise
/// seen from outside.
fn side_quads(
    lines: &[Vec<f64>; 3],
    axis: usize,
    far_side: bool,
    mut emit: impl FnMut([[usize; 3]; 4]),
) {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    for j in 0..lines[v].len() - 1 {
        for i in 0..lines[u].len() - 1 {
            let mut corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[di, dj]| {
                let mut at = [0; 3];
                at[axis] = if far_side { lines[axis].len() - 1 } else { 0 };
                at[u] = i + di;
                at[v] = j + dj;
                at
            });

            // The two opposite sides have opposite orientation.
            if !far_side {
                corners.reverse();
            }

            emit(corners);
        }
    }
}

/// Lattice lines over `[−half, half]`: even on the flat part, at equal angles on the bevels.
fn lattice_lines(half: f64, flat_segments: usize, bevel_segments: usize) -> Vec<f64> {
    let flat = half - BEVEL;
    let on_bevel = |k: usize| {
        let angle_rad = FRAC_PI_4 * k as f64 / bevel_segments as f64;
        flat + BEVEL * math::sin(angle_rad) / math::cos(angle_rad)
    };
    let on_flat = (0..=flat_segments).map(|k| flat * (2.0 * k as f64 / flat_segments as f64 - 1.0));
    let low = (1..=bevel_segments).rev().map(|k| -on_bevel(k));

    low.chain(on_flat)
        .chain((1..=bevel_segments).map(on_bevel))
        .collect()
}

/// Pulls a point of the box's surface onto the box with rounded edges.
fn rounded(p: DVec3) -> DVec3 {
    let inner = DVec3::new(0.5 * LENGTH, HALF_SIDE, HALF_SIDE) - BEVEL;
    let core = p.clamp(-inner, inner);
    core + (p - core).normalize() * BEVEL
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::MeshReport;

    #[test]
    fn every_resolution_is_a_closed_quad_mesh_without_defects() {
        let mut last = 0;
        for resolution in [Resolution::Coarse, Resolution::Medium, Resolution::Fine] {
            let mesh = mesh(resolution);
            assert!(MeshReport::of(&mesh).problems().is_empty() && mesh.topology().is_closed());
            assert_eq!(MeshReport::of(&mesh).components, 1);
            assert!(mesh.faces().all(|face| face.len() == 4));
            assert!(mesh.vertex_count() > last && mesh.signed_volume() > 0.95 * LENGTH);
            last = mesh.vertex_count();
        }
    }

    #[test]
    fn a_bend_keeps_the_length_of_the_centre_line() {
        let points: Vec<DVec3> = (0..=4000)
            .map(|k| bent(DVec3::X * LENGTH * (f64::from(k) / 4000.0 - 0.5), FRAC_PI_2))
            .collect();
        let length: f64 = points.windows(2).map(|w| w[0].distance(w[1])).sum();
        // Chords are shorter than arcs by (κΔ)²/24.
        let chord_loss = (FRAC_PI_2 / 4000.0).powi(2) / 24.0;
        assert!((length / LENGTH - 1.0 + chord_loss).abs() < 1e-12);
    }

    #[test]
    fn bend_and_twist_rotate_sections_rigidly_and_stretch_keeps_the_volume() {
        let a = DVec3::new(1.3, 0.5, -0.5);
        let b = DVec3::new(1.3, -0.2, 0.5);
        for place in [bent, twisted] {
            assert!((place(a, 1.1).distance(place(b, 1.1)) - a.distance(b)).abs() < 1e-14);
        }

        let mesh = mesh(Resolution::Coarse);
        let long = mesh
            .posed(
                mesh.positions()
                    .iter()
                    .map(|&p| stretched(p, STRETCH))
                    .collect(),
            )
            .unwrap();

        assert!((long.signed_volume() / mesh.signed_volume() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_ends_of_the_bend_are_at_a_right_angle() {
        let end = |x: f64| {
            bent(DVec3::new(x, 1.0, 0.0), FRAC_PI_2) - bent(DVec3::new(x, 0.0, 0.0), FRAC_PI_2)
        };
        assert!(end(-0.5 * LENGTH).dot(end(0.5 * LENGTH)).abs() < 1e-15);
    }
}
