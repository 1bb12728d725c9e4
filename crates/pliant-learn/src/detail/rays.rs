//! Heights of a scan above a pose of the base, by ray casting along the normals.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::surface::DetailSurface;
use crate::LearnError;
use crate::registration::{ScanSurface, normal_displacements};

/// Heights, and the number of vertices whose ray met no scan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RayHeights {
    pub(crate) heights: Vec<f32>,
    pub(crate) missed: usize,
}

/// Heights of `scan` above a pose of the base, at most `reach`; missing ones are interpolated.
pub(crate) fn heights_by_rays(
    surface: &DetailSurface,
    base: &[DVec3],
    scan: &Mesh,
    reach: f64,
) -> Result<RayHeights, LearnError> {
    let refined = surface.refine(base);
    let found = normal_displacements(
        &ScanSurface::new(scan)?,
        &refined,
        &surface.normals(&refined),
        reach,
    );

    // Missing heights are harmonic between the others.
    let heights = found.filled(&surface.mesh().posed(refined)?, &found.missed)?;
    Ok(RayHeights {
        heights: heights.into_iter().map(|height| height as f32).collect(),
        missed: found.missed.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    #[test]
    fn a_scan_moved_along_its_normals_has_that_height() {
        let sheet = shapes::flat_sheet(10, 0.0);
        let surface = DetailSurface::of(&sheet, 1).unwrap();
        for lift in [0.03, -0.05] {
            let lifted = sheet
                .posed(
                    sheet
                        .positions()
                        .iter()
                        .map(|p| *p + DVec3::Z * lift)
                        .collect(),
                )
                .unwrap();

            let met = heights_by_rays(&surface, sheet.positions(), &lifted, 0.1).unwrap();
            assert_eq!(met.missed, 0);
            assert!(
                met.heights
                    .iter()
                    .all(|height| (f64::from(*height) - lift).abs() < 1e-6)
            );

            // Beyond the reach nothing is hit, and the heights are zero.
            let beyond = heights_by_rays(&surface, sheet.positions(), &lifted, 0.02).unwrap();
            assert_eq!(beyond.missed, surface.vertex_count());
            assert!(beyond.heights.iter().all(|height| *height == 0.0));
        }
    }

    #[test]
    fn a_hole_is_filled_from_its_boundary_and_counted() {
        let sheet = shapes::flat_sheet(10, 0.0);
        let slope = |p: &DVec3| 0.02 + 0.01 * p.x;
        let lifted: Vec<DVec3> = sheet
            .positions()
            .iter()
            .map(|p| *p + DVec3::Z * slope(p))
            .collect();

        let bounds = sheet.bounds().unwrap();
        let center = (bounds.min + bounds.max) * 0.5;
        let hole = 0.2 * bounds.diagonal();
        let kept = sheet.triangles().iter().filter(|t| {
            t.iter()
                .all(|&v| sheet.positions()[v as usize].distance(center) > hole)
        });

        let scan = Mesh::from_triangles(lifted, &kept.copied().collect::<Vec<_>>()).unwrap();
        let surface = DetailSurface::of(&sheet, 0).unwrap();
        let met = heights_by_rays(&surface, sheet.positions(), &scan, 0.2).unwrap();

        assert!(
            met.missed > 0 && met.missed < sheet.vertex_count() / 2,
            "{}",
            met.missed
        );

        let least = slope(&bounds.min);
        let most = slope(&bounds.max);
        assert!(met.heights.iter().all(|height| f64::from(*height) > 0.99 * least && f64::from(*height) < 1.01 * most));
    }

    #[test]
    fn a_sheet_that_faces_the_other_direction_is_not_hit() {
        let sheet = shapes::flat_sheet(6, 0.0);
        let flipped: Vec<[u32; 3]> = sheet
            .triangles()
            .iter()
            .map(|[a, b, c]| [*a, *c, *b])
            .collect();

        let back = Mesh::from_triangles(
            sheet
                .positions()
                .iter()
                .map(|p| *p + DVec3::Z * 0.01)
                .collect(),
            &flipped,
        )
        .unwrap();

        let surface = DetailSurface::of(&sheet, 0).unwrap();
        assert_eq!(
            heights_by_rays(&surface, sheet.positions(), &back, 0.1)
                .unwrap()
                .missed,
            sheet.vertex_count()
        );
    }
}
