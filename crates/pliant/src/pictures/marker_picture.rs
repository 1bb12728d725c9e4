//! A picture of markers on source and target mesh.
//!
//! Each pair has one colour and, where it is visible, its name or number. Both meshes are shown from
//! two sides.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, SurfaceIndex};
use pliant_transfer::Markers;
use pliant_view::{
    Anchor, Camera, Color, ContactSheet, Image, Marker, PreparedScene, TextStyle, View, ViewError,
    draw_text,
};
use thiserror::Error;

use pliant_view::Look;

const SIZE: [usize; 2] = [760, 620];
/// Radius of the dots of emphasised pairs, and of the others.
const RADIUS_PX: [f64; 2] = [8.0, 5.0];
/// Text height of emphasised pairs, and of the others.
const LETTERS_PX: [f64; 2] = [12.0, 8.5];
/// Distance of the dots from the surface, as part of the diagonal, so that it does not cut them.
const LIFT: f64 = 0.008;

/// Why the picture cannot be drawn.
#[derive(Debug, Error)]
#[error(transparent)]
pub enum MarkerPictureError {
    /// A mesh cannot be used.
    Mesh(#[from] MeshError),
    /// The drawing fails.
    View(#[from] ViewError),
}

/// Draws `markers` on both meshes, the `emphasised` larger than the others.
///
/// # Errors
/// A mesh without faces, or with positions that are not finite.
///
/// # Panics
/// If there is no flag for each marker.
pub fn marker_picture(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
    emphasised: &[bool],
) -> Result<Image, MarkerPictureError> {
    assert_eq!(
        markers.pairs().len(),
        emphasised.len(),
        "one flag for each marker"
    );

    let mut sheet = ContactSheet::new("", 2);
    let (sources, targets): (Vec<u32>, Vec<u32>) = markers.pairs().iter().copied().unzip();
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

            let panel = Panel {
                mesh,
                vertices,
                markers,
                emphasised,
                view: broadside(mesh, from_behind),
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

/// A picture of one mesh from one side.
struct Panel<'a> {
    mesh: &'a Mesh,
    vertices: &'a [u32],
    markers: &'a Markers,
    emphasised: &'a [bool],
    view: View,
}

impl Panel<'_> {
    fn draw(&self) -> Result<Image, MarkerPictureError> {
        let mut scene = Look::default().scene(self.mesh);
        let camera = scene.camera(self.view, SIZE);
        let diagonal = self.mesh.bounds().map_or(0.0, |bounds| bounds.diagonal());
        let index = SurfaceIndex::new(self.mesh)?;
        let mut visible = Vec::new();
        for (k, &vertex) in self.vertices.iter().enumerate() {
            if let Some(position) = self.dot_position(vertex, &camera, &index, diagonal) {
                visible.push((k, position));
            }
        }

        for &(k, position) in &visible {
            scene.markers.push(Marker {
                position,
                color: color(k),
                radius_px: RADIUS_PX[usize::from(!self.emphasised[k])],
            });
        }

        // Labels are drawn over the picture, so that no mesh hides them.
        let mut image = PreparedScene::new(&scene)?.render(&camera, SIZE)?;
        for &(k, position) in &visible {
            self.draw_label(k, position, &camera, &mut image);
        }

        Ok(image)
    }

    /// The position of a dot in front of a vertex; `None` where the mesh hides it.
    fn dot_position(
        &self,
        vertex: u32,
        camera: &Camera,
        index: &SurfaceIndex,
        diagonal: f64,
    ) -> Option<DVec3> {
        let position = self.mesh.positions()[vertex as usize];
        let towards = (camera.eye - position).try_normalize()?;
        // A ray from the lifted dot to the camera must not meet the mesh.
        let lifted = position + towards * (LIFT * diagonal);

        index
            .cast_ray(lifted, towards, 2.0 * diagonal)
            .is_none()
            .then_some(lifted)
    }

    fn draw_label(&self, k: usize, position: DVec3, camera: &Camera, image: &mut Image) {
        let Some([x, y]) = camera.project(position, SIZE) else {
            return;
        };

        let which = usize::from(!self.emphasised[k]);
        let text = self.markers.names()[k]
            .clone()
            .unwrap_or_else(|| k.to_string());
        let style = TextStyle::sized(LETTERS_PX[which]);
        let style = if self.emphasised[k] {
            style.bold()
        } else {
            style
        };

        draw_text(
            image,
            &text,
            [x + RADIUS_PX[which] + 2.0, y + 0.5 * LETTERS_PX[which]],
            Anchor::Left,
            &style,
        );
    }
}

/// A colour for a pair; consecutive pairs differ clearly.
fn color(k: usize) -> Color {
    /// The golden angle in hue.
    const STEP_RAD: f64 = 2.399_963;
    let hue = k as f64 * STEP_RAD;
    Color::oklab(0.62, 0.16 * hue.cos(), 0.16 * hue.sin())
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
    }
}
