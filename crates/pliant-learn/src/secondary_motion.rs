//! Flesh that swings after the pose: a damped oscillator on every vertex, carried over from frame
//! to frame.
//!
//! **Problem.** A driven pose has no memory: a body that stops, stops at once. Let soft parts
//! overshoot and settle.
//!
//! **Equation.** A mass hangs on each driven vertex `x(t)` by a spring and a damper; its offset `u`
//! from there obeys
//!
//! ```text
//! u″ + 2ζω u′ + ω² u = −x″        shown: x + a u
//! ```
//!
//! Between two frames `x` runs straight, so `x″` is a kick `−ΔV` to `u′` where the velocity
//! changes, and in between `u` swings freely: its exponential is written down, not stepped. It is
//! stable at every frame rate, and a motion that is straight between its keys swings alike at all
//! of them.
//!
//! **Ours.** The spring pulls alike in all directions, so that no frame is needed; motion at
//! constant velocity leaves no offset. The amount `a` rises from zero at the control points, where
//! an animator has said what happens, to one at the vertex farthest from all of them along the
//! surface. Before the first frame the motion is taken to have been that of the first two.

use pliant_linalg::parallel;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::edge_paths::lower_from;
use crate::{ControlPoints, LearnError};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// How soft parts swing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jiggle {
    /// Swings a second without damping: `ω / 2π`.
    pub hertz: f64,
    /// `ζ`: 0 swings for ever, 1 comes back without overshooting.
    pub damping: f64,
    /// Frames a second of the driven poses.
    pub frames_per_second: f64,
}

impl Jiggle {
    /// *Ours*: four or five visible swings.
    pub const DEFAULT_DAMPING: f64 = 0.15;

    fn check(&self) -> Result<(), LearnError> {
        let above = |value: f64| value > 0.0 && value.is_finite();
        let wrong = |what: &'static str, value: f64, needed: &'static str| {
            Err(LearnError::BadNumber {
                what,
                value,
                needed,
            })
        };
        if !above(self.hertz) {
            return wrong(
                "the frequency of secondary motion",
                self.hertz,
                "a number above zero",
            );
        }
        if !above(self.frames_per_second) {
            return wrong(
                "the number of frames a second",
                self.frames_per_second,
                "a number above zero",
            );
        }
        if !(self.damping >= 0.0 && self.damping.is_finite()) {
            return wrong(
                "the damping of secondary motion",
                self.damping,
                "a number from zero up",
            );
        }
        Ok(())
    }
}

/// Offsets and velocities of all vertices, and how much of them is shown.
#[derive(Debug, Clone)]
pub struct SecondaryMotion {
    step: FreeSwing,
    frame_secs: f64,
    amounts: Vec<f64>,
    /// `u` and `u′`.
    states: Vec<[DVec3; 2]>,
    /// Where the driven vertices were, and how fast.
    last: Option<(Vec<DVec3>, Option<Vec<DVec3>>)>,
}

impl SecondaryMotion {
    /// At rest, with amounts that rise with the distance from `control` along the surface of
    /// `mesh`.
    ///
    /// # Errors
    /// A frequency, damping or frame rate out of range.
    pub fn new(mesh: &Mesh, control: &ControlPoints, jiggle: &Jiggle) -> Result<Self, LearnError> {
        jiggle.check()?;
        let frame_secs = 1.0 / jiggle.frames_per_second;
        let step = FreeSwing::over(
            frame_secs,
            std::f64::consts::TAU * jiggle.hertz,
            jiggle.damping,
        );
        Ok(Self {
            step,
            frame_secs,
            amounts: amounts_of(mesh, control),
            states: vec![[DVec3::ZERO; 2]; mesh.vertex_count()],
            last: None,
        })
    }

    /// With another amount for each vertex: 0 is stiff, 1 hangs freely.
    ///
    /// # Panics
    /// If there is not one per vertex.
    #[must_use]
    pub fn with_amounts(self, amounts: Vec<f64>) -> Self {
        assert_eq!(amounts.len(), self.amounts.len(), "one amount per vertex");
        Self { amounts, ..self }
    }

    /// How much of the offset each vertex shows.
    #[must_use]
    pub fn amounts(&self) -> &[f64] {
        &self.amounts
    }

    /// The next frame: the driven vertices with what swings after them.
    ///
    /// # Panics
    /// If there is not one position per vertex.
    pub fn advance(&mut self, driven: &[DVec3]) -> Vec<DVec3> {
        assert_eq!(driven.len(), self.states.len(), "one position per vertex");
        let Some((before, velocities)) = self.last.take() else {
            self.last = Some((driven.to_vec(), None));
            return driven.to_vec();
        };
        let now: Vec<DVec3> = driven
            .iter()
            .zip(&before)
            .map(|(to, from)| (*to - *from) / self.frame_secs)
            .collect();
        let earlier = velocities.unwrap_or_else(|| now.clone());
        let step = self.step;
        parallel::for_each_chunk_mut(&mut self.states, VERTICES_PER_TASK, |start, chunk| {
            for (k, [offset, velocity]) in chunk.iter_mut().enumerate() {
                *velocity -= now[start + k] - earlier[start + k];
                (*offset, *velocity) = step.apply(*offset, *velocity);
            }
        });
        self.last = Some((driven.to_vec(), Some(now)));
        let shown = |(v, place): (usize, &DVec3)| {
            if self.amounts[v] == 0.0 {
                *place
            } else {
                *place + self.states[v][0] * self.amounts[v]
            }
        };
        driven.iter().enumerate().map(shown).collect()
    }
}

/// The exponential of a damped oscillator over a fixed time: a 2×2 matrix on offset and velocity.
#[derive(Debug, Clone, Copy)]
struct FreeSwing {
    rows: [[f64; 2]; 2],
}

impl FreeSwing {
    fn over(secs: f64, omega: f64, damping: f64) -> Self {
        let decay = damping * omega;
        // E C and E S of e^{−ζωt} (C + ζωS), with C and S the (hyperbolic) cosine and sine over the
        // root.
        let (cosine, sine) = if damping < 1.0 {
            let root = omega * (1.0 - damping * damping).sqrt();
            let envelope = (-decay * secs).exp();
            (
                envelope * (root * secs).cos(),
                envelope * (root * secs).sin() / root,
            )
        } else if damping > 1.0 {
            let root = omega * (damping * damping - 1.0).sqrt();
            // e^{−(ζω − root)t} and the part by which the faster one is less, written so that
            // neither is a difference of near equals.
            let (slow, less) = (
                (-omega * omega / (decay + root) * secs).exp(),
                -(-2.0 * root * secs).exp_m1(),
            );
            (slow * (1.0 - 0.5 * less), 0.5 * slow * less / root)
        } else {
            let envelope = (-decay * secs).exp();
            (envelope, envelope * secs)
        };
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

/// From zero at the control points to one at the vertex farthest from them, smoothly; parts without
/// a point swing freely.
fn amounts_of(mesh: &Mesh, control: &ControlPoints) -> Vec<f64> {
    let mut reach = vec![f64::INFINITY; mesh.vertex_count()];
    control
        .vertices()
        .iter()
        .for_each(|&vertex| lower_from(mesh, vertex, &mut reach, |_| {}));
    let farthest = reach
        .iter()
        .copied()
        .filter(|distance| distance.is_finite())
        .fold(0.0, f64::max);
    let rise = |distance: f64| {
        let t = if farthest > 0.0 {
            (distance / farthest).min(1.0)
        } else {
            0.0
        };
        t * t * (3.0 - 2.0 * t)
    };
    reach.into_iter().map(rise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    const HERTZ: f64 = 2.0;

    fn swinging(damping: f64, frames_per_second: f64) -> SecondaryMotion {
        let mesh = shapes::icosphere(1);
        let control = ControlPoints::new(&mesh, &[0, 1, 2]).unwrap();
        let jiggle = Jiggle {
            hertz: HERTZ,
            damping,
            frames_per_second,
        };
        SecondaryMotion::new(&mesh, &control, &jiggle)
            .unwrap()
            .with_amounts(vec![1.0; 42])
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
    fn a_sudden_start_swings_as_the_closed_form_at_every_frame_rate() {
        let speed = 3.0;
        for frames_per_second in [10.0, 24.0, 240.0] {
            let mut motion = swinging(0.2, frames_per_second);
            motion.advance(&still());
            motion.advance(&still());
            for frame in 1..=(frames_per_second as usize) {
                let secs = frame as f64 / frames_per_second;
                let driven = moved(DVec3::X * speed * secs);
                let offset = motion.advance(&driven)[5] - driven[5];
                let expected = closed_form(secs, 0.2, -speed);
                assert!(
                    (offset - DVec3::X * expected).length() < 1e-12,
                    "{frames_per_second} fps at {secs}: {offset} {expected}"
                );
            }
        }
    }

    #[test]
    fn at_rest_nothing_moves_by_a_bit_and_constant_velocity_leaves_no_offset() {
        let mut motion = swinging(0.2, 24.0);
        for _ in 0..50 {
            assert_eq!(motion.advance(&still()), still());
        }
        let mut motion = swinging(0.2, 24.0);
        for frame in 0..50 {
            let driven = moved(DVec3::new(0.3, -0.1, 0.2) * f64::from(frame));
            let apart = motion
                .advance(&driven)
                .iter()
                .zip(&driven)
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f64::max);
            assert!(apart < 1e-12, "{apart:e}");
        }
    }

    #[test]
    fn energy_only_decays_whatever_the_damping_and_however_long_the_frame() {
        let omega = std::f64::consts::TAU * HERTZ;
        for damping in [0.0, 0.01, 0.5, 1.0, 1.0 + 1e-9, 3.0] {
            for secs in [1e-3, 0.04, 1.0, 100.0] {
                let swing = FreeSwing::over(secs, omega, damping);
                let (mut offset, mut velocity) =
                    (DVec3::new(1.0, -2.0, 0.5), DVec3::new(3.0, 0.0, -7.0));
                let energy =
                    |u: DVec3, w: DVec3| w.length_squared() + omega * omega * u.length_squared();
                for _ in 0..40 {
                    let before = energy(offset, velocity);
                    (offset, velocity) = swing.apply(offset, velocity);
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
        let (rate, mut term, mut sum) = (
            [[0.0, t], [-t, -2.0 * damping * t]],
            [[1.0, 0.0], [0.0, 1.0]],
            [[1.0, 0.0], [0.0, 1.0]],
        );
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
    fn a_free_swing_is_the_exponential_under_over_and_at_critical_damping() {
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
                    let (found, expected) = (
                        FreeSwing::over(turn / omega, omega, damping).rows,
                        exponential(turn / omega, omega, damping),
                    );
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
    fn a_motion_through_thick_oil_creeps_back_and_does_not_stand_still() {
        // For ζ ≫ 1 an offset decays as e^{−ωt/2ζ}.
        for damping in [1e6, 1e9] {
            let (offset, _) =
                FreeSwing::over(2.0 * damping / 3.0, 3.0, damping).apply(DVec3::X, DVec3::ZERO);
            assert!(
                (offset.x - (-1.0_f64).exp()).abs() < 1e-9,
                "{damping}: {offset}"
            );
        }
    }

    #[test]
    fn two_half_frames_are_one_frame() {
        for damping in [0.0, 0.3, 1.0, 2.5] {
            let (half, whole) = (
                FreeSwing::over(0.05, 9.0, damping),
                FreeSwing::over(0.1, 9.0, damping),
            );
            let (offset, velocity) = (DVec3::new(1.0, 0.5, -1.0), DVec3::new(-2.0, 1.0, 0.0));
            let (u, w) = half.apply(offset, velocity);
            let (twice, once) = (half.apply(u, w), whole.apply(offset, velocity));
            assert!(
                twice.0.distance(once.0) < 1e-13 && twice.1.distance(once.1) < 1e-12,
                "{damping}"
            );
        }
    }

    #[test]
    fn no_amount_gives_the_driven_bits_and_control_points_have_none() {
        let mut motion = swinging(0.2, 24.0).with_amounts(vec![0.0; 42]);
        for frame in 0..20 {
            let driven = moved(DVec3::X * f64::from(frame * frame));
            assert_eq!(motion.advance(&driven), driven);
        }
        let mesh = shapes::icosphere(3);
        let control = ControlPoints::new(&mesh, &[0, 100, 200]).unwrap();
        let jiggle = Jiggle {
            hertz: 2.0,
            damping: 0.2,
            frames_per_second: 24.0,
        };
        let motion = SecondaryMotion::new(&mesh, &control, &jiggle).unwrap();
        assert!(
            control
                .vertices()
                .iter()
                .all(|&v| motion.amounts()[v as usize] == 0.0)
        );
        assert_eq!(motion.amounts().iter().copied().fold(0.0, f64::max), 1.0);
    }

    #[test]
    fn numbers_that_cannot_be_are_declined_by_name() {
        let mesh = shapes::icosphere(1);
        let control = ControlPoints::new(&mesh, &[0, 1, 2]).unwrap();
        let good = Jiggle {
            hertz: 2.0,
            damping: 0.2,
            frames_per_second: 24.0,
        };
        for (bad, name) in [
            (Jiggle { hertz: 0.0, ..good }, "frequency"),
            (
                Jiggle {
                    damping: -1.0,
                    ..good
                },
                "damping",
            ),
            (
                Jiggle {
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
