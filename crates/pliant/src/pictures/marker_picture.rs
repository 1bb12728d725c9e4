//! A picture of markers on source and target mesh.
//!
//! Each pair has one colour and, where it is visible, its name or number. Both meshes are shown from
//! two sides.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_transfer::Markers;
use pliant_view::{ContactSheet, Image, View};

use super::{LabelledVertices, VertexPictureError};

const SIZE: [usize; 2] = [760, 620];

/// Draws `markers` on both meshes, the `emphasised` larger than the others.
///
/// # Errors
/// As [`LabelledVertices::draw`].
pub fn marker_picture(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
    emphasised: &[bool],
) -> Result<Image, VertexPictureError> {
    let mut sheet = ContactSheet::new("", 2);
    let (sources, targets): (Vec<u32>, Vec<u32>) = markers.pairs().iter().copied().unzip();
    let mut labels = Vec::new();
    for (k, name) in markers.names().iter().enumerate() {
        labels.push(name.clone().unwrap_or_else(|| k.to_string()));
    }
    // Both meshes from both sides, so that every marker is visible once.
    for from_behind in [false, true] {
        for (mesh, vertices, caption) in
            [(source, &sources, "source"), (target, &targets, "target")]
        {
            let side = if from_behind {
                "from the other side"
            } else {
                "from one side"
            };

            let panel = LabelledVertices {
                mesh,
                vertices,
                labels: &labels,
                emphasised,
                view: broadside(mesh, from_behind),
                size: SIZE,
            };

            sheet.push(panel.draw()?, format!("{caption}, {side}"));
        }
    }

    Ok(sheet.compose()?)
}

/// A view onto the widest side of the mesh, slightly rotated; or from the opposite direction.
fn broadside(mesh: &Mesh, from_behind: bool) -> View {
    let extent = mesh
        .bounds()
        .map_or(DVec3::ONE, |bounds| bounds.max - bounds.min);
    let widest = if extent.x >= extent.z {
        0.0
    } else {
        std::f64::consts::FRAC_PI_2
    };

    let half_turn = if from_behind {
        std::f64::consts::PI
    } else {
        0.0
    };

    View::Orbit {
        azimuth_rad: widest + half_turn - 0.35,
        elevation_rad: 0.12,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn an_emphasised_marker_changes_more_of_the_picture_than_a_plain_one() {
        let ball = icosphere(3);
        let draw = |markers: &Markers, emphasised: &[bool]| {
            marker_picture(&ball, &ball, markers, emphasised).unwrap()
        };
        let plain = draw(&Markers::default(), &[]);
        let one = Markers::new(vec![(0, 0)]);

        let changed = |image: &Image| {
            image
                .pixels()
                .iter()
                .zip(plain.pixels())
                .filter(|(a, b)| a != b)
                .count()
        };

        let small = changed(&draw(&one, &[false]));
        let large = changed(&draw(&one, &[true]));

        assert!(0 < small && small < large, "{small} {large}");
        assert!(marker_picture(&ball, &ball, &one, &[]).is_err());
        let beyond = Markers::new(vec![(0, u32::MAX)]);
        assert!(marker_picture(&ball, &ball, &beyond, &[true]).is_err());
    }
}
