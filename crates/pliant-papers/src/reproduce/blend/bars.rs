//! Bars of any size, and bent, twisted and stretched bars.

use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::shapes::closed_box;
use pliant_mesh::{Mesh, MeshError};

/// Length of a plain bar; it is one wide and one high.
const LENGTH: f64 = 4.0;

/// A closed box around the x axis in quads.
pub(super) fn plain(along: usize, across: usize) -> Mesh {
    closed_box([along, across, across], DVec3::new(LENGTH, 1.0, 1.0))
}

/// A bar along x, bent upwards by `degrees` in all; its middle stays and sections stay plane.
pub(super) fn bent(bar: &Mesh, degrees: f64) -> Result<Mesh, MeshError> {
    // The axis becomes an arc of the same length.
    let radius = length(bar) / degrees.to_radians();
    let place = |p: &DVec3| {
        let (angle_rad, lever) = (p.x / radius, radius - p.y);
        DVec3::new(
            lever * angle_rad.sin(),
            radius - lever * angle_rad.cos(),
            p.z,
        )
    };

    bar.posed(bar.positions().iter().map(place).collect())
}

/// A bar along x whose ends are rotated against each other by `degrees`.
pub(super) fn twisted(bar: &Mesh, degrees: f64) -> Result<Mesh, MeshError> {
    let per_length = degrees.to_radians() / length(bar);
    bar.posed(
        bar.positions()
            .iter()
            .map(|p| DQuat::from_rotation_x(per_length * p.x) * *p)
            .collect(),
    )
}

/// A bar along x, `factor` times as long, of the same volume.
pub(super) fn stretched(bar: &Mesh, factor: f64) -> Result<Mesh, MeshError> {
    let thinner = 1.0 / factor.sqrt();
    bar.posed(
        bar.positions()
            .iter()
            .map(|p| *p * DVec3::new(factor, thinner, thinner))
            .collect(),
    )
}

/// The vertices of the end at the least x, up to a `share` of the length.
pub(super) fn left_end(bar: &Mesh, share: f64) -> Vec<usize> {
    let left = bar.bounds().map_or(0.0, |bounds| bounds.min.x) + share * length(bar);
    (0..bar.vertex_count())
        .filter(|&v| bar.positions()[v].x <= left)
        .collect()
}

fn length(bar: &Mesh) -> f64 {
    bar.bounds()
        .map_or(1.0, |bounds| bounds.max.x - bounds.min.x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_left_end_is_the_end_section_or_the_given_share_of_the_length() {
        let bar = plain(12, 3);
        assert_eq!(left_end(&bar, 0.0).len(), 16);
        assert_eq!(left_end(&bar, 1.0).len(), bar.vertex_count());
    }

    #[test]
    fn bending_and_twisting_keep_the_volume_up_to_the_flatness_of_faces() {
        let bar = plain(60, 12);
        for shape in [
            bent(&bar, 150.0).unwrap(),
            twisted(&bar, 150.0).unwrap(),
            stretched(&bar, 1.5).unwrap(),
        ] {
            assert!((shape.signed_volume() / bar.signed_volume() - 1.0).abs() < 2e-3);
        }
    }
}
