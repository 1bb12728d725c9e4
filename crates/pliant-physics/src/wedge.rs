//! Which of several obstacles bears how much of a vertex that all of them touch.
//!
//! **Problem.** A vertex between two obstacles is pushed by both; whether it presses on one of them
//! depends on what the other bears.
//!
//! **Equation.** With the force `f` of the springs and the outward normals `nₖ`, the pushes are
//!
//! ```text
//! min |f + Σₖ pₖ nₖ|²        pₖ ≥ 0
//! ```
//!
//! **Source.** Nonnegative least squares; one unknown after another as in Cottle, Pang, Stone, "The
//! Linear Complementarity Problem", 1992, chapter 5.

use pliant_mesh::glam::DVec3;

/// Sweeps over the obstacles: ours. Two at a right angle need one, two at 20° need some thirty.
const SWEEPS: usize = 60;

/// For each obstacle the force that is left on the vertex once the others bear their part.
pub(crate) fn share_force(force: DVec3, normals: &[DVec3]) -> Vec<DVec3> {
    let mut pushes = vec![0.0; normals.len()];
    let mut left = force;
    for _ in 0..SWEEPS {
        for (push, &normal) in pushes.iter_mut().zip(normals) {
            let next = (*push - left.dot(normal)).max(0.0);
            left += normal * (next - *push);
            *push = next;
        }
    }
    pushes
        .iter()
        .zip(normals)
        .map(|(push, &normal)| left - normal * *push)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_in_a_groove_presses_on_both_walls_by_the_parallelogram() {
        let [left, right] = [DVec3::new(0.6, 0.8, 0.0), DVec3::new(-0.8, 0.6, 0.0)];
        let (a, b) = (0.7, 0.2);
        let shares = share_force(-(left * a + right * b) + DVec3::Z, &[left, right]);
        assert!(
            shares[0].distance(DVec3::Z - left * a) < 1e-12
                && shares[1].distance(DVec3::Z - right * b) < 1e-12,
            "{shares:?}"
        );
    }

    #[test]
    fn who_is_pulled_off_one_wall_presses_on_the_other_alone() {
        let [left, right] = [DVec3::X, DVec3::Y];
        let shares = share_force(DVec3::new(0.5, -2.0, 0.0), &[left, right]);
        assert_eq!(
            shares,
            [DVec3::new(0.5, 0.0, 0.0), DVec3::new(0.5, -2.0, 0.0)]
        );
    }

    #[test]
    fn a_narrow_groove_is_shared_too() {
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
