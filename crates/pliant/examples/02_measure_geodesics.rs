//! Distances along a face: factor once, then measure from anywhere.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use pliant::mesh::{ExactGeodesics, HeatGeodesics, HeatOptions, SurfacePoint};
use pliant::pictures::{Look, Shot};
use pliant::view::View;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let head = pliant::load("specimen:head")?.mesh()?;
    let source = SurfacePoint::Vertex(0);
    let geodesics = HeatGeodesics::factor(&head, &HeatOptions::default())?;
    let distances = geodesics.distances(&[source])?;
    let disc = ExactGeodesics::new(&head)?.disc(&[source], 2.0)?;
    let farthest = distances
        .iter()
        .copied()
        .filter(|d| d.is_finite())
        .fold(0.0, f64::max);

    let look = Look::default()
        .with_scalar(distances, "cm")
        .with_isolines(Some(1.0));
    std::fs::write(
        "02_geodesics.png",
        Shot::new(View::ThreeQuarter, [800, 600])
            .of(&head, &look)?
            .to_png()?,
    )?;

    println!(
        "farthest {farthest:.1} cm, {} vertices within 2 cm; drawn to 02_geodesics.png",
        disc.vertices.len()
    );

    Ok(())
}
