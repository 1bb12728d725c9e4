//! A picture of a mesh with dots and labels on some of its vertices.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, SurfaceIndex};
use pliant_view::{
    Anchor, Camera, Color, Image, Look, Marker, PreparedScene, TextStyle, View, ViewError,
    draw_text,
};
use thiserror::Error;

/// Radius of the dots of emphasised vertices, and of the others.
const RADIUS_PX: [f64; 2] = [8.0, 5.0];
/// Text height of emphasised vertices, and of the others.
const LETTERS_PX: [f64; 2] = [12.0, 8.5];
/// Distance of the dots from the surface, as part of the diagonal, so that it does not cut them.
const LIFT: f64 = 0.008;

/// Why the picture cannot be drawn.
#[derive(Debug, Error)]
#[error(transparent)]
pub enum VertexPictureError {
    /// A mesh cannot be used.
    Mesh(#[from] MeshError),
    /// The drawing fails.
    View(#[from] ViewError),
}

/// A mesh from one side, with labels on the vertices that are visible there.
#[derive(Debug, Clone, Copy)]
pub struct LabelledVertices<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Vertices with a dot.
    pub vertices: &'a [u32],
    /// Their labels.
    pub labels: &'a [String],
    /// Whether each of them is larger and bold.
    pub emphasised: &'a [bool],
    /// From where the mesh is seen.
    pub view: View,
    /// Width and height in pixels.
    pub size: [usize; 2],
}

impl LabelledVertices<'_> {
    /// Draws the picture.
    ///
    /// # Errors
    /// A mesh without faces or with positions that are not finite, vertices that it does not have, and
    /// lists without one label and one flag for each vertex.
    pub fn draw(&self) -> Result<Image, VertexPictureError> {
        let count = self.vertices.len();
        MeshError::require_count("the list of labels", self.labels.len(), count)?;
        MeshError::require_count("the list of flags", self.emphasised.len(), count)?;
        for &vertex in self.vertices {
            self.mesh.require_vertex(vertex as usize)?;
        }

        let mut scene = Look::default().scene(self.mesh);
        let camera = scene.camera(self.view, self.size);
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
        let mut image = PreparedScene::new(&scene)?.render(&camera, self.size)?;
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
        let Some([x, y]) = camera.project(position, self.size) else {
            return;
        };

        let which = usize::from(!self.emphasised[k]);
        let style = TextStyle::sized(LETTERS_PX[which]);
        let style = if self.emphasised[k] {
            style.bold()
        } else {
            style
        };

        draw_text(
            image,
            &self.labels[k],
            [x + RADIUS_PX[which] + 2.0, y + 0.5 * LETTERS_PX[which]],
            Anchor::Left,
            &style,
        );
    }
}

/// A colour for a vertex; consecutive ones differ clearly.
fn color(k: usize) -> Color {
    /// The golden angle in hue.
    const STEP_RAD: f64 = 2.399_963;
    let hue = k as f64 * STEP_RAD;
    Color::oklab(0.62, 0.16 * hue.cos(), 0.16 * hue.sin())
}
