//! Smooth extension of displacements from some vertices to the whole mesh.
//!
//! **Equation.** `min_d Σ_ij w_ij |d_i − d_j|²`, with `d` given at the fixed vertices.
//!
//! **Departures.** The weights are those of an intrinsic Delaunay triangulation, none negative: no
//! vertex moves farther than some fixed one. Components without a fixed vertex follow the nearest
//! vertex of a component with one.

use pliant_linalg::{LeastSquares, SparseMatrix};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, SurfaceIndex, Topology};

use crate::TransferError;

/// The least weight of an edge, so that every vertex is connected.
const LEAST_WEIGHT: f64 = 1e-6;

/// The factored extension from fixed vertices.
pub(super) struct DisplacementExtension {
    system: LeastSquares,
    rows: usize,
    /// Vertices without an equation, each with the vertex that it follows.
    followers: Vec<(u32, u32)>,
}

impl DisplacementExtension {
    pub(super) fn factor(target: &Mesh, fixed: &[u32]) -> Result<Self, TransferError> {
        let laplacian = Laplacian::robust(target)?.matrix;
        let followers = Followers::new(target, &laplacian, fixed).leaders()?;

        // One row per edge: √w (d_i − d_j).
        let mut triplets = Vec::new();
        let mut rows = 0;
        for i in 0..target.vertex_count() {
            let (columns, values) = laplacian.row(i);
            for (&j, &value) in columns.iter().zip(values) {
                if j as usize > i {
                    let weight = (-value).max(LEAST_WEIGHT).sqrt();
                    triplets.extend([(rows, i as u32, weight), (rows, j, -weight)]);
                    rows += 1;
                }
            }
        }

        // Followers are fixed at zero in the system and copied afterwards.
        let mut known: Vec<usize> = fixed.iter().map(|&v| v as usize).collect();
        known.extend(followers.iter().map(|&(v, _)| v as usize));
        let differences =
            SparseMatrix::from_triplets(rows as usize, target.vertex_count(), &triplets);
        Ok(Self {
            system: LeastSquares::factor(&differences, &[], &known)?,
            rows: rows as usize,
            followers,
        })
    }

    /// The displacements of all vertices from those of the fixed ones.
    pub(super) fn solve(&self, fixed: &[DVec3]) -> Vec<DVec3> {
        let mut known = fixed.to_vec();
        known.resize(fixed.len() + self.followers.len(), DVec3::ZERO);
        let zeros = vec![DVec3::ZERO; self.rows];
        let mut displacements = self.system.solve_points(&zeros, &[], &known);
        for &(v, leader) in &self.followers {
            displacements[v as usize] = displacements[leader as usize];
        }
        displacements
    }
}

/// The vertices that the system does not determine: those of components without a fixed vertex, and
/// those without an equation.
struct Followers<'a> {
    target: &'a Mesh,
    laplacian: &'a SparseMatrix,
    /// For each component whether it has a fixed vertex.
    has_fixed: Vec<bool>,
}

impl<'a> Followers<'a> {
    fn new(target: &'a Mesh, laplacian: &'a SparseMatrix, fixed: &[u32]) -> Self {
        let component_of = target.topology().component_of_vertex();
        let mut has_fixed = vec![false; target.topology().component_count()];
        for &v in fixed {
            has_fixed[component_of[v as usize] as usize] = true;
        }
        Self {
            target,
            laplacian,
            has_fixed,
        }
    }

    fn component(&self, v: u32) -> u32 {
        self.target.topology().component_of_vertex()[v as usize]
    }

    /// Whether a vertex has no face or no equation.
    fn is_isolated(&self, v: u32) -> bool {
        let diagonal = self.laplacian.get(v as usize, v as usize);
        let has_equation = diagonal > 0.0;
        self.component(v) == Topology::NONE || !has_equation
    }

    fn is_follower(&self, v: u32) -> bool {
        self.is_isolated(v) || !self.has_fixed[self.component(v) as usize]
    }

    /// Each follower with its leader, which is nearest to the centre of its component, or to the
    /// vertex itself if it is isolated.
    fn leaders(&self) -> Result<Vec<(u32, u32)>, TransferError> {
        let count = self.target.vertex_count() as u32;
        let vertices: Vec<u32> = (0..count).filter(|&v| self.is_follower(v)).collect();
        if vertices.is_empty() {
            return Ok(Vec::new());
        }

        let index = SurfaceIndex::new(self.target)?;
        let mut of_component: Vec<Option<u32>> = Vec::with_capacity(self.has_fixed.len());
        for center in self.centers(&vertices) {
            of_component.push(center.map(|center| self.leader(&index, center)));
        }

        // Isolated vertices of a component follow its leader as well.
        let mut leaders = Vec::with_capacity(vertices.len());
        for v in vertices {
            let leader = match of_component.get(self.component(v) as usize) {
                Some(&Some(leader)) => leader,
                _ => self.leader(&index, self.target.positions()[v as usize]),
            };
            leaders.push((v, leader));
        }
        Ok(leaders)
    }

    /// For each component the mean of its followers that are not isolated.
    fn centers(&self, vertices: &[u32]) -> Vec<Option<DVec3>> {
        let mut sums = vec![(DVec3::ZERO, 0.0); self.has_fixed.len()];
        for &v in vertices {
            if !self.is_isolated(v) {
                let (sum, count) = &mut sums[self.component(v) as usize];
                *sum += self.target.positions()[v as usize];
                *count += 1.0;
            }
        }
        sums.into_iter()
            .map(|(sum, count)| (count > 0.0).then(|| sum / count))
            .collect()
    }

    /// The vertex nearest to `point` on a component with a fixed vertex.
    fn leader(&self, index: &SurfaceIndex, point: DVec3) -> u32 {
        let triangles = self.target.triangles();
        let closest = index
            .closest_point_where(point, |t| {
                let component = self.component(triangles[t as usize][0]);
                self.has_fixed[component as usize]
            })
            .expect("some vertex is fixed, and it is on a triangle");

        // The corner with the largest barycentric coordinate is the nearest vertex.
        let place = closest.place;
        let nearest = (0..3)
            .max_by(|&i, &j| place.barycentric[i].total_cmp(&place.barycentric[j]))
            .expect("a triangle has three corners");
        triangles[place.triangle as usize][nearest]
    }
}
