//! Load a model, look at what is in it, and draw it.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use pliant::pictures::{Look, Shot};
use pliant::view::View;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asset = pliant::load("specimen:hound")?;
    let mesh = asset.mesh()?;
    let picture =
        Shot::new(View::ThreeQuarter, [800, 600]).of(&mesh, &Look::default().with_wire(true))?;

    std::fs::write("01_hound.png", picture.to_png()?)?;
    println!(
        "{} vertices, {} faces, {} clips; drawn to 01_hound.png",
        mesh.vertex_count(),
        mesh.face_count(),
        asset.clips.len()
    );

    Ok(())
}
