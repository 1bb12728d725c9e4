//! Regions as vertex colours.

use pliant::mesh::Mesh;

use crate::engine::color::Srgba;

/// Each region's colour where it has weight, later ones over earlier ones; clear elsewhere.
#[must_use]
pub(crate) fn region_colors(mesh: &Mesh, regions: &[([u8; 3], Vec<f64>)]) -> Vec<Srgba> {
    let mut colors = vec![Srgba::CLEAR; mesh.vertex_count()];
    for ([red, green, blue], weights) in regions {
        let own = Srgba::from_rgb(*red, *green, *blue);
        for (color, weight) in colors.iter_mut().zip(mesh.vertex_means(weights)) {
            *color = color.under(own.with_opacity(weight as f32));
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
        let red = [255, 0, 0];
        let blue = [0, 0, 255];

        assert!(
            region_colors(&mesh, &[(red, all.clone()), (blue, all.clone())])
                .iter()
                .all(|&c| c == Srgba::from_rgb(0, 0, 255))
        );

        assert!(
            region_colors(&mesh, &[(red, all), (blue, none)])
                .iter()
                .all(|&c| c == Srgba::from_rgb(255, 0, 0))
        );
    }
}
