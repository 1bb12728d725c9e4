//! Everything a picture can hold, on one sheet: `gallery [OUT.png]`.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

use std::error::Error;

use pliant_mesh::{Mesh, glam::DVec3};
use pliant_view::{
    Color, ColorMap, ContactSheet, Image, Legend, Marker, Material, Paint, ScalarPaint, Scene,
    Stroke, View, Wire, render,
};

const SIZE: [usize; 2] = [480, 400];
/// Vertices around the fine tube.
const SIDES: usize = 28;

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "gallery.png".into());
    let knot = tube(240, SIDES);
    let coarse = tube(48, 10);
    let mut sheet = ContactSheet::new("Pliant: one look for every picture", 3);

    let mut show = |caption: &str, scene: Scene| -> Result<(), Box<dyn Error>> {
        sheet.push(shot(&scene)?, caption);
        Ok(())
    };

    show("clay", Scene::of(&knot, Material::clay()))?;
    show(
        "authored polygons",
        Scene::of(&coarse, Material::clay().with_wire(Wire::default())),
    )?;

    show(
        "a plain colour, flat faces",
        Scene::of(&coarse, Material::plain(Color::srgb8(126, 166, 190)).flat()),
    )?;
    show("values with isolines", distance(&knot))?;
    show("about zero", bend(&knot))?;
    show("strokes and pins", pinned(&knot))?;

    let page = sheet.compose()?;
    std::fs::write(&out, page.to_png()?)?;
    println!("{out}: {} pictures", sheet.len());

    Ok(())
}

fn shot(scene: &Scene) -> Result<Image, Box<dyn Error>> {
    Ok(render(
        scene,
        &scene.camera(View::ThreeQuarter, SIZE),
        SIZE,
    )?)
}

/// Straight distance from one vertex, with the far end left without values.
fn distance(mesh: &Mesh) -> Scene {
    let from = mesh.positions()[0];
    let values = mesh
        .positions()
        .iter()
        .map(|p| {
            if p.x < -1.55 {
                f64::NAN
            } else {
                p.distance(from)
            }
        })
        .collect();

    let paint = ScalarPaint::new(values, ColorMap::Sequential).with_isolines(0.25);
    let legend = Legend::of(&paint, "distance");
    Scene::of(
        mesh,
        Material::clay().with_paint(Paint::VertexScalar(paint)),
    )
    .with_legend(legend)
}

fn bend(mesh: &Mesh) -> Scene {
    let values = mesh.positions().iter().map(|p| 3.0 * p.z).collect();
    let paint = ScalarPaint::new(values, ColorMap::Diverging);
    let legend = Legend::of(&paint, "offset (mm)");
    Scene::of(
        mesh,
        Material::clay().with_paint(Paint::VertexScalar(paint)),
    )
    .with_legend(legend)
}

/// A stroke along the side that faces the camera, with pins on it.
fn pinned(mesh: &Mesh) -> Scene {
    let eye = View::ThreeQuarter.direction();
    let rings: Vec<&[DVec3]> = mesh.positions().chunks(SIDES).skip(150).take(75).collect();
    let middle = |ring: &[DVec3]| ring.iter().sum::<DVec3>() / SIDES as f64;
    let on_surface = |pair: &[&[DVec3]]| {
        let here = middle(pair[0]);
        let along = (middle(pair[1]) - middle(pair[0])).normalize();
        here + (eye - along * along.dot(eye)).normalize() * pair[0][0].distance(here)
    };

    let line: Vec<DVec3> = rings.windows(2).map(on_surface).collect();
    let pins = [0, 18, 37, 55, 73].map(|k| line[k]);
    let scene = Scene::of(mesh, Material::clay()).with_stroke(Stroke::new(line));

    pins.into_iter()
        .fold(scene, |scene, pin| scene.with_marker(Marker::new(pin)))
}

/// A trefoil of quads.
fn tube(rings: usize, sides: usize) -> Mesh {
    let at = |t: f64| {
        DVec3::new(
            t.sin() + 2.0 * (2.0 * t).sin(),
            t.cos() - 2.0 * (2.0 * t).cos(),
            -(3.0 * t).sin(),
        ) * 0.6
    };

    let mut positions = Vec::new();
    for ring in 0..rings {
        let t = std::f64::consts::TAU * ring as f64 / rings as f64;
        let forward = (at(t + 1e-3) - at(t - 1e-3)).normalize();
        let across = forward.cross(DVec3::Z).normalize();
        let up = across.cross(forward);
        for side in 0..sides {
            let (sin, cos) = (std::f64::consts::TAU * side as f64 / sides as f64).sin_cos();
            positions.push(at(t) + (across * cos + up * sin) * (0.36 + 0.05 * (5.0 * t).sin()));
        }
    }

    let vertex = |ring: usize, side: usize| (ring % rings * sides + side % sides) as u32;
    let mut faces = Vec::new();
    for ring in 0..rings {
        for side in 0..sides {
            faces.push(vec![
                vertex(ring, side),
                vertex(ring + 1, side),
                vertex(ring + 1, side + 1),
                vertex(ring, side + 1),
            ]);
        }
    }

    Mesh::from_polygons(positions, &faces).expect("the tube's faces name its own vertices")
}
