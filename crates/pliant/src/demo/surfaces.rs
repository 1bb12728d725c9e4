//! Decimation and subdivision of one surface.

use pliant_mesh::{DecimationBudget, DecimationOptions, LoopSubdivision, Mesh, SurfaceIndex};
use pliant_papers::page::Section;
use pliant_view::{Look, Shot, View};

use super::{DemoError, milliseconds, timed};

const SIZE: [usize; 2] = [520, 460];
const VIEW: View = View::Orbit {
    azimuth_rad: 0.9,
    elevation_rad: 0.15,
};

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Surfaces",
        "Decimation to a tenth of the vertices by edge collapses, with a map for every removed \
         vertex; and Loop subdivision as a matrix that is applied to any later pose.",
    );

    let tapir = pliant_specimens::specimen("tapir")
        .expect("a tapir ships with the product")
        .rig
        .neutral()
        .clone();
    let budget = DecimationBudget::Vertices(tapir.vertex_count() / 10);
    let (coarse, ms) = timed(|| tapir.decimated(budget, &DecimationOptions::default()));
    let coarse = coarse?.mesh().clone();
    section.figure("decimation", change(&tapir, &coarse, ms));
    section.figure(
        "mean distance from the original",
        relative_distance(&coarse, &tapir)?,
    );

    let (fine, ms) = timed(|| LoopSubdivision::levels(&coarse, 2));
    let fine = fine?;
    section.figure("subdivision, set up", change(&coarse, fine.mesh(), ms));
    // The matrix of the subdivision is applied to a pose without topology work.
    let mut refined = vec![coarse.positions()[0]; fine.mesh().vertex_count()];
    let ((), ms) = timed(|| fine.apply_into(coarse.positions(), &mut refined));
    section.figure("subdivision, one pose", milliseconds(ms));

    let shot = Shot::new(VIEW, SIZE);
    let look = Look::default().with_wire(true);
    for (file, caption, mesh) in [
        ("surface-original.png", "The original.", &tapir),
        ("surface-coarse.png", "A tenth of its vertices.", &coarse),
        (
            "surface-fine.png",
            "The decimated mesh, subdivided twice.",
            fine.mesh(),
        ),
    ] {
        section.small(file, caption, &shot.of(mesh, &look)?)?;
    }

    sections.push(section);
    Ok(())
}

/// Vertex counts before and after, and the time.
fn change(from: &Mesh, to: &Mesh, ms: f64) -> String {
    format!(
        "{} to {} vertices in {}",
        from.vertex_count(),
        to.vertex_count(),
        milliseconds(ms)
    )
}

/// Mean distance of the vertices of `mesh` from `other`, relative to the diagonal.
fn relative_distance(mesh: &Mesh, other: &Mesh) -> Result<String, DemoError> {
    let nearest = SurfaceIndex::new(other)?.closest_points(mesh.positions())?;
    let mean =
        nearest.iter().map(|found| found.distance).sum::<f64>() / nearest.len().max(1) as f64;
    let diagonal = other.bounds().map_or(1.0, |bounds| bounds.diagonal());
    Ok(format!("{:.4} % of the diagonal", 100.0 * mean / diagonal))
}
