//! Accessors: typed arrays in the bytes of views.

use super::buffers::Buffers;
use super::document::{self, Document, F32, I8, I16, U8, U16, U32};
use crate::ReadError;

/// A document and its bytes.
pub(super) struct Source<'a> {
    pub(super) document: &'a Document,
    pub(super) buffers: Buffers<'a>,
}

/// Rows of numbers in bytes, checked to be all there.
#[derive(Clone, Copy)]
struct Rows<'a> {
    bytes: &'a [u8],
    stride: usize,
    component: u32,
    normalized: bool,
}

/// An accessor whose bytes are all there.
pub(super) struct Array<'a> {
    index: usize,
    pub(super) count: usize,
    width: usize,
    rows: Option<Rows<'a>>,
    sparse: Option<(usize, Rows<'a>, Rows<'a>)>,
}

impl Source<'_> {
    /// The accessor `index`, which must have rows of one of the `kinds`.
    pub(super) fn array(&self, index: usize, kinds: &[&str]) -> Result<Array<'_>, ReadError> {
        let accessors = &self.document.accessors;
        let accessor = accessors.get(index).ok_or_else(|| {
            wrong(
                index,
                format!("does not exist; there are {}", accessors.len()),
            )
        })?;
        if !kinds.contains(&accessor.kind.as_str()) {
            return Err(wrong(
                index,
                format!(
                    "holds '{}' where {} is needed",
                    accessor.kind,
                    kinds.join(" or ")
                ),
            ));
        }
        let width = width_of(&accessor.kind)
            .ok_or_else(|| wrong(index, format!("is of the unknown type '{}'", accessor.kind)))?;
        let rows = match accessor.buffer_view {
            None => None,
            Some(view) => {
                let (bytes, stride) = self.buffers.view(view)?;
                let at = (bytes, stride, accessor.byte_offset);
                Some(rows(
                    index,
                    at,
                    accessor.component_type,
                    accessor.normalized,
                    width,
                    accessor.count,
                )?)
            }
        };
        let sparse = accessor
            .sparse
            .as_ref()
            .map(|sparse| self.sparse(index, accessor, sparse, width))
            .transpose()?;
        Ok(Array {
            index,
            count: accessor.count,
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
    ) -> Result<(usize, Rows<'_>, Rows<'_>), ReadError> {
        let component = sparse.indices.component_type.unwrap_or(U32);
        if !matches!(component, U8 | U16 | U32) {
            return Err(wrong(
                index,
                format!(
                    "sets rows apart by numbers of component type {component}, which are no indices"
                ),
            ));
        }
        let (bytes, _) = self.buffers.view(sparse.indices.buffer_view)?;
        let at = (bytes, None, sparse.indices.byte_offset);
        let places = rows(index, at, component, false, 1, sparse.count)?;
        let (bytes, _) = self.buffers.view(sparse.values.buffer_view)?;
        let at = (bytes, None, sparse.values.byte_offset);
        let values = rows(
            index,
            at,
            accessor.component_type,
            accessor.normalized,
            width,
            sparse.count,
        )?;
        Ok((sparse.count, places, values))
    }

    /// Rows of three or so numbers; fewer stored ones are filled with 1 (an alpha that is not
    /// there).
    pub(super) fn vectors<const N: usize>(
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
    pub(super) fn numbers(&self, index: usize, kinds: &[&str]) -> Result<Vec<f64>, ReadError> {
        let array = self.array(index, kinds)?;
        let total = array.count.saturating_mul(array.width);
        self.buffers
            .budget
            .spend(total, format_args!("accessor {index}"))?;
        let mut values = vec![0.0; total];
        if let Some(rows) = array.rows {
            for (row, out) in values.chunks_exact_mut(array.width).enumerate() {
                out.iter_mut()
                    .enumerate()
                    .for_each(|(k, x)| *x = f64::from(rows.number(row, k)));
            }
        }
        array.each_sparse(|row, rows, k| {
            (0..array.width)
                .for_each(|i| values[row * array.width + i] = f64::from(rows.number(k, i)));
        })?;
        Ok(values)
    }

    /// Vertex indices and the like: whole numbers without a sign.
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
                return Err(wrong(
                    index,
                    "holds indices that are not whole numbers without sign".into(),
                ));
            }
            None => vec![0; array.count],
        };
        array.each_sparse(|row, rows, k| {
            values[row] = rows.whole_number(k);
        })?;
        Ok(values)
    }

    /// Calls `visit` with every row that is not zero, ascending: the displacements of a target.
    pub(super) fn each_displacement(
        &self,
        index: usize,
        vertices: usize,
        mut visit: impl FnMut(usize, [f32; 3]),
    ) -> Result<(), ReadError> {
        let array = self.array(index, &["VEC3"])?;
        if array.count != vertices {
            return Err(wrong(
                index,
                format!(
                    "is a target of {} vertices, but its mesh has {vertices}",
                    array.count
                ),
            ));
        }
        let mut keep = |row, delta: [f32; 3]| {
            if delta != [0.0; 3] {
                visit(row, delta);
            }
        };
        let Some(rows) = array.rows else {
            let stored = array.sparse.map_or(0, |s| s.0);
            self.buffers
                .budget
                .spend(stored.saturating_mul(3), format_args!("accessor {index}"))?;
            return array.each_sparse(|row, rows, k| keep(row, rows.vector(k, 3)));
        };
        if array.sparse.is_some() {
            let dense = self.vectors::<3>(index, &["VEC3"])?;
            dense
                .into_iter()
                .enumerate()
                .for_each(|(row, delta)| keep(row, delta));
            return Ok(());
        }
        self.buffers.budget.spend(
            array.count.saturating_mul(3),
            format_args!("accessor {index}"),
        )?;
        (0..array.count).for_each(|row| keep(row, rows.vector(row, 3)));
        Ok(())
    }
}

impl Array<'_> {
    /// Calls `visit` with each row that is stored apart, ascending and below the count.
    fn each_sparse(&self, mut visit: impl FnMut(usize, &Rows<'_>, usize)) -> Result<(), ReadError> {
        let Some((count, places, values)) = &self.sparse else {
            return Ok(());
        };
        let mut next = 0;
        for k in 0..*count {
            let row = places.whole_number(k) as usize;
            if row >= self.count {
                return Err(wrong(
                    self.index,
                    format!("sets row {row} apart, but has {}", self.count),
                ));
            }
            if row < next {
                return Err(wrong(
                    self.index,
                    format!("sets row {row} apart after row {}", next - 1),
                ));
            }
            next = row + 1;
            visit(row, values, k);
        }
        Ok(())
    }
}

/// Checks that `count` rows lie in the bytes of a view: (bytes, stride, offset of the first row).
fn rows<'a>(
    index: usize,
    (bytes, stride, offset): (&'a [u8], Option<usize>, usize),
    component: u32,
    normalized: bool,
    width: usize,
    count: usize,
) -> Result<Rows<'a>, ReadError> {
    let size = size_of(component)
        .ok_or_else(|| wrong(index, format!("has the unknown component type {component}")))?;
    let row = size * width;
    let stride = stride.unwrap_or(row);
    if stride < row {
        return Err(wrong(
            index,
            format!("has rows of {row} bytes, but they stand {stride} bytes apart"),
        ));
    }
    let need = count
        .checked_sub(1)
        .map_or(Some(0), |last| stride.checked_mul(last)?.checked_add(row));
    let end = need
        .and_then(|need| need.checked_add(offset))
        .filter(|&end| end <= bytes.len());
    let end = end.ok_or_else(|| {
        wrong(index, format!("promises {count} rows of {row} bytes from byte {offset}, but its view has {} bytes", bytes.len()))
    })?;
    Ok(Rows {
        bytes: if count == 0 { &[] } else { &bytes[offset..end] },
        stride,
        component,
        normalized,
    })
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

    /// One number; whole ones count as fractions of their greatest where they are normalized.
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

fn wrong(accessor: usize, message: String) -> ReadError {
    ReadError::whole(format!(
        "accessor {accessor} {message}; export the file again"
    ))
}

fn width_of(kind: &str) -> Option<usize> {
    Some(match kind {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => return None,
    })
}

fn size_of(component: u32) -> Option<usize> {
    Some(match component {
        I8 | U8 => 1,
        I16 | U16 => 2,
        U32 | F32 => 4,
        _ => return None,
    })
}
