//! Claims about whole pictures.

use std::f64::consts::{PI, TAU};

use pliant_mesh::{Mesh, glam::DVec3};
use pliant_view::{
    Backdrop, Camera, Color, ColorMap, Ground, Image, Legend, Marker, Material, Paint,
    PreparedScene, Projection, ScalarPaint, Scene, Stroke, View, ViewError, Wire, render, to_apng,
    turntable,
};

const SIZE: [usize; 2] = [240, 180];

fn sphere(rings: usize, sides: usize) -> Mesh {
    let mut positions = Vec::new();
    for ring in 0..=rings {
        for side in 0..sides {
            let ((sin_p, cos_p), (sin_a, cos_a)) = (
                (PI * ring as f64 / rings as f64).sin_cos(),
                (TAU * side as f64 / sides as f64).sin_cos(),
            );
            positions.push(DVec3::new(sin_p * sin_a, cos_p, sin_p * cos_a));
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

    Mesh::from_polygons(positions, &faces).unwrap()
}

/// A square of half side `reach` at depth `z`, facing +Z.
fn square(reach: f64, z: f64) -> Mesh {
    let corner = |x: f64, y: f64| DVec3::new(x * reach, y * reach, z);
    Mesh::from_polygons(
        vec![
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
        ],
        &[vec![0, 1, 2, 3]],
    )
    .unwrap()
}

fn flat_backdrop(color: Color) -> Backdrop {
    Backdrop {
        top: color,
        bottom: color,
        ground: Ground::None,
    }
}

fn from_front(distance: f64) -> Camera {
    Camera {
        eye: DVec3::Z * distance,
        target: DVec3::ZERO,
        up: DVec3::Y,
        projection: Projection::Perspective {
            vertical_fov_rad: 0.6,
        },
    }
}

fn framed(scene: &Scene) -> Camera {
    scene.camera(View::ThreeQuarter, SIZE)
}

/// The covered share of each pixel: what a white background does not add to a black one.
fn coverage(scene: &Scene, camera: &Camera, size: [usize; 2]) -> Vec<f64> {
    let over = |color: Color| {
        render(
            &Scene {
                backdrop: flat_backdrop(color),
                ..scene.clone()
            },
            camera,
            size,
        )
        .unwrap()
    };

    let (white, black) = (over(Color::WHITE), over(Color::BLACK));
    let green = |pixel: &[u8; 3]| f64::from(Color::srgb8(pixel[0], pixel[1], pixel[2]).0.y);
    white
        .pixels()
        .iter()
        .zip(black.pixels())
        .map(|(w, b)| 1.0 - (green(w) - green(b)))
        .collect()
}

fn rich_scene() -> Scene {
    let mesh = sphere(40, 60);
    let values = mesh.positions().iter().map(|p| p.x * p.y).collect();
    let paint = ScalarPaint::new(values, ColorMap::Diverging).with_isolines(0.1);
    let legend = Legend::of(&paint, "xy");

    Scene::of(
        &mesh,
        Material::clay().with_paint(Paint::VertexScalar(paint)),
    )
    .with_mesh(
        &square(0.7, 1.2),
        Material::clay().with_wire(Wire::default()),
    )
    .with_stroke(Stroke::new(vec![DVec3::Y * 1.1, DVec3::X * 1.1]))
    .with_marker(Marker::new(DVec3::new(0.0, 1.0, 0.4)))
    .with_legend(legend)
}

#[test]
fn the_same_scene_gives_the_same_bytes_on_any_number_of_threads() {
    let scene = rich_scene();
    let draw = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            render(&scene, &framed(&scene), SIZE)
                .unwrap()
                .to_png()
                .unwrap()
        })
    };

    let once = draw(1);
    assert_eq!(once, draw(1));
    assert_eq!(once, draw(2));
    assert_eq!(once, draw(5));
}

#[test]
fn the_silhouette_of_a_sphere_has_the_closed_form_area() {
    let (size, distance) = ([300, 300], 5.0);
    let scene = Scene::of(&sphere(200, 400), Material::clay());
    let camera = from_front(distance);
    let pixels_per_tangent = 150.0 / (0.3_f64).tan();

    // The cone that touches a unit sphere at distance d opens to the tangent 1 / √(d² − 1).
    let radius = pixels_per_tangent / (distance * distance - 1.0).sqrt();
    let seen: f64 = coverage(&scene, &camera, size).iter().sum();

    // Samples are an eighth of a pixel apart: the outline is off by at most half of that.
    let tolerance = TAU * radius / 16.0;
    assert!(
        (seen - PI * radius * radius).abs() < tolerance,
        "{seen} pixels, {} in closed form",
        PI * radius * radius
    );
}

#[test]
fn an_orthographic_square_covers_the_closed_form_fraction() {
    let camera = Camera {
        projection: Projection::Orthographic { height: 4.0 },
        ..from_front(5.0)
    };

    let seen: f64 = coverage(
        &Scene::of(&square(1.0, 0.0), Material::clay()),
        &camera,
        [200, 200],
    )
    .iter()
    .sum();

    // Half of the picture's side; its edges lie between pixels.
    assert!((seen - 100.0 * 100.0).abs() < 1.0, "{seen}");
}

#[test]
fn the_nearer_surface_is_visible_in_either_order() {
    let near = (square(0.4, 0.5), Material::plain(Color::srgb8(200, 30, 30)));
    let far = (
        square(0.8, -0.5),
        Material::plain(Color::srgb8(30, 30, 200)),
    );

    for pair in [[&near, &far], [&far, &near]] {
        let scene = pair
            .into_iter()
            .fold(Scene::default(), |scene, (mesh, material)| {
                scene.with_mesh(mesh, material.clone())
            });
        for camera in [
            from_front(4.0),
            Camera {
                projection: Projection::Orthographic { height: 2.0 },
                ..from_front(4.0)
            },
        ] {
            let picture = render(&scene, &camera, SIZE).unwrap();
            let [r, _, b] = picture.pixel(SIZE[0] / 2, SIZE[1] / 2);
            assert!(r > b, "the near red square is hidden");
            let [r, _, b] = picture.pixel(SIZE[0] / 2, SIZE[1] / 2 - 45);
            assert!(b > r, "the far blue square is missing");
        }
    }
}

/// Pixels that the wire of a mesh darkens clearly.
fn wired_pixels(mesh: &Mesh) -> impl Fn(i64, i64) -> bool {
    let draw = |material: Material| {
        render(
            &Scene {
                backdrop: flat_backdrop(Color::WHITE),
                ..Scene::of(mesh, material)
            },
            &from_front(4.0),
            [200, 200],
        )
    };

    let plain = draw(Material::clay()).unwrap();
    let wired = draw(Material::clay().with_wire(Wire {
        width_px: 3.0,
        opacity: 1.0,
        ..Wire::default()
    }))
    .unwrap();

    move |x, y| {
        let around =
            (-2..=2).flat_map(|dx| (-2..=2).map(move |dy| ((x + dx) as usize, (y + dy) as usize)));
        around
            .into_iter()
            .any(|(x, y)| i32::from(plain.pixel(x, y)[1]) - i32::from(wired.pixel(x, y)[1]) > 40)
    }
}

#[test]
fn a_wireframe_quad_draws_four_edges_and_not_its_diagonal() {
    let quad = square(0.8, 0.0);
    let camera = from_front(4.0);
    let at = |x: f64, y: f64| {
        camera
            .project(DVec3::new(x, y, 0.0), [200, 200])
            .unwrap()
            .map(|p| p as i64)
    };

    let edges = [at(0.0, 0.8), at(0.0, -0.8), at(0.8, 0.0), at(-0.8, 0.0)];
    let diagonal = [at(0.0, 0.0), at(0.3, 0.3), at(-0.4, -0.4)];
    let drawn = wired_pixels(&quad);

    assert!(
        edges.iter().all(|&[x, y]| drawn(x, y)),
        "an edge is missing"
    );

    assert!(
        !diagonal.iter().any(|&[x, y]| drawn(x, y)),
        "the triangulation shows"
    );

    let triangles = Mesh::from_triangles(quad.positions().to_vec(), quad.triangles()).unwrap();
    let drawn = wired_pixels(&triangles);
    assert!(
        diagonal.iter().all(|&[x, y]| drawn(x, y)),
        "an authored diagonal is missing"
    );
}

#[test]
fn triangles_that_share_edges_leave_no_gap() {
    // A fan of slivers around an odd centre that fills more than the picture.
    let spokes = 101;
    let mut positions = vec![DVec3::new(0.0123, -0.0377, 0.0)];
    positions.extend((0..spokes).map(|k| {
        DVec3::new(
            (TAU * k as f64 / spokes as f64).cos(),
            (TAU * k as f64 / spokes as f64).sin(),
            0.0,
        ) * 3.0
    }));

    let triangles: Vec<_> = (0..spokes)
        .map(|k| [0, k as u32 + 1, (k as u32 + 1) % spokes as u32 + 1])
        .collect();
    let scene = Scene::of(
        &Mesh::from_triangles(positions, &triangles).unwrap(),
        Material::clay(),
    );

    assert!(
        coverage(&scene, &from_front(4.0), SIZE)
            .iter()
            .all(|&c| c == 1.0)
    );
}

#[test]
fn a_floor_under_the_camera_ends_at_the_horizon() {
    let far = 1e4;
    let corners = vec![
        DVec3::new(-far, -1.0, far),
        DVec3::new(far, -1.0, far),
        DVec3::new(far, -1.0, -far),
        DVec3::new(-far, -1.0, -far),
    ];

    let scene = Scene::of(
        &Mesh::from_polygons(corners, &[vec![0, 1, 2, 3]]).unwrap(),
        Material::clay(),
    );
    let covered = coverage(&scene, &from_front(4.0), SIZE);
    let horizon = SIZE[1] / 2;

    for (k, &share) in covered.iter().enumerate() {
        let row = k / SIZE[0];
        let expected = if row < horizon { 0.0 } else { 1.0 };
        assert!(
            (share - expected).abs() < 1e-6 || row + 1 == horizon || row == horizon,
            "row {row}: {share}"
        );
    }
}

#[test]
fn invalid_vertices_and_triangles_are_not_drawn() {
    let mut positions = sphere(10, 16).positions().to_vec();
    positions[20].x = f64::NAN;
    positions[40].y = f64::INFINITY;
    positions[60].z = 1e300;
    positions[80] = positions[81];

    let broken = sphere(10, 16).posed(positions).unwrap();
    let scene = Scene::of(&broken, Material::clay().with_wire(Wire::default()))
        .with_marker(Marker::new(DVec3::NAN))
        .with_stroke(Stroke::new(vec![DVec3::NAN, DVec3::X, DVec3::INFINITY]));
    let seen: f64 = coverage(&scene, &from_front(4.0), SIZE).iter().sum();

    assert!(seen > 1000.0, "{seen}");
    let empty = Mesh::from_polygons(Vec::new(), &[]).unwrap();
    let point = Mesh::from_polygons(vec![DVec3::ONE], &[]).unwrap();
    let needle = Mesh::from_triangles(
        vec![DVec3::ZERO, DVec3::X, DVec3::X],
        &[[0, 1, 2], [0, 0, 0]],
    )
    .unwrap();

    for mesh in [empty, point, needle] {
        let scene = Scene::of(&mesh, Material::clay());
        assert_eq!(render(&scene, &framed(&scene), SIZE).unwrap().size(), SIZE);
    }

    let nowhere = Camera {
        eye: DVec3::NAN,
        ..from_front(1.0)
    };

    let inside_out = Camera {
        eye: DVec3::ZERO,
        ..from_front(1.0)
    };

    for camera in [nowhere, inside_out] {
        assert_eq!(render(&scene, &camera, SIZE).unwrap().size(), SIZE);
    }
}

#[test]
fn a_picture_does_not_depend_on_the_unit_of_length() {
    let mesh = sphere(20, 30);
    let draw = |scale: f64| {
        let scaled = mesh
            .posed(mesh.positions().iter().map(|p| *p * scale).collect())
            .unwrap();
        let scene = Scene::of(&scaled, Material::clay());
        render(&scene, &framed(&scene), SIZE).unwrap()
    };

    // Powers of two scale without rounding.
    let [usual, huge, small] = [draw(1.0), draw(2_f64.powi(60)), draw(2_f64.powi(-30))];
    assert!(usual == huge && usual == small);
}

#[test]
fn only_values_that_are_not_finite_are_grey() {
    let quad = square(0.8, 0.0);
    let color_of = |values: Vec<f64>| {
        let scene = Scene {
            backdrop: flat_backdrop(Color::WHITE),
            ..Scene::of(&quad, Material::scalar(values, ColorMap::Sequential))
        };
        render(&scene, &from_front(4.0), SIZE)
            .unwrap()
            .pixel(SIZE[0] / 2, SIZE[1] / 2)
    };

    let spread = |[r, g, b]: [u8; 3]| r.max(g).max(b) - r.min(g).min(b);
    assert!(spread(color_of(vec![f64::NAN, 0.0, 1.0, f64::INFINITY])) < 20);
    assert!(spread(color_of(vec![0.0, 0.5, 1.0, 0.5])) > 60);
}

#[test]
fn a_surface_hides_the_pins_behind_it() {
    let quad = square(0.8, 0.0);
    let red = |z: f64| {
        let scene = Scene::of(&quad, Material::plain(Color::srgb8(60, 60, 60)))
            .with_marker(Marker::new(DVec3::Z * z));
        let [r, g, _] = render(&scene, &from_front(4.0), SIZE)
            .unwrap()
            .pixel(SIZE[0] / 2, SIZE[1] / 2);
        i32::from(r) - i32::from(g)
    };

    assert!(red(0.0) > 80, "a pin on the surface shows");
    assert!(red(-0.5) < 20, "a pin behind it does not");
}

#[test]
fn the_legend_of_a_picture_gives_its_values() {
    let scene = rich_scene();
    let picture = render(&scene, &framed(&scene), [480, 360]).unwrap();
    let legend = scene.legend.as_ref().unwrap();
    let bar = legend.bar(picture.size()).unwrap();

    for row in bar.top..bar.top + bar.height {
        let [r, g, b] = picture.pixel(bar.left + bar.width / 2, row);
        let error =
            legend.value_of(Color::srgb8(r, g, b)) - legend.range.value(bar.position_of_row(row));
        assert!(error.abs() < (legend.range.high - legend.range.low) / 128.0);
    }
}

#[test]
fn paint_that_does_not_fit_its_mesh_is_rejected_with_the_counts() {
    let scene = Scene::of(
        &square(1.0, 0.0),
        Material::scalar(vec![1.0, 2.0], ColorMap::Sequential),
    );
    let error = render(&scene, &from_front(4.0), SIZE).unwrap_err();

    assert!(
        matches!(
            error,
            ViewError::Count {
                mesh: 0,
                found: 2,
                expected: 4,
                ..
            }
        ),
        "{error}"
    );

    let fine = Scene::of(&square(1.0, 0.0), Material::clay());
    assert!(matches!(
        render(&fine, &from_front(4.0), [0, 10]),
        Err(ViewError::Size { .. })
    ));
}

#[test]
fn a_turntable_of_a_sphere_shows_equal_pictures() {
    let scene = Scene::of(&sphere(30, 8), Material::clay().with_wire(Wire::default()));
    let stage = PreparedScene::new(&scene).unwrap();
    let frames = turntable(&stage, &from_front(4.0), [96, 96], 8).unwrap();

    // The sphere has eight sides: an eighth of a turn brings it onto itself up to rounding at
    // sample places.
    let far = |a: &Image, b: &Image| {
        let difference = a
            .pixels()
            .as_flattened()
            .iter()
            .zip(b.pixels().as_flattened())
            .map(|(x, y)| u32::from(x.abs_diff(*y)));
        f64::from(difference.sum::<u32>()) / (3.0 * 96.0 * 96.0)
    };

    assert!(frames.iter().all(|frame| far(frame, &frames[0]) < 3.0));
    assert!(to_apng(&frames, 50).unwrap().starts_with(b"\x89PNG"));
}
