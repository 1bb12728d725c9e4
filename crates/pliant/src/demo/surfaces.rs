//! Other resolutions of one surface: decimated, and subdivided again.

use pliant_mesh::{DecimationBudget, DecimationOptions, LoopSubdivision, Mesh, SurfaceIndex};
use pliant_view::View;

use super::{DemoError, milliseconds, timed};
use crate::page::Section;
use crate::picture::{Look, Shot};

const SIZE: [usize; 2] = [520, 460];

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Surfaces",
        "A tenth of the vertices by edge collapse, with a map back for every vertex that went; and Loop subdivision as a matrix that any \
         later pose goes through.",
    );
    let tapir = pliant_specimens::specimen("tapir")
        .expect("a tapir ships with the product")
        .rig
        .neutral()
        .clone();
    let budget = DecimationBudget::Vertices(tapir.vertex_count() / 10);
    let (coarse, ms) = timed(|| tapir.decimated(budget, &DecimationOptions::default()));
    let coarse = coarse?.mesh().clone();
    section.figure(
        "decimation",
        format!(
            "{} to {} vertices in {}",
            tapir.vertex_count(),
            coarse.vertex_count(),
            milliseconds(ms)
        ),
    );
    section.figure(
        "mean distance from the original",
        relative_distance(&coarse, &tapir)?,
    );
    let (fine, ms) = timed(|| LoopSubdivision::levels(&coarse, 2));
    let fine = fine?;
    section.figure(
        "subdivision, set up",
        format!(
            "{} to {} vertices in {}",
            coarse.vertex_count(),
            fine.mesh().vertex_count(),
            milliseconds(ms)
        ),
    );
    let mut refined = vec![coarse.positions()[0]; fine.mesh().vertex_count()];
    let ((), ms) = timed(|| fine.apply_into(coarse.positions(), &mut refined));
    section.figure("subdivision, one pose", milliseconds(ms));
    for (file, caption, mesh) in [
        ("surface-original.png", "The original.", &tapir),
        ("surface-coarse.png", "A tenth of its vertices.", &coarse),
        ("surface-fine.png", "Those, subdivided twice.", fine.mesh()),
    ] {
        let shot = Shot::new(
            View::Orbit {
                azimuth_rad: 0.9,
                elevation_rad: 0.15,
            },
            SIZE,
        );
        section.small(
            file,
            caption,
            &shot.of(mesh, &Look::default().with_wire(true))?,
        )?;
    }
    sections.push(section);
    Ok(())
}

/// Mean distance of the vertices of `mesh` from `other`, relative to the diagonal.
fn relative_distance(mesh: &Mesh, other: &Mesh) -> Result<String, DemoError> {
    let nearest = SurfaceIndex::new(other)?.closest_points(mesh.positions())?;
    let mean =
        nearest.iter().map(|found| found.distance).sum::<f64>() / nearest.len().max(1) as f64;
    let diagonal = other.bounds().map_or(1.0, |bounds| bounds.diagonal());
    Ok(format!("{:.4} % of the diagonal", 100.0 * mean / diagonal))
}
