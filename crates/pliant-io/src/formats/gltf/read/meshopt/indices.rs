//! Triangles as references to recent edges and vertices, and sequences of indices as differences.

use super::{Cursor, SHORT};

/// The last 16 items.
#[derive(Default)]
struct Recent<T> {
    items: [T; 16],
    next: usize,
}

impl<T: Copy> Recent<T> {
    fn push(&mut self, item: T) {
        self.items[self.next] = item;
        self.next = (self.next + 1) & 15;
    }

    /// The item `back` steps before the next one.
    fn get(&self, back: u8) -> T {
        self.items[self.next.wrapping_sub(usize::from(back)) & 15]
    }
}

/// The state of decoding triangles.
#[derive(Default)]
struct Triangles {
    edges: Recent<[u32; 2]>,
    vertices: Recent<u32>,
    /// The next vertex that was not used before.
    next: u32,
    /// The last index that was written out.
    last: u32,
}

pub(super) fn triangles(packed: &[u8], count: usize) -> Result<Vec<u32>, String> {
    let mut cursor = Cursor { rest: packed };
    let version = match cursor.byte()? {
        0xe0 => 0,
        0xe1 => 1,
        _ => return Err("its triangles are not packed in version 0 or 1".into()),
    };

    if !count.is_multiple_of(3) {
        return Err(format!("its {count} indices are not whole triangles"));
    }

    let codes = cursor.take(count / 3)?;
    let (rest, table) = cursor.rest.split_last_chunk::<16>().ok_or(SHORT)?;
    cursor.rest = rest;

    let mut state = Triangles::default();
    let mut indices = Vec::with_capacity(count);
    for &code in codes {
        let triangle = match code {
            0..0xf0 => state.at_recent_edge(code, version, &mut cursor)?,
            0xf0..0xfe => state.without_edge(0, table[usize::from(code & 15)], &mut cursor)?,
            _ => {
                let how = cursor.byte()?;
                if how == 0 {
                    state.next = 0;
                }
                state.without_edge(if code == 0xfe { 0 } else { 15 }, how, &mut cursor)?
            }
        };
        indices.extend_from_slice(&triangle);
    }

    Ok(indices)
}

impl Triangles {
    /// A triangle at a recent edge.
    fn at_recent_edge(
        &mut self,
        code: u8,
        version: u8,
        cursor: &mut Cursor<'_>,
    ) -> Result<[u32; 3], String> {
        let [a, b] = self.edges.get((code >> 4) + 1);
        let how = code & 15;
        let recent = if version == 0 { 1..15 } else { 1..13 };
        let c = if recent.contains(&how) {
            self.vertices.get(how + 1)
        } else {
            let c = self.vertex(how, cursor)?;
            self.vertices.push(c);
            c
        };

        self.edges.push([c, b]);
        self.edges.push([a, c]);
        Ok([a, b, c])
    }

    /// A vertex that is new (0), next to the last one written out (13, 14) or written out (15).
    fn vertex(&mut self, how: u8, cursor: &mut Cursor<'_>) -> Result<u32, String> {
        if how == 0 {
            self.next = self.next.wrapping_add(1);
            return Ok(self.next.wrapping_sub(1));
        }

        self.last = match how {
            13 => self.last.wrapping_sub(1),
            14 => self.last.wrapping_add(1),
            _ => cursor.index(self.last)?,
        };

        Ok(self.last)
    }

    /// A triangle without a recent edge; `rest` says how to find its second and third vertex.
    fn without_edge(
        &mut self,
        first: u8,
        rest: u8,
        cursor: &mut Cursor<'_>,
    ) -> Result<[u32; 3], String> {
        let how = [first, rest >> 4, rest & 15];
        let mut triangle = [0; 3];

        // New vertices are counted before any index is read.
        for (vertex, &how) in triangle.iter_mut().zip(&how) {
            *vertex = match how {
                0 => self.vertex(0, cursor)?,
                15 => 0,
                back => self.vertices.get(back),
            };
        }

        for (vertex, _) in triangle.iter_mut().zip(&how).filter(|(_, how)| **how == 15) {
            *vertex = self.vertex(15, cursor)?;
        }

        let [a, b, c] = triangle;
        for (&vertex, how) in triangle.iter().zip(how) {
            if how == 0 || how == 15 {
                self.vertices.push(vertex);
            }
        }

        self.edges.push([b, a]);
        self.edges.push([c, b]);
        self.edges.push([a, c]);

        Ok(triangle)
    }
}

pub(super) fn index_sequence(packed: &[u8], count: usize) -> Result<Vec<u32>, String> {
    let mut cursor = Cursor { rest: packed };
    if !matches!(cursor.byte()?, 0xd0 | 0xd1) {
        return Err("its indices are not packed in version 0 or 1".into());
    }
    // An index needs a byte, and four more end the sequence.
    if cursor.rest.len().saturating_sub(4) < count {
        return Err(SHORT.into());
    }

    // Each index is a difference from the last one of its baseline.
    let mut baselines = [0_u32; 2];
    let mut indices = Vec::with_capacity(count);
    for _ in 0..count {
        let value = cursor.number()?;
        let baseline = &mut baselines[(value & 1) as usize];
        let difference = value >> 1;
        *baseline = baseline.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg());
        indices.push(*baseline);
    }

    Ok(indices)
}

pub(super) fn indices_as_bytes(indices: Vec<u32>, stride: usize) -> Result<Vec<u8>, String> {
    match stride {
        2 => Ok(indices
            .iter()
            .flat_map(|&i| (i as u16).to_le_bytes())
            .collect()),
        4 => Ok(indices.iter().flat_map(|&i| i.to_le_bytes()).collect()),
        _ => Err(format!("its indices have {stride} bytes, not 2 or 4")),
    }
}
