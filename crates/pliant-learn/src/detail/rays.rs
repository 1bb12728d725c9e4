//! Heights against any surface, met along the normals.
//!
//! **Method.** From every vertex a ray goes both ways along the normal; the nearer hit counts if the surface faces the same way there. Where
//! nothing is met (holes of a scan, folds) heights are filled in so that each is the mean of its neighbours.
//!
//! **Source.** Huang et al. 2012, section 5; the filling is *ours*.

use pliant_linalg::{SparseMatrix, SpdSolver, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, triangle_normal};

use super::surface::DetailSurface;
use crate::LearnError;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 64;
/// Least cosine between the normals of base and scan: beyond 75 degrees it is another sheet.
const LEAST_AGREEMENT: f64 = 0.25;
/// How far beside the normal a rim may be, over the reach.
const AT_RIM: f64 = 1e-3;
/// Pull of a filled height to zero beside that to its neighbours: decides parts that met nothing at all.
const PULL_TO_ZERO: f64 = 1e-6;

/// Heights and how many of them were filled in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Met {
    pub(crate) heights: Vec<f32>,
    pub(crate) missed: usize,
}

/// Heights of `scan` above a pose of the base, no farther than `reach`.
pub(crate) fn heights_by_rays(surface: &DetailSurface, base: &[DVec3], scan: &Mesh, reach: f64) -> Result<Met, LearnError> {
    let index = SurfaceIndex::new(scan)?;
    let refined = surface.refine(base);
    let normals = surface.normals(&refined);
    let mut heights = parallel::map(refined.len(), VERTICES_PER_TASK, |v| height_at(&index, scan, refined[v], normals[v], reach));
    let missed = fill(surface.mesh(), &mut heights)?;
    Ok(Met { heights: heights.into_iter().map(|height| height.unwrap_or(0.0) as f32).collect(), missed })
}

fn height_at(index: &SurfaceIndex, scan: &Mesh, place: DVec3, normal: DVec3, reach: f64) -> Option<f64> {
    let along = |sign: f64| {
        let hit = index.cast_ray(place, normal * sign, reach)?;
        let facing = triangle_normal(scan.triangle_points(hit.place.triangle as usize));
        (facing.dot(normal) > LEAST_AGREEMENT).then_some(hit.distance * sign)
    };
    let nearer = |a: f64, b: f64| if a.abs() <= b.abs() { a } else { b };
    match (along(1.0), along(-1.0)) {
        (Some(out), Some(inward)) => Some(nearer(out, inward)),
        (one, other) => one.or(other).or_else(|| height_at_rim(index, scan, place, normal, reach)),
    }
}

/// The height of the closest point, where it is straight above or below but for rounding: rays may slip past the rim of a scan.
fn height_at_rim(index: &SurfaceIndex, scan: &Mesh, place: DVec3, normal: DVec3, reach: f64) -> Option<f64> {
    let faces_along = |t: u32| triangle_normal(scan.triangle_points(t as usize)).dot(normal) > LEAST_AGREEMENT;
    let offset = index.closest_point_within(place, reach, faces_along)?.point - place;
    let height = offset.dot(normal);
    (offset.distance(normal * height) < AT_RIM * reach).then_some(height)
}

/// Fills what is missing from its neighbours, and counts it.
fn fill(mesh: &Mesh, heights: &mut [Option<f64>]) -> Result<usize, LearnError> {
    let missing: Vec<usize> = (0..heights.len()).filter(|&v| heights[v].is_none()).collect();
    if missing.is_empty() {
        return Ok(0);
    }
    let mut unknown_of = vec![u32::MAX; heights.len()];
    missing.iter().enumerate().for_each(|(k, &v)| unknown_of[v] = k as u32);
    let mut triplets = Vec::new();
    let mut known = vec![0.0; missing.len()];
    for (k, &v) in missing.iter().enumerate() {
        let ring = mesh.topology().vertex_neighbors().row(v);
        triplets.push((k as u32, k as u32, ring.len() as f64 + PULL_TO_ZERO));
        for &w in ring {
            match heights[w as usize] {
                Some(height) => known[k] += height,
                None => triplets.push((k as u32, unknown_of[w as usize], -1.0)),
            }
        }
    }
    let matrix = SparseMatrix::from_triplets(missing.len(), missing.len(), &triplets);
    let found = SpdSolver::factor(&matrix)?.solve(&known);
    missing.iter().zip(found).for_each(|(&v, height)| heights[v] = Some(height));
    Ok(missing.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    #[test]
    fn a_scan_lifted_along_its_normals_is_met_at_that_height() {
        let sheet = shapes::flat_sheet(10, 0.0);
        let surface = DetailSurface::of(&sheet, 1).unwrap();
        for lift in [0.03, -0.05] {
            let lifted = sheet.posed(sheet.positions().iter().map(|p| *p + DVec3::Z * lift).collect()).unwrap();
            let met = heights_by_rays(&surface, sheet.positions(), &lifted, 0.1).unwrap();
            assert_eq!(met.missed, 0);
            assert!(met.heights.iter().all(|height| (f64::from(*height) - lift).abs() < 1e-6));
            let beyond = heights_by_rays(&surface, sheet.positions(), &lifted, 0.02).unwrap();
            assert_eq!(beyond.missed, surface.vertex_count());
            assert!(beyond.heights.iter().all(|height| *height == 0.0));
        }
    }

    #[test]
    fn a_hole_is_filled_from_its_rim_and_counted() {
        let sheet = shapes::flat_sheet(10, 0.0);
        let slope = |p: &DVec3| 0.02 + 0.01 * p.x;
        let lifted: Vec<DVec3> = sheet.positions().iter().map(|p| *p + DVec3::Z * slope(p)).collect();
        let bounds = sheet.bounds().unwrap();
        let center = (bounds.min + bounds.max) * 0.5;
        let hole = 0.2 * bounds.diagonal();
        let kept = sheet.triangles().iter().filter(|t| t.iter().all(|&v| sheet.positions()[v as usize].distance(center) > hole));
        let scan = Mesh::from_triangles(lifted, &kept.copied().collect::<Vec<_>>()).unwrap();
        let surface = DetailSurface::of(&sheet, 0).unwrap();
        let met = heights_by_rays(&surface, sheet.positions(), &scan, 0.2).unwrap();
        assert!(met.missed > 0 && met.missed < sheet.vertex_count() / 2, "{}", met.missed);
        let (least, most) = (slope(&bounds.min), slope(&bounds.max));
        assert!(met.heights.iter().all(|height| f64::from(*height) > 0.99 * least && f64::from(*height) < 1.01 * most));
    }

    #[test]
    fn a_sheet_that_faces_the_other_way_is_not_met() {
        let sheet = shapes::flat_sheet(6, 0.0);
        let flipped: Vec<[u32; 3]> = sheet.triangles().iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        let back = Mesh::from_triangles(sheet.positions().iter().map(|p| *p + DVec3::Z * 0.01).collect(), &flipped).unwrap();
        let surface = DetailSurface::of(&sheet, 0).unwrap();
        assert_eq!(heights_by_rays(&surface, sheet.positions(), &back, 0.1).unwrap().missed, sheet.vertex_count());
    }
}
