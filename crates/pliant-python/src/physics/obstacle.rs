//! Solids: obstacles of a blend and colliders of a touch.

use numpy::{PyArray1, PyArray2};
use pliant::linalg::RigidMotion;
use pliant::mesh::glam::{DMat3, DMat4, DQuat, DVec3};
use pliant::physics::ObstacleMotion;
use pyo3::prelude::*;

use crate::arrays::{self, index_array, points_array};
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::work::run;

/// A solid that nothing enters, with its motion.
///
/// >>> ball = pliant.Obstacle.sphere([0, 0, 0], 1.0)
/// >>> vertices, points, depths = ball.contacts([[0, 0, 0.75], [0, 0, 2]])
/// >>> vertices.tolist(), depths.tolist()
/// ([0], [0.25])
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct Obstacle {
    pub(crate) obstacle: pliant::physics::Obstacle,
    pub(crate) motion: ObstacleMotion,
}

impl Obstacle {
    fn still(obstacle: pliant::physics::Obstacle) -> Self {
        Self {
            obstacle,
            motion: ObstacleMotion::still(),
        }
    }
}

/// A rigid motion as a 4 × 4 matrix that acts on column vectors.
pub(crate) fn rigid_motion(what: &str, rows: &[f64]) -> Result<RigidMotion, Failure> {
    let wrong = || {
        input_error(format!(
            "{what} is no rigid motion; give a rotation and a translation as a 4 × 4 matrix"
        ))
    };
    let rows: &[f64; 16] = rows.try_into().map_err(|_| wrong())?;
    let matrix = DMat4::from_cols_array(rows).transpose();
    let linear = DMat3::from_mat4(matrix);
    let is_rigid = matrix.is_finite()
        && (linear.transpose() * linear).abs_diff_eq(DMat3::IDENTITY, 1e-6)
        && linear.determinant() > 0.0
        && matrix.row(3).abs_diff_eq(DVec3::ZERO.extend(1.0), 1e-9);
    if !is_rigid {
        return Err(wrong());
    }
    Ok(RigidMotion {
        rotation: DQuat::from_mat3(&linear),
        translation: matrix.w_axis.truncate(),
    })
}

#[pymethods]
impl Obstacle {
    /// A ball: three numbers and a radius, in units of the mesh.
    #[staticmethod]
    fn sphere(center: &Bound<'_, PyAny>, radius: f64) -> Result<Self, Failure> {
        let center = arrays::point("center", center)?;
        Ok(Self::still(pliant::physics::Obstacle::sphere(
            center, radius,
        )?))
    }

    /// A ball swept from `start` to `end`.
    #[staticmethod]
    fn capsule(
        start: &Bound<'_, PyAny>,
        end: &Bound<'_, PyAny>,
        radius: f64,
    ) -> Result<Self, Failure> {
        let [start, end] = [arrays::point("start", start)?, arrays::point("end", end)?];
        Ok(Self::still(pliant::physics::Obstacle::capsule(
            start, end, radius,
        )?))
    }

    /// A cylinder between the centres of its ends.
    #[staticmethod]
    fn cylinder(
        start: &Bound<'_, PyAny>,
        end: &Bound<'_, PyAny>,
        radius: f64,
    ) -> Result<Self, Failure> {
        let [start, end] = [arrays::point("start", start)?, arrays::point("end", end)?];
        Ok(Self::still(pliant::physics::Obstacle::cylinder(
            start, end, radius,
        )?))
    }

    /// A box with sides along the axes.
    #[staticmethod]
    fn cuboid(center: &Bound<'_, PyAny>, sides: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let center = arrays::point("center", center)?;
        let half = arrays::point("sides", sides)? / 2.0;
        Ok(Self::still(pliant::physics::Obstacle::cuboid(
            center,
            half,
            DQuat::IDENTITY,
        )?))
    }

    /// A closed mesh.
    #[staticmethod]
    fn mesh(py: Python<'_>, mesh: &Mesh) -> Result<Self, Failure> {
        let obstacle = run(py, || Ok(pliant::physics::Obstacle::mesh(&mesh.mesh)?))?;
        Ok(Self::still(obstacle))
    }

    /// The same solid that moves: one 4 × 4 matrix for each frame.
    fn moving(&self, motions: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let mut frames = Vec::new();
        for (k, motion) in motions.try_iter()?.enumerate() {
            let rows = arrays::rows(&format!("motion {k}"), &motion?)?;
            frames.push(rigid_motion(&format!("motion {k}"), &rows.concat())?);
        }
        Ok(Self {
            motion: ObstacleMotion::from_frames(frames),
            ..self.clone()
        })
    }

    /// Vertices in the solid, or nearer to it than `margin`: their indices, the nearest points of its
    /// surface, and their depths.
    #[pyo3(signature = (positions, *, margin=0.0))]
    #[expect(clippy::type_complexity, reason = "a tuple of arrays")]
    fn contacts<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        margin: f64,
    ) -> Result<
        (
            Bound<'py, PyArray1<i64>>,
            Bound<'py, PyArray2<f64>>,
            Bound<'py, PyArray1<f64>>,
        ),
        Failure,
    > {
        let positions = arrays::points("positions", positions)?;
        let positions = positions.as_slice();
        let contacts = run(py, || Ok(self.obstacle.contacts(positions, margin)))?;
        let depths = contacts.iter().map(|contact| contact.depth);
        Ok((
            index_array(py, contacts.iter().map(|contact| contact.vertex.get())),
            points_array(py, contacts.iter().map(|contact| contact.point).collect())?,
            PyArray1::from_iter(py, depths),
        ))
    }

    fn __repr__(&self) -> String {
        let bounds = self.obstacle.bounds();
        format!("<pliant.Obstacle from {} to {}>", bounds.min, bounds.max)
    }
}
