//! The linear system of pins and sliders, `B̄ Δw = m`.
//!
//! **Problem.** A drag moves a handful of points; only the rows of the rig at those points matter.
//!
//! **Equation.** `B̄ Δw = m`: `B̄` holds, for each pin, the three rows of the derivative of the rig
//! by its sliders, and `m` the displacements of the pins from the current pose. Rows are projected
//! onto the coordinates that the aim of a pin constrains, and multiplied by the root of its
//! stiffness.
//!
//! **Source.** Çetinaslan, thesis, 2016, section 3.2.3: `B̄` are "the corresponding rows" of eq.
//! 3.2.
//!
//! **Departures.** With in-betweens and combinations, `B̄` is taken at the current weights: `B̄ = R
//! ∂φ/∂w` with the rows `R` of the shapes.

use pliant_mesh::glam::{DMat3, DVec3};

use super::Poser;
use crate::{Aim, Pin, Rig, RigError, SliderId, Support};

/// The rows of a rig at its pins, at one pose.
#[derive(Debug)]
pub struct PinSystem {
    poser: Poser,
    pins: Vec<Pin>,
    weights: Vec<f64>,
    /// Displacements of the pins by each shape: shape by shape, pin by pin.
    shape_rows: Vec<DVec3>,
    /// Coefficients of the shapes at `weights`.
    coefficients: Vec<f64>,
    /// Positions of the pins at `weights`.
    positions: Vec<DVec3>,
}

/// A system at given weights and goals, projected and weighted: `columns · Δw ≈ goals`.
#[derive(Debug, Clone)]
pub(crate) struct ProjectedSystem {
    /// Slider by slider, three numbers for each pin.
    pub(crate) columns: Vec<f64>,
    /// Three numbers for each pin.
    pub(crate) goals: Vec<f64>,
}

impl ProjectedSystem {
    pub(crate) fn rows(&self) -> usize {
        self.goals.len()
    }

    pub(crate) fn column(&self, slider: usize) -> &[f64] {
        &self.columns[slider * self.rows()..][..self.rows()]
    }

    pub(crate) fn slider_count(&self) -> usize {
        self.columns.len() / self.rows().max(1)
    }

    /// Multiplies the rows of each pin by its matrix in `metric`, if there is one.
    pub(crate) fn measure(&mut self, metric: &[DMat3]) {
        let rows = self.rows();
        if !metric.is_empty() {
            for column in self.columns.chunks_exact_mut(rows) {
                measure(metric, column);
            }
        }
        measure(metric, &mut self.goals);
    }
}

/// Multiplies three numbers for each pin by its matrix in `metric`; an empty one changes nothing.
pub(crate) fn measure(metric: &[DMat3], values: &mut [f64]) {
    for (matrix, values) in metric.iter().zip(values.chunks_exact_mut(3)) {
        (*matrix * DVec3::from_slice(values)).write_to_slice(values);
    }
}

impl PinSystem {
    pub(super) fn new(poser: &Poser, weights: &[f64], pins: &[Pin]) -> Result<Self, RigError> {
        let rig = poser.rig();
        for pin in pins {
            pin.check(rig.neutral())?;
        }
        let weights = complete_weights(rig, weights)?;

        let supports: Vec<Support> = pins.iter().map(|pin| pin.support(rig.neutral())).collect();
        let mut shape_rows = Vec::with_capacity(pins.len() * rig.activation().shape_count());
        for shape in rig.shapes() {
            shape_rows.extend(supports.iter().map(|support| support.displacement(shape)));
        }

        // Positions: the neutral, plus every shape with its coefficient.
        let neutral = rig.neutral().positions();
        let mut positions: Vec<DVec3> = supports.iter().map(|s| s.of(neutral)).collect();
        let coefficients = rig.activation().coefficients(&weights);
        let rows = shape_rows.chunks_exact(pins.len().max(1));
        for (row, &coefficient) in rows.zip(&coefficients) {
            if coefficient != 0.0 {
                add_scaled(&mut positions, row, coefficient);
            }
        }

        Ok(Self {
            poser: poser.clone(),
            pins: pins.to_vec(),
            weights,
            shape_rows,
            coefficients,
            positions,
        })
    }

    /// The rig.
    #[must_use]
    pub fn rig(&self) -> &Rig {
        self.poser.rig()
    }

    /// The prepared rig.
    #[must_use]
    pub fn poser(&self) -> &Poser {
        &self.poser
    }

    /// The pins.
    #[must_use]
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// The weights from which solves start.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Positions of the pins at those weights.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// The derivative of the position of each pin by slider `slider`, at the starting weights.
    #[must_use]
    pub fn pin_derivatives(&self, slider: impl Into<SliderId>) -> Vec<DVec3> {
        let slider = slider.into().index();
        let mut derivatives = vec![DVec3::ZERO; self.pins.len()];
        for entry in self.rig().activation().derivatives(&self.weights) {
            if entry.slider == slider {
                add_scaled(&mut derivatives, self.shape_row(entry.shape), entry.value);
            }
        }

        derivatives
    }

    /// Displacements of the pins by one shape.
    fn shape_row(&self, shape: usize) -> &[DVec3] {
        let pins = self.pins.len();
        &self.shape_rows[shape * pins..][..pins]
    }

    /// For each slider, whether any shape that depends on it moves a pin.
    pub(crate) fn moving_sliders(&self) -> Vec<bool> {
        let shape_moves: Vec<bool> = self
            .shape_rows
            .chunks(self.pins.len().max(1))
            .map(|row| row.iter().any(|d| *d != DVec3::ZERO))
            .collect();

        // Shapes are ordered by slider, a target before its in-betweens.
        let rig = self.rig();
        let mut moving = Vec::with_capacity(rig.targets().len());
        let mut shape = 0;
        for target in rig.targets() {
            let count = 1 + target.in_betweens.len();
            moving.push(shape_moves[shape..shape + count].contains(&true));
            shape += count;
        }

        // Combinations come last.
        for combination in 0..rig.combinations().len() {
            if shape_moves[shape + combination] {
                for slider in rig.drivers_of(combination) {
                    moving[slider.index()] = true;
                }
            }
        }

        moving
    }

    /// Whether `B̄` is the same at all weights and goals.
    pub(crate) fn is_constant(&self) -> bool {
        let has_curve = self.pins.iter().any(|pin| matches!(pin.aim, Aim::Curve(_)));
        self.rig().activation().is_linear() && !has_curve
    }

    /// Positions of the pins at `weights`.
    #[must_use]
    pub fn positions_at(&self, weights: &[f64]) -> Vec<DVec3> {
        // On a linear rig the weights are the coefficients.
        let activation = self.rig().activation();
        let computed;
        let coefficients = if activation.is_linear() && weights.len() == self.coefficients.len() {
            weights
        } else {
            computed = activation.coefficients(weights);
            &computed
        };

        let mut positions = self.positions.clone();
        for (shape, (new, old)) in coefficients.iter().zip(&self.coefficients).enumerate() {
            if new != old {
                add_scaled(&mut positions, self.shape_row(shape), new - old);
            }
        }

        positions
    }

    /// Whether any shape moves pin `pin`.
    pub(crate) fn is_moved(&self, pin: usize) -> bool {
        self.shape_rows
            .chunks_exact(self.pins.len())
            .any(|row| row[pin] != DVec3::ZERO)
    }

    /// The number of coordinates that the pins constrain at the starting weights.
    pub(crate) fn constrained_coordinates(&self) -> usize {
        let mut count = 0;
        for (pin, &position) in self.pins.iter().zip(&self.positions) {
            // The rank of a projection is its trace.
            let (projection, _) = pin.aim.projection_and_goal(position, position);
            let trace: f64 = (0..3).map(|k| projection.col(k)[k]).sum();
            count += trace.round() as usize;
        }
        count
    }

    /// The displacements, projected and weighted, of pins whose aims do not depend on the pose.
    pub(crate) fn projected_displacements(&self, displacements: &[DVec3]) -> Vec<f64> {
        let mut projected = Vec::with_capacity(3 * displacements.len());
        for (k, pin) in self.pins.iter().enumerate() {
            let position = self.positions[k];
            let (projection, _) = pin
                .aim
                .projection_and_goal(position, position + displacements[k]);
            projected.extend((projection * pin.stiffness.sqrt() * displacements[k]).to_array());
        }
        projected
    }

    /// The system at `weights`, for goals that are `displacements` away from the start.
    pub(crate) fn project(&self, weights: &[f64], displacements: &[DVec3]) -> ProjectedSystem {
        // B̄ = P R ∂φ/∂w, column by column.
        let offsets = self.projections_and_offsets(weights, displacements);
        let pins = self.pins.len();
        let mut columns = vec![0.0; 3 * pins * self.weights.len()];

        for entry in self.rig().activation().derivatives(weights) {
            let column = &mut columns[3 * pins * entry.slider..][..3 * pins];
            for (k, displacement) in self.shape_row(entry.shape).iter().enumerate() {
                if *displacement == DVec3::ZERO {
                    continue;
                }
                let projected = offsets[k].0 * (*displacement * entry.value);
                for axis in 0..3 {
                    column[3 * k + axis] += projected[axis];
                }
            }
        }

        ProjectedSystem {
            columns,
            goals: projected(&offsets),
        }
    }

    /// The right hand side of [`Self::project`] alone: the residual of the pins at `weights`.
    pub(crate) fn residual(&self, weights: &[f64], displacements: &[DVec3]) -> Vec<f64> {
        projected(&self.projections_and_offsets(weights, displacements))
    }

    /// For each pin its weighted projection, and the offset from its position at `weights` to its
    /// goal.
    fn projections_and_offsets(
        &self,
        weights: &[f64],
        displacements: &[DVec3],
    ) -> Vec<(DMat3, DVec3)> {
        // The positions at the start are known.
        let at_start = weights == self.weights;
        let positions = if at_start {
            self.positions.clone()
        } else {
            self.positions_at(weights)
        };

        let mut offsets = Vec::with_capacity(self.pins.len());
        for (k, pin) in self.pins.iter().enumerate() {
            let goal = self.positions[k] + displacements[k];
            let (projection, goal) = pin.aim.projection_and_goal(positions[k], goal);

            // At the start the offset is the displacement itself; adding it to a position and
            // subtracting the position again would round it.
            let offset = if at_start && !matches!(pin.aim, Aim::Curve(_)) {
                displacements[k]
            } else {
                goal - positions[k]
            };
            offsets.push((projection * pin.stiffness.sqrt(), offset));
        }

        offsets
    }
}

/// One weight for each slider, zero where `weights` ends early.
fn complete_weights(rig: &Rig, weights: &[f64]) -> Result<Vec<f64>, RigError> {
    let targets = rig.targets();
    if weights.len() > targets.len() {
        return Err(RigError::SliderCount {
            found: weights.len(),
            expected: targets.len(),
        });
    }

    let mut weights = weights.to_vec();
    weights.resize(targets.len(), 0.0);
    if let Some(slider) = weights.iter().position(|w| !w.is_finite()) {
        return Err(RigError::BadWeight {
            name: targets[slider].name.clone(),
        });
    }

    Ok(weights)
}

fn add_scaled(sums: &mut [DVec3], values: &[DVec3], factor: f64) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += *value * factor;
    }
}

fn projected(offsets: &[(DMat3, DVec3)]) -> Vec<f64> {
    offsets
        .iter()
        .flat_map(|(projection, offset)| (*projection * *offset).to_array())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Bounded, Hybrid, Localized, PoseSolver, PseudoInverse, Range, Target, Tikhonov, Transpose,
        Units,
    };
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::Vec3;

    /// A triangle whose first vertex is moved by each of `motions`.
    fn rig(motions: &[Vec3]) -> Rig {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let mut targets = Vec::new();
        for (k, &motion) in motions.iter().enumerate() {
            targets.push(Target::from_dense(format!("slider{k}"), [motion]));
        }
        Rig::new(mesh, targets).unwrap()
    }

    fn weights(rig: &Rig, pin: &Pin, solver: &dyn PoseSolver) -> Vec<f64> {
        let poser = Poser::new(rig).unwrap();
        let mut grab = poser
            .grab(&[], std::slice::from_ref(pin), solver, Range::Clip)
            .unwrap();
        grab.solve(&[pin.displacement]).weights
    }

    #[test]
    fn every_method_reaches_a_goal_whose_free_coordinates_the_slider_moves() {
        // A jaw that opens down and back. A pin in space asks it to stay in depth.
        let rig = rig(&[Vec3::new(0.0, -1.0, -1.0)]);
        let down = DVec3::NEG_Y * 0.5;
        let position = DVec3::ZERO;
        let free = [
            Pin::across(0, down, DVec3::Z),
            Pin::along(0, DVec3::Y, -0.5),
            Pin::onto_ray(0, position, down, DVec3::Z),
        ];

        let solvers: [Box<dyn PoseSolver>; 6] = [
            Box::new(PseudoInverse),
            Box::new(Tikhonov::default()),
            Box::new(Localized::default()),
            Box::new(Transpose::default()),
            Box::new(Hybrid::default()),
            Box::new(Bounded::default()),
        ];
        for solver in solvers {
            for pin in &free {
                let [weight] = weights(&rig, pin, solver.as_ref())[..] else {
                    panic!("one slider");
                };
                assert!((weight - 0.5).abs() < 1e-4, "{} {weight}", solver.name());
            }

            // The nearest point of the line (0, -w, -w) to (0, -0.5, 0) has w = 0.25.
            let in_space = weights(&rig, &Pin::new(0, down), solver.as_ref())[0];
            assert!((in_space - 0.25).abs() < 0.01, "{}", solver.name());
        }
    }

    #[test]
    fn the_automatic_share_of_hybrid_ignores_rows_of_free_coordinates() {
        // In the picture plane B̄ = diag(2, 1): γ = σmin / σmax = 1/2. The pseudo-inverse is (1/2,
        // 1), and the step of the transpose along B̄ᵀm = (2, 1) is 5/17.
        let rig = rig(&[Vec3::new(2.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)]);
        let pin = Pin::across(0, DVec3::new(1.0, 1.0, 0.0), DVec3::Z);
        let hybrid = Hybrid {
            gamma: None,
            units: Units::Relative,
        };

        let found = weights(&rig, &pin, &hybrid);
        let expected = [0.5 * 0.5 + 0.5 * 10.0 / 17.0, 0.5 + 0.5 * 5.0 / 17.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn the_pseudo_inverse_is_that_of_the_projected_rows() {
        // Two sliders, one constrained coordinate: w = b m / |b|² with the row b = (1, 3).
        let rig = rig(&[Vec3::new(5.0, 1.0, 0.0), Vec3::new(-2.0, 3.0, 7.0)]);
        let found = weights(&rig, &Pin::along(0, DVec3::Y, 0.8), &PseudoInverse);
        for (found, b) in found.iter().zip([1.0, 3.0]) {
            assert!((found - 0.8 * b / 10.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_stiffer_pin_is_nearer_to_its_goal_by_the_ratio_of_the_stiffness() {
        // Two pins of opposite goals on one slider: w = (s − 1) / (s + 1).
        let rig = rig(&[Vec3::Y]).with_sliders(vec![crate::Slider {
            limits: crate::Limits::new(-1.0, 1.0),
            ..crate::Slider::default()
        }]);
        let poser = Poser::new(&rig.unwrap()).unwrap();
        let pins = [
            Pin::new(0, DVec3::Y).with_stiffness(3.0),
            Pin::new(0, DVec3::NEG_Y),
        ];
        let mut grab = poser.grab(&[], &pins, &PseudoInverse, Range::Clip).unwrap();
        let found = grab.solve(&[DVec3::Y, DVec3::NEG_Y]).weights[0];
        assert!((found - 0.5).abs() < 1e-12, "{found}");
    }

    #[test]
    fn a_path_gives_the_poses_of_its_steps_and_declines_steps_that_do_not_fit() {
        let rig = rig(&[Vec3::Y]);
        let poser = Poser::new(&rig).unwrap();
        let pins = [Pin::hold(0)];
        let mut grab = poser.grab(&[], &pins, &PseudoInverse, Range::Clip).unwrap();
        let path: Vec<Vec<DVec3>> = [0.0, 0.25, 0.5, 0.0].map(|y| vec![DVec3::Y * y]).to_vec();

        let drag = grab.follow(&path).unwrap();
        let found: Vec<f64> = drag.weights().map(|weights| weights[0]).collect();
        for (found, expected) in found.iter().zip([0.0, 0.25, 0.5, 0.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
        assert!((drag.largest_change() - 0.5).abs() < 1e-12);
        let track = drag.to_track(25.0).unwrap();
        assert_eq!(track.times_secs()[3], 0.12);

        assert_eq!(grab.follow(&[]), Err(RigError::NoSteps));
        assert!(matches!(
            grab.follow(&[vec![DVec3::ZERO; 2]]),
            Err(RigError::PathPins { found: 2, .. })
        ));
        assert!(matches!(
            grab.follow(&[vec![DVec3::NAN]]),
            Err(RigError::PathNotFinite { step: 0, pin: 0 })
        ));
    }
}
