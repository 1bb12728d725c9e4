//! Normal forces at a vertex that touches several obstacles (nonnegative least squares).
//!
//! **Problem.** A vertex between two obstacles is pushed by both; the normal force of each depends
//! on that of the other.
//!
//! **Equation.** With the force `f` of the springs and the outward normals `nₖ`, the normal forces
//! are
//!
//! ```text
//! min |f + Σₖ pₖ nₖ|²        pₖ ≥ 0
//! ```
//!
//! **Source.** Nonnegative least squares; one unknown after another (projected Gauss–Seidel) as in
//! Cottle, Pang, Stone, "The Linear Complementarity Problem", 1992, chapter 5.

use pliant_mesh::glam::DVec3;

/// Sweeps over the obstacles. Chosen: two obstacles at a right angle need one, two at 20° some
/// thirty.
const SWEEPS: usize = 60;

/// For each obstacle the force that remains on the vertex once the others carry their part.
pub(crate) fn share_force(force: DVec3, normals: &[DVec3]) -> Vec<DVec3> {
    let mut normal_forces = vec![0.0; normals.len()];
    let mut left = force;
    for _ in 0..SWEEPS {
        // One unknown after another; `left` is the force after all reactions.
        for (p, &normal) in normal_forces.iter_mut().zip(normals) {
            let next = (*p - left.dot(normal)).max(0.0);
            left += normal * (next - *p);
            *p = next;
        }
    }

    let mut shares = Vec::with_capacity(normals.len());
    for (p, &normal) in normal_forces.iter().zip(normals) {
        shares.push(left - normal * *p);
    }

    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_in_a_groove_presses_on_both_walls_by_the_parallelogram_of_forces() {
        let [left, right] = [DVec3::new(0.6, 0.8, 0.0), DVec3::new(-0.8, 0.6, 0.0)];
        let a = 0.7;
        let b = 0.2;
        let shares = share_force(-(left * a + right * b) + DVec3::Z, &[left, right]);
        assert!(
            shares[0].distance(DVec3::Z - left * a) < 1e-12
                && shares[1].distance(DVec3::Z - right * b) < 1e-12,
            "{shares:?}"
        );
    }

    #[test]
    fn a_vertex_that_leaves_one_wall_presses_on_the_other_alone() {
        let [left, right] = [DVec3::X, DVec3::Y];
        let shares = share_force(DVec3::new(0.5, -2.0, 0.0), &[left, right]);
        assert_eq!(
            shares,
            [DVec3::new(0.5, 0.0, 0.0), DVec3::new(0.5, -2.0, 0.0)]
        );
    }

    #[test]
    fn the_forces_converge_in_a_narrow_groove() {
        let wall =
            |degrees: f64| DVec3::new(degrees.to_radians().cos(), degrees.to_radians().sin(), 0.0);
        let normals = [wall(80.0), wall(100.0)];

        for share in share_force(-DVec3::Y, &normals)
            .iter()
            .zip(normals)
            .map(|(f, n)| -f.dot(n))
        {
            assert!(
                (share - 0.5 / 80.0_f64.to_radians().sin()).abs() < 1e-3,
                "{share}"
            );
        }
    }
}
