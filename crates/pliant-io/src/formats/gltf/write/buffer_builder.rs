//! The one buffer of a written glTF file: arrays become accessors, buffer views and bytes.
//!
//! **Problem.** Targets move few vertices: written row by row, most of a rig would be zeros.
//!
//! **Method.** Rows that are mostly zero become a sparse accessor without a base if that takes
//! fewer bytes. Rows that are all zero take no bytes.

use std::collections::HashMap;

use crate::gltf::document::{
    Accessor, BufferView, F32, INDICES, Sparse, SparseView, U8, U16, U32, VERTICES,
};
use crate::gltf::extras::accessor_name;
use crate::gltf::seams::Displacements;

/// The buffer and the accessors and views into it.
#[derive(Default)]
pub(in crate::formats::gltf) struct BufferBuilder {
    pub(in crate::formats::gltf) bytes: Vec<u8>,
    pub(in crate::formats::gltf) views: Vec<BufferView>,
    pub(in crate::formats::gltf) accessors: Vec<Accessor>,
    /// Accessors of displacements that are all zero, by their number of vertices.
    zero_accessors: HashMap<usize, usize>,
    /// Views of the indices of sparse accessors, by component type and indices. Normals of a target and
    /// frames of a clip often move the same vertices.
    index_views: HashMap<(u32, Vec<u32>), usize>,
    /// How many accessors and views the document has before those of this buffer.
    known_accessors: usize,
    known_views: usize,
}

impl BufferBuilder {
    /// A buffer whose accessors and views follow those of a document that has some already.
    pub(in crate::formats::gltf) fn after(accessors: usize, views: usize) -> Self {
        Self {
            known_accessors: accessors,
            known_views: views,
            ..Self::default()
        }
    }

    /// A view of the bytes that `write` appends, at a multiple of four bytes.
    fn view(&mut self, target: Option<u32>, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let start = self.bytes.len();
        write(&mut self.bytes);

        let byte_length = self.bytes.len() - start;
        self.views.push(BufferView {
            byte_offset: start,
            byte_length,
            target,
            ..BufferView::default()
        });

        self.known_views + self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Accessor) -> usize {
        self.accessors.push(accessor);
        self.known_accessors + self.accessors.len() - 1
    }

    /// The bytes of an image.
    pub(in crate::formats::gltf) fn image(&mut self, bytes: &[u8]) -> usize {
        self.view(None, |buffer| buffer.extend_from_slice(bytes))
    }

    /// A vertex attribute: one row of `N` numbers per vertex.
    pub(in crate::formats::gltf) fn attribute<const N: usize>(
        &mut self,
        rows: &[[f32; N]],
    ) -> usize {
        let view = self.view(Some(VERTICES), |bytes| push_rows(bytes, rows));
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1].into();
        self.accessor(Accessor {
            buffer_view: Some(view),
            component_type: F32,
            count: rows.len(),
            kind,
            ..Accessor::default()
        })
    }

    /// Joint indices, four for each vertex, out of `count` joints.
    pub(in crate::formats::gltf) fn joints(&mut self, rows: &[[u32; 4]], count: usize) -> usize {
        let component_type = component_for(count.saturating_sub(1) as u32).min(U16);
        let view = self.view(Some(VERTICES), |bytes| {
            push_whole(bytes, rows.as_flattened(), component_type)
        });

        self.accessor(Accessor {
            buffer_view: Some(view),
            component_type,
            count: rows.len(),
            kind: "VEC4".into(),
            ..Accessor::default()
        })
    }

    /// Matrices, column by column.
    pub(in crate::formats::gltf) fn matrices(&mut self, matrices: &[[f32; 16]]) -> usize {
        let view = self.view(None, |bytes| push_rows(bytes, matrices));
        let (count, kind) = (matrices.len(), "MAT4".into());
        self.accessor(Accessor {
            buffer_view: Some(view),
            component_type: F32,
            count,
            kind,
            ..Accessor::default()
        })
    }

    /// Positions, for which glTF demands bounds.
    pub(in crate::formats::gltf) fn positions(&mut self, rows: &[[f32; 3]]) -> usize {
        let accessor = self.attribute(rows);
        self.set_bounds(accessor, rows, false);
        accessor
    }

    /// Three indices per triangle.
    pub(in crate::formats::gltf) fn triangles(
        &mut self,
        indices: &[u32],
        vertices: usize,
    ) -> usize {
        // The greatest value of each type is reserved for primitive restart.
        let component_type = if vertices <= usize::from(u16::MAX) {
            U16
        } else {
            U32
        };

        let view = self.view(Some(INDICES), |bytes| {
            push_whole(bytes, indices, component_type)
        });
        let count = indices.len();

        self.accessor(Accessor {
            buffer_view: Some(view),
            component_type,
            count,
            kind: "SCALAR".into(),
            ..Accessor::default()
        })
    }

    /// One of our own lists, identified by its name.
    pub(in crate::formats::gltf) fn list(&mut self, name: &str, values: &[u32]) -> usize {
        let component_type = component_for(values.iter().copied().max().unwrap_or(0));
        let view = self.view(None, |bytes| push_whole(bytes, values, component_type));
        let (name, kind) = (Some(accessor_name(name)), "SCALAR".into());

        self.accessor(Accessor {
            name,
            buffer_view: Some(view),
            component_type,
            count: values.len(),
            kind,
            ..Accessor::default()
        })
    }

    /// Displacements of `count` vertices; equal ones that are all zero share an accessor.
    pub(in crate::formats::gltf) fn displacements(
        &mut self,
        count: usize,
        moved: &Displacements,
        bounds: bool,
    ) -> usize {
        let all_zero = moved.vertices.is_empty();
        if let Some(&known) = self.zero_accessors.get(&count).filter(|_| all_zero) {
            return known;
        }

        let accessor = self.mostly_zero(count, &moved.vertices, &moved.deltas, Some(VERTICES));
        if bounds || all_zero {
            self.set_bounds(accessor, &moved.deltas, moved.deltas.len() < count);
        }
        if all_zero {
            self.zero_accessors.insert(count, accessor);
        }

        accessor
    }

    /// Key times or values of a curve, as rows of `N` numbers.
    pub(in crate::formats::gltf) fn curve<const N: usize>(&mut self, rows: &[[f32; N]]) -> usize {
        let nonzero: Vec<u32> = (0..rows.len() as u32)
            .filter(|&k| rows[k as usize] != [0.0; N])
            .collect();

        // Only rows of one number, the weights of targets, are ever mostly zero.
        if N == 1 && nonzero.len() < rows.len() / 4 {
            let values: Vec<[f32; N]> = nonzero.iter().map(|&k| rows[k as usize]).collect();
            return self.mostly_zero(rows.len(), &nonzero, &values, None);
        }

        let view = self.view(None, |bytes| push_rows(bytes, rows));
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1].into();
        self.accessor(Accessor {
            buffer_view: Some(view),
            component_type: F32,
            count: rows.len(),
            kind,
            ..Accessor::default()
        })
    }

    /// Key times, with their bounds.
    pub(in crate::formats::gltf) fn times(&mut self, times: &[f32]) -> usize {
        let rows: Vec<[f32; 1]> = times.iter().map(|&t| [t]).collect();
        let view = self.view(None, |bytes| push_rows(bytes, &rows));
        let kind = "SCALAR".into();
        let accessor = self.accessor(Accessor {
            buffer_view: Some(view),
            component_type: F32,
            count: rows.len(),
            kind,
            ..Accessor::default()
        });

        self.set_bounds(accessor, &rows, false);
        accessor
    }

    /// An array of `count` rows that are zero but for some: dense or sparse, whichever is smaller.
    fn mostly_zero<const N: usize>(
        &mut self,
        count: usize,
        nonzero: &[u32],
        values: &[[f32; N]],
        target: Option<u32>,
    ) -> usize {
        let component_type = component_for(count.saturating_sub(1) as u32);
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1].to_owned();
        let mut accessor = Accessor {
            component_type: F32,
            count,
            kind,
            ..Accessor::default()
        };

        // Dense rows if the sparse indices and values would take as many bytes.
        if nonzero.len() * (4 * N + size_of(component_type)) >= count * 4 * N {
            let mut dense = vec![[0.0; N]; count];
            for (&row, &value) in nonzero.iter().zip(values) {
                dense[row as usize] = value;
            }
            accessor.buffer_view = Some(self.view(target, |bytes| push_rows(bytes, &dense)));
        } else if !nonzero.is_empty() {
            let indices = self.index_view(nonzero, component_type);
            let values = self.view(None, |bytes| push_rows(bytes, values));
            accessor.sparse = Some(Sparse {
                count: nonzero.len(),
                indices: SparseView {
                    buffer_view: indices,
                    component_type: Some(component_type),
                    ..SparseView::default()
                },
                values: SparseView {
                    buffer_view: values,
                    ..SparseView::default()
                },
            });
        }

        self.accessor(accessor)
    }

    /// A view of the indices of a sparse accessor; equal lists share one.
    fn index_view(&mut self, indices: &[u32], component_type: u32) -> usize {
        let key = (component_type, indices.to_vec());
        if let Some(&known) = self.index_views.get(&key) {
            return known;
        }
        let view = self.view(None, |bytes| push_whole(bytes, indices, component_type));
        self.index_views.insert(key, view);
        view
    }

    fn set_bounds<const N: usize>(&mut self, accessor: usize, rows: &[[f32; N]], with_zero: bool) {
        let zero = [0.0; N];
        let mut all = rows.iter().chain(with_zero.then_some(&zero));
        let Some(&first) = all.next() else { return };

        let mut min = first;
        let mut max = first;
        for row in all {
            for k in 0..N {
                min[k] = min[k].min(row[k]);
                max[k] = max[k].max(row[k]);
            }
        }

        // In double precision, the JSON text is exactly the stored number.
        let accessor = &mut self.accessors[accessor - self.known_accessors];
        accessor.min = min.map(f64::from).to_vec();
        accessor.max = max.map(f64::from).to_vec();
    }
}

/// The smallest unsigned component type that holds `greatest`.
fn component_for(greatest: u32) -> u32 {
    match greatest {
        0..=0xff => U8,
        0x100..=0xffff => U16,
        _ => U32,
    }
}

fn size_of(component: u32) -> usize {
    match component {
        U8 => 1,
        U16 => 2,
        _ => 4,
    }
}

fn push_rows<const N: usize>(bytes: &mut Vec<u8>, rows: &[[f32; N]]) {
    let start = bytes.len();
    bytes.resize(start + 4 * N * rows.len(), 0);
    for (out, row) in bytes[start..].chunks_exact_mut(4 * N).zip(rows) {
        for k in 0..N {
            out[4 * k..4 * k + 4].copy_from_slice(&row[k].to_le_bytes());
        }
    }
}

fn push_whole(bytes: &mut Vec<u8>, values: &[u32], component: u32) {
    let (start, size) = (bytes.len(), size_of(component));
    bytes.resize(start + size * values.len(), 0);
    let rows = bytes[start..].chunks_exact_mut(size).zip(values);
    match component {
        U8 => rows.for_each(|(out, &v)| out[0] = v as u8),
        U16 => rows.for_each(|(out, &v)| out.copy_from_slice(&(v as u16).to_le_bytes())),
        _ => rows.for_each(|(out, &v)| out.copy_from_slice(&v.to_le_bytes())),
    }
}
