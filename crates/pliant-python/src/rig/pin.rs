//! Pins: surface points with goals.

use pliant::mesh::{SurfacePoint, TrianglePoint, VertexId};
use pliant::rig::Aim;
use pyo3::prelude::*;

use crate::arrays;
use crate::failure::{Failure, input_error};

/// Place, displacement, aim and stiffness of a pickled pin.
type PinState = (u32, Option<[f64; 3]>, [f64; 3], u8, Vec<[f64; 3]>, f64);

/// A surface point with a goal.
///
/// >>> pliant.Pin(4, [0, 1, 0])
/// <pliant.Pin on vertex 4, moved by (0, 1, 0)>
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct Pin {
    pub(crate) pin: pliant::rig::Pin,
}

#[pymethods]
impl Pin {
    /// `across` frees the coordinate along a direction, `along` constrains it only, and `curve` lets
    /// the point slide on a polyline.
    #[new]
    #[pyo3(signature = (vertex, displacement=None, *, barycentric=None, across=None, along=None, curve=None, stiffness=1.0))]
    fn new(
        vertex: usize,
        displacement: Option<&Bound<'_, PyAny>>,
        barycentric: Option<[f64; 3]>,
        across: Option<&Bound<'_, PyAny>>,
        along: Option<&Bound<'_, PyAny>>,
        curve: Option<&Bound<'_, PyAny>>,
        stiffness: f64,
    ) -> Result<Self, Failure> {
        let Ok(index) = u32::try_from(vertex) else {
            return Err(input_error(format!(
                "vertex {vertex} does not exist on any mesh"
            )));
        };
        let aims = [across.is_some(), along.is_some(), curve.is_some()];
        if aims.iter().filter(|given| **given).count() > 1 {
            return Err(input_error("give one of across, along and curve"));
        }

        let mut pin = pliant::rig::Pin::hold(VertexId::new(index)).with_stiffness(stiffness);
        if let Some(barycentric) = barycentric {
            pin.at = SurfacePoint::InTriangle(TrianglePoint {
                triangle: index,
                barycentric,
            });
        }
        if let Some(displacement) = displacement {
            pin.displacement = arrays::point("displacement", displacement)?;
        }
        if let Some(direction) = across {
            pin.aim = Aim::Across(arrays::point("across", direction)?);
        } else if let Some(direction) = along {
            pin.aim = Aim::Along(arrays::point("along", direction)?);
        } else if let Some(curve) = curve {
            pin.aim = Aim::Curve(arrays::points("curve", curve)?.into_vec());
        }
        Ok(Self { pin })
    }

    /// The displacement from where the pin is grabbed.
    #[getter]
    fn displacement(&self) -> [f64; 3] {
        self.pin.displacement.to_array()
    }

    /// The weight of the pin relative to others.
    #[getter]
    fn stiffness(&self) -> f64 {
        self.pin.stiffness
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Result<(Bound<'py, PyAny>, PinState), Failure> {
        let make = py.get_type::<Self>().getattr("_restored")?;
        let (index, barycentric) = match self.pin.at {
            SurfacePoint::Vertex(vertex) => (vertex, None),
            SurfacePoint::InTriangle(point) => (point.triangle, Some(point.barycentric)),
        };
        let (aim, points) = match &self.pin.aim {
            Aim::Point => (0, Vec::new()),
            Aim::Across(direction) => (1, vec![direction.to_array()]),
            Aim::Along(direction) => (2, vec![direction.to_array()]),
            Aim::Curve(points) => (3, points.iter().map(|p| p.to_array()).collect()),
        };
        let displacement = self.pin.displacement.to_array();
        let state = (
            index,
            barycentric,
            displacement,
            aim,
            points,
            self.pin.stiffness,
        );
        Ok((make, state))
    }

    /// What `__reduce__` stored.
    #[staticmethod]
    fn _restored(
        index: u32,
        barycentric: Option<[f64; 3]>,
        displacement: [f64; 3],
        aim: u8,
        points: Vec<[f64; 3]>,
        stiffness: f64,
    ) -> Result<Self, Failure> {
        let mut pin = pliant::rig::Pin::hold(VertexId::new(index)).with_stiffness(stiffness);
        if let Some(barycentric) = barycentric {
            pin.at = SurfacePoint::InTriangle(TrianglePoint {
                triangle: index,
                barycentric,
            });
        }
        pin.displacement = displacement.into();
        pin.aim = match (aim, &points[..]) {
            (0, []) => Aim::Point,
            (1, [direction]) => Aim::Across((*direction).into()),
            (2, [direction]) => Aim::Along((*direction).into()),
            (3, points) => Aim::Curve(points.iter().map(|p| (*p).into()).collect()),
            _ => return Err(input_error("this is no stored pin")),
        };
        Ok(Self { pin })
    }

    fn __repr__(&self) -> String {
        let [x, y, z] = self.pin.displacement.to_array();
        format!(
            "<pliant.Pin on {}, moved by ({x}, {y}, {z})>",
            self.pin.place()
        )
    }
}

/// Pins as a list of [`Pin`]s and vertices, which are held.
pub(crate) fn pins(pins: &Bound<'_, PyAny>) -> Result<Vec<pliant::rig::Pin>, Failure> {
    let mut found = Vec::new();
    let entries = pins
        .try_iter()
        .map_err(|_| input_error("pins: give a list of Pin or vertex indices"))?;
    for pin in entries {
        let pin = pin?;
        if let Ok(pin) = pin.cast::<Pin>() {
            found.push(pin.get().pin.clone());
        } else if let Ok(vertex) = pin.extract::<u32>() {
            found.push(pliant::rig::Pin::hold(VertexId::new(vertex)));
        } else {
            return Err(input_error(format!(
                "pins: entry {} is {}; give a Pin or a vertex index from 0",
                found.len(),
                pin.repr()?
            )));
        }
    }
    Ok(found)
}
