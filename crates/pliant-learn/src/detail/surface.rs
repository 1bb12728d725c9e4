//! Detail surface: the subdivided base with its vertex normals.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{LoopSubdivision, Mesh, vertex_normals_into};

use crate::LearnError;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// A base mesh, subdivided a number of times. Without subdivision, the mesh keeps its polygons.
#[derive(Debug, Clone)]
pub(crate) enum DetailSurface {
    Same(Mesh),
    Finer(LoopSubdivision),
}

impl DetailSurface {
    /// The most subdivisions: they turn one triangle into a million.
    pub(crate) const MOST_LEVELS: usize = 10;

    /// Subdivides `base`; `None` if the result would have more than `most` vertices.
    pub(crate) fn within(
        base: &Mesh,
        levels: usize,
        most: usize,
    ) -> Result<Option<Self>, LearnError> {
        if levels > Self::MOST_LEVELS {
            return Err(LearnError::BadNumber {
                what: "the levels of detail",
                value: levels as f64,
                needed: "at most 10",
            });
        }

        if levels == 0 {
            return Ok((base.vertex_count() <= most).then(|| Self::Same(base.clone())));
        }

        // Each level adds one vertex per edge; the bound is checked before it is computed.
        let mut finer = LoopSubdivision::levels(base, 0)?;
        for _ in 0..levels {
            if finer.mesh().vertex_count() + finer.mesh().topology().edges().len() > most {
                return Ok(None);
            }
            finer = finer.then()?;
        }

        Ok(Some(Self::Finer(finer)))
    }

    pub(crate) fn of(base: &Mesh, levels: usize) -> Result<Self, LearnError> {
        Ok(Self::within(base, levels, usize::MAX)?.expect("the number of vertices is not bounded"))
    }

    /// The surface in the reference pose of the base.
    pub(crate) fn mesh(&self) -> &Mesh {
        match self {
            Self::Same(mesh) => mesh,
            Self::Finer(finer) => finer.mesh(),
        }
    }

    pub(crate) fn levels(&self) -> usize {
        match self {
            Self::Same(_) => 0,
            Self::Finer(finer) => finer.level_count(),
        }
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.mesh().vertex_count()
    }

    /// Any three numbers per vertex of the base, refined.
    pub(crate) fn refine(&self, base: &[DVec3]) -> Vec<DVec3> {
        match self {
            Self::Same(_) => base.to_vec(),
            Self::Finer(finer) => finer.apply(base),
        }
    }

    pub(crate) fn normals(&self, refined: &[DVec3]) -> Vec<DVec3> {
        let mut normals = vec![DVec3::ZERO; refined.len()];
        vertex_normals_into(
            self.mesh().topology(),
            self.mesh().triangles(),
            refined,
            &mut normals,
        );
        normals
    }

    /// Eq. 4: a pose of the base, refined, with `height(v)` added along the normals.
    pub(crate) fn displaced(
        &self,
        base: &[DVec3],
        height: impl Fn(usize) -> f32 + Sync + Send,
    ) -> Vec<DVec3> {
        let mut positions = self.refine(base);
        let normals = self.normals(&positions);
        parallel::for_each_chunk_mut(&mut positions, VERTICES_PER_TASK, |start, chunk| {
            for (k, (position, normal)) in chunk.iter_mut().zip(&normals[start..]).enumerate() {
                *position += *normal * f64::from(height(start + k));
            }
        });

        positions
    }

    /// The heights of `detailed` above a pose of the base along its normals, and the RMS of the
    /// tangential distances.
    pub(crate) fn heights(&self, base: &[DVec3], detailed: &[DVec3]) -> (Vec<f32>, f64) {
        let refined = self.refine(base);
        let normals = self.normals(&refined);
        let both = parallel::map(refined.len(), VERTICES_PER_TASK, |v| {
            let offset = detailed[v] - refined[v];
            let height = offset.dot(normals[v]);
            (
                height as f32,
                (offset - normals[v] * height).length_squared(),
            )
        });

        let squared: f64 = both.iter().map(|(_, squared)| squared).sum();
        let mean = squared / both.len().max(1) as f64;
        let heights = both.into_iter().map(|(height, _)| height).collect();
        (heights, mean.sqrt())
    }
}
