//! t
use std::f64::consts::{PI, TAU};
use pliant_mesh::{Mesh, glam::DVec3};
use pliant_view::{Camera, Framing, Material, Scene, Stage, View, Wire};
fn cpu() -> f64 {
    let mut sum = 0.0;
    for t in std::fs::read_dir("/proc/self/task").unwrap() {
        let s = std::fs::read_to_string(t.unwrap().path().join("schedstat")).unwrap();
        sum += s.split(' ').next().unwrap().parse::<f64>().unwrap();
    }
    sum * 1e-6
}
fn main() {
    let size = [800, 600];
    let (rings, sides) = (125, 200);
    let mut positions = Vec::new();
    for ring in 0..=rings {
        for side in 0..sides {
            let ((sin_p, cos_p), (sin_a, cos_a)) = ((PI * ring as f64 / rings as f64).sin_cos(), (TAU * side as f64 / sides as f64).sin_cos());
            let d = DVec3::new(sin_p * sin_a, cos_p, sin_p * cos_a);
            let bump = (d * 7.0).to_array().map(f64::sin).iter().product::<f64>();
            positions.push(d * (1.0 + 0.15 * bump));
        }
    }
    let vertex = |ring: usize, side: usize| (ring * sides + side % sides) as u32;
    let faces: Vec<_> = (0..rings).flat_map(|r| (0..sides).map(move |s| (r, s))).map(|(r, s)| vec![vertex(r, s), vertex(r + 1, s), vertex(r + 1, s + 1), vertex(r, s + 1)]).collect();
    let mesh = Mesh::from_polygons(positions, &faces).unwrap();
    let camera = Camera::framing_points(mesh.positions(), &Framing::new(View::ThreeQuarter, size));
    for (n, m) in [("clay", Material::clay()), ("wire", Material::clay().with_wire(Wire::default()))] {
        let scene = Scene::of(&mesh, m);
        let stage = Stage::prepare(&scene).unwrap();
        let (mut a, mut b) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..12 {
            let t = cpu();
            let _ = Stage::prepare(&scene).unwrap();
            let u = cpu();
            let i = stage.render(&camera, size).unwrap();
            let v = cpu();
            a = a.min(u - t);
            b = b.min(v - u);
            if n == "clay" { std::fs::write("/tmp/view/sphere.png", i.to_png().unwrap()).unwrap(); }
        }
        println!("{n}: CPU ms prepare {a:.1} render {b:.1}");
    }
}
