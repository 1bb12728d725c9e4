//! Distances along the surface: by heat, and exactly.

use pliant_mesh::{ExactGeodesics, HeatGeodesics, HeatOptions, Mesh, SurfacePoint};
use pliant_view::View;

use super::{DemoError, milliseconds, timed};
use crate::page::Section;
use crate::picture::{Look, Shot};

const SIZE: [usize; 2] = [520, 460];

pub(super) fn chapter(sections: &mut Vec<Section>) -> Result<(), DemoError> {
    let mut section = Section::new(
        "Geodesics",
        "How far it is along the surface: by the heat method from anything to everything after one factorisation, and exactly within a \
         disc, where pins and soft patches live. Parts that no path reaches stay grey.",
    );
    let head = pliant_specimens::specimen("head")
        .expect("a head ships with the product")
        .rig
        .neutral()
        .clone();
    let cheek = nearest_to(
        &head,
        View::Orbit {
            azimuth_rad: 0.55,
            elevation_rad: -0.1,
        },
    );
    heat(&head, cheek, &mut section)?;
    disc(&head, cheek, &mut section)?;
    let hound = pliant_specimens::specimen("hound")
        .expect("a hound ships with the product")
        .rig
        .neutral()
        .clone();
    let nose = nearest_to(&hound, View::Front);
    let distances = HeatGeodesics::factor(&hound, &HeatOptions::default())?.distances(&[nose])?;
    let look = Look::default()
        .with_scalar(distances, "from the nose")
        .with_isolines(Some(0.08));
    let picture = Shot::new(
        View::Orbit {
            azimuth_rad: 1.0,
            elevation_rad: 0.15,
        },
        SIZE,
    )
    .of(&hound, &look)?;
    section.small("geodesic-hound.png", "From the nose to the tail.", &picture)?;
    sections.push(section);
    Ok(())
}

/// The vertex that lies farthest towards `view`.
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
        "By heat from the cheek, a line every centimetre.",
        &picture,
    )?;
    Ok(())
}

/// Relative to the exact distance, beyond the first centimetre.
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
        "Exactly, within three centimetres.",
        &picture,
    )?;
    Ok(())
}
