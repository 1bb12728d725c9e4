//! The vertices by which a deformation is steered.

use pliant_linalg::{nearest_rotation, outer};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DMat3, DVec3};

use crate::LearnError;

/// Distinct vertices of a mesh, in the order in which their places are given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlPoints {
    vertices: Vec<u32>,
}

impl ControlPoints {
    /// Fewer tell no turn.
    pub const LEAST: usize = 3;

    /// Checks `vertices` against `mesh`.
    ///
    /// # Errors
    /// Fewer than [`LEAST`](Self::LEAST) points, a vertex that does not exist or that is named twice.
    pub fn new(mesh: &Mesh, vertices: &[usize]) -> Result<Self, LearnError> {
        if vertices.len() < Self::LEAST {
            return Err(LearnError::TooFewControlPoints { found: vertices.len(), needed: Self::LEAST });
        }
        for (k, &vertex) in vertices.iter().enumerate() {
            if vertex >= mesh.vertex_count() {
                return Err(LearnError::NoSuchControlPoint { point: k, vertex, vertices: mesh.vertex_count() });
            }
            if let Some(first) = vertices[..k].iter().position(|&other| other == vertex) {
                return Err(LearnError::RepeatedControlPoint { first, second: k, vertex });
            }
        }
        Ok(Self { vertices: vertices.iter().map(|&v| v as u32).collect() })
    }

    /// The vertices.
    #[must_use]
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Number of points.
    #[must_use]
    pub fn count(&self) -> usize {
        self.vertices.len()
    }

    /// Where the points are in a pose.
    #[must_use]
    pub fn at(&self, positions: &[DVec3]) -> Vec<DVec3> {
        self.vertices.iter().map(|&v| positions[v as usize]).collect()
    }
}

/// Part of the identity mixed into a rigid fit, so that points on a line turn as little as they must.
const LEAST_TURN: f64 = 1e-9;

/// The rotation and the centres of the rigid motion that takes all control points from `rest` to `control` best.
#[derive(Debug)]
pub(crate) struct Alignment {
    pub(crate) rotation: DMat3,
    rest_center: DVec3,
    center: DVec3,
}

impl Alignment {
    pub(crate) fn of(rest: &[DVec3], control: &[DVec3]) -> Self {
        let mean = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len() as f64;
        let (rest_center, center) = (mean(rest), mean(control));
        let spread: f64 = rest.iter().map(|p| p.distance_squared(rest_center)).sum();
        let mut covariance = DMat3::IDENTITY * (LEAST_TURN * spread);
        for (p, q) in rest.iter().zip(control) {
            covariance += outer(*q - center, *p - rest_center);
        }
        Self { rotation: nearest_rotation(covariance), rest_center, center }
    }

    /// From where the control points are now to where they were at rest.
    pub(crate) fn to_rest(&self, point: DVec3) -> DVec3 {
        self.rotation.transpose() * (point - self.center) + self.rest_center
    }

    /// The way back.
    pub(crate) fn to_present(&self, point: DVec3) -> DVec3 {
        self.rotation * (point - self.rest_center) + self.center
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    #[test]
    fn points_that_cannot_steer_are_declined_by_index() {
        let mesh = shapes::icosphere(1);
        assert_eq!(ControlPoints::new(&mesh, &[1, 2]).unwrap_err(), LearnError::TooFewControlPoints { found: 2, needed: 3 });
        let beyond = ControlPoints::new(&mesh, &[0, 1, 42]).unwrap_err();
        assert_eq!(beyond, LearnError::NoSuchControlPoint { point: 2, vertex: 42, vertices: 42 });
        assert_eq!(ControlPoints::new(&mesh, &[7, 3, 7]).unwrap_err(), LearnError::RepeatedControlPoint { first: 0, second: 2, vertex: 7 });
        assert_eq!(ControlPoints::new(&mesh, &[7, 3, 5]).unwrap().at(mesh.positions())[1], mesh.positions()[3]);
    }

    #[test]
    fn an_alignment_undoes_a_rigid_motion_and_comes_back() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::new(0.2, 1.0, 0.5), DVec3::Z];
        let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.2);
        let moved = rest.map(|p| turn * p + DVec3::new(3.0, -1.0, 7.0));
        let alignment = Alignment::of(&rest, &moved);
        for (p, q) in rest.iter().zip(&moved) {
            assert!(alignment.to_rest(*q).distance(*p) < 1e-8 && alignment.to_present(*p).distance(*q) < 1e-8);
        }
    }

    #[test]
    fn points_on_a_line_do_not_spin() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::X * 2.0];
        let alignment = Alignment::of(&rest, &rest);
        assert!(
            (alignment.rotation.to_cols_array().iter().zip(DMat3::IDENTITY.to_cols_array()).map(|(a, b)| (a - b).abs())).sum::<f64>()
                < 1e-9
        );
    }
}
