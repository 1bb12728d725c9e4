//! Blendshape targets: sparse displacements from the neutral, with in-betweens.

use pliant_mesh::glam::{DVec3, Vec3};

use super::{Activation, Slider};

/// The vertices of a shape and their displacements.
pub(crate) type Shape<'a> = (&'a [u32], &'a [Vec3]);

/// One shape of a rig, stored as the displacements of the vertices it moves.
///
/// Displacements are `f32`: they are small relative to the size of a face, so their rounding is far
/// below that of any file a rig comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The slider's name.
    pub name: String,
    /// The vertices it moves, ascending.
    pub vertices: Vec<u32>,
    /// The displacement of each of them at weight 1.
    pub deltas: Vec<Vec3>,
    /// Shapes at intermediate weights, ascending by weight; empty for a straight path.
    pub in_betweens: Vec<InBetween>,
}

/// The shape that a target takes at a weight other than 0 and 1, as displacements from the neutral.
#[derive(Debug, Clone, PartialEq)]
pub struct InBetween {
    /// The in-between's name in its file, often empty.
    pub name: String,
    /// The weight at which it is reached.
    pub weight: f64,
    /// The vertices it moves, ascending.
    pub vertices: Vec<u32>,
    /// The displacement of each of them.
    pub deltas: Vec<Vec3>,
}

impl Target {
    /// Keeps the displacements that are not exactly zero.
    #[must_use]
    pub fn from_dense(name: impl Into<String>, deltas: impl IntoIterator<Item = Vec3>) -> Self {
        let (vertices, deltas) = (0..)
            .zip(deltas)
            .filter(|(_, delta)| *delta != Vec3::ZERO)
            .unzip();

        Self {
            name: name.into(),
            vertices,
            deltas,
            in_betweens: Vec::new(),
        }
    }

    /// The displacements of every vertex of a mesh with `vertex_count` of them, at weight 1.
    #[must_use]
    pub fn to_dense(&self, vertex_count: usize) -> Vec<Vec3> {
        let mut dense = vec![Vec3::ZERO; vertex_count];
        for (&vertex, &delta) in self.vertices.iter().zip(&self.deltas) {
            dense[vertex as usize] = delta;
        }
        dense
    }

    /// Adds the displacements at `weight` to `positions`, linear between the in-betweens.
    pub fn add_to(&self, weight: f64, positions: &mut [DVec3]) {
        let alone = Activation::new(std::slice::from_ref(self), &[Slider::default()], &[]);
        for (shape, coefficient) in self.shapes().zip(alone.coefficients(&[weight])) {
            add_scaled(shape, coefficient, positions);
        }
    }

    /// The target with all displacements, also those of its in-betweens, times the mask at their
    /// vertices.
    ///
    /// # Panics
    /// If the mask is shorter than the list of the mesh's vertices.
    #[must_use]
    pub fn masked(&self, mask: &[f32]) -> Self {
        self.map_shapes(self.name.clone(), |_, vertices, deltas| {
            vertices
                .iter()
                .zip(deltas)
                .map(|(&v, &d)| (v, d * mask[v as usize]))
                .collect()
        })
    }

    /// The target without displacements shorter than `least`, which scans and exporters leave as
    /// noise.
    #[must_use]
    pub fn pruned(&self, least: f32) -> Self {
        self.map_shapes(self.name.clone(), |_, vertices, deltas| {
            vertices
                .iter()
                .zip(deltas)
                .filter(|(_, delta)| delta.length() >= least)
                .map(|(&v, &d)| (v, d))
                .collect()
        })
    }

    /// Sorts the vertices of all shapes; displacements of duplicates are added up.
    pub(super) fn sort_vertices(&mut self) {
        sort_shape(&mut self.vertices, &mut self.deltas);
        for in_between in &mut self.in_betweens {
            sort_shape(&mut in_between.vertices, &mut in_between.deltas);
        }
    }

    /// The target and its in-betweens, each with the displacements that `change` returns for the
    /// weight at which it is reached and for its own vertices and displacements. The result is
    /// sorted by vertex, without zero displacements.
    pub(crate) fn map_shapes(
        &self,
        name: String,
        change: impl Fn(f64, &[u32], &[Vec3]) -> Vec<(u32, Vec3)>,
    ) -> Self {
        let changed = |weight, vertices: &[u32], deltas: &[Vec3]| {
            let mut moved = change(weight, vertices, deltas);
            moved.retain(|(_, delta)| *delta != Vec3::ZERO);
            moved.sort_by_key(|(vertex, _)| *vertex);
            moved.into_iter().unzip()
        };

        // The in-betweens, and then the target itself at weight 1.
        let mut in_betweens = Vec::with_capacity(self.in_betweens.len());
        for shape in &self.in_betweens {
            let (vertices, deltas) = changed(shape.weight, &shape.vertices, &shape.deltas);
            in_betweens.push(InBetween {
                vertices,
                deltas,
                ..shape.clone()
            });
        }

        let (vertices, deltas) = changed(1.0, &self.vertices, &self.deltas);
        Self {
            name,
            vertices,
            deltas,
            in_betweens,
        }
    }

    /// Vertices and displacements of the target and of its in-betweens.
    pub(super) fn shapes(&self) -> impl Iterator<Item = Shape<'_>> {
        let in_betweens = self
            .in_betweens
            .iter()
            .map(|b| (b.vertices.as_slice(), b.deltas.as_slice()));
        std::iter::once((self.vertices.as_slice(), self.deltas.as_slice())).chain(in_betweens)
    }
}

/// Sorts a shape by vertex, as the binary search of solvers needs it, and adds up duplicates.
pub(super) fn sort_shape(vertices: &mut Vec<u32>, deltas: &mut Vec<Vec3>) {
    if vertices.windows(2).all(|pair| pair[0] < pair[1]) {
        return;
    }

    let entries = vertices.iter().copied().zip(deltas.iter().copied());
    let mut sorted: Vec<(u32, Vec3)> = entries.collect();
    sorted.sort_by_key(|(vertex, _)| *vertex);

    // Duplicates are neighbours now.
    let mut sums: Vec<(u32, Vec3)> = Vec::with_capacity(sorted.len());
    for (vertex, delta) in sorted {
        match sums.last_mut() {
            Some(last) if last.0 == vertex => last.1 += delta,
            _ => sums.push((vertex, delta)),
        }
    }

    (*vertices, *deltas) = sums.into_iter().unzip();
}

pub(super) fn add_scaled((vertices, deltas): Shape<'_>, scale: f64, positions: &mut [DVec3]) {
    for (&vertex, delta) in vertices.iter().zip(deltas) {
        positions[vertex as usize] += delta.as_dvec3() * scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pruning_changes_no_position_by_more_than_the_threshold() {
        let target = Target::from_dense("smile", [Vec3::X * 0.001, Vec3::Y, Vec3::Z * 0.01]);
        let pruned = target.pruned(0.01);
        assert_eq!(pruned.vertices, vec![1, 2]);

        let worst = target
            .to_dense(3)
            .iter()
            .zip(pruned.to_dense(3))
            .map(|(a, b)| a.distance(b))
            .fold(0.0, f32::max);

        assert!(worst < 0.01);
    }

    #[test]
    fn a_mask_and_its_complement_sum_to_the_target() {
        let target = Target::from_dense("smile", [Vec3::X, Vec3::Y * 2.0, Vec3::Z]);
        let mask = [1.0, 0.25, 0.0];
        let here = target.masked(&mask);
        let there = target.masked(&mask.map(|m| 1.0 - m));

        assert_eq!(
            (here.vertices.as_slice(), there.vertices.as_slice()),
            (&[0, 1][..], &[1, 2][..])
        );

        let sum: Vec<Vec3> = here
            .to_dense(3)
            .iter()
            .zip(there.to_dense(3))
            .map(|(a, b)| *a + b)
            .collect();

        assert_eq!(sum, target.to_dense(3));
    }
}
