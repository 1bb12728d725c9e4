//! Arrays of numpy as slices, and results as arrays.
//!
//! An array of float64 in C order is borrowed; everything else that numpy can view as numbers is
//! converted once. What is no array of the needed shape is declined with its name, shape and dtype.

use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayDescrMethods, PyArrayDyn,
    PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pliant::mesh::glam::{DAffine3, DVec3, Vec3};
use pyo3::intern;
use pyo3::prelude::*;

use crate::failure::{Failure, input_error};

/// Numbers that Python owns, in C order.
pub(crate) struct Numbers<'py> {
    array: PyReadonlyArrayDyn<'py, f64>,
}

impl Numbers<'_> {
    pub(crate) fn as_slice(&self) -> Result<&[f64], Failure> {
        Ok(self.array.as_slice()?)
    }
}

/// Points, one per row of an array.
pub(crate) struct Points(Vec<DVec3>);

impl Points {
    pub(crate) fn as_slice(&self) -> &[DVec3] {
        &self.0
    }

    pub(crate) fn into_vec(self) -> Vec<DVec3> {
        self.0
    }
}

fn points_of(numbers: &[f64]) -> Vec<DVec3> {
    numbers.chunks_exact(3).map(DVec3::from_slice).collect()
}

fn extend_by_points(numbers: &mut Vec<f64>, points: &[DVec3]) {
    let begin = numbers.len();
    numbers.resize(begin + points.len() * 3, 0.0);
    for (triple, point) in numbers[begin..].chunks_exact_mut(3).zip(points) {
        point.write_to_slice(triple);
    }
}

fn numbers_of_points(points: &[DVec3]) -> Vec<f64> {
    let mut numbers = Vec::with_capacity(points.len() * 3);
    extend_by_points(&mut numbers, points);
    numbers
}

/// The array that numpy makes of `value`, with its shape and dtype as text.
fn any_array<'py>(
    what: &str,
    value: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyUntypedArray>, Failure> {
    if let Ok(array) = value.cast_exact::<PyUntypedArray>() {
        return Ok(array.clone());
    }

    let py = value.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    if value.cast::<PyUntypedArray>().is_ok() {
        // Numbers below a mask are no numbers that the caller means.
        let masked = numpy.getattr(intern!(py, "ma"))?;
        let masked = masked.call_method1(intern!(py, "is_masked"), (value,))?;
        if masked.is_truthy()? {
            return Err(input_error(format!(
                "{what} is an array with masked entries; replace them first, as by filled()"
            )));
        }
    }
    let array = numpy.call_method1(intern!(py, "asarray"), (value,));
    match array {
        Ok(array) => Ok(array.cast_into::<PyUntypedArray>().map_err(PyErr::from)?),
        Err(error) => {
            let kind = value.get_type().qualname()?;
            Err(input_error(format!(
                "{what}: numpy makes no array of this {kind}: {}",
                error.value(py)
            )))
        }
    }
}

fn described(array: &Bound<'_, PyUntypedArray>) -> String {
    let sizes: Vec<String> = array.shape().iter().map(ToString::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    format!(
        "an array of shape ({}{comma}) and dtype {}",
        sizes.join(", "),
        array.dtype()
    )
}

/// Real numbers of any shape.
fn numbers_of<'py>(
    what: &str,
    array: &Bound<'py, PyUntypedArray>,
) -> Result<Numbers<'py>, Failure> {
    if let Ok(found) = array.cast::<PyArrayDyn<f64>>()
        && found.is_c_contiguous()
        && let Ok(array) = found.try_readonly()
    {
        // An array that is not aligned is copied below.
        if array.as_slice().is_ok() {
            return Ok(Numbers { array });
        }
    }

    if !matches!(array.dtype().kind(), b'f' | b'i' | b'u' | b'b') {
        let found = described(array);
        return Err(input_error(format!("{what} is {found}; give real numbers")));
    }
    let py = array.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    let arguments = (array, intern!(py, "float64"), ("C_CONTIGUOUS", "ALIGNED"));
    let converted = numpy.call_method1(intern!(py, "require"), arguments)?;
    let converted = converted
        .cast_into::<PyArrayDyn<f64>>()
        .map_err(PyErr::from)?;
    Ok(Numbers {
        array: converted.readonly(),
    })
}

/// An array of points: shape (n, 3). An empty list is no points.
pub(crate) fn points(what: &str, value: &Bound<'_, PyAny>) -> Result<Points, Failure> {
    let array = any_array(what, value)?;
    let is_list_of_points = array.ndim() == 2 && array.shape()[1] == 3;
    if !is_list_of_points && array.shape() != [0] {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give n × 3 numbers"
        )));
    }
    Ok(Points(points_of(numbers_of(what, &array)?.as_slice()?)))
}

/// One point: three numbers.
pub(crate) fn point(what: &str, value: &Bound<'_, PyAny>) -> Result<DVec3, Failure> {
    let array = any_array(what, value)?;
    if array.shape() != [3] {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give three numbers"
        )));
    }
    Ok(DVec3::from_slice(numbers_of(what, &array)?.as_slice()?))
}

/// Poses of one mesh: shape (frames, n, 3), or a list of arrays of shape (n, 3).
pub(crate) fn poses(what: &str, value: &Bound<'_, PyAny>) -> Result<Vec<Vec<DVec3>>, Failure> {
    let array = any_array(what, value)?;
    if array.len() == 0 && array.shape()[0] == 0 {
        return Ok(Vec::new());
    }
    if array.ndim() != 3 || array.shape()[2] != 3 {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give frames × n × 3 numbers"
        )));
    }

    let per_pose = array.shape()[1];
    let count = array.shape()[0];
    let numbers = numbers_of(what, &array)?;
    let all = numbers.as_slice()?;
    let pose = |k: usize| points_of(&all[k * per_pose * 3..][..per_pose * 3]);
    Ok((0..count).map(pose).collect())
}

/// Displacements of shapes: shape (shapes, n, 3).
pub(crate) fn displacements(
    what: &str,
    value: &Bound<'_, PyAny>,
    vertices: usize,
) -> Result<Vec<Vec<Vec3>>, Failure> {
    let array = any_array(what, value)?;
    if array.len() == 0 && array.shape()[0] == 0 {
        return Ok(Vec::new());
    }
    if array.ndim() != 3 || array.shape()[1..] != [vertices, 3] {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give shapes × {vertices} × 3 numbers, one displacement for each vertex"
        )));
    }

    // Targets are stored in single precision, so an array of float32 needs no detour.
    if let Ok(single) = array.cast::<PyArray3<f32>>()
        && let Ok(single) = single.try_readonly()
        && let Ok(numbers) = single.as_slice()
    {
        let shapes = numbers.chunks((vertices * 3).max(1));
        let shape = |shape: &[f32]| shape.chunks_exact(3).map(Vec3::from_slice).collect();
        return Ok(shapes.map(shape).collect());
    }
    let numbers = numbers_of(what, &array)?;
    let shapes = numbers.as_slice()?.chunks((vertices * 3).max(1));
    let shape = |shape: &[f64]| points_of(shape).iter().map(|d| d.as_vec3()).collect();
    Ok(shapes.map(shape).collect())
}

/// A list of numbers: shape (n,).
pub(crate) fn numbers(what: &str, value: &Bound<'_, PyAny>) -> Result<Vec<f64>, Failure> {
    let array = any_array(what, value)?;
    if array.ndim() != 1 {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give a list of numbers"
        )));
    }
    Ok(numbers_of(what, &array)?.as_slice()?.to_vec())
}

/// A list of numbers of a known length.
pub(crate) fn numbers_for(
    what: &str,
    value: &Bound<'_, PyAny>,
    count: usize,
    of_what: &str,
) -> Result<Vec<f64>, Failure> {
    let found = numbers(what, value)?;
    if found.len() != count {
        return Err(input_error(format!(
            "{what} has {} entries for {count} {of_what}; give one for each",
            found.len()
        )));
    }
    Ok(found)
}

/// Whether numpy makes a table of `value`, as of a list of lists.
pub(crate) fn is_table(value: &Bound<'_, PyAny>) -> bool {
    any_array("", value).is_ok_and(|array| array.ndim() == 2)
}

/// A table of numbers: shape (rows, columns).
pub(crate) fn rows(what: &str, value: &Bound<'_, PyAny>) -> Result<Vec<Vec<f64>>, Failure> {
    let array = any_array(what, value)?;
    if array.len() == 0 && array.shape()[0] == 0 {
        return Ok(Vec::new());
    }
    if array.ndim() != 2 {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give a table of numbers"
        )));
    }
    let columns = array.shape()[1];
    let numbers = numbers_of(what, &array)?;
    Ok(numbers
        .as_slice()?
        .chunks(columns.max(1))
        .map(<[f64]>::to_vec)
        .collect())
}

/// A table whose rows have a known length.
pub(crate) fn rows_for(
    what: &str,
    value: &Bound<'_, PyAny>,
    columns: usize,
    of_what: &str,
) -> Result<Vec<Vec<f64>>, Failure> {
    let found = rows(what, value)?;
    if let Some(row) = found.iter().find(|row| row.len() != columns) {
        return Err(input_error(format!(
            "{what} has rows of {} entries for {columns} {of_what}; give one for each",
            row.len()
        )));
    }
    Ok(found)
}

/// Right-hand sides of `size` unknowns: the shape, (n,) or (n, k), and the columns.
pub(crate) fn columns(
    what: &str,
    value: &Bound<'_, PyAny>,
    size: usize,
) -> Result<(Vec<usize>, Vec<Vec<f64>>), Failure> {
    let array = any_array(what, value)?;
    if !matches!(array.ndim(), 1 | 2) || array.shape()[0] != size {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give {size} numbers, or {size} rows"
        )));
    }
    let count = array.shape().get(1).copied().unwrap_or(1);
    let numbers = numbers_of(what, &array)?;
    let all = numbers.as_slice()?;
    let column = |k: usize| all.iter().skip(k).step_by(count.max(1)).copied().collect();
    Ok((array.shape().to_vec(), (0..count).map(column).collect()))
}

/// Columns as an array of the shape that [`columns`] found.
pub(crate) fn columns_array<'py>(
    py: Python<'py>,
    shape: &[usize],
    columns: &[Vec<f64>],
) -> Result<Bound<'py, PyAny>, Failure> {
    let mut all = Vec::with_capacity(columns.len() * shape[0]);
    for row in 0..shape[0] {
        all.extend(columns.iter().map(|column| column[row]));
    }
    Ok(all.into_pyarray(py).reshape(shape)?.into_any())
}

/// A list of indices: integers from 0.
pub(crate) fn indices(what: &str, value: &Bound<'_, PyAny>) -> Result<Vec<u32>, Failure> {
    let array = any_array(what, value)?;
    if array.ndim() == 1 && array.len() == 0 {
        return Ok(Vec::new());
    }
    if array.ndim() != 1 {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give a list of indices"
        )));
    }
    indices_of(what, &array)
}

/// One index, or a list of indices.
pub(crate) fn one_or_more_indices(
    what: &str,
    value: &Bound<'_, PyAny>,
) -> Result<Vec<u32>, Failure> {
    let array = any_array(what, value)?;
    if array.ndim() == 0 {
        return indices_of(what, &array);
    }
    indices(what, value)
}

/// The entries of an array of integers, row by row.
fn indices_of(what: &str, array: &Bound<'_, PyUntypedArray>) -> Result<Vec<u32>, Failure> {
    if !matches!(array.dtype().kind(), b'i' | b'u') {
        let found = described(array);
        return Err(input_error(format!(
            "{what} is {found}; give integers, counted from 0"
        )));
    }

    // Unsigned numbers beyond the signed range become negative here and are declined all the same.
    let py = array.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    let arguments = (array, intern!(py, "int64"), ("C_CONTIGUOUS", "ALIGNED"));
    let converted = numpy.call_method1(intern!(py, "require"), arguments)?;
    let converted = converted
        .cast_into::<PyArrayDyn<i64>>()
        .map_err(PyErr::from)?;
    let converted = converted.readonly();
    let values = converted.as_slice()?;

    let to_index = |(place, &value): (usize, &i64)| {
        u32::try_from(value).map_err(|_| {
            let shown: Box<dyn std::fmt::Display> = if value < 0 && array.dtype().kind() == b'u' {
                Box::new(value as u64)
            } else {
                Box::new(value)
            };
            let entry = match array.ndim() {
                0 => what.to_owned(),
                _ => format!("{what}: entry {place}"),
            };
            input_error(format!(
                "{entry} is {shown}; indices count from 0 and are below 4294967296"
            ))
        })
    };
    values.iter().enumerate().map(to_index).collect()
}

/// Pairs of indices: shape (n, 2), or a list of pairs.
pub(crate) fn index_pairs(
    what: &str,
    value: &Bound<'_, PyAny>,
) -> Result<Vec<(u32, u32)>, Failure> {
    let array = any_array(what, value)?;
    if array.len() == 0 {
        return Ok(Vec::new());
    }
    if array.ndim() != 2 || array.shape()[1] != 2 {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give n × 2 indices, as in [(12, 40), (7, 33)]"
        )));
    }
    let indices = indices_of(what, &array)?;
    Ok(indices.chunks(2).map(|pair| (pair[0], pair[1])).collect())
}

/// Polygons: an array of shape (m, corners), or a list of lists.
pub(crate) struct Polygons {
    pub(crate) sizes: Vec<u32>,
    pub(crate) corners: Vec<u32>,
}

pub(crate) fn polygons(what: &str, value: &Bound<'_, PyAny>) -> Result<Polygons, Failure> {
    // Lists of polygons of several sizes are no array. What can become an array, such as a tensor or
    // a table of pandas, is not read row by row.
    let is_array_like = value.hasattr(intern!(value.py(), "__array__"))?;
    if !is_array_like && value.len().is_ok_and(|count| count > 0) {
        let mut sizes = Vec::new();
        let mut uniform = true;
        for face in value.try_iter()? {
            let Ok(size) = face?.len() else {
                return Err(input_error(format!(
                    "{what}: entry {} is no list of vertices; give faces as lists of vertex indices",
                    sizes.len()
                )));
            };
            uniform &= sizes.first().is_none_or(|first| *first == size);
            sizes.push(size);
        }
        if !uniform {
            let mut polygons = Polygons {
                sizes: Vec::new(),
                corners: Vec::new(),
            };
            for (k, face) in value.try_iter()?.enumerate() {
                let corners = indices(&format!("face {k} of {what}"), &face?)?;
                polygons.sizes.push(corners.len() as u32);
                polygons.corners.extend(corners);
            }
            return Ok(polygons);
        }
    }

    let array = any_array(what, value)?;
    if array.len() == 0 {
        return Ok(Polygons {
            sizes: Vec::new(),
            corners: Vec::new(),
        });
    }
    if array.ndim() != 2 {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give m × 3 or m × 4 vertex indices, or a list of lists"
        )));
    }
    let [count, size] = [array.shape()[0], array.shape()[1]];
    Ok(Polygons {
        sizes: vec![size as u32; count],
        corners: indices_of(what, &array)?,
    })
}

/// Bytes of any shape: an array of uint8.
pub(crate) fn bytes(
    what: &str,
    value: &Bound<'_, PyAny>,
) -> Result<(Vec<usize>, Vec<u8>), Failure> {
    let array = any_array(what, value)?;
    let Ok(bytes) = array.cast::<PyArrayDyn<u8>>() else {
        let found = described(&array);
        return Err(input_error(format!(
            "{what} is {found}; give an array of uint8"
        )));
    };
    let shape = array.shape().to_vec();
    let bytes = bytes.readonly();
    let in_order = bytes.as_array().iter().copied().collect();
    Ok((shape, in_order))
}

/// A path, as text or `os.PathLike`, or a locator.
pub(crate) fn locator(value: &Bound<'_, PyAny>) -> Result<String, Failure> {
    let py = value.py();
    let path = py
        .import(intern!(py, "os"))?
        .call_method1(intern!(py, "fspath"), (value,))?;
    path.extract::<String>()
        .map_err(|_| input_error("a file name is text; bytes are not supported"))
}

pub(crate) fn points_array(
    py: Python<'_>,
    points: Vec<DVec3>,
) -> Result<Bound<'_, PyArray2<f64>>, Failure> {
    let count = points.len();
    let numbers = numbers_of_points(&points);
    Ok(numbers.into_pyarray(py).reshape([count, 3])?)
}

/// Poses as one array of shape (frames, n, 3).
pub(crate) fn poses_array<'py>(
    py: Python<'py>,
    poses: &[Vec<DVec3>],
    vertices: usize,
) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
    let mut numbers = Vec::with_capacity(poses.len() * vertices * 3);
    for pose in poses {
        extend_by_points(&mut numbers, pose);
    }
    Ok(numbers
        .into_pyarray(py)
        .reshape([poses.len(), vertices, 3])?)
}

/// A table as an array of shape (rows, columns).
pub(crate) fn rows_array<'py, T: Element + Copy>(
    py: Python<'py>,
    rows: &[Vec<T>],
    columns: usize,
) -> Result<Bound<'py, PyArray2<T>>, Failure> {
    let all: Vec<T> = rows.iter().flatten().copied().collect();
    Ok(all.into_pyarray(py).reshape([rows.len(), columns])?)
}

/// Indices as an array of int64, the type that numpy itself gives indices.
pub(crate) fn index_array(
    py: Python<'_>,
    indices: impl IntoIterator<Item = u32>,
) -> Bound<'_, PyArray1<i64>> {
    let indices: Vec<i64> = indices.into_iter().map(i64::from).collect();
    indices.into_pyarray(py)
}

/// Triangles as an array of shape (m, 3).
pub(crate) fn triangle_array<'py>(
    py: Python<'py>,
    triangles: &[[u32; 3]],
) -> Result<Bound<'py, PyArray2<i64>>, Failure> {
    let corners = index_array(py, triangles.iter().flatten().copied());
    Ok(corners.reshape([triangles.len(), 3])?)
}

/// The motion of a 4 × 4 matrix, row by row.
pub(crate) fn affine_of(rows: &[f64]) -> DAffine3 {
    let column = |k: usize| DVec3::new(rows[k], rows[4 + k], rows[8 + k]);
    DAffine3::from_cols(column(0), column(1), column(2), column(3))
}

/// The 4 × 4 matrix of a motion, row by row.
pub(crate) fn affine_rows(motion: &DAffine3) -> [f64; 16] {
    let [x, y, z, w] = [
        motion.x_axis,
        motion.y_axis,
        motion.z_axis,
        motion.translation,
    ];
    [
        x.x, y.x, z.x, w.x, x.y, y.y, z.y, w.y, x.z, y.z, z.z, w.z, 0.0, 0.0, 0.0, 1.0,
    ]
}
