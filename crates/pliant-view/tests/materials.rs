//! Textured materials in pictures.

use std::sync::Arc;

use pliant_mesh::glam::{DVec2, DVec3, Vec4};
use pliant_mesh::{CornerLayer, Mesh, MeshBuilder};
use pliant_view::{
    Image, Look, PbrMaterial, PbrPaint, Shot, TexelEncoding, Texture, TextureMap, Transparency,
    View,
};

/// Squares of side 1 that face the front, each at its own depth, with the whole texture on each.
fn squares(depths: &[f64]) -> Mesh {
    let mut builder = MeshBuilder::default();
    let mut corners = Vec::new();
    for (k, &z) in depths.iter().enumerate() {
        for [x, y] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
            builder.positions.push(DVec3::new(x, y, z));
        }
        let first = 4 * k as u32;
        builder.push_face(&[first, first + 1, first + 2, first + 3]);
        corners.extend([Some(0), Some(1), Some(2), Some(3)]);
    }
    builder.uv_layers = vec![CornerLayer {
        name: String::new(),
        values: vec![DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y],
        corners,
    }];
    builder.build().unwrap()
}

/// Red, green above blue, white; unlit, so that colours are exact.
fn flag() -> PbrMaterial {
    let texels = vec![
        [255, 0, 0, 255],
        [0, 255, 0, 255],
        [0, 0, 255, 255],
        [255, 255, 255, 255],
    ];
    let texture = Texture::from_rgba8([2, 2], texels, TexelEncoding::Srgb).unwrap();
    let mut map = TextureMap::new(Arc::new(texture));
    map.nearest = true;
    unlit(Vec4::ONE, Some(map), Transparency::Opaque)
}

fn unlit(color: Vec4, map: Option<TextureMap>, transparency: Transparency) -> PbrMaterial {
    let mut material = PbrMaterial::default();
    material.base_color = color;
    material.base_color_map = map;
    material.transparency = transparency;
    material.unlit = true;
    material
}

fn draw(mesh: &Mesh, materials: Vec<PbrMaterial>, view: View) -> Image {
    let of_face = (0..mesh.face_count() as u32).map(Some).collect();
    let paint = PbrPaint {
        materials,
        of_face,
        ..PbrPaint::default()
    };
    let look = Look::default().with_materials(Some(Arc::new(paint)));
    Shot::new(view, [120, 120]).of(mesh, &look).unwrap()
}

#[test]
fn a_texture_lies_upright_and_unmirrored() {
    let image = draw(&squares(&[0.0]), vec![flag()], View::Front);
    assert_eq!(image.pixel(45, 45), [255, 0, 0]);
    assert_eq!(image.pixel(75, 45), [0, 255, 0]);
    assert_eq!(image.pixel(45, 75), [0, 0, 255]);
    assert_eq!(image.pixel(75, 75), [255, 255, 255]);
}

#[test]
fn blended_layers_mix_from_back_to_front_whatever_their_order_in_the_mesh() {
    let half = |r, g, b| unlit(Vec4::new(r, g, b, 0.5), None, Transparency::Blend);
    let red_behind_green = |order: [usize; 3]| {
        let depths = [0.0, 0.1, 0.2];
        let layers = [
            unlit(Vec4::new(0.0, 0.0, 1.0, 1.0), None, Transparency::Opaque),
            half(1.0, 0.0, 0.0),
            half(0.0, 1.0, 0.0),
        ];
        let mesh = squares(&order.map(|k| depths[k]));
        let materials = order.map(|k| layers[k].clone()).to_vec();
        draw(&mesh, materials, View::Front).pixel(60, 60)
    };
    // Linear light: green 1/2, red 1/4, blue 1/4.
    assert_eq!(red_behind_green([0, 1, 2]), [137, 188, 137]);
    assert_eq!(red_behind_green([2, 0, 1]), [137, 188, 137]);
}

#[test]
fn a_mask_shows_what_is_behind_it_where_opacity_is_below_the_cutoff() {
    let texels = vec![[255, 0, 0, 255], [255, 0, 0, 100]];
    let texture = Texture::from_rgba8([2, 1], texels, TexelEncoding::Srgb).unwrap();
    let mut map = TextureMap::new(Arc::new(texture));
    map.nearest = true;
    let masked = unlit(Vec4::ONE, Some(map), Transparency::Mask(0.5));
    let blue = unlit(Vec4::new(0.0, 0.0, 1.0, 1.0), None, Transparency::Opaque);
    let image = draw(&squares(&[0.1, 0.0]), vec![masked, blue], View::Front);
    assert_eq!(image.pixel(45, 60), [255, 0, 0]);
    assert_eq!(image.pixel(75, 60), [0, 0, 255]);
}

#[test]
fn the_back_of_a_single_sided_material_is_not_drawn() {
    let back = View::Orbit {
        azimuth_rad: std::f64::consts::PI,
        elevation_rad: 0.0,
    };
    let mut single = flag();
    single.double_sided = false;
    let [r, g, b] = draw(&squares(&[0.0]), vec![single], back).pixel(45, 45);
    assert!(r > 200 && g > 200 && b > 200, "the background: {r} {g} {b}");
    assert_eq!(
        draw(&squares(&[0.0]), vec![flag()], back).pixel(75, 45),
        [255, 0, 0]
    );
}

#[test]
fn paint_that_does_not_fit_its_mesh_is_refused() {
    let paint = PbrPaint {
        materials: vec![flag()],
        of_face: vec![Some(0); 3],
        ..PbrPaint::default()
    };
    let look = Look::default().with_materials(Some(Arc::new(paint)));
    let error = Shot::new(View::Front, [60, 60]).of(&squares(&[0.0]), &look);
    assert!(error.unwrap_err().to_string().contains("face materials"));
}
