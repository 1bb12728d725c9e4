//! Implicit surfaces: smooth unions of simple solids.
//!
//! **Problem.** Describe the shape of an animal by a few dozen solids that belong to bones, and
//! compute its signed distance and gradient anywhere.
//!
//! **Equation.** Two distances `a`, `b` join with a fillet of width `k`:
//!
//! ```text
//! h = clamp(1/2 + (b − a) / 2k, 0, 1)        d = b + (a − b) h − k h (1 − h)
//! ```
//!
//! whose gradient is `h ∇a + (1 − h) ∇b`. A solid scaled by `S` has `f(x) = g(S⁻¹x)`, and `f /
//! |∇f|` is its distance to first order.
//!
//! **Source.** Quilez, "Smooth minimum" (quadratic polynomial); Taubin, "Distance approximations
//! for rasterizing implicit curves", 1994 (first-order distance).
//!
//! **Departures.** Solids form limbs: within a limb each solid brings its own fillet; every limb
//! joins the trunk by a wide fillet, but limbs meet each other by a narrow one, so that
//! neighbouring fingers do not grow webs.

use pliant_mesh::Bounds;
use pliant_mesh::glam::{DMat3, DVec3};

/// A distance beyond every body.
const FAR: f64 = 1e3;

/// A signed distance (negative inside) and its gradient, of length about one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) distance: f64,
    pub(crate) gradient: DVec3,
}

/// A round cone between two balls, seen through a scaling of space.
#[derive(Debug, Clone)]
pub(crate) struct Solid {
    bone: usize,
    from: DVec3,
    axis: DVec3,
    radii: [f64; 2],
    scaling: Option<Scaling>,
    /// Width of the fillet to the solids before it.
    fillet: f64,
    carves: bool,
}

/// How space is stretched around a solid.
#[derive(Debug, Clone, Copy)]
struct Scaling {
    scale: DMat3,
    inverse: DMat3,
    inverse_transposed: DMat3,
    /// Lower bound of the gradient of a scaled distance, which vanishes in the solid's
    /// middle.
    least_steepness: f64,
}

/// A group of solids; limb 0 is the trunk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limb {
    solids: Vec<Solid>,
    /// A box around each solid.
    boxes: Vec<Bounds>,
    /// Width of the fillet to the trunk.
    fillet: f64,
    /// Length over which neighbouring bones share the skin.
    softness: f64,
    /// A box around all solids.
    bounds: Option<Bounds>,
}

/// A whole body.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) limbs: Vec<Limb>,
    /// Width of the fillet between limbs.
    pub(crate) fillet: f64,
}

impl Solid {
    /// A round cone from a ball at `from` to a ball at `to`.
    pub(crate) fn cone(bone: usize, from: DVec3, to: DVec3, radii: [f64; 2]) -> Self {
        Self {
            bone,
            from,
            axis: to - from,
            radii,
            scaling: None,
            fillet: 0.0,
            carves: false,
        }
    }

    /// A ball.
    pub(crate) fn ball(bone: usize, center: DVec3, radius: f64) -> Self {
        Self::cone(bone, center, center, [radius; 2])
    }

    /// An ellipsoid with half axes along the coordinate axes.
    pub(crate) fn ellipsoid(bone: usize, center: DVec3, half_axes: DVec3) -> Self {
        Self::ball(bone, center, 1.0).scaled(DMat3::from_diagonal(half_axes))
    }

    /// The same solid stretched about its first end by the invertible `scale`; its second end stays
    /// at its place.
    pub(crate) fn scaled(self, scale: DMat3) -> Self {
        let inverse = scale.inverse();

        // The Frobenius norm bounds the largest stretch.
        let norm = [scale.x_axis, scale.y_axis, scale.z_axis]
            .map(DVec3::length_squared)
            .iter()
            .sum::<f64>()
            .sqrt();

        let scaling = Scaling {
            scale,
            inverse,
            inverse_transposed: inverse.transpose(),
            least_steepness: 1.0 / norm,
        };

        // The axis is stored in the unscaled space, in which distances are computed.
        Self {
            axis: inverse * self.axis,
            scaling: Some(scaling),
            ..self
        }
    }

    /// The same solid, `factor` times as thick along the unit vector `direction`.
    pub(crate) fn flattened(self, direction: DVec3, factor: f64) -> Self {
        let outer = DMat3::from_cols(
            direction * direction.x,
            direction * direction.y,
            direction * direction.z,
        );
        self.scaled(DMat3::IDENTITY + outer * (factor - 1.0))
    }

    /// The same solid with a fillet to the solids before it.
    pub(crate) fn filleted(self, fillet: f64) -> Self {
        Self { fillet, ..self }
    }

    /// The same solid, taken away instead of added.
    pub(crate) fn carved(self) -> Self {
        Self {
            carves: true,
            ..self
        }
    }

    fn bounds(&self) -> Bounds {
        // Fillets swell a union by at most a quarter of their width; the margin covers that and the
        // scaling.
        let scale = self
            .scaling
            .map_or(DMat3::IDENTITY, |scaling| scaling.scale);
        let widest = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| (scale.transpose() * axis).length());
        let half =
            DVec3::from_array(widest) * self.radii[0].max(self.radii[1]) + self.fillet * 0.25;
        let to = self.from + scale * self.axis;

        Bounds {
            min: self.from.min(to) - half,
            max: self.from.max(to) + half,
        }
    }

    fn sample(&self, point: DVec3) -> Sample {
        let offset = point - self.from;
        let Some(scaling) = &self.scaling else {
            return round_cone(offset, self.axis, self.radii);
        };

        // First-order distance: the value over the length of its gradient.
        let plain = round_cone(scaling.inverse * offset, self.axis, self.radii);
        let gradient = scaling.inverse_transposed * plain.gradient;
        let steepness = gradient.length().max(scaling.least_steepness);

        Sample {
            distance: plain.distance / steepness,
            gradient: gradient / steepness,
        }
    }
}

impl Body {
    /// The signed distance of the whole body.
    pub(crate) fn sample(&self, point: DVec3) -> Sample {
        let trunk = self.limbs[0].sample(point);
        let mut limbs = Sample {
            distance: FAR,
            gradient: DVec3::ZERO,
        };
        let mut to_trunk = 0.0;

        // A limb beyond this distance has no influence on the union.
        let widest = self
            .limbs
            .iter()
            .map(|limb| limb.fillet)
            .fold(0.0, f64::max);
        let beyond = trunk.distance + widest + 2.0 * self.fillet;

        for limb in &self.limbs[1..] {
            // Beyond all fillets a limb changes nothing, so this skips without changing a bit.
            let bound = limb.least_distance(point);
            if bound > limbs.distance + self.fillet || bound > beyond {
                continue;
            }

            // Fillets to the trunk are blended like the limbs themselves, so that no edge shows.
            let next = limb.sample(point);
            let share = blend_share(limbs.distance, next.distance, self.fillet);
            to_trunk = to_trunk * share + limb.fillet * (1.0 - share);
            limbs = unite(limbs, next, self.fillet);
        }

        unite(trunk, limbs, to_trunk)
    }

    /// The limb whose surface is closest to `point`.
    pub(crate) fn closest_limb(&self, point: DVec3) -> usize {
        let distance = |limb: &Limb| limb.sample(point).distance;
        (0..self.limbs.len())
            .min_by(|&a, &b| distance(&self.limbs[a]).total_cmp(&distance(&self.limbs[b])))
            .unwrap_or(0)
    }

    /// For every solid of `limb` that adds: its bone, and its distance in units of the limb's
    /// softness.
    pub(crate) fn bone_distances(
        &self,
        limb: usize,
        point: DVec3,
    ) -> impl Iterator<Item = (usize, f64)> + '_ {
        let limb = &self.limbs[limb];
        limb.solids
            .iter()
            .filter(|s| !s.carves)
            .map(move |s| (s.bone, s.sample(point).distance / limb.softness))
    }

    /// Moves `point` to the surface along the gradient.
    pub(crate) fn project(&self, point: DVec3, steps: usize) -> DVec3 {
        (0..steps).fold(point, |p, _| {
            let Sample { distance, gradient } = self.sample(p);
            p - gradient * (distance / gradient.length_squared().max(0.25))
        })
    }

    /// Where a walk from `start` (inside) along `direction` leaves the body.
    pub(crate) fn exit(&self, start: DVec3, direction: DVec3) -> DVec3 {
        let mut point = start;
        for _ in 0..200 {
            let distance = self.sample(point).distance;
            if distance > -1e-5 {
                break;
            }
            point += direction * (-distance * 0.7);
        }
        point
    }
}

impl Limb {
    /// An empty limb that joins the trunk by a fillet of width `fillet` and whose bones share the
    /// skin over `softness`.
    pub(crate) fn new(fillet: f64, softness: f64) -> Self {
        Self {
            solids: Vec::new(),
            boxes: Vec::new(),
            fillet,
            softness,
            bounds: None,
        }
    }

    pub(crate) fn add(&mut self, solid: Solid) {
        let bounds = solid.bounds();
        self.bounds = Some(self.bounds.map_or(bounds, |own| own.union(&bounds)));
        self.boxes.push(bounds);
        self.solids.push(solid);
    }

    /// Cones from joint to joint on the bones from `first_bone` on, as wide as `radius` says at
    /// each joint.
    pub(crate) fn add_chain(
        &mut self,
        first_bone: usize,
        joints: &[DVec3],
        radius: impl Fn(usize) -> f64,
        fillet: f64,
    ) {
        for (k, ends) in joints.windows(2).enumerate() {
            self.add(
                Solid::cone(first_bone + k, ends[0], ends[1], [radius(k), radius(k + 1)])
                    .filleted(fillet),
            );
        }
    }

    /// No solid is closer to `point` than this.
    fn least_distance(&self, point: DVec3) -> f64 {
        self.bounds
            .map_or(FAR, |b| (point - point.clamp(b.min, b.max)).length())
    }

    fn sample(&self, point: DVec3) -> Sample {
        let outside = Sample {
            distance: FAR,
            gradient: DVec3::ZERO,
        };
        self.solids
            .iter()
            .zip(&self.boxes)
            .fold(outside, |sum, (solid, bounds)| {
                // A solid farther away than this changes nothing.
                let reach = if solid.carves {
                    -sum.distance
                } else {
                    sum.distance
                } + solid.fillet;

                // First-order distances of scaled solids may fall short of the true ones, by less
                // than half.
                let reach = if solid.scaling.is_some() {
                    2.0 * reach
                } else {
                    reach
                };

                let gap = (point - point.clamp(bounds.min, bounds.max)).length_squared();
                if gap > reach * reach.abs() {
                    return sum;
                }

                let next = solid.sample(point);
                if solid.carves {
                    subtract(sum, next, solid.fillet)
                } else {
                    unite(sum, next, solid.fillet)
                }
            })
    }
}

fn unite(a: Sample, b: Sample, fillet: f64) -> Sample {
    let h = blend_share(a.distance, b.distance, fillet);

    // Where one solid has no share, the result is exact, without the rounding of the blend.
    if h == 0.0 {
        return b;
    }
    if h == 1.0 {
        return a;
    }

    let distance = b.distance + (a.distance - b.distance) * h - fillet * h * (1.0 - h);
    Sample {
        distance,
        gradient: a.gradient * h + b.gradient * (1.0 - h),
    }
}

/// The part `h` of `a` in the union of `a` and `b`.
fn blend_share(a: f64, b: f64, fillet: f64) -> f64 {
    if fillet <= 0.0 {
        return if a < b { 1.0 } else { 0.0 };
    }
    (0.5 + 0.5 * (b - a) / fillet).clamp(0.0, 1.0)
}

fn subtract(a: Sample, b: Sample, fillet: f64) -> Sample {
    let negate = |s: Sample| Sample {
        distance: -s.distance,
        gradient: -s.gradient,
    };
    negate(unite(negate(a), b, fillet))
}

/// The distance to balls of radii `r₀` at the origin and `r₁` at `axis` and the cone that touches
/// both.
fn round_cone(offset: DVec3, axis: DVec3, [r0, r1]: [f64; 2]) -> Sample {
    let length_squared = axis.length_squared();
    let ball = |center: DVec3, radius: f64| {
        let out = offset - center;
        Sample {
            distance: out.length() - radius,
            gradient: out.normalize_or_zero(),
        }
    };

    let slope = r0 - r1;

    // One ball contains the other: there is no cone between them.
    if length_squared <= slope * slope {
        return if r0 >= r1 {
            ball(DVec3::ZERO, r0)
        } else {
            ball(axis, r1)
        };
    }

    let length = length_squared.sqrt();
    let along = axis / length;
    let x = offset.dot(along);
    let across = offset - along * x;
    let y = across.length();

    // The cone's flank leans by `sin = slope / length`; its feet on the axis lie where the flank's
    // normal meets it.
    let sin = slope / length;
    let cos = (1.0 - sin * sin).sqrt();
    let foot = x - y * sin / cos;

    // Beyond the ends of the flank the balls are the closest.
    if foot <= 0.0 {
        ball(DVec3::ZERO, r0)
    } else if foot >= length {
        ball(axis, r1)
    } else {
        let gradient = along * sin + across.normalize_or_zero() * cos;
        Sample {
            distance: x * sin + y * cos - r0,
            gradient,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: DVec3 = DVec3::new(0.2, -0.1, 0.3);
    const B: DVec3 = DVec3::new(0.9, 0.6, -0.2);

    fn probes() -> impl Iterator<Item = DVec3> {
        (0..400).map(|k| {
            DVec3::new(
                f64::from(k * 37 % 101),
                f64::from(k * 53 % 97),
                f64::from(k * 71 % 103),
            ) / 50.0
                - 1.0
        })
    }

    #[test]
    fn a_round_cone_is_the_union_of_the_balls_along_its_axis() {
        let radii = [0.4, 0.15];
        let cone = Solid::cone(0, A, B, radii);
        for p in probes() {
            let balls = (0..=20_000).map(|k| {
                let t = f64::from(k) / 20_000.0;
                p.distance(A.lerp(B, t)) - (radii[0] + (radii[1] - radii[0]) * t)
            });
            let nearest = balls.fold(f64::INFINITY, f64::min);
            // The sampled minimum misses the true one by at most the square of half a step.
            assert!((cone.sample(p).distance - nearest).abs() < 1e-8);
        }
    }

    #[test]
    fn gradients_of_unions_agree_with_differences() {
        let mut limb = Limb::new(0.0, 1.0);
        limb.add(Solid::cone(0, A, B, [0.4, 0.15]));
        limb.add(Solid::ball(0, -A, 0.3).filleted(0.25));
        limb.add(Solid::ball(0, B, 0.2).carved().filleted(0.1));

        for p in probes() {
            let step = 1e-6;
            let slope = |axis: DVec3| {
                (limb.sample(p + axis * step).distance - limb.sample(p - axis * step).distance)
                    / (2.0 * step)
            };
            let differences = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));

            assert!(
                limb.sample(p).gradient.distance(differences) < 1e-5,
                "at {p}"
            );
        }
    }

    #[test]
    fn an_ellipsoid_is_zero_on_its_surface_and_points_along_its_normal() {
        let half = DVec3::new(0.5, 1.0, 0.25);
        let solid = Solid::ellipsoid(0, A, half);
        for direction in probes().map(DVec3::normalize) {
            let on_surface = direction * half;
            let normal = (on_surface / (half * half)).normalize();
            let sample = solid.sample(A + on_surface);
            assert!(sample.distance.abs() < 1e-12 && sample.gradient.distance(normal) < 1e-12);
        }
    }

    #[test]
    fn skipping_far_limbs_changes_no_bit() {
        let limb = |solid: Solid, fillet: f64| {
            let mut limb = Limb::new(fillet, 1.0);
            limb.add(solid);
            limb
        };

        let limbs = vec![
            limb(Solid::ball(0, DVec3::ZERO, 0.5), 0.0),
            limb(Solid::cone(0, A, B, [0.2, 0.1]), 0.2),
            limb(Solid::ball(0, -B, 0.2), 0.3),
        ];

        let body = Body {
            limbs,
            fillet: 0.05,
        };

        for p in probes() {
            let [trunk, one, two] = [0, 1, 2].map(|k| body.limbs[k].sample(p));
            let outside = Sample {
                distance: FAR,
                gradient: DVec3::ZERO,
            };
            let both = unite(unite(outside, one, 0.05), two, 0.05);
            let share = blend_share(one.distance, two.distance, 0.05);
            let whole = unite(trunk, both, 0.2 * share + 0.3 * (1.0 - share));

            assert_eq!(body.sample(p).distance, whole.distance, "at {p}");
        }
    }
}
