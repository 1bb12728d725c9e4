//! `render/…`: a bumpy sphere of about 50 000 triangles at 800 by 600 pixels.

use std::f64::consts::{PI, TAU};
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_mesh::{Mesh, glam::DVec3};
use pliant_view::{
    Camera, ColorMap, Framing, Material, Paint, PreparedScene, ScalarPaint, Scene, View, Wire,
};

const SIZE: [usize; 2] = [800, 600];

/// Quads on a sphere with bumps; two triangles each.
fn bumpy_sphere(rings: usize, sides: usize) -> Mesh {
    let mut positions = Vec::new();
    for ring in 0..=rings {
        for side in 0..sides {
            let ((sin_p, cos_p), (sin_a, cos_a)) = (
                (PI * ring as f64 / rings as f64).sin_cos(),
                (TAU * side as f64 / sides as f64).sin_cos(),
            );
            let direction = DVec3::new(sin_p * sin_a, cos_p, sin_p * cos_a);
            let bump = (direction * 7.0)
                .to_array()
                .map(f64::sin)
                .iter()
                .product::<f64>();

            positions.push(direction * (1.0 + 0.15 * bump));
        }
    }

    let vertex = |ring: usize, side: usize| (ring * sides + side % sides) as u32;
    let quads = (0..rings).flat_map(|r| (0..sides).map(move |s| (r, s)));
    let faces: Vec<_> = quads
        .map(|(r, s)| {
            vec![
                vertex(r, s),
                vertex(r + 1, s),
                vertex(r + 1, s + 1),
                vertex(r, s + 1),
            ]
        })
        .collect();

    Mesh::from_polygons(positions, &faces).expect("the sphere's faces name its own vertices")
}

fn render(criterion: &mut Criterion) {
    let mesh = bumpy_sphere(125, 200);
    let camera = Camera::framing_points(mesh.positions(), &Framing::new(View::ThreeQuarter, SIZE));
    let values = mesh
        .positions()
        .iter()
        .map(|p| p.distance(DVec3::Z))
        .collect();

    let scalar =
        Paint::VertexScalar(ScalarPaint::new(values, ColorMap::Sequential).with_isolines(0.1));
    let mut group = criterion.benchmark_group("render");
    let looks = [
        ("clay", Material::clay()),
        ("wire", Material::clay().with_wire(Wire::default())),
        ("isolines", Material::clay().with_paint(scalar)),
    ];

    for (name, material) in looks {
        let scene = Scene::of(&mesh, material);
        group.bench_function(format!("{name}/50k/800x600"), |bencher| {
            bencher.iter(|| {
                PreparedScene::new(black_box(&scene))
                    .unwrap()
                    .render(&camera, SIZE)
                    .unwrap()
            });
        });
    }

    let scene = Scene::of(&mesh, Material::clay());
    group.bench_function("prepare/50k", |bencher| {
        bencher.iter(|| PreparedScene::new(black_box(&scene)).unwrap())
    });

    let stage = PreparedScene::new(&scene).unwrap();
    group.bench_function("further view/50k/800x600", |bencher| {
        bencher.iter(|| stage.render(black_box(&camera), SIZE).unwrap())
    });

    let picture = stage.render(&camera, SIZE).unwrap();
    group.bench_function("png/800x600", |bencher| {
        bencher.iter(|| black_box(&picture).to_png().unwrap())
    });
    group.finish();
}

criterion_group!(benches, render);
criterion_main!(benches);
