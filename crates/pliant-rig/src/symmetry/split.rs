//! Splitting a symmetric target into a left and a right one.
//!
//! **Problem.** A smile was sculpted on both sides; an animator wants each corner of the mouth.
//! Both halves together must give the smile again, without a crease in the middle.
//!
//! **Equation.** At the distance `t` from the plane of symmetry, towards the left, and with the
//! width `w`
//!
//! ```text
//! s = 3u² − 2u³,  u = clamp(1/2 + t / w, 0, 1)        left = s d,  right = (1 − s) d
//! ```
//!
//! `s` has no kink, and `s(t) + s(−t) = 1`, so that the halves of a symmetric target are mirror
//! images.
//!
//! **Implementation.** The larger part is rounded to `f32` and the other is the difference, which
//! is then exact (Sterbenz: the larger part is between half the number and the number). So
//! `left + right == original` to the bit.

use pliant_linalg::smoothstep;
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};

use crate::{MirrorPlane, Rig, RigError, Side, SideStyle, SliderName, Target};

/// The plane and the width at which targets are split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitOptions {
    /// The plane between left and right.
    pub plane: MirrorPlane,
    /// The side of the plane that its normal points to.
    pub front: Side,
    /// The width of the transition between the halves, in asset units.
    pub width: f64,
}

impl SplitOptions {
    /// *Chosen*: about the width of the philtrum on a face.
    pub const DEFAULT_RELATIVE_WIDTH: f64 = 0.05;

    /// Splits at `plane` over a width of [`DEFAULT_RELATIVE_WIDTH`](Self::DEFAULT_RELATIVE_WIDTH)
    /// of the diagonal of the rig; left is where the left sliders of the rig move most.
    #[must_use]
    pub fn new(rig: &Rig, plane: MirrorPlane) -> Self {
        let diagonal = rig
            .neutral()
            .bounds()
            .map_or(0.0, |bounds| bounds.diagonal());
        Self {
            plane,
            front: front_side(rig, plane),
            width: Self::DEFAULT_RELATIVE_WIDTH * diagonal,
        }
    }

    /// Another width, in asset units; zero gives a sharp split, with half of the displacement on
    /// each side exactly in the middle.
    #[must_use]
    pub fn with_width(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// The factor `s` of the left half at a point.
    fn left_factor(&self, point: DVec3) -> f64 {
        let toward_left = if self.front == Side::Left { 1.0 } else { -1.0 };
        let t = self.plane.distance(point) * toward_left;
        let u = if self.width > 0.0 {
            (0.5 + t / self.width).clamp(0.0, 1.0)
        } else {
            0.5 + 0.5 * signum(t)
        };
        smoothstep(u)
    }
}

/// The sign, or zero in the middle.
fn signum(t: f64) -> f64 {
    if t == 0.0 { 0.0 } else { t.signum() }
}

/// The side to which the normal of the plane points, by where the left sliders of the rig move
/// most. Without such sliders it is left, as on a face that looks along z with y up.
#[must_use]
pub fn front_side(rig: &Rig, plane: MirrorPlane) -> Side {
    let points = rig.neutral().positions();
    let mut balance = 0.0;
    for target in rig.targets() {
        let sign = match SliderName::parse(&target.name).side() {
            Some(Side::Left) => 1.0,
            Some(Side::Right) => -1.0,
            None => continue,
        };

        let mut target_balance = 0.0;
        for (&v, delta) in target.vertices.iter().zip(&target.deltas) {
            // Motion in front of the plane counts positive.
            let front = signum(plane.distance(points[v as usize]));
            target_balance += front * delta.as_dvec3().length_squared();
        }
        balance += sign * target_balance;
    }

    if balance < 0.0 {
        Side::Right
    } else {
        Side::Left
    }
}

/// The left and right halves of a target, named in the given style; in-betweens are split too.
#[must_use]
pub fn split_target(
    neutral: &Mesh,
    target: &Target,
    options: &SplitOptions,
    style: &SideStyle,
) -> [Target; 2] {
    [Side::Left, Side::Right].map(|side| {
        target.map_shapes(style.name(&target.name, side), |_, vertices, deltas| {
            let mut half = Vec::with_capacity(vertices.len());
            for (&v, &delta) in vertices.iter().zip(deltas) {
                let factor = options.left_factor(neutral.positions()[v as usize]);
                let [left, right] = halves(delta, factor);
                half.push((v, if side == Side::Left { left } else { right }));
            }
            half
        })
    })
}

/// Two parts whose sum is the displacement, to the bit.
fn halves(delta: Vec3, left_factor: f64) -> [Vec3; 2] {
    // The difference of two numbers within a factor of two is exact.
    let larger_factor = left_factor.max(1.0 - left_factor);
    let larger = (delta.as_dvec3() * larger_factor).as_vec3();
    let smaller = delta - larger;
    if left_factor >= 0.5 {
        [larger, smaller]
    } else {
        [smaller, larger]
    }
}

/// The result of [`split_rig`].
#[derive(Debug, Clone)]
pub struct SplitRig {
    /// The rig, with two halves in place of each target that was split.
    pub rig: Rig,
    /// For each of its targets, the target it came from.
    pub sources: Vec<usize>,
}

/// Splits the targets with the given indices; the others stay as they are. [`SideStyle::of_rig`]
/// gives the style of the rig's other names.
pub fn split_rig(
    rig: &Rig,
    targets: &[usize],
    options: &SplitOptions,
    style: &SideStyle,
) -> Result<SplitRig, RigError> {
    let mut new_targets = Vec::new();
    let mut sources = Vec::new();
    for (k, target) in rig.targets().iter().enumerate() {
        // Halves replace their target, in its position in the list.
        let parts = if targets.contains(&k) {
            split_target(rig.neutral(), target, options, style).to_vec()
        } else {
            vec![target.clone()]
        };
        sources.resize(sources.len() + parts.len(), k);
        new_targets.extend(parts);
    }

    let from: Vec<Option<usize>> = sources.iter().map(|&k| Some(k)).collect();
    Ok(SplitRig {
        rig: rig.with_targets_from(new_targets, &from)?,
        sources,
    })
}

/// The indices of the targets that have no side in their name and move both sides.
#[must_use]
pub fn splittable_targets(rig: &Rig, plane: MirrorPlane) -> Vec<usize> {
    let points = rig.neutral().positions();
    let mut splittable = Vec::new();
    for (k, target) in rig.targets().iter().enumerate() {
        let mut distances = Vec::with_capacity(target.vertices.len());
        for &v in &target.vertices {
            distances.push(plane.distance(points[v as usize]));
        }

        let moves_both = distances.iter().any(|t| *t > 0.0) && distances.iter().any(|t| *t < 0.0);
        if moves_both && !SliderName::parse(&target.name).is_sided() {
            splittable.push(k);
        }
    }

    splittable
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes::icosphere;

    use super::*;
    use crate::{InBetween, VertexMirror};

    const PLANE: fn() -> MirrorPlane = || MirrorPlane::across(0, 0.0);

    /// A ball with a target that is symmetric in x, and one that moves its left (positive x) only.
    fn ball() -> Rig {
        let mesh = icosphere(4);
        let puff = mesh
            .positions()
            .iter()
            .map(|p| DVec3::new(0.1 * p.x, 0.3 * p.y + 0.077, p.x * p.x).as_vec3());
        let mut puff = Target::from_dense("puff", puff);
        let vertices = puff.vertices.clone();
        let deltas = puff.deltas.iter().map(|d| *d * 0.37).collect();

        puff.in_betweens.push(InBetween {
            name: String::new(),
            weight: 0.5,
            vertices,
            deltas,
        });

        let wink = mesh
            .positions()
            .iter()
            .map(|p| if p.x > 0.5 { Vec3::Y } else { Vec3::ZERO });
        let wink = Target::from_dense("wink_L", wink);

        Rig::new(mesh, vec![puff, wink]).unwrap()
    }

    #[test]
    fn left_and_right_add_up_to_the_original_to_the_bit() {
        let rig = ball();
        for width in [0.0, 0.01, 0.4, 3.0] {
            let options = SplitOptions::new(&rig, PLANE()).with_width(width);
            let [left, right] = split_target(
                rig.neutral(),
                &rig.targets()[0],
                &options,
                &SideStyle::default(),
            );

            // The sum is exact in `f32`, component by component.
            let n = rig.neutral().vertex_count();
            let sum = |a: &Target, b: &Target| -> Vec<Vec3> {
                a.to_dense(n)
                    .iter()
                    .zip(b.to_dense(n))
                    .map(|(a, b)| *a + b)
                    .collect()
            };

            assert_eq!(
                sum(&left, &right),
                rig.targets()[0].to_dense(n),
                "width {width}"
            );

            // At weight ½ the in-between is active.
            let whole = rig.evaluate(&[0.5]);
            let mut both = rig.neutral().positions().to_vec();
            left.add_to(0.5, &mut both);
            right.add_to(0.5, &mut both);

            assert!(
                both.iter()
                    .zip(&whole)
                    .all(|(a, b)| a.distance(*b) < 4.0 * f64::EPSILON),
                "in-betweens add up too"
            );
        }
    }

    #[test]
    fn halves_of_any_number_at_any_factor_add_up() {
        for k in 0..2000_u32 {
            let delta = Vec3::new(
                f32::from_bits(k * 1_000_003),
                -f32::from_bits(k * 500_009),
                (k as f32).sin(),
            );
            let [left, right] = halves(delta, f64::from(k % 101) / 100.0);
            assert_eq!(left + right, delta);
        }
    }

    #[test]
    fn halves_of_a_symmetric_target_are_mirror_images() {
        let rig = ball();
        let mirror = VertexMirror::by_position(rig.neutral(), PLANE());
        let options = SplitOptions::new(&rig, PLANE());
        let [left, right] = split_target(
            rig.neutral(),
            &rig.targets()[0],
            &options,
            &SideStyle::default(),
        );

        let image = mirror.mirror_target(&left);
        assert_eq!(image.name, right.name);

        let n = rig.neutral().vertex_count();
        let worst = image
            .to_dense(n)
            .iter()
            .zip(right.to_dense(n))
            .map(|(a, b)| a.distance(b))
            .fold(0.0, f32::max);

        assert!(worst < 2.0 * f32::EPSILON, "{worst}");
    }

    #[test]
    fn the_transition_has_no_kink() {
        let options = SplitOptions {
            plane: PLANE(),
            front: Side::Left,
            width: 0.4,
        };
        let factor = |x: f64| options.left_factor(DVec3::X * x);
        let slope = |x: f64, h: f64| (factor(x + h) - factor(x - h)) / (2.0 * h);

        assert_eq!([factor(-0.2), factor(0.0), factor(0.2)], [0.0, 0.5, 1.0]);

        // The slope is continuous at both ends and nowhere beyond the steepest, 3/2 over the width.
        let slopes: Vec<f64> = (-300..=300)
            .map(|k| slope(f64::from(k) * 1e-3, 1e-6))
            .collect();

        assert!(
            slopes
                .windows(2)
                .all(|pair| (pair[1] - pair[0]).abs() < 6.0 / (0.4 * 0.4) * 1e-3 * 1.1)
        );
        assert!(slopes.iter().all(|slope| *slope <= 1.5 / 0.4 + 1e-6));
    }

    #[test]
    fn names_use_the_style_of_the_rig_and_left_is_where_its_left_sliders_move() {
        let rig = ball();
        let options = SplitOptions::new(&rig, PLANE());
        assert_eq!(options.front, Side::Left);
        assert_eq!(
            SplitOptions::new(&rig, MirrorPlane::new(-DVec3::X, 0.0).unwrap()).front,
            Side::Right
        );
        assert_eq!(splittable_targets(&rig, PLANE()), [0]);
        let split = split_rig(&rig, &[0], &options, &SideStyle::of_rig(&rig)).unwrap();
        let names: Vec<&str> = split
            .rig
            .targets()
            .iter()
            .map(|t| t.name.as_str())
            .collect();

        assert_eq!(
            (names, split.sources),
            (vec!["puff_L", "puff_R", "wink_L"], vec![0, 0, 1])
        );

        // The left half moves vertices with positive x.
        let lean: f32 = split.rig.targets()[0]
            .vertices
            .iter()
            .map(|&v| rig.neutral().positions()[v as usize].x as f32)
            .sum();

        assert!(lean > 0.0);
    }
}
