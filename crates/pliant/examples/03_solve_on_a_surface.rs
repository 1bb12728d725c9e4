//! Stretch a membrane over two held points: one factorisation, any number of shapes.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use pliant::linalg::LeastSquares;
use pliant::mesh::shapes::bumpy_sheet;
use pliant::mesh::{Laplacian, glam::DVec3};
use pliant::pictures::{Look, Shot};
use pliant::view::View;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sheet = bumpy_sheet(60, 0.0);
    let rim: Vec<usize> = sheet
        .topology()
        .boundary_loops()
        .concat()
        .into_iter()
        .map(|v| v as usize)
        .collect();

    let middle = 30 * 61 + 30;
    let held: Vec<usize> = rim.iter().copied().chain([middle]).collect();
    let solver = LeastSquares::factor(&Laplacian::cotangent(&sheet)?.matrix, &[], &held)?;
    let lifted = |v: usize| {
        sheet.positions()[v]
            + if v == middle {
                DVec3::Z * 0.5
            } else {
                DVec3::ZERO
            }
    };

    let goals: Vec<DVec3> = held.iter().map(|&v| lifted(v)).collect();
    let tent =
        sheet.posed(solver.solve_points(&vec![DVec3::ZERO; sheet.vertex_count()], &[], &goals))?;
    let picture = Shot::new(
        View::Orbit {
            azimuth_rad: 0.5,
            elevation_rad: -0.9,
        },
        [800, 600],
    )
    .of(&tent, &Look::default().with_wire(true))?;

    std::fs::write("03_membrane.png", picture.to_png()?)?;
    println!(
        "area {:.3} to {:.3}; drawn to 03_membrane.png",
        sheet.area(),
        tent.area()
    );

    Ok(())
}
