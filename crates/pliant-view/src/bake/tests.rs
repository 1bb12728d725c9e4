//! Claims about maps: closed forms on grids whose vertices are the centres of texels.

use glam::{DMat3, DVec2, DVec3};
use pliant_mesh::{CornerLayer, LoopSubdivision, Mesh, MeshBuilder};

use super::*;

const SIDE: usize = 9;
const SIZE: usize = 16;

/// A grid of quads in the plane of x and y, vertex `(i, j)` in the centre of texel `(3 + i, SIZE −
/// 1 − 3 − j)`.
fn grid(map: impl Fn(DVec2) -> DVec2) -> Mesh {
    let at = |k: usize| DVec2::new((k % SIDE) as f64, (k / SIDE) as f64);
    let mut builder = MeshBuilder {
        positions: (0..SIDE * SIDE).map(|k| at(k).extend(0.0)).collect(),
        ..MeshBuilder::default()
    };

    for j in 0..SIDE - 1 {
        for i in 0..SIDE - 1 {
            let first = (j * SIDE + i) as u32;
            builder.push_face(&[
                first,
                first + 1,
                first + SIDE as u32 + 1,
                first + SIDE as u32,
            ]);
        }
    }

    let values = (0..SIDE * SIDE)
        .map(|k| map((at(k) + 3.5) / SIZE as f64))
        .collect();
    builder.uv_layers = vec![CornerLayer {
        name: String::new(),
        values,
        corners: builder.corners.iter().map(|&v| Some(v)).collect(),
    }];

    builder.build().unwrap()
}

fn texel_of(vertex: usize) -> usize {
    (SIZE - 4 - vertex / SIDE) * SIZE + 3 + vertex % SIDE
}

fn options() -> BakeOptions {
    BakeOptions::default().with_size(SIZE).with_padding(2)
}

/// A smooth bump with slopes along both axes.
fn bumped(positions: &[DVec3]) -> Vec<DVec3> {
    let height = |p: &DVec3| {
        1.5 / (1.0 + 0.3 * ((p.x - 3.0) * (p.x - 3.0) + 2.0 * (p.y - 5.0) * (p.y - 5.0))) - 0.2
    };
    positions
        .iter()
        .map(|p| *p + DVec3::Z * height(p))
        .collect()
}

fn decoded(normal: [u8; 3]) -> DVec3 {
    DVec3::from_array(normal.map(|x| f64::from(x) / 127.5 - 1.0))
}

#[test]
fn a_surface_without_detail_is_flat_blue_and_height_zero() {
    let mesh = grid(|uv| uv);
    let baker = Baker::new(&mesh, &options()).unwrap();
    let maps = baker
        .bake(mesh.positions(), mesh.positions(), &HeightRange::default())
        .unwrap();
    assert!(maps.normals.iter().all(|&n| n == [128, 128, 255]));
    assert!(maps.displacement.iter().all(|&h| h == 0));
    assert!((baker.coverage() - (SIDE * SIDE) as f64 / (SIZE * SIZE) as f64).abs() < 1e-12);
    assert!(baker.warnings().is_empty(), "{:?}", baker.warnings());
}

#[test]
fn heights_at_vertices_are_exact_to_a_16_bit_step() {
    let mesh = grid(|uv| uv);
    let baker = Baker::new(&mesh, &options()).unwrap();
    let detailed = bumped(mesh.positions());
    let (heights, sideways) = baker.heights(mesh.positions(), &detailed).unwrap();

    assert!(sideways < 1e-15);
    let range = HeightRange::default().with(&heights);
    let maps = baker.bake(mesh.positions(), &detailed, &range).unwrap();
    let step = range.scale() / 65535.0;

    for (vertex, p) in detailed.iter().enumerate() {
        let error = (range.decode(maps.displacement[texel_of(vertex)]) - p.z).abs();
        assert!(
            error <= 0.5 * step * (1.0 + 1e-6),
            "vertex {vertex}: {error} of {step}"
        );
    }

    assert_eq!(range.decode(range.encode(range.most)), range.most);
}

#[test]
fn normals_of_a_bump_are_exact_to_an_8_bit_step() {
    let mesh = grid(|uv| uv);
    let detailed = bumped(mesh.positions());
    let maps = Baker::new(&mesh, &options())
        .unwrap()
        .bake(mesh.positions(), &detailed, &HeightRange::default())
        .unwrap();

    let normals = pliant_mesh::vertex_normals(&mesh.posed(detailed).unwrap());
    for (vertex, normal) in normals.iter().enumerate() {
        let error = (decoded(maps.normals[texel_of(vertex)]) - *normal)
            .abs()
            .max_element();
        assert!(error <= 0.5 / 127.5 + 1e-9, "vertex {vertex}: {error}");
    }
}

#[test]
fn rotating_both_surfaces_changes_no_texel() {
    let mesh = grid(|uv| uv);
    let detailed = bumped(mesh.positions());
    let turn = DMat3::from_cols(DVec3::Y, DVec3::Z, DVec3::X);
    let turned = |positions: &[DVec3]| positions.iter().map(|p| turn * *p).collect::<Vec<_>>();
    let baker = Baker::new(&mesh, &options()).unwrap();
    let range = HeightRange::default().with(&baker.heights(mesh.positions(), &detailed).unwrap().0);
    let maps = |base: &[DVec3], detailed: &[DVec3]| baker.bake(base, detailed, &range).unwrap();

    assert_eq!(
        maps(&turned(mesh.positions()), &turned(&detailed)),
        maps(mesh.positions(), &detailed)
    );
}

#[test]
fn red_follows_u_and_green_follows_v_in_rotated_and_mirrored_layouts() {
    let slope = |positions: &[DVec3]| {
        positions
            .iter()
            .map(|p| *p + DVec3::Z * p.x * 0.5)
            .collect::<Vec<_>>()
    };

    // The surface rises along x, so that its normal leans to −x: by sin(atan ½).
    let lean = 0.5 / 1.25_f64.sqrt();
    let half = 0.5 * (3.5 + 3.5 + 8.0) / SIZE as f64;
    type Map = fn(DVec2) -> DVec2;

    let cases: [(Map, DVec2); 4] = [
        (|uv| uv, DVec2::new(-lean, 0.0)),
        (|uv| DVec2::new(1.0 - uv.x, uv.y), DVec2::new(lean, 0.0)),
        (|uv| DVec2::new(uv.y, uv.x), DVec2::new(0.0, -lean)),
        (|uv| DVec2::new(uv.y, 1.0 - uv.x), DVec2::new(0.0, lean)),
    ];

    for (map, wanted) in cases {
        let mesh = grid(map);
        let baker = Baker::new(&mesh, &options()).unwrap();
        let maps = baker
            .bake(
                mesh.positions(),
                &slope(mesh.positions()),
                &HeightRange::default(),
            )
            .unwrap();

        let middle = map(DVec2::splat(half));
        let texel =
            ((1.0 - middle.y) * SIZE as f64) as usize * SIZE + (middle.x * SIZE as f64) as usize;
        let found = decoded(maps.normals[texel]);

        assert!(
            (found.truncate() - wanted).abs().max_element() < 1.0 / 127.5,
            "{found} for {wanted}"
        );
        assert!(found.z > 0.0);
    }
}

#[test]
fn borders_are_extended_by_the_padding() {
    let mesh = grid(|uv| uv);
    let detailed: Vec<DVec3> = mesh.positions().iter().map(|p| *p + DVec3::Z).collect();
    let baker = Baker::new(&mesh, &options()).unwrap();
    let range = HeightRange {
        least: 0.0,
        most: 1.0,
    };

    let maps = baker.bake(mesh.positions(), &detailed, &range).unwrap();
    for (texel, &height) in maps.displacement.iter().enumerate() {
        let beyond =
            |k: usize, low: usize| low.saturating_sub(k).max(k.saturating_sub(low + SIDE - 1));
        let rings = beyond(texel % SIZE, 3).max(beyond(texel / SIZE, SIZE - 4 - (SIDE - 1)));
        assert_eq!(
            height,
            if rings <= 2 { 65535 } else { 0 },
            "texel {texel} in ring {rings}"
        );
    }
}

#[test]
fn a_subdivided_mesh_bakes_into_the_same_layout() {
    let mesh = grid(|uv| uv);
    let fine = LoopSubdivision::levels(&mesh, 2).unwrap();
    let coarse = Baker::new(&mesh, &options()).unwrap();
    let baker = Baker::new(fine.mesh(), &options()).unwrap();

    assert_eq!(baker.coverage(), coarse.coverage());
    let lifted: Vec<DVec3> = fine
        .mesh()
        .positions()
        .iter()
        .map(|p| *p + DVec3::Z * 0.25)
        .collect();

    let maps = baker
        .bake(
            fine.mesh().positions(),
            &lifted,
            &HeightRange {
                least: 0.0,
                most: 0.5,
            },
        )
        .unwrap();

    assert!(
        (0..SIDE * SIDE).all(|v| maps.displacement[texel_of(v)].abs_diff(32768) <= 1
            && maps.normals[texel_of(v)] == [128, 128, 255])
    );
}

#[test]
fn layouts_that_cannot_be_baked_are_reported() {
    let plain = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
    assert!(matches!(
        Baker::new(&plain, &options()),
        Err(ViewError::NoUvs)
    ));

    assert!(matches!(
        Baker::new(&grid(|uv| uv + 3.0), &options()),
        Err(ViewError::UvsOutside)
    ));

    assert!(matches!(
        Baker::new(&grid(|uv| uv), &options().with_size(0)),
        Err(ViewError::Size { .. })
    ));

    let beyond = Baker::new(&grid(|uv| uv + DVec2::new(0.5, 0.0)), &options()).unwrap();
    assert!(
        beyond.warnings()[0].contains("beyond the UV square"),
        "{:?}",
        beyond.warnings()
    );

    let folded = Baker::new(
        &grid(|uv| DVec2::new((uv.x - 0.45).abs(), uv.y + 0.02)),
        &options(),
    )
    .unwrap();

    assert!(
        folded
            .warnings()
            .iter()
            .any(|p| p.contains("several triangles")),
        "{:?}",
        folded.warnings()
    );

    let mesh = grid(|uv| uv);
    let baker = Baker::new(&mesh, &options()).unwrap();
    let mut broken = mesh.positions().to_vec();
    broken[7].y = f64::NAN;

    assert!(matches!(
        baker.heights(mesh.positions(), &broken),
        Err(ViewError::NotFinite { vertex: 7, .. })
    ));

    assert!(matches!(
        baker.heights(&broken[1..], &broken),
        Err(ViewError::Count { .. })
    ));

    let wild = grid(|uv| {
        if uv.x > 0.5 {
            DVec2::new(f64::NAN, 1e300)
        } else {
            uv
        }
    });

    assert!(Baker::new(&wild, &options()).is_ok());
}

#[test]
fn files_contain_the_maps_and_are_deterministic() {
    let mesh = grid(|uv| uv);
    let detailed = bumped(mesh.positions());
    let baker = Baker::new(&mesh, &options()).unwrap();
    let range = HeightRange::default().with(&baker.heights(mesh.positions(), &detailed).unwrap().0);
    let maps = baker.bake(mesh.positions(), &detailed, &range).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(maps.displacement_png().unwrap()))
        .read_info()
        .unwrap();

    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(
        (info.width, info.bit_depth, info.color_type),
        (
            SIZE as u32,
            png::BitDepth::Sixteen,
            png::ColorType::Grayscale
        )
    );

    let values: Vec<u16> = bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| u16::from_be_bytes(*pair))
        .collect();

    assert_eq!(values, maps.displacement);
    assert_eq!(
        baker
            .bake(mesh.positions(), &detailed, &range)
            .unwrap()
            .normal_png()
            .unwrap(),
        maps.normal_png().unwrap()
    );
}
