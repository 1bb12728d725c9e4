//! Geodesic distances: by the heat method, and exact.

use pliant_mesh::{ExactGeodesics, HeatGeodesics, HeatOptions, Mesh, SurfacePoint};
use pliant_papers::page::Section;
use pliant_view::{Look, Shot, View};

use super::{DemoError, milliseconds, timed};

const SIZE: [usize; 2] = [520, 460];

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Geodesics",
        "Distances along the surface: by the heat method from any source to all vertices after \
         one factorisation, and exact distances within a disc, which pins and soft patches use. \
         Components that no path reaches stay grey.",
    );

    let head = neutral("head");
    let cheek = nearest_to(
        &head,
        View::Orbit {
            azimuth_rad: 0.55,
            elevation_rad: -0.1,
        },
    );
    heat(&head, cheek, &mut section)?;
    disc(&head, cheek, &mut section)?;
    across_hound(&mut section)?;

    sections.push(section);
    Ok(())
}

fn neutral(specimen: &str) -> Mesh {
    let specimen = pliant_specimens::specimen(specimen).expect("it ships with the product");
    specimen.rig.neutral().clone()
}

/// Distances from the nose of the hound.
fn across_hound(section: &mut Section) -> Result<(), DemoError> {
    let hound = neutral("hound");
    let nose = nearest_to(&hound, View::Front);
    let distances = HeatGeodesics::factor(&hound, &HeatOptions::default())?.distances(&[nose])?;
    let look = Look::default()
        .with_scalar(distances, "from the nose")
        .with_isolines(Some(0.08));

    let view = View::Orbit {
        azimuth_rad: 1.0,
        elevation_rad: 0.15,
    };
    let picture = Shot::new(view, SIZE).of(&hound, &look)?;
    section.small("geodesic-hound.png", "From the nose to the tail.", &picture)?;
    Ok(())
}

/// The vertex that is farthest in the direction of `view`.
fn nearest_to(mesh: &Mesh, view: View) -> SurfacePoint {
    let toward = view.direction();
    let along = |v: &usize| mesh.positions()[*v].dot(toward);
    let vertex = (0..mesh.vertex_count())
        .max_by(|a, b| along(a).total_cmp(&along(b)))
        .unwrap_or(0);
    SurfacePoint::Vertex(vertex as u32)
}

fn heat(head: &Mesh, source: SurfacePoint, section: &mut Section) -> Result<(), DemoError> {
    let (geodesics, factor_ms) = timed(|| HeatGeodesics::factor(head, &HeatOptions::default()));
    let geodesics = geodesics?;
    let (distances, solve_ms) = timed(|| geodesics.distances(&[source]));
    let distances = distances?;
    // Exact distances are the reference for the error of the heat method.
    let exact = ExactGeodesics::new(head)?.distances(&[source])?;

    section.figure("heat: factor", milliseconds(factor_ms));
    section.figure("heat: one source", milliseconds(solve_ms));
    section.figure(
        "heat: mean error",
        format!("{:.2} %", 100.0 * mean_error(&distances, &exact)),
    );

    let look = Look::default()
        .with_scalar(distances, "distance, cm")
        .with_isolines(Some(1.0));
    let picture = Shot::new(View::ThreeQuarter, SIZE).of(head, &look)?;

    section.small(
        "geodesic-heat.png",
        "By the heat method from the cheek, with a line every centimetre.",
        &picture,
    )?;

    Ok(())
}

/// The mean error relative to the exact distance, beyond the first centimetre.
fn mean_error(found: &[f64], exact: &[f64]) -> f64 {
    let far: Vec<f64> = found
        .iter()
        .zip(exact)
        .filter(|(_, e)| **e > 1.0 && e.is_finite())
        .map(|(d, e)| (d - e).abs() / e)
        .collect();
    far.iter().sum::<f64>() / far.len().max(1) as f64
}

fn disc(head: &Mesh, source: SurfacePoint, section: &mut Section) -> Result<(), DemoError> {
    let mut exact = ExactGeodesics::new(head)?;
    let (disc, ms) = timed(|| exact.disc(&[source], 3.0));
    let disc = disc?;
    section.figure(
        "exact disc of 3 cm",
        format!("{} vertices in {}", disc.vertices.len(), milliseconds(ms)),
    );

    let look = Look::default()
        .with_scalar(disc.to_dense(head.vertex_count()), "distance, cm")
        .with_isolines(Some(0.5));
    let picture = Shot::new(View::ThreeQuarter, SIZE).of(head, &look)?;

    section.small(
        "geodesic-disc.png",
        "Exact, within three centimetres.",
        &picture,
    )?;

    Ok(())
}
