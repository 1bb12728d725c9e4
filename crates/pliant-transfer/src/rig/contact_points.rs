//! Contact points of a rig: places that its shapes bring together or take apart.
//!
//! **Problem.** Lids and lips are a small part of a surface. A fit over the whole of it leaves them a
//! little open, which everybody sees.
//!
//! **Method.** For each target, the contact pairs of its pose ([`ContactFinder`]) are points that it
//! brings together, as a blink does. The contact pairs of the rest pose, seen from the pose of the
//! target, are points that it takes apart, as an opening jaw does with the lips.

use std::collections::BTreeSet;

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, TrianglePoint};
use pliant_rig::Rig;

use super::contact_pairs::{ContactFinder, ContactPair};
use crate::extent::size;

/// Vertices that a shape moves less than this, relative to the size, do not move.
const LEAST_MOTION: f64 = 1e-4;

/// Pairs of points of the neutral mesh that some target closes or opens.
///
/// # Errors
/// A mesh without faces.
pub fn contact_points(rig: &Rig) -> Result<Vec<[TrianglePoint; 2]>, MeshError> {
    let count = rig.targets().len();
    let of_targets = parallel::map(count, 1, |target| of_target(rig, target));
    let corners = corners_of(rig.neutral());
    let mut seen = BTreeSet::new();
    let mut points = Vec::new();
    for pairs in of_targets {
        for pair in pairs? {
            let Some(own) = corners[pair.vertex as usize] else {
                continue;
            };
            if seen.insert((pair.vertex, pair.partner.triangle)) {
                points.push([own, pair.partner]);
            }
        }
    }
    Ok(points)
}

/// The pairs that one target brings together or takes apart.
fn of_target(rig: &Rig, target: usize) -> Result<Vec<ContactPair>, MeshError> {
    let mesh = rig.neutral();
    let mut weights = vec![0.0; rig.targets().len()];
    weights[target] = rig.sliders()[target].limits.max.clamp(0.0, 1.0);
    let posed = rig.evaluate(&weights);

    let rest = mesh.positions();
    let least = LEAST_MOTION * size(mesh);
    let moved = |(a, b): (&DVec3, &DVec3)| a.distance(*b) > least;
    let moves: Vec<bool> = posed.iter().zip(rest).map(moved).collect();
    if !moves.contains(&true) {
        return Ok(Vec::new());
    }

    let mut pairs = ContactFinder::new(mesh)?.pairs(&posed, &moves)?;
    let open = mesh.posed(posed)?;
    pairs.extend(ContactFinder::new(&open)?.pairs(rest, &moves)?);
    Ok(pairs)
}

/// Each vertex as a corner of some triangle.
fn corners_of(mesh: &Mesh) -> Vec<Option<TrianglePoint>> {
    let mut corners = vec![None; mesh.vertex_count()];
    for (triangle, vertices) in (0..).zip(mesh.triangles()) {
        for (corner, &v) in vertices.iter().enumerate() {
            let mut barycentric = [0.0; 3];
            barycentric[corner] = 1.0;
            corners[v as usize].get_or_insert(TrianglePoint {
                triangle,
                barycentric,
            });
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_contacts_at_lids_and_lips() {
        let head = pliant_specimens_head();
        let points = contact_points(&head).unwrap();
        let gap_at = |weights: &[f64]| -> Vec<f64> {
            let positions = head.evaluate(weights);
            let triangles = head.neutral().triangles();
            points
                .iter()
                .map(|ends| {
                    let [a, b] = ends.map(|end| end.position(triangles, &positions));
                    a.distance(b)
                })
                .collect()
        };
        let weights = |names: &[&str]| -> Vec<f64> {
            let is = |name: &str| f64::from(u8::from(names.contains(&name)));
            head.targets().iter().map(|t| is(&t.name)).collect()
        };
        let rest = gap_at(&weights(&[]));
        let closed = |names: &[&str]| {
            let gaps = gap_at(&weights(names));
            let pairs = gaps.iter().zip(&rest);
            pairs.filter(|(gap, rest)| **gap < 0.25 * **rest).count()
        };
        assert!(closed(&["eyeBlinkLeft"]) > 4);
        let apart = gap_at(&weights(&["jawOpen"]));
        let opened = apart
            .iter()
            .zip(&rest)
            .filter(|(gap, rest)| **rest < 0.25 * **gap);
        assert!(opened.count() > 4);
    }

    fn pliant_specimens_head() -> Rig {
        pliant_specimens::specimen("head").expect("a head").rig
    }
}
