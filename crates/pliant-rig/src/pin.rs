//! A place on the surface and where it should go.
//!
//! **Problem.** A hand drags in the plane of a screen, a brush pushes along a normal, a lip should
//! only come to lie on a line. Each asks for some of the three coordinates of a point and leaves
//! the others to the rig.
//!
//! **Equation.** A pin at the current place `p` with the displacement `m` asks for `P (x − p − m) =
//! 0`, where `P` projects onto the coordinates that matter: all of them, one direction `n nᵀ`, or
//! the plane `I − n nᵀ` across it. A curve asks for the plane across its tangent at the point of it
//! that is nearest to `x`.
//!
//! **Source.** Lewis and Anjyo, "Direct manipulation blendshapes", 2010, for pins in space; the
//! projections are *ours*.

use pliant_linalg::outer;
use pliant_mesh::glam::{DMat3, DVec3, Vec3};
use pliant_mesh::{Mesh, SurfacePoint};

use crate::RigError;

/// A place on the surface with a goal.
#[derive(Debug, Clone, PartialEq)]
pub struct Pin {
    /// Where it holds the surface.
    pub at: SurfacePoint,
    /// The way to its goal from where the point is in the current pose; zero holds the point
    /// there.
    pub displacement: DVec3,
    /// Which coordinates matter.
    pub aim: Aim,
    /// How much it counts beside other pins; 1 is usual, 0 is a pin that is switched off.
    pub stiffness: f64,
}

/// Which coordinates of a goal matter.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub enum Aim {
    /// All three.
    #[default]
    Point,
    /// Those across a direction, which is free: a drag in the plane of a camera that looks along
    /// it, or, with the surface's normal, in its tangent plane.
    Across(DVec3),
    /// The one along a direction: a push along a normal.
    Along(DVec3),
    /// The nearest point of a polyline (absolute places) instead of the pin's own goal; sliding
    /// along it is free.
    Curve(Vec<DVec3>),
}

impl Pin {
    /// A pin in space on a vertex.
    #[must_use]
    pub fn new(vertex: usize, displacement: DVec3) -> Self {
        Self {
            at: SurfacePoint::Vertex(vertex as u32),
            displacement,
            aim: Aim::Point,
            stiffness: 1.0,
        }
    }

    /// A pin that keeps a vertex where it is.
    #[must_use]
    pub fn hold(vertex: usize) -> Self {
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

    /// The same pin with other coordinates that matter.
    #[must_use]
    pub fn with_aim(self, aim: Aim) -> Self {
        Self { aim, ..self }
    }

    /// The same pin with another stiffness.
    #[must_use]
    pub fn with_stiffness(self, stiffness: f64) -> Self {
        Self { stiffness, ..self }
    }

    /// The vertices it holds, with their shares.
    #[must_use]
    pub fn support(&self, mesh: &Mesh) -> Support {
        match self.at {
            SurfacePoint::Vertex(v) => Support {
                vertices: [v; 3],
                shares: [1.0, 0.0, 0.0],
            },
            SurfacePoint::InTriangle(point) => {
                // Shares from a file sum to one only to its precision.
                let sum: f64 = point.barycentric.iter().sum();
                Support {
                    vertices: mesh.triangles()[point.triangle as usize],
                    shares: point.barycentric.map(|share| share / sum),
                }
            }
        }
    }

    /// Declines a pin beside the mesh, or one with numbers that are not finite.
    pub fn check(&self, mesh: &Mesh) -> Result<(), RigError> {
        self.at.check(mesh)?;
        let directions = match &self.aim {
            Aim::Point => &[][..],
            Aim::Across(n) | Aim::Along(n) => std::slice::from_ref(n),
            Aim::Curve(points) => points,
        };
        let finite = self.displacement.length().is_finite()
            && self.stiffness.is_finite()
            && directions.iter().all(|d| d.is_finite());
        let meaningful = match &self.aim {
            Aim::Across(n) | Aim::Along(n) => n.length_squared() > 0.0,
            Aim::Curve(points) => !points.is_empty(),
            Aim::Point => true,
        };
        if finite && meaningful && self.stiffness >= 0.0 {
            Ok(())
        } else {
            Err(RigError::BadPin {
                place: self.place(),
            })
        }
    }

    /// Its place in words: `vertex 12`, `triangle 7`.
    #[must_use]
    pub fn place(&self) -> String {
        match self.at {
            SurfacePoint::Vertex(v) => format!("vertex {v}"),
            SurfacePoint::InTriangle(point) => format!("triangle {}", point.triangle),
        }
    }
}

/// Up to three vertices and their shares in a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// The vertices; a lone one is repeated with share zero.
    pub vertices: [u32; 3],
    /// Their shares, with sum one.
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
        let at = |vertex: u32| {
            vertices
                .binary_search(&vertex)
                .map_or(DVec3::ZERO, |k| deltas[k].as_dvec3())
        };
        let shares = self
            .vertices
            .iter()
            .zip(self.shares)
            .filter(|(_, share)| *share != 0.0);
        shares.map(|(&vertex, share)| at(vertex) * share).sum()
    }
}

impl Aim {
    /// The projection `P` for a point that is now at `place`, and the goal that replaces `goal`.
    #[must_use]
    pub fn measure(&self, place: DVec3, goal: DVec3) -> (DMat3, DVec3) {
        match self {
            Self::Point => (DMat3::IDENTITY, goal),
            Self::Across(n) => (DMat3::IDENTITY - outer(n.normalize(), n.normalize()), goal),
            Self::Along(n) => (outer(n.normalize(), n.normalize()), goal),
            Self::Curve(points) => {
                let (nearest, tangent) = nearest_on_polyline(points, place);
                (DMat3::IDENTITY - outer(tangent, tangent), nearest)
            }
        }
    }
}

/// The nearest point of a polyline and its direction there: at a corner between those of its two
/// segments, and none at the ends of an open one, which are points to reach whole.
fn nearest_on_polyline(points: &[DVec3], place: DVec3) -> (DVec3, DVec3) {
    let mut best = (points[0], 0, 0.0, place.distance_squared(points[0]));
    for (k, pair) in points.windows(2).enumerate() {
        let along = pair[1] - pair[0];
        let length_squared = along.length_squared();
        let s = if length_squared > 0.0 {
            ((place - pair[0]).dot(along) / length_squared).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let nearest = pair[0] + along * s;
        let distance = place.distance_squared(nearest);
        if distance < best.3 {
            best = (nearest, k, s, distance);
        }
    }
    let (nearest, segment, s, _) = best;
    let last = points.len().saturating_sub(2);
    let closed = points.len() > 2 && points[0] == points[points.len() - 1];
    let direction = |k: usize| (points[k + 1] - points[k]).normalize_or_zero();
    let tangent = match s {
        _ if points.len() < 2 => DVec3::ZERO,
        s if s > 0.0 && s < 1.0 => direction(segment),
        s => {
            let (before, after) = if s >= 1.0 {
                (Some(segment), segment + 1)
            } else {
                (segment.checked_sub(1), segment)
            };
            match (before, (after <= last).then_some(after)) {
                (Some(before), Some(after)) => direction(before) + direction(after),
                _ if closed => direction(last) + direction(0),
                _ => DVec3::ZERO,
            }
        }
    };
    (nearest, tangent.normalize_or_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::TrianglePoint;

    fn triangle() -> Mesh {
        Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap()
    }

    #[test]
    fn a_pin_inside_a_triangle_stands_on_its_corners() {
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
    fn a_projection_keeps_what_matters_and_forgets_the_rest() {
        let motion = DVec3::new(1.0, 2.0, 3.0);
        let kept = |aim: Aim| aim.measure(DVec3::ZERO, motion).0 * motion;
        assert_eq!(kept(Aim::Point), motion);
        assert_eq!(kept(Aim::Across(DVec3::Z * 5.0)), DVec3::new(1.0, 2.0, 0.0));
        assert_eq!(kept(Aim::Along(DVec3::Z * 5.0)), DVec3::new(0.0, 0.0, 3.0));
    }

    #[test]
    fn a_curve_is_reached_at_its_nearest_point_and_free_along_it() {
        let line = Aim::Curve(vec![DVec3::new(0.0, 1.0, 0.0), DVec3::new(4.0, 1.0, 0.0)]);
        let (across, goal) = line.measure(DVec3::new(1.0, 3.0, 0.0), DVec3::ZERO);
        assert_eq!(goal, DVec3::new(1.0, 1.0, 0.0));
        assert_eq!(across * DVec3::X, DVec3::ZERO);
        let (whole, end) = line.measure(DVec3::new(9.0, 0.0, 0.0), DVec3::ZERO);
        assert_eq!(
            (whole, end),
            (DMat3::IDENTITY, DVec3::new(4.0, 1.0, 0.0)),
            "beyond an end the end is the goal"
        );
    }

    #[test]
    fn a_corner_of_a_curve_is_slid_past_and_a_loop_has_no_end() {
        let corner = vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, -1.0, 0.0)];
        let (across, goal) = Aim::Curve(corner).measure(DVec3::new(2.0, 1.0, 0.0), DVec3::ZERO);
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
        let (seam, _) = Aim::Curve(square).measure(DVec3::new(-1.0, -1.0, 0.0), DVec3::ZERO);
        assert!((seam * bisector).length() < 1e-15);
    }

    #[test]
    fn pins_beside_the_mesh_or_without_sense_are_declined() {
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
