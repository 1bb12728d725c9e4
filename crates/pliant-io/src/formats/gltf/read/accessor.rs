//! glTF accessors: typed arrays in the bytes of buffer views, dense or sparse.

use std::sync::Arc;

use serde_json::Value;

use super::buffers::Buffers;
use super::draco::{self, DecodedArrays};
use super::material;
use crate::ReadError;
use crate::gltf::container::Chunks;
use crate::gltf::document::{self, Document, F32, I8, I16, U8, U16, U32};
use crate::parse::finite::NotFinite;

/// A document and its bytes.
pub(in crate::formats::gltf) struct Source<'a> {
    pub(in crate::formats::gltf) document: &'a Document,
    pub(in crate::formats::gltf) buffers: Buffers<'a>,
    pub(in crate::formats::gltf) chunks: &'a Chunks<'a>,
    /// The label of the faces of each material.
    pub(in crate::formats::gltf) material_labels: Vec<String>,
    /// The entries of materials without textures, which meshes share.
    pub(super) plain_materials: Vec<Arc<Value>>,
    decoded: DecodedArrays,
}

impl<'a> Source<'a> {
    /// A document whose compressed primitives are decoded.
    pub(in crate::formats::gltf) fn open(
        document: &'a Document,
        buffers: Buffers<'a>,
        chunks: &'a Chunks<'a>,
    ) -> Result<Self, ReadError> {
        let mut source = Self {
            document,
            buffers,
            chunks,
            material_labels: material::labels(document),
            plain_materials: material::without_textures(document),
            decoded: DecodedArrays::new(),
        };
        source.decoded = draco::decode(&source)?;
        Ok(source)
    }
}

/// Rows of numbers in bytes, checked to be complete.
#[derive(Clone, Copy)]
struct Rows<'a> {
    bytes: &'a [u8],
    stride: usize,
    component: u32,
    normalized: bool,
}

/// An accessor whose bytes are complete.
pub(super) struct Array<'a> {
    index: usize,
    pub(super) count: usize,
    width: usize,
    rows: Option<Rows<'a>>,
    sparse: Option<SparseRows<'a>>,
}

/// The rows of a sparse accessor that replace those of its base.
struct SparseRows<'a> {
    count: usize,
    /// For each entry, the row that it replaces.
    indices: Rows<'a>,
    values: Rows<'a>,
}

impl Source<'_> {
    /// The accessor `index`, whose type must be one of `kinds`, such as `VEC3`.
    pub(super) fn array(&self, index: usize, kinds: &[&str]) -> Result<Array<'_>, ReadError> {
        let accessors = &self.document.accessors;
        let accessor = accessors.get(index).ok_or_else(|| {
            accessor_error(
                index,
                format!("does not exist; there are {} accessors", accessors.len()),
            )
        })?;

        if !kinds.contains(&accessor.kind.as_str()) {
            return Err(accessor_error(
                index,
                format!(
                    "is of type '{}', but {} is needed",
                    accessor.kind,
                    kinds.join(" or ")
                ),
            ));
        }

        let width = width_of(&accessor.kind).ok_or_else(|| {
            accessor_error(index, format!("has the unknown type '{}'", accessor.kind))
        })?;
        let layout = |offset, stride| RowLayout {
            offset,
            stride,
            component: accessor.component_type,
            normalized: accessor.normalized,
            width,
        };
        let decoded = self.decoded.get(&index);
        let decoded = decoded.filter(|_| accessor.buffer_view.is_none());
        let count = decoded.map_or(accessor.count, |array| array.rows);
        let rows = match accessor.buffer_view {
            None => match decoded {
                Some(array) => Some(layout(0, None).rows(index, &array.bytes, count)?),
                None => None,
            },
            Some(view) => {
                let (bytes, stride) = self.buffers.view(view)?;
                let layout = layout(accessor.byte_offset, stride);
                Some(layout.rows(index, bytes, accessor.count)?)
            }
        };

        let sparse = accessor
            .sparse
            .as_ref()
            .map(|sparse| self.sparse(index, accessor, sparse, width))
            .transpose()?;

        Ok(Array {
            index,
            count,
            width,
            rows,
            sparse,
        })
    }

    fn sparse(
        &self,
        index: usize,
        accessor: &document::Accessor,
        sparse: &document::Sparse,
        width: usize,
    ) -> Result<SparseRows<'_>, ReadError> {
        let component = sparse.indices.component_type.unwrap_or(U32);
        if !matches!(component, U8 | U16 | U32) {
            return Err(accessor_error(
                index,
                format!(
                    "has sparse indices of component type {component}, which is not an unsigned integer"
                ),
            ));
        }

        let (bytes, _) = self.buffers.view(sparse.indices.buffer_view)?;
        let layout = RowLayout {
            offset: sparse.indices.byte_offset,
            stride: None,
            component,
            normalized: false,
            width: 1,
        };
        let indices = layout.rows(index, bytes, sparse.count)?;

        let (bytes, _) = self.buffers.view(sparse.values.buffer_view)?;
        let layout = RowLayout {
            offset: sparse.values.byte_offset,
            stride: None,
            component: accessor.component_type,
            normalized: accessor.normalized,
            width,
        };
        let values = layout.rows(index, bytes, sparse.count)?;

        Ok(SparseRows {
            count: sparse.count,
            indices,
            values,
        })
    }

    /// Rows of `N` numbers. Missing components become 1, the alpha of an RGB colour.
    pub(in crate::formats::gltf) fn vectors<const N: usize>(
        &self,
        index: usize,
        kinds: &[&str],
    ) -> Result<Vec<[f32; N]>, ReadError> {
        let array = self.array(index, kinds)?;
        self.buffers.budget.spend(
            array.count.saturating_mul(N),
            format_args!("accessor {index}"),
        )?;

        let mut values = match array.rows {
            Some(rows) => rows.vectors(array.count, array.width),
            None => vec![[0.0; N]; array.count],
        };

        array.each_sparse(|row, rows, k| {
            values[row] = rows.vector(k, array.width);
        })?;

        Ok(values)
    }

    /// Plain numbers, row after row.
    pub(in crate::formats::gltf) fn numbers(
        &self,
        index: usize,
        kinds: &[&str],
    ) -> Result<Vec<f64>, ReadError> {
        let array = self.array(index, kinds)?;
        let total = array.count.saturating_mul(array.width);
        self.buffers
            .budget
            .spend(total, format_args!("accessor {index}"))?;

        let mut values = vec![0.0; total];
        if let Some(rows) = array.rows {
            for (row, out) in values.chunks_exact_mut(array.width).enumerate() {
                for (k, value) in out.iter_mut().enumerate() {
                    *value = f64::from(rows.number(row, k));
                }
            }
        }

        array.each_sparse(|row, rows, k| {
            for i in 0..array.width {
                values[row * array.width + i] = f64::from(rows.number(k, i));
            }
        })?;

        Ok(values)
    }

    /// Unsigned integers, such as vertex indices.
    pub(super) fn whole_numbers(&self, index: usize) -> Result<Vec<u32>, ReadError> {
        let array = self.array(index, &["SCALAR"])?;
        self.buffers
            .budget
            .spend(array.count, format_args!("accessor {index}"))?;

        let mut values = match array.rows {
            Some(rows) if matches!(rows.component, U8 | U16 | U32) => {
                rows.whole_numbers(array.count)
            }
            Some(_) => {
                return Err(accessor_error(
                    index,
                    "has indices that are not unsigned integers".into(),
                ));
            }
            None => vec![0; array.count],
        };

        array.each_sparse(|row, rows, k| {
            values[row] = rows.whole_number(k);
        })?;

        Ok(values)
    }

    /// Notes every accessor of floating-point numbers that are not all finite, whether it is read or
    /// not. Accessors that cannot be read are left to their readers.
    pub(super) fn check_finite(&self, found: &NotFinite) -> Result<(), ReadError> {
        for (index, accessor) in self.document.accessors.iter().enumerate() {
            if accessor.component_type != F32 {
                continue;
            }
            let Ok(array) = self.array(index, &[accessor.kind.as_str()]) else {
                continue;
            };
            let stored = array
                .sparse
                .as_ref()
                .map(|sparse| (sparse.values, sparse.count));
            let dense = array.rows.map(|rows| (rows, array.count));
            for (rows, count) in dense.into_iter().chain(stored) {
                let numbers = count.saturating_mul(array.width);
                self.buffers
                    .budget
                    .spend(numbers, format_args!("accessor {index}"))?;
                let width = array.width;
                let row = |row| (0..width).map(move |k| f64::from(rows.number(row, k)));
                found.check((0..count).flat_map(row), format_args!("accessor {index}"));
            }
        }
        Ok(())
    }

    /// Calls `visit` with every row that is not zero, ascending. These are the displacements of a
    /// target.
    pub(super) fn each_displacement(
        &self,
        index: usize,
        vertices: usize,
        mut visit: impl FnMut(usize, [f32; 3]),
    ) -> Result<(), ReadError> {
        let array = self.array(index, &["VEC3"])?;
        if array.count != vertices {
            return Err(accessor_error(
                index,
                format!(
                    "is a target of {} vertices, but its mesh has {vertices} vertices",
                    array.count
                ),
            ));
        }

        // Most rows of a dense target are zero.
        let mut keep = |row, delta: [f32; 3]| {
            if delta != [0.0; 3] {
                visit(row, delta);
            }
        };

        // A sparse accessor without a base stores only the rows that are not zero.
        let Some(rows) = array.rows else {
            let stored = array.sparse.as_ref().map_or(0, |sparse| sparse.count);
            self.buffers
                .budget
                .spend(stored.saturating_mul(3), format_args!("accessor {index}"))?;
            return array.each_sparse(|row, rows, k| keep(row, rows.vector(k, 3)));
        };

        if array.sparse.is_some() {
            let dense = self.vectors::<3>(index, &["VEC3"])?;
            for (row, delta) in dense.into_iter().enumerate() {
                keep(row, delta);
            }
            return Ok(());
        }

        self.buffers.budget.spend(
            array.count.saturating_mul(3),
            format_args!("accessor {index}"),
        )?;
        for row in 0..array.count {
            keep(row, rows.vector(row, 3));
        }

        Ok(())
    }
}

impl Array<'_> {
    /// Calls `visit` with each sparse row: its index, the values, and the entry in the values.
    fn each_sparse(&self, mut visit: impl FnMut(usize, &Rows<'_>, usize)) -> Result<(), ReadError> {
        let Some(sparse) = &self.sparse else {
            return Ok(());
        };

        // The specification demands ascending rows below the count.
        let mut next = 0;
        for k in 0..sparse.count {
            let row = sparse.indices.whole_number(k) as usize;
            if row >= self.count {
                return Err(accessor_error(
                    self.index,
                    format!("has the sparse row {row}, but only {} rows", self.count),
                ));
            }
            if row < next {
                return Err(accessor_error(
                    self.index,
                    format!("has the sparse row {row} after row {}", next - 1),
                ));
            }

            next = row + 1;
            visit(row, &sparse.values, k);
        }

        Ok(())
    }
}

/// Where the rows of an array lie in the bytes of a view.
struct RowLayout {
    /// Where the first row begins.
    offset: usize,
    /// Bytes from row to row; `None` if the rows follow each other.
    stride: Option<usize>,
    component: u32,
    normalized: bool,
    /// Numbers in a row.
    width: usize,
}

impl RowLayout {
    /// Checks that `count` rows of accessor `index` lie in `bytes`.
    fn rows<'a>(&self, index: usize, bytes: &'a [u8], count: usize) -> Result<Rows<'a>, ReadError> {
        let component = self.component;
        let size = size_of(component).ok_or_else(|| {
            accessor_error(index, format!("has the unknown component type {component}"))
        })?;

        let row = size * self.width;
        let stride = self.stride.unwrap_or(row);
        if stride < row {
            return Err(accessor_error(
                index,
                format!("has rows of {row} bytes, but a stride of {stride} bytes"),
            ));
        }

        // The last row need not be padded to the stride.
        let offset = self.offset;
        let needed = match count.checked_sub(1) {
            None => Some(0),
            Some(last) => stride.checked_mul(last).and_then(|n| n.checked_add(row)),
        };
        let end = needed.and_then(|needed| needed.checked_add(offset));
        let Some(end) = end.filter(|&end| end <= bytes.len()) else {
            return Err(accessor_error(
                index,
                format!(
                    "needs {count} rows of {row} bytes from byte {offset}, but its view has {} bytes",
                    bytes.len()
                ),
            ));
        };

        Ok(Rows {
            bytes: if count == 0 { &[] } else { &bytes[offset..end] },
            stride,
            component,
            normalized: self.normalized,
        })
    }
}

impl Rows<'_> {
    fn vectors<const N: usize>(&self, count: usize, width: usize) -> Vec<[f32; N]> {
        if self.component == F32 && width == N {
            return (0..count).map(|row| self.floats(row)).collect();
        }
        (0..count).map(|row| self.vector(row, width)).collect()
    }

    #[inline]
    fn vector<const N: usize>(&self, row: usize, width: usize) -> [f32; N] {
        if self.component == F32 && width == N {
            return self.floats(row);
        }
        std::array::from_fn(|k| if k < width { self.number(row, k) } else { 1.0 })
    }

    #[inline]
    fn floats<const N: usize>(&self, row: usize) -> [f32; N] {
        let bytes = &self.bytes[row * self.stride..][..4 * N];
        std::array::from_fn(|k| {
            f32::from_le_bytes([
                bytes[4 * k],
                bytes[4 * k + 1],
                bytes[4 * k + 2],
                bytes[4 * k + 3],
            ])
        })
    }

    fn whole_numbers(&self, count: usize) -> Vec<u32> {
        (0..count).map(|row| self.whole_number(row)).collect()
    }

    #[inline]
    fn whole_number(&self, row: usize) -> u32 {
        let bytes = &self.bytes[row * self.stride..];
        match self.component {
            U8 => u32::from(bytes[0]),
            U16 => u32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            _ => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        }
    }

    /// One number; a normalized integer is a fraction of the greatest integer of its type.
    fn number(&self, row: usize, k: usize) -> f32 {
        let bytes = &self.bytes[row * self.stride..];
        let two = || [bytes[2 * k], bytes[2 * k + 1]];
        let four = || {
            [
                bytes[4 * k],
                bytes[4 * k + 1],
                bytes[4 * k + 2],
                bytes[4 * k + 3],
            ]
        };

        // Normalized integers are fractions of the greatest value; signed ones are clamped to −1.
        let (value, greatest) = match self.component {
            I8 => (f32::from(bytes[k] as i8), 127.0),
            U8 => (f32::from(bytes[k]), 255.0),
            I16 => (f32::from(i16::from_le_bytes(two())), 32767.0),
            U16 => (f32::from(u16::from_le_bytes(two())), 65535.0),
            U32 => return u32::from_le_bytes(four()) as f32,
            _ => return f32::from_le_bytes(four()),
        };

        if self.normalized {
            (value / greatest).max(-1.0)
        } else {
            value
        }
    }
}

fn accessor_error(accessor: usize, message: String) -> ReadError {
    ReadError::whole(format!(
        "accessor {accessor} {message}; export the file again"
    ))
}

pub(super) fn width_of(kind: &str) -> Option<usize> {
    Some(match kind {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => return None,
    })
}

pub(super) fn size_of(component: u32) -> Option<usize> {
    Some(match component {
        I8 | U8 => 1,
        I16 | U16 => 2,
        U32 | F32 => 4,
        _ => return None,
    })
}
