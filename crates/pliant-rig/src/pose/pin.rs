//! Pins: surface points with goal positions.
//!
//! **Problem.** A user drags in the plane of a screen, a brush pushes along a normal, a lip should
//! lie on a line. Each of these constrains some of the three coordinates of a point and leaves the
//! others to the rig.
//!
//! **Equation.** A pin at the current position `p` with the displacement `m` and the stiffness `s`
//! adds `s |P (x − p − m)|²` to the objective, where `P` projects onto the constrained coordinates:
//!
//! ```text
//! all three coordinates     P = I                                  Pin::new
//! the plane of a picture    P = I − n nᵀ, n the viewing direction  SketchCamera::view_pin
//! a tangent plane           P = I − n nᵀ, n the surface normal     Pin::across
//! the surface normal        P = n nᵀ                               Pin::along
//! a ray with direction n    P = I − n nᵀ, p + m on the ray         Pin::onto_ray
//! ```
//!
//! A curve constrains the plane orthogonal to its tangent at its point nearest to `x`.
//!
//! **Source.** Lewis and Anjyo, "Direct manipulation blendshapes", 2010, for pins in space.
//!
//! **Departures.** The projections are ours.

use pliant_linalg::outer;
use pliant_mesh::glam::{DMat3, DVec3, Vec3};
use pliant_mesh::{Mesh, SurfacePoint, VertexId};

use crate::RigError;

/// A surface point with a goal position.
#[derive(Debug, Clone, PartialEq)]
pub struct Pin {
    /// The surface point.
    pub at: SurfacePoint,
    /// From the position of the point in the current pose to its goal; zero holds the point.
    pub displacement: DVec3,
    /// Which coordinates are constrained.
    pub aim: Aim,
    /// The weight of the pin relative to others; 1 is usual, 0 switches the pin off.
    pub stiffness: f64,
}

/// Which part of a displacement a pin constrains.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub enum Aim {
    /// All three coordinates.
    #[default]
    Point,
    /// The plane orthogonal to a direction, along which the point is free: a drag in the view plane
    /// of a camera that looks along it, or, with the normal of the surface, in its tangent plane.
    Across(DVec3),
    /// The coordinate along a direction: a push along a normal.
    Along(DVec3),
    /// The nearest point of a polyline (absolute positions) instead of the pin's own goal; the
    /// point is free to slide along it.
    Curve(Vec<DVec3>),
}

impl Pin {
    /// A pin in space on a vertex.
    #[must_use]
    pub fn new(vertex: impl Into<VertexId>, displacement: DVec3) -> Self {
        Self {
            at: SurfacePoint::Vertex(vertex.into().get()),
            displacement,
            aim: Aim::Point,
            stiffness: 1.0,
        }
    }

    /// A pin that moves a vertex by `distance` along a direction, such as the surface normal, and
    /// leaves the other two coordinates free.
    #[must_use]
    pub fn along(vertex: impl Into<VertexId>, direction: DVec3, distance: f64) -> Self {
        Self::new(vertex, direction.normalize_or_zero() * distance).with_aim(Aim::Along(direction))
    }

    /// A pin that moves a vertex in the plane orthogonal to `normal`, along which it is free. The
    /// part of the displacement along the normal has no effect.
    #[must_use]
    pub fn across(vertex: impl Into<VertexId>, displacement: DVec3, normal: DVec3) -> Self {
        let along = displacement.project_onto_normalized(normal.normalize_or_zero());
        Self::new(vertex, displacement - along).with_aim(Aim::Across(normal))
    }

    /// A pin that brings a vertex from its current `position` onto the line through `origin` along
    /// `direction`, on which it is free.
    #[must_use]
    pub fn onto_ray(
        vertex: impl Into<VertexId>,
        position: DVec3,
        origin: DVec3,
        direction: DVec3,
    ) -> Self {
        Self::across(vertex, origin - position, direction)
    }

    /// A pin that keeps a vertex where it is.
    #[must_use]
    pub fn hold(vertex: impl Into<VertexId>) -> Self {
        Self::new(vertex, DVec3::ZERO)
    }

    /// The same pin, held where it is; one that slid along a curve stays at the point it slid to.
    #[must_use]
    pub fn held(&self) -> Self {
        let aim = if matches!(self.aim, Aim::Curve(_)) {
            Aim::Point
        } else {
            self.aim.clone()
        };
        Self {
            displacement: DVec3::ZERO,
            aim,
            ..self.clone()
        }
    }

    /// The same pin with another aim.
    #[must_use]
    pub fn with_aim(self, aim: Aim) -> Self {
        Self { aim, ..self }
    }

    /// The same pin with another stiffness.
    #[must_use]
    pub fn with_stiffness(self, stiffness: f64) -> Self {
        Self { stiffness, ..self }
    }

    /// The vertices of its surface point, with barycentric weights.
    #[must_use]
    pub fn support(&self, mesh: &Mesh) -> Support {
        match self.at {
            SurfacePoint::Vertex(v) => Support {
                vertices: [v; 3],
                shares: [1.0, 0.0, 0.0],
            },
            SurfacePoint::InTriangle(point) => {
                // Weights from a file sum to one only to its precision.
                let sum: f64 = point.barycentric.iter().sum();
                Support {
                    vertices: mesh.triangles()[point.triangle as usize],
                    shares: point.barycentric.map(|share| share / sum),
                }
            }
        }
    }

    /// Checks that the pin is on the mesh, its numbers are finite, its stiffness is not negative,
    /// and its direction or curve is not degenerate.
    pub fn check(&self, mesh: &Mesh) -> Result<(), RigError> {
        self.at.check(mesh)?;
        let aim_is_valid = match &self.aim {
            Aim::Point => true,
            Aim::Across(n) | Aim::Along(n) => n.is_finite() && n.length_squared() > 0.0,
            Aim::Curve(points) => !points.is_empty() && points.iter().all(|p| p.is_finite()),
        };
        let numbers_are_finite =
            self.displacement.length().is_finite() && self.stiffness.is_finite();

        if numbers_are_finite && aim_is_valid && self.stiffness >= 0.0 {
            Ok(())
        } else {
            Err(RigError::BadPin {
                place: self.place(),
            })
        }
    }

    /// Its surface point in words: `vertex 12`, `triangle 7`.
    #[must_use]
    pub fn place(&self) -> String {
        match self.at {
            SurfacePoint::Vertex(v) => format!("vertex {v}"),
            SurfacePoint::InTriangle(point) => format!("triangle {}", point.triangle),
        }
    }
}

/// The vertices of a surface point and their barycentric weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// The vertices; a single one is repeated with weight zero.
    pub vertices: [u32; 3],
    /// Their weights, with sum one.
    pub shares: [f64; 3],
}

impl Support {
    /// The weighted mean of `values`, one for each vertex of the mesh.
    #[must_use]
    pub fn of(&self, values: &[DVec3]) -> DVec3 {
        let [a, b, c] = self.vertices.map(|v| values[v as usize]);
        if self.shares[0] == 1.0 {
            a
        } else {
            a * self.shares[0] + b * self.shares[1] + c * self.shares[2]
        }
    }

    /// The displacement of the point by a sparse shape: ascending vertices and their displacements.
    pub(crate) fn displacement(&self, (vertices, deltas): (&[u32], &[Vec3])) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (vertex, share) in self.vertices.iter().zip(self.shares) {
            if share == 0.0 {
                continue;
            }
            let delta = match vertices.binary_search(vertex) {
                Ok(k) => deltas[k].as_dvec3(),
                Err(_) => DVec3::ZERO,
            };
            sum += delta * share;
        }

        sum
    }
}

impl Aim {
    /// The projection `P` for a point at `position`, and the goal that replaces `goal`.
    #[must_use]
    pub fn projection_and_goal(&self, position: DVec3, goal: DVec3) -> (DMat3, DVec3) {
        match self {
            Self::Point => (DMat3::IDENTITY, goal),
            Self::Across(n) => (DMat3::IDENTITY - outer(n.normalize(), n.normalize()), goal),
            Self::Along(n) => (outer(n.normalize(), n.normalize()), goal),
            Self::Curve(points) => {
                let (nearest, tangent) = nearest_on_polyline(points, position);
                (DMat3::IDENTITY - outer(tangent, tangent), nearest)
            }
        }
    }
}

/// The nearest point of a polyline and its unit tangent there; see [`tangent_at`].
fn nearest_on_polyline(points: &[DVec3], position: DVec3) -> (DVec3, DVec3) {
    let mut nearest = points[0];
    let mut least = position.distance_squared(nearest);
    let mut segment = 0;
    let mut parameter = 0.0;

    for (k, pair) in points.windows(2).enumerate() {
        // A repeated point is a segment without direction; its start stands for it.
        let along = pair[1] - pair[0];
        let length_squared = along.length_squared();
        let s = if length_squared > 0.0 {
            ((position - pair[0]).dot(along) / length_squared).clamp(0.0, 1.0)
        } else {
            0.0
        };

        let candidate = pair[0] + along * s;
        let distance = position.distance_squared(candidate);
        if distance < least {
            nearest = candidate;
            least = distance;
            segment = k;
            parameter = s;
        }
    }

    (nearest, tangent_at(points, segment, parameter))
}

/// The unit tangent of a polyline at parameter `s` of a segment: at a corner the bisector of its
/// two segments, and zero at the ends of an open polyline, which are points to reach in all
/// coordinates.
fn tangent_at(points: &[DVec3], segment: usize, s: f64) -> DVec3 {
    if points.len() < 2 {
        return DVec3::ZERO;
    }

    let direction = |k: usize| (points[k + 1] - points[k]).normalize_or_zero();
    if s > 0.0 && s < 1.0 {
        return direction(segment).normalize_or_zero();
    }

    // The corner is the end of segment `after − 1` and the start of segment `after`.
    let last = points.len() - 2;
    let after = if s >= 1.0 { segment + 1 } else { segment };
    let closed = points.len() > 2 && points[0] == points[points.len() - 1];
    let tangent = if after >= 1 && after <= last {
        direction(after - 1) + direction(after)
    } else if closed {
        direction(last) + direction(0)
    } else {
        DVec3::ZERO
    };

    tangent.normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::TrianglePoint;

    fn triangle() -> Mesh {
        Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap()
    }

    #[test]
    fn a_pin_inside_a_triangle_is_the_weighted_mean_of_its_corners() {
        let pin = Pin {
            at: SurfacePoint::InTriangle(TrianglePoint {
                triangle: 0,
                barycentric: [0.5, 0.25, 0.25],
            }),
            ..Pin::hold(0)
        };
        assert_eq!(
            pin.support(&triangle()).of(triangle().positions()),
            DVec3::new(0.25, 0.25, 0.0)
        );
    }

    #[test]
    fn a_projection_keeps_only_the_constrained_coordinates() {
        let motion = DVec3::new(1.0, 2.0, 3.0);
        let kept = |aim: Aim| aim.projection_and_goal(DVec3::ZERO, motion).0 * motion;
        assert_eq!(kept(Aim::Point), motion);
        assert_eq!(kept(Aim::Across(DVec3::Z * 5.0)), DVec3::new(1.0, 2.0, 0.0));
        assert_eq!(kept(Aim::Along(DVec3::Z * 5.0)), DVec3::new(0.0, 0.0, 3.0));
    }

    #[test]
    fn pins_along_across_and_onto_a_ray_displace_only_in_what_they_constrain() {
        let along = Pin::along(0, DVec3::Z * 3.0, -0.5);
        assert_eq!(along.displacement, DVec3::Z * -0.5);

        let across = Pin::across(0, DVec3::new(1.0, 2.0, 3.0), DVec3::Z * 3.0);
        assert_eq!(across.displacement, DVec3::new(1.0, 2.0, 0.0));

        // The nearest point of the ray x = 4, y = 5 is at the height of the vertex.
        let position = DVec3::new(1.0, 1.0, 1.0);
        let ray = Pin::onto_ray(0, position, DVec3::new(4.0, 5.0, -7.0), DVec3::Z);
        assert_eq!(position + ray.displacement, DVec3::new(4.0, 5.0, 1.0));
        assert_eq!(ray.aim, Aim::Across(DVec3::Z));

        for pin in [
            Pin::along(0, DVec3::ZERO, 1.0),
            Pin::across(0, DVec3::X, DVec3::ZERO),
        ] {
            assert!(pin.check(&triangle()).is_err(), "no direction");
        }
    }

    #[test]
    fn a_curve_constrains_its_nearest_point_and_leaves_sliding_free() {
        let line = Aim::Curve(vec![DVec3::new(0.0, 1.0, 0.0), DVec3::new(4.0, 1.0, 0.0)]);
        let (across, goal) = line.projection_and_goal(DVec3::new(1.0, 3.0, 0.0), DVec3::ZERO);
        assert_eq!(goal, DVec3::new(1.0, 1.0, 0.0));
        assert_eq!(across * DVec3::X, DVec3::ZERO);

        let (whole, end) = line.projection_and_goal(DVec3::new(9.0, 0.0, 0.0), DVec3::ZERO);
        assert_eq!(
            (whole, end),
            (DMat3::IDENTITY, DVec3::new(4.0, 1.0, 0.0)),
            "beyond an end the end is the goal"
        );
    }

    #[test]
    fn a_corner_of_a_curve_has_the_bisector_as_tangent_and_a_loop_has_no_end() {
        let corner = vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, -1.0, 0.0)];
        let (across, goal) =
            Aim::Curve(corner).projection_and_goal(DVec3::new(2.0, 1.0, 0.0), DVec3::ZERO);
        assert_eq!(goal, DVec3::X);

        let bisector = DVec3::new(1.0, -1.0, 0.0).normalize();
        assert!((across * bisector).length() < 1e-15);

        let square = vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(1.0, 1.0, 0.0),
            DVec3::Y,
            DVec3::ZERO,
        ];

        let (seam, _) =
            Aim::Curve(square).projection_and_goal(DVec3::new(-1.0, -1.0, 0.0), DVec3::ZERO);
        assert!((seam * bisector).length() < 1e-15);
    }

    #[test]
    fn pins_off_the_mesh_or_with_invalid_numbers_are_errors() {
        let mesh = triangle();
        assert!(Pin::hold(3).check(&mesh).is_err());
        assert!(Pin::new(0, DVec3::NAN).check(&mesh).is_err());
        assert!(Pin::hold(0).with_stiffness(-1.0).check(&mesh).is_err());
        assert!(
            Pin::hold(0)
                .with_aim(Aim::Along(DVec3::ZERO))
                .check(&mesh)
                .is_err()
        );
        assert!(
            Pin::hold(0)
                .with_aim(Aim::Curve(Vec::new()))
                .check(&mesh)
                .is_err()
        );
        assert!(Pin::hold(2).check(&mesh).is_ok());
    }
}
