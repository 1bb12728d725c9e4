//! Looks at OBJ files: `look MODEL.obj… [--views front,side,three-quarter] [--wire] [--out look.png]`.

#![allow(clippy::print_stdout)] // An example reports to its reader.

use std::error::Error;

use pliant_mesh::{Mesh, glam::DVec3};
use pliant_view::{ContactSheet, Material, Scene, Stage, View, Wire};

/// The picture of each view, in pixels.
const SIZE: [usize; 2] = [640, 640];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::from_arguments()?;
    let mut sheet = ContactSheet::new("", options.views.len());
    for file in &options.files {
        let mesh = read_obj(&std::fs::read_to_string(file)?)?;
        let material = if options.wire { Material::clay().with_wire(Wire::default()) } else { Material::clay() };
        let scene = Scene::of(&mesh, material);
        let stage = Stage::prepare(&scene)?;
        for (name, view) in &options.views {
            sheet.push(stage.render(&scene.camera(*view, SIZE), SIZE)?, name.as_str());
        }
    }
    std::fs::write(&options.out, sheet.compose()?.to_png()?)?;
    println!("{}: {} model(s) from {} side(s)", options.out, options.files.len(), options.views.len());
    Ok(())
}

struct Options {
    files: Vec<String>,
    views: Vec<(String, View)>,
    wire: bool,
    out: String,
}

impl Options {
    fn from_arguments() -> Result<Self, Box<dyn Error>> {
        let mut views = String::from("front,side,three-quarter");
        let mut options = Self { files: Vec::new(), views: Vec::new(), wire: false, out: "look.png".into() };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--views" => views = arguments.next().ok_or("--views needs a list")?,
                "--out" => options.out = arguments.next().ok_or("--out needs a file name")?,
                "--wire" => options.wire = true,
                _ => options.files.push(argument),
            }
        }
        for name in views.split(',') {
            let view = View::from_name(name).ok_or_else(|| format!("there is no view named {name}"))?;
            options.views.push((name.to_owned(), view));
        }
        Ok(options)
    }
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
