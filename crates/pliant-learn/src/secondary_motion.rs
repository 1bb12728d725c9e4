//! Secondary motion: a damped oscillator on every vertex that follows the driven pose.
//!
//! **Problem.** A driven pose has no memory: when the body stops, everything stops at once. Soft
//! parts should overshoot and settle.
//!
//! **Equation.** A mass is attached to each driven vertex `x(t)` by a spring and a damper; its
//! offset `u` from there satisfies
//!
//! ```text
//! u″ + 2ζω u′ + ω² u = −x″        output: x + a u
//! ```
//!
//! Between two frames `x` is linear, so that `x″` is an impulse `−ΔV` on `u′` where the velocity
//! changes. Between impulses, the oscillator is free; its solution is a matrix exponential in
//! closed form. The result is stable at every frame rate and does not depend on it for a motion
//! that is linear between its keys.
//!
//! **Departures.** The spring is isotropic, so that no frame is needed. Motion at constant velocity
//! gives no offset. The amount `a` rises from zero at the control points, whose motion an animator
//! has specified, to one at the vertex farthest from all of them along the surface. Before the
//! first frame, the velocity is that between the first two frames.

use pliant_linalg::{parallel, smoothstep};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError};

use crate::surface::relax_from;
use crate::{ControlPoints, LearnError};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// Parameters of the oscillators.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SecondaryMotionOptions {
    /// Frequency of the undamped oscillation, `ω / 2π`, in Hz.
    pub hertz: f64,
    /// Damping ratio `ζ`: 0 oscillates forever, 1 returns without overshooting.
    pub damping: f64,
    /// Frame rate of the driven poses.
    pub frames_per_second: f64,
}

impl SecondaryMotionOptions {
    /// *Chosen*: four or five visible oscillations.
    pub const DEFAULT_DAMPING: f64 = 0.15;

    fn check(&self) -> Result<(), LearnError> {
        require(
            self.hertz > 0.0 && self.hertz.is_finite(),
            "the frequency of secondary motion",
            self.hertz,
            "a number above zero",
        )?;
        require(
            self.frames_per_second > 0.0 && self.frames_per_second.is_finite(),
            "the number of frames a second",
            self.frames_per_second,
            "a number above zero",
        )?;
        require(
            self.damping >= 0.0 && self.damping.is_finite(),
            "the damping of secondary motion",
            self.damping,
            "a number from zero up",
        )
    }
}

fn require(
    valid: bool,
    what: &'static str,
    value: f64,
    needed: &'static str,
) -> Result<(), LearnError> {
    if valid {
        return Ok(());
    }
    Err(LearnError::BadNumber {
        what,
        value,
        needed,
    })
}

/// The oscillators of all vertices.
#[derive(Debug, Clone)]
pub struct SecondaryMotion {
    step: OscillatorStep,
    frame_secs: f64,
    amounts: Vec<f64>,
    /// `u` and `u′`.
    states: Vec<[DVec3; 2]>,
    /// The previous frame.
    last: Option<LastFrame>,
}

/// Driven positions of the previous frame, and the velocities that led to it.
#[derive(Debug, Clone)]
struct LastFrame {
    positions: Vec<DVec3>,
    /// `None` in the first frame.
    velocities: Option<Vec<DVec3>>,
}

impl SecondaryMotion {
    /// Oscillators at rest, with amounts that rise with the distance from `control` along the
    /// surface of `mesh`.
    ///
    /// # Errors
    /// A frequency, damping or frame rate out of range.
    pub fn new(
        mesh: &Mesh,
        control: &ControlPoints,
        options: &SecondaryMotionOptions,
    ) -> Result<Self, LearnError> {
        options.check()?;
        let frame_secs = 1.0 / options.frames_per_second;
        let omega = std::f64::consts::TAU * options.hertz;
        Ok(Self {
            step: OscillatorStep::over(frame_secs, omega, options.damping),
            frame_secs,
            amounts: amounts_of(mesh, control),
            states: vec![[DVec3::ZERO; 2]; mesh.vertex_count()],
            last: None,
        })
    }

    /// The same with another amount for each vertex: 0 is rigid, 1 oscillates freely.
    ///
    /// # Errors
    /// If there is not one per vertex.
    pub fn with_amounts(self, amounts: Vec<f64>) -> Result<Self, LearnError> {
        require_count("the list of amounts", amounts.len(), self.amounts.len())?;
        Ok(Self { amounts, ..self })
    }

    /// The factor `a` of the offset of each vertex.
    #[must_use]
    pub fn amounts(&self) -> &[f64] {
        &self.amounts
    }

    /// The next frame: driven positions with their offsets.
    ///
    /// # Errors
    /// If there is not one position per vertex.
    pub fn advance(&mut self, driven: &[DVec3]) -> Result<Vec<DVec3>, LearnError> {
        require_count("the list of positions", driven.len(), self.states.len())?;
        let Some(last) = self.last.take() else {
            self.last = Some(LastFrame {
                positions: driven.to_vec(),
                velocities: None,
            });
            return Ok(driven.to_vec());
        };

        // The impulse −ΔV, then the free oscillation.
        let velocities: Vec<DVec3> = driven
            .iter()
            .zip(&last.positions)
            .map(|(to, from)| (*to - *from) / self.frame_secs)
            .collect();
        let before = last.velocities.as_ref().unwrap_or(&velocities);
        let step = self.step;
        parallel::for_each_chunk_mut(&mut self.states, VERTICES_PER_TASK, |start, chunk| {
            for (k, [offset, velocity]) in chunk.iter_mut().enumerate() {
                *velocity -= velocities[start + k] - before[start + k];
                (*offset, *velocity) = step.apply(*offset, *velocity);
            }
        });

        self.last = Some(LastFrame {
            positions: driven.to_vec(),
            velocities: Some(velocities),
        });
        Ok(self.output(driven))
    }

    /// `x + a u`.
    fn output(&self, driven: &[DVec3]) -> Vec<DVec3> {
        let mut positions = driven.to_vec();
        for (v, position) in positions.iter_mut().enumerate() {
            if self.amounts[v] != 0.0 {
                *position += self.states[v][0] * self.amounts[v];
            }
        }
        positions
    }
}

/// The exponential of a damped oscillator over a fixed time: a 2×2 matrix on offset and velocity.
#[derive(Debug, Clone, Copy)]
struct OscillatorStep {
    rows: [[f64; 2]; 2],
}

impl OscillatorStep {
    fn over(secs: f64, omega: f64, damping: f64) -> Self {
        let decay = damping * omega;
        let (cosine, sine) = damped_cosine_and_sine(secs, omega, damping);
        Self {
            rows: [
                [cosine + decay * sine, sine],
                [-omega * omega * sine, cosine - decay * sine],
            ],
        }
    }

    fn apply(&self, offset: DVec3, velocity: DVec3) -> (DVec3, DVec3) {
        let [[a, b], [c, d]] = self.rows;
        (offset * a + velocity * b, offset * c + velocity * d)
    }
}

/// `E C` and `E S` of `E (C + ζω S)`, with `E = e^{−ζωt}`, and `C` and `S` the (hyperbolic) cosine
/// and the sine over the root.
fn damped_cosine_and_sine(secs: f64, omega: f64, damping: f64) -> (f64, f64) {
    let decay = damping * omega;
    if damping < 1.0 {
        let root = omega * (1.0 - damping * damping).sqrt();
        let envelope = (-decay * secs).exp();
        return (
            envelope * (root * secs).cos(),
            envelope * (root * secs).sin() / root,
        );
    }
    if damping > 1.0 {
        // The slower exponential and its relative difference from the faster one, without a
        // difference of nearly equal numbers.
        let root = omega * (damping * damping - 1.0).sqrt();
        let slow = (-omega * omega / (decay + root) * secs).exp();
        let less = -(-2.0 * root * secs).exp_m1();
        return (slow * (1.0 - 0.5 * less), 0.5 * slow * less / root);
    }

    let envelope = (-decay * secs).exp();
    (envelope, envelope * secs)
}

/// Amounts from zero at the control points to one at the farthest vertex, by a smoothstep; one on
/// components without a control point.
fn amounts_of(mesh: &Mesh, control: &ControlPoints) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; mesh.vertex_count()];
    for &vertex in control.vertices() {
        relax_from(mesh, vertex, &mut distances, |_| {});
    }
    let farthest = distances
        .iter()
        .copied()
        .filter(|distance| distance.is_finite())
        .fold(0.0, f64::max);

    let mut amounts = Vec::with_capacity(distances.len());
    for distance in distances {
        // Infinite distances give an amount of one.
        let t = if farthest > 0.0 {
            (distance / farthest).min(1.0)
        } else {
            0.0
        };
        amounts.push(smoothstep(t));
    }
    amounts
}

fn require_count(what: &'static str, found: usize, expected: usize) -> Result<(), LearnError> {
    if found == expected {
        return Ok(());
    }
    let error = MeshError::Count {
        what,
        found,
        expected,
    };
    Err(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    const HERTZ: f64 = 2.0;

    fn oscillating(damping: f64, frames_per_second: f64) -> SecondaryMotion {
        let mesh = shapes::icosphere(1);
        let control = ControlPoints::new(&mesh, &[0, 1, 2]).unwrap();
        let options = SecondaryMotionOptions {
            hertz: HERTZ,
            damping,
            frames_per_second,
        };

        SecondaryMotion::new(&mesh, &control, &options)
            .unwrap()
            .with_amounts(vec![1.0; 42])
            .unwrap()
    }

    fn still() -> Vec<DVec3> {
        shapes::icosphere(1).positions().to_vec()
    }

    fn moved(by: DVec3) -> Vec<DVec3> {
        still().iter().map(|p| *p + by).collect()
    }

    /// `u` for a kick `−V` at time zero.
    fn closed_form(secs: f64, damping: f64, kick: f64) -> f64 {
        let omega = std::f64::consts::TAU * HERTZ;
        let root = omega * (1.0 - damping * damping).sqrt();
        kick * (-damping * omega * secs).exp() * (root * secs).sin() / root
    }

    #[test]
    fn a_sudden_start_follows_the_closed_form_at_every_frame_rate() {
        let speed = 3.0;
        for frames_per_second in [10.0, 24.0, 240.0] {
            let mut motion = oscillating(0.2, frames_per_second);
            motion.advance(&still()).unwrap();
            motion.advance(&still()).unwrap();

            for frame in 1..=(frames_per_second as usize) {
                let secs = frame as f64 / frames_per_second;
                let driven = moved(DVec3::X * speed * secs);
                let offset = motion.advance(&driven).unwrap()[5] - driven[5];
                let expected = closed_form(secs, 0.2, -speed);
                assert!(
                    (offset - DVec3::X * expected).length() < 1e-12,
                    "{frames_per_second} fps at {secs}: {offset} {expected}"
                );
            }
        }
    }

    #[test]
    fn rest_changes_no_bit_and_constant_velocity_gives_no_offset() {
        let mut motion = oscillating(0.2, 24.0);
        for _ in 0..50 {
            assert_eq!(motion.advance(&still()).unwrap(), still());
        }

        let mut motion = oscillating(0.2, 24.0);
        for frame in 0..50 {
            let driven = moved(DVec3::new(0.3, -0.1, 0.2) * f64::from(frame));
            let apart = motion
                .advance(&driven)
                .unwrap()
                .iter()
                .zip(&driven)
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f64::max);
            assert!(apart < 1e-12, "{apart:e}");
        }
    }

    #[test]
    fn the_energy_never_rises_for_any_damping_and_frame_time() {
        let omega = std::f64::consts::TAU * HERTZ;
        for damping in [0.0, 0.01, 0.5, 1.0, 1.0 + 1e-9, 3.0] {
            for secs in [1e-3, 0.04, 1.0, 100.0] {
                let step = OscillatorStep::over(secs, omega, damping);
                let mut offset = DVec3::new(1.0, -2.0, 0.5);
                let mut velocity = DVec3::new(3.0, 0.0, -7.0);
                let energy =
                    |u: DVec3, w: DVec3| w.length_squared() + omega * omega * u.length_squared();

                for _ in 0..40 {
                    let before = energy(offset, velocity);
                    (offset, velocity) = step.apply(offset, velocity);
                    assert!(
                        energy(offset, velocity) <= before * (1.0 + 1e-12),
                        "{damping} {secs}"
                    );
                }
            }
        }
    }

    /// The exponential by its series, the time halved until that converges fast and the result
    /// squared as often.
    fn exponential(secs: f64, omega: f64, damping: f64) -> [[f64; 2]; 2] {
        let times = |a: [[f64; 2]; 2], b: [[f64; 2]; 2]| {
            [0, 1].map(|i| [0, 1].map(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
        };

        // Offsets in units of velocity over ω, so that both rows are of one size.
        let halvings = 12;
        let t = omega * secs * 0.5_f64.powi(halvings);
        let rate = [[0.0, t], [-t, -2.0 * damping * t]];
        let mut term = [[1.0, 0.0], [0.0, 1.0]];
        let mut sum = [[1.0, 0.0], [0.0, 1.0]];

        for k in 1..20 {
            term = times(term, rate).map(|row| row.map(|entry| entry / f64::from(k)));
            sum = [0, 1].map(|i| [0, 1].map(|j| sum[i][j] + term[i][j]));
        }

        (0..halvings).for_each(|_| sum = times(sum, sum));
        [
            [sum[0][0], sum[0][1] / omega],
            [sum[1][0] * omega, sum[1][1]],
        ]
    }

    #[test]
    fn the_step_is_the_exponential_under_over_and_at_critical_damping() {
        for omega in [0.5, 12.0] {
            for damping in [
                0.0,
                0.15,
                1.0 - 1e-12,
                1.0,
                1.0 + f64::EPSILON,
                1.0 + 1e-12,
                1.5,
                20.0,
            ] {
                for turn in [1e-6, 0.05, 2.0, 10.0] {
                    let found = OscillatorStep::over(turn / omega, omega, damping).rows;
                    let expected = exponential(turn / omega, omega, damping);
                    // The entries have different units; ω makes them comparable.
                    let units = [[1.0, omega], [1.0 / omega, 1.0]];

                    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        let apart = (found[i][j] - expected[i][j]).abs() * units[i][j];
                        assert!(
                            apart < 2e-12,
                            "ω {omega}, ζ {damping}, ωt {turn}: {found:?} for {expected:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn an_overdamped_offset_decays_slowly() {
        // For ζ ≫ 1 an offset decays as e^{−ωt/2ζ}.
        for damping in [1e6, 1e9] {
            let (offset, _) = OscillatorStep::over(2.0 * damping / 3.0, 3.0, damping)
                .apply(DVec3::X, DVec3::ZERO);
            assert!(
                (offset.x - (-1.0_f64).exp()).abs() < 1e-9,
                "{damping}: {offset}"
            );
        }
    }

    #[test]
    fn two_half_frames_equal_one_frame() {
        for damping in [0.0, 0.3, 1.0, 2.5] {
            let half = OscillatorStep::over(0.05, 9.0, damping);
            let whole = OscillatorStep::over(0.1, 9.0, damping);
            let offset = DVec3::new(1.0, 0.5, -1.0);
            let velocity = DVec3::new(-2.0, 1.0, 0.0);
            let (u, w) = half.apply(offset, velocity);
            let twice = half.apply(u, w);
            let once = whole.apply(offset, velocity);

            assert!(
                twice.0.distance(once.0) < 1e-13 && twice.1.distance(once.1) < 1e-12,
                "{damping}"
            );
        }
    }

    #[test]
    fn amounts_of_zero_give_the_driven_bits_and_control_points_have_amount_zero() {
        let mut motion = oscillating(0.2, 24.0).with_amounts(vec![0.0; 42]).unwrap();
        for frame in 0..20 {
            let driven = moved(DVec3::X * f64::from(frame * frame));
            assert_eq!(motion.advance(&driven).unwrap(), driven);
        }

        let mesh = shapes::icosphere(3);
        let control = ControlPoints::new(&mesh, &[0, 100, 200]).unwrap();
        let options = SecondaryMotionOptions {
            hertz: 2.0,
            damping: 0.2,
            frames_per_second: 24.0,
        };

        let motion = SecondaryMotion::new(&mesh, &control, &options).unwrap();
        assert!(
            control
                .vertices()
                .iter()
                .all(|&v| motion.amounts()[v as usize] == 0.0)
        );

        assert_eq!(motion.amounts().iter().copied().fold(0.0, f64::max), 1.0);
    }

    #[test]
    fn numbers_out_of_range_are_rejected_by_name() {
        let mesh = shapes::icosphere(1);
        let control = ControlPoints::new(&mesh, &[0, 1, 2]).unwrap();
        let good = SecondaryMotionOptions {
            hertz: 2.0,
            damping: 0.2,
            frames_per_second: 24.0,
        };

        for (bad, name) in [
            (SecondaryMotionOptions { hertz: 0.0, ..good }, "frequency"),
            (
                SecondaryMotionOptions {
                    damping: -1.0,
                    ..good
                },
                "damping",
            ),
            (
                SecondaryMotionOptions {
                    frames_per_second: f64::NAN,
                    ..good
                },
                "frames a second",
            ),
        ] {
            assert!(
                SecondaryMotion::new(&mesh, &control, &bad)
                    .unwrap_err()
                    .to_string()
                    .contains(name)
            );
        }
    }
}
