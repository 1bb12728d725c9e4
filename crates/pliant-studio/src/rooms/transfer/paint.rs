//! Regions as colours of vertices.

use eframe::egui::Color32;
use pliant::mesh::Mesh;

use crate::view::Model;

/// Clay, with each region's colour where it has weight, later ones over earlier ones.
#[must_use]
pub(super) fn region_colors(mesh: &Mesh, regions: &[([u8; 3], Vec<f64>)]) -> Vec<Color32> {
    let mut colors = vec![Model::CLAY; mesh.vertex_count()];
    for ([red, green, blue], weights) in regions {
        let own = Color32::from_rgb(*red, *green, *blue);
        for (color, weight) in colors.iter_mut().zip(mesh.vertex_means(weights)) {
            *color = color.lerp_to_gamma(own, weight.clamp(0.0, 1.0) as f32);
        }
    }
    colors
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::shapes::icosphere;

    #[test]
    fn a_later_region_covers_an_earlier_one() {
        let mesh = icosphere(1);
        let all = vec![1.0; mesh.triangles().len()];
        let none = vec![0.0; mesh.triangles().len()];
        let (red, blue) = ([255, 0, 0], [0, 0, 255]);
        assert!(
            region_colors(&mesh, &[(red, all.clone()), (blue, all.clone())])
                .iter()
                .all(|&c| c == Color32::from_rgb(0, 0, 255))
        );
        assert!(
            region_colors(&mesh, &[(red, all), (blue, none)])
                .iter()
                .all(|&c| c == Color32::from_rgb(255, 0, 0))
        );
    }
}
