//! Stretching constraint of Çetinaslan 2016: the length of an edge.
//!
//! **Problem.** Move both ends of an edge, along it, so that it has its length at rest.
//!
//! **Equation.** With `n = (qⱼ − qᵢ) / |qⱼ − qᵢ|`,
//!
//! ```text
//! C = |qⱼ − qᵢ| − l        ∇ᵢC = −n        ∇ⱼC = n
//! Δqᵢ = +wᵢ / (wᵢ + wⱼ) C n        Δqⱼ = −wⱼ / (wᵢ + wⱼ) C n
//! ```
//!
//! **Source.** Çetinaslan 2016, eq. 5.8; Müller et al., "Position based dynamics", 2007, eqs.
//! 10 and 11.
//!
//! **Departures.** The thesis' gradients are right, its corrections are not:
//!
//! | | printed | right |
//! |---|---|---|
//! | before A.1 | `C = \|D\| − l` with `D = \|qⱼ − qᵢ\|` | the same; one of the two bars is one too many |
//! | before A.1 | `λ = (\|qⱼ − qᵢ\| − l) / \|wⱼ + wᵢ\|` | the negative of it, by eq. 5.7 |
//! | A.1 | `Δqᵢ = −½ C n` | `+½ C n` |
//! | A.2 | `Δqⱼ = +½ C n` | `−½ C n` |
//!
//! As printed an edge that is too long becomes longer, by as much again. An edge whose ends
//! coincide has no direction and rests for the sweep.

use super::RestMeasure;
use crate::touch::projection::constraint_group::Constraint;
use crate::touch::projection::lanes::{Lanes, Vectors};

/// Two vertices at a distance; the parameter is the length at rest.
pub(super) struct EdgeLength;

impl RestMeasure<2, 1> for EdgeLength {
    #[inline(always)]
    fn measure(positions: &[Vectors; 2]) -> [Lanes; 1] {
        [(positions[1] - positions[0]).length()]
    }
}

impl Constraint<2, 1, 0> for EdgeLength {
    #[inline(always)]
    fn project(
        &self,
        positions: &mut [Vectors; 2],
        inverse_masses: &[Lanes; 2],
        parameters: &[Lanes; 1],
        _: &mut [Lanes; 0],
    ) {
        let [w_i, w_j] = *inverse_masses;
        let offset = positions[1] - positions[0];
        let length = offset.length();

        // Eq. 5.8 with the signs of eq. 5.7.
        let step = offset * (length - parameters[0]).over(length * (w_i + w_j));
        positions[0] += step * w_i;
        positions[1] -= step * w_j;
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_gradients::{difference_gradients, lone, projected, scattered, torque};
    use super::*;
    use pliant_mesh::glam::DVec3;

    fn length([i, j]: [DVec3; 2]) -> f64 {
        i.distance(j)
    }

    #[test]
    fn ends_move_along_the_slope_of_the_length_until_it_is_the_one_at_rest() {
        for seed in 0..50 {
            let positions: [DVec3; 2] = scattered(seed);
            let moved = projected(&EdgeLength, positions, [1.0, 1.0], [0.7]);
            assert!((length(moved) - 0.7).abs() < 1e-14);

            for (gradient, (new, old)) in difference_gradients(length, positions)
                .iter()
                .zip(moved.iter().zip(positions))
            {
                let expected = *gradient * (-0.5 * (length(positions) - 0.7));
                assert!((*new - old).distance(expected) < 1e-8, "{seed}");
            }

            assert!(torque(&positions, &moved).length() < 1e-14);
        }
    }

    #[test]
    fn the_printed_corrections_double_the_violation() {
        let positions: [DVec3; 2] = scattered(3);
        let [i, j] = positions;
        let violation = length(positions) - 0.7;
        let n = (j - i) / length(positions);
        let printed = [i - n * (0.5 * violation), j + n * (0.5 * violation)];
        assert!((length(printed) - 0.7 - 2.0 * violation).abs() < 1e-14);
    }

    #[test]
    fn a_held_end_leaves_the_whole_correction_to_the_other() {
        let positions: [DVec3; 2] = scattered(5);
        let moved = projected(&EdgeLength, positions, [0.0, 1.0], [0.7]);
        assert_eq!(moved[0], positions[0]);
        assert!((length(moved) - 0.7).abs() < 1e-14);
        assert_eq!(
            projected(&EdgeLength, positions, [0.0, 0.0], [0.7]),
            positions
        );
    }

    #[test]
    fn coincident_ends_do_not_move() {
        let positions = [DVec3::ONE; 2];
        assert_eq!(
            projected(&EdgeLength, positions, [1.0, 1.0], [0.7]),
            positions
        );
        assert_eq!(EdgeLength::measure(&positions.map(lone))[0].0[0], 0.0);
    }
}
