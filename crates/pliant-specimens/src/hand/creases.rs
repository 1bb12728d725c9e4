//! Folds, wrinkles and knuckles: displacements along the normal that depend on the pose.
//!
//! **Equation.** At joint `j`, bent by `φ` with `f = smooth(φ)`, a vertex at the signed distance
//! `s` along the bone (in units of the joint's radius) whose normal faces inward by `m` and outward
//! by `q` moves along its normal by
//!
//! ```text
//! m (−c(f) bell(s / 0.2) + b(f) Σ± bell((s ± 0.55) / 0.35)) + q (w (1 − f) cos(2πs / 0.5) bell(s / 0.75) + k f bell(s / 0.7))
//! ```
//!
//! a fold and the bulges beside it inside; wrinkles that smooth out and a knuckle that stands out
//! outside.
//!
//! **Departures.** The whole formula is our own, with amplitudes set by eye; lines of the palm
//! deepen as the thumb and the fingers close.

use std::f64::consts::TAU;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, vertex_normals, vertex_normals_into};

use super::anatomy::{Anatomy, Digit};
use super::poses::Gesture;
use crate::math::{bell, cos, smoothstep_between};
use crate::skeleton::Skin;

/// A vertex near a joint.
#[derive(Debug, Clone, Copy)]
struct NearJoint {
    vertex: u32,
    digit: usize,
    joint: usize,
    /// Distance beyond the joint, in its radius.
    along: f64,
    /// How much the normal faces inward (positive) or outward (negative).
    inward: f64,
    /// How much of the vertex belongs to the digit.
    share: f64,
    radius: f64,
}

/// A vertex near a line of the palm.
#[derive(Debug, Clone, Copy)]
struct NearLine {
    vertex: u32,
    line: usize,
    closeness: f64,
}

/// The joints and palm lines near every vertex, measured once on the open hand.
#[derive(Debug, Clone)]
pub(super) struct Creases {
    joints: Vec<NearJoint>,
    lines: Vec<NearLine>,
}

/// The lines of the palm: around the ball of the thumb, across the middle, and under the fingers.
const PALM_LINES: [[[f64; 2]; 5]; 3] = [
    [
        [3.45, 6.75],
        [1.75, 6.45],
        [0.55, 5.2],
        [0.05, 3.3],
        [0.25, 1.3],
    ],
    [
        [3.35, 6.95],
        [1.95, 6.75],
        [0.45, 6.05],
        [-1.15, 5.1],
        [-2.4, 4.0],
    ],
    [
        [-3.75, 6.6],
        [-2.2, 6.75],
        [-0.6, 7.1],
        [0.75, 7.9],
        [1.4, 8.7],
    ],
];
/// Width of a line, in centimetres.
const LINE_WIDTH: f64 = 0.20;
/// Depth of the lines of an open hand, and the depth that closing it adds.
const LINE_DEPTH: [f64; 2] = [0.055, 0.11];

impl Creases {
    pub(super) fn of(anatomy: &Anatomy, mesh: &Mesh, skin: &Skin) -> Self {
        let normals = vertex_normals(mesh);
        let mut creases = Self {
            joints: Vec::new(),
            lines: Vec::new(),
        };

        for (v, (&p, &n)) in mesh.positions().iter().zip(&normals).enumerate() {
            for (d, digit) in anatomy.digits.iter().enumerate() {
                // How much the vertex follows the digit: creases fade out at its root.
                let bones = digit.first_bone..digit.first_bone + 3;
                let share: f64 = skin.weights[v]
                    .iter()
                    .filter(|(bone, _)| bones.contains(bone))
                    .map(|(_, w)| w)
                    .sum();

                for joint in 1..3 {
                    creases
                        .joints
                        .extend(near_joint(v, p, n, d, digit, joint, share));
                }
            }

            // Lines of the palm lie only where the surface faces the palm's side.
            if n.z > 0.2 {
                creases
                    .lines
                    .extend(near_lines(v, p, smoothstep_between(0.2, 0.6, n.z)));
            }
        }

        creases
    }

    /// Adds the creases of the gesture to the skinned `positions`.
    pub(super) fn fold(
        &self,
        gesture: &Gesture,
        mesh: &Mesh,
        mut positions: Vec<DVec3>,
    ) -> Vec<DVec3> {
        let mut normals = vec![DVec3::ZERO; positions.len()];
        vertex_normals_into(mesh.topology(), mesh.triangles(), &positions, &mut normals);

        // Heights add up over joints and lines, and are applied along the normals of the skinned
        // pose.
        let mut heights = vec![0.0; positions.len()];
        for near in &self.joints {
            heights[near.vertex as usize] += near.share
                * near.radius
                * joint_height(near, gesture.bend_rad(near.digit, near.joint));
        }

        // The first line follows the thumb, the others the fingers.
        let closing = [
            gesture.bend_rad(0, 0),
            gesture.bend_rad(1, 0),
            gesture.bend_rad(3, 0),
        ]
        .map(|bend| smoothstep_between(0.05, 1.2, bend));

        for near in &self.lines {
            heights[near.vertex as usize] -=
                near.closeness * (LINE_DEPTH[0] + LINE_DEPTH[1] * closing[near.line]);
        }

        for ((position, normal), height) in positions.iter_mut().zip(&normals).zip(&heights) {
            *position += *normal * *height;
        }

        positions
    }
}

fn near_joint(
    v: usize,
    p: DVec3,
    n: DVec3,
    d: usize,
    digit: &Digit,
    joint: usize,
    share: f64,
) -> Option<NearJoint> {
    let radius = digit.radii[joint];
    let along = (p - digit.joints[joint]).dot(digit.along(joint)) / radius;
    let inward = n.dot(digit.inward(joint));

    (share > 0.05 && along.abs() < 2.5).then_some(NearJoint {
        vertex: v as u32,
        digit: d,
        joint,
        along,
        inward,
        share,
        radius,
    })
}

/// The displacement at a joint bent by `bend_rad`, in its radius.
fn joint_height(near: &NearJoint, bend_rad: f64) -> f64 {
    let s = near.along;
    let bent = smoothstep_between(0.0, 1.5, bend_rad);
    let inside = smoothstep_between(0.1, 0.7, near.inward);
    let outside = smoothstep_between(0.35, 0.85, -near.inward);

    // Amplitudes are relative to the joint's radius.
    let fold = -(0.045 + 0.13 * bent) * bell(s / 0.20);
    let bulges = 0.08 * bent * (bell((s - 0.55) / 0.35) + bell((s + 0.55) / 0.35));
    let wrinkles = 0.020 * (1.0 - bent) * cos(TAU * s / 0.50) * bell(s / 0.75);
    let knuckle = 0.07 * bent * bell(s / 0.7);
    inside * (fold + bulges) + outside * (wrinkles + knuckle)
}

fn near_lines(v: usize, p: DVec3, facing: f64) -> impl Iterator<Item = NearLine> {
    PALM_LINES
        .iter()
        .enumerate()
        .filter_map(move |(line, points)| {
            let closeness = facing * bell(distance_to_polyline(points, p) / LINE_WIDTH);
            (closeness > 0.01).then_some(NearLine {
                vertex: v as u32,
                line,
                closeness,
            })
        })
}

/// The distance in the plane of the palm, which rounds the corners of the polyline a little.
fn distance_to_polyline(points: &[[f64; 2]], p: DVec3) -> f64 {
    let p = DVec3::new(p.x, p.y, 0.0);
    let distances = points.windows(2).map(|ends| {
        let [a, b] = [ends[0], ends[1]].map(|[x, y]| DVec3::new(x, y, 0.0));
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a + (b - a) * t)
    });
    distances.fold(f64::INFINITY, f64::min)
}
