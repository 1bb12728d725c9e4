//! Smooth interpolation of one value per region to all vertices.
//!
//! **Problem.** Regions have sharp borders. A quantity on the surface must be smooth.
//!
//! **Equation.** With the distance `d_b(v)` of a vertex from the middle of region `b` along edges,
//! and `ρ` the largest distance of a vertex from the middle of its own region,
//!
//! ```text
//! w_{vb} = max(0, 1 − d_b(v) / 1.5ρ)² / Σ_b …        f(v) = Σ_b w_{vb} f_b
//! ```

use pliant_mesh::Mesh;

use super::edge_distance::relax_from;
use super::regions::Regions;

/// Support of the weights of a region, over the largest radius. *Chosen*: neighbours overlap
/// everywhere.
const SUPPORT: f64 = 1.5;

/// Weights of regions at vertices, of sum one; each vertex has at least one.
#[derive(Debug)]
pub(crate) struct RegionBlend {
    starts: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

impl RegionBlend {
    pub(crate) fn of(mesh: &Mesh, regions: &Regions) -> Self {
        let support = SUPPORT * radius(mesh, regions);
        let mut weights: Vec<(u32, u32, f64)> = Vec::new();
        let mut distances = vec![support; mesh.vertex_count()];

        for (region, &seed) in regions.seeds.iter().enumerate() {
            let mut touched = Vec::new();
            relax_from(mesh, seed, &mut distances, |v| touched.push(v));
            for v in touched {
                // Each region starts again from the support.
                let distance = std::mem::replace(&mut distances[v as usize], support);
                let near = 1.0 - distance / support.max(f64::MIN_POSITIVE);
                if near > 0.0 {
                    weights.push((v, region as u32, near * near));
                }
            }
        }

        weights.sort_by_key(|&(v, region, _)| (v, region));
        Self::from_sorted(&weights, &regions.of_vertex)
    }

    /// From weights by vertex and region. A vertex without a weight belongs to its own region
    /// alone.
    fn from_sorted(weights: &[(u32, u32, f64)], of_vertex: &[u32]) -> Self {
        let mut starts = vec![0];
        let mut entries = Vec::with_capacity(weights.len());
        let mut rest = weights;

        for (v, &own) in of_vertex.iter().enumerate() {
            let count = rest
                .iter()
                .take_while(|entry| entry.0 as usize == v)
                .count();
            let (row, after) = rest.split_at(count);
            rest = after;
            // Beyond the support of all regions: a loose vertex.
            if row.is_empty() {
                entries.push((own, 1.0));
            }

            let total: f64 = row.iter().map(|entry| entry.2).sum();
            for &(_, region, weight) in row {
                entries.push((region, (weight / total) as f32));
            }
            starts.push(entries.len() as u32);
        }

        Self { starts, entries }
    }

    /// The values of the vertices from those of the regions.
    pub(crate) fn at_vertices(&self, of_regions: &[f64]) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.starts.len() - 1);
        for ends in self.starts.windows(2) {
            let row = &self.entries[ends[0] as usize..ends[1] as usize];
            let terms = row
                .iter()
                .map(|&(b, w)| f64::from(w) * of_regions[b as usize]);
            values.push(terms.sum());
        }
        values
    }
}

/// The largest distance of a vertex from the middle of its own region.
fn radius(mesh: &Mesh, regions: &Regions) -> f64 {
    let mut distances = vec![f64::INFINITY; mesh.vertex_count()];
    for &seed in &regions.seeds {
        relax_from(mesh, seed, &mut distances, |_| {});
    }
    distances
        .iter()
        .copied()
        .filter(|distance| distance.is_finite())
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    #[test]
    fn a_constant_is_kept_and_a_step_becomes_a_bounded_slope() {
        let mesh = shapes::icosphere(4);
        let regions = Regions::spread(&mesh, 40);
        let blend = RegionBlend::of(&mesh, &regions);

        assert!(
            blend
                .at_vertices(&vec![3.0; regions.count()])
                .iter()
                .all(|value| (value - 3.0).abs() < 1e-5)
        );

        // One on the upper half of the sphere, zero on the lower.
        let step: Vec<f64> = regions
            .seeds
            .iter()
            .map(|&seed| f64::from(u8::from(mesh.positions()[seed as usize].z > 0.0)))
            .collect();
        let found = blend.at_vertices(&step);
        let edges = mesh.topology().vertex_neighbors();
        let steepest = (0..mesh.vertex_count())
            .flat_map(|v| edges.row(v).iter().map(move |&w| (v, w as usize)));

        let steepest = steepest
            .map(|(v, w)| (found[v] - found[w]).abs())
            .fold(0.0, f64::max);

        assert!(
            steepest < 0.5
                && found
                    .iter()
                    .all(|value| (-1e-6..=1.0 + 1e-6).contains(value)),
            "{steepest}"
        );
    }

    #[test]
    fn loose_vertices_and_degenerate_triangles_have_a_value() {
        use pliant_mesh::glam::DVec3;

        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE * 5.0];
        let mesh = Mesh::from_triangles(positions, &[[0, 1, 2]]).unwrap();
        let regions = Regions::spread(&mesh, 2);
        let values: Vec<f64> = (0..regions.count()).map(|b| b as f64 + 1.0).collect();

        assert!(
            RegionBlend::of(&mesh, &regions)
                .at_vertices(&values)
                .iter()
                .all(|value| (1.0..=2.0).contains(value))
        );
    }
}
