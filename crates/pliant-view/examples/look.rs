//! Looks at OBJ files: `look MODEL.obj… [--views front,side,three-quarter] [--wire] [--out look.png]`.

use std::error::Error;
use std::time::Instant;

use pliant_mesh::{Mesh, glam::DVec3};
use pliant_view::{Camera, Framing, Image, Material, Scene, Stage, View, Wire, Color};

/// The picture of each view, in pixels.
const SIZE: [usize; 2] = [640, 640];

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    let (mut views, mut out, mut wire) = (String::from("front,side,three-quarter"), String::from("look.png"), false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--views" => views = arguments.next().ok_or("--views needs a list")?,
            "--out" => out = arguments.next().ok_or("--out needs a file name")?,
            "--wire" => wire = true,
            _ => files.push(argument),
        }
    }
    let views: Vec<View> = views.split(',').map(|name| View::from_name(name).ok_or(name)).collect::<Result<_, _>>()?;
    let mut sheet = Image::filled([SIZE[0] * views.len(), SIZE[1] * files.len()], Color::WHITE)?;
    for (row, file) in files.iter().enumerate() {
        let mesh = read_obj(&std::fs::read_to_string(file)?)?;
        let mut material = Material::clay();
        if wire {
            material = material.with_wire(Wire::default());
        }
        let scene = Scene::of(&mesh, material);
        let stage = Stage::prepare(&scene)?;
        for (column, &view) in views.iter().enumerate() {
            let start = Instant::now();
            let camera = Camera::framing_points(&scene.points(), &Framing::new(view, SIZE));
            sheet.paste(&stage.render(&camera, SIZE)?, column * SIZE[0], row * SIZE[1]);
            eprintln!("{:?}", start.elapsed());
        }
    }
    std::fs::write(&out, sheet.to_png()?)?;
    println!("{out}: {} model(s) from {} side(s)", files.len(), views.len());
    Ok(())
}

/// Positions and faces of an OBJ file.
fn read_obj(text: &str) -> Result<Mesh, Box<dyn Error>> {
    let mut positions = Vec::new();
    let mut faces = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut number = || words.next().ok_or("a vertex has too few coordinates")?.parse::<f64>().map_err(|e| e.to_string());
                positions.push(DVec3::new(number()?, number()?, number()?));
            }
            Some("f") => {
                let vertex = |word: &str| -> Result<u32, Box<dyn Error>> {
                    let index: i64 = word.split('/').next().unwrap_or("").parse()?;
                    Ok(if index < 0 { positions.len() as i64 + index } else { index - 1 } as u32)
                };
                faces.push(words.map(vertex).collect::<Result<Vec<_>, _>>()?);
            }
            _ => {}
        }
    }
    Ok(Mesh::from_polygons(positions, &faces)?)
}
