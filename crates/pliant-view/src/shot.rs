//! A picture of one mesh: direction of view, size, and the camera that frames it.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::{
    Camera, Framing, Ground, Image, Look, PreparedScene, Scene, View, ViewError, turntable,
};

/// The direction of view and the size of a picture.
#[derive(Debug, Clone, Copy)]
pub struct Shot {
    view: View,
    size: [usize; 2],
}

impl Shot {
    /// A shot from `view`, framed by the mesh that it shows.
    #[must_use]
    pub fn new(view: View, size: [usize; 2]) -> Self {
        Self { view, size }
    }

    /// The camera of [`of`](Self::of).
    #[must_use]
    pub fn camera(&self, mesh: &Mesh, look: &Look) -> Camera {
        look.scene(mesh).camera(self.view, self.size)
    }

    /// The picture of `mesh`, framed by it.
    pub fn of(&self, mesh: &Mesh, look: &Look) -> Result<Image, ViewError> {
        let scene = look.scene(mesh);
        PreparedScene::new(&scene)?.render(&scene.camera(self.view, self.size), self.size)
    }

    /// The picture of one pose of a mesh, with camera and floor of the rest pose, so that several
    /// poses can be compared.
    pub fn of_pose(&self, pose: &Mesh, rest: &Mesh, look: &Look) -> Result<Image, ViewError> {
        let mut scene = look.scene(pose);
        scene.backdrop.ground = rest
            .bounds()
            .map_or(Ground::None, |bounds| Ground::FloorAt(bounds.min.y));
        self.framed_by(rest.positions(), &scene)
    }

    /// The picture of a scene, framed by `points`.
    pub fn framed_by(&self, points: &[DVec3], scene: &Scene) -> Result<Image, ViewError> {
        let camera = Camera::framing_points(points, &Framing::new(self.view, self.size));
        PreparedScene::new(scene)?.render(&camera, self.size)
    }

    /// A full rotation around `mesh`.
    pub fn turntable(
        &self,
        mesh: &Mesh,
        look: &Look,
        frames: usize,
    ) -> Result<Vec<Image>, ViewError> {
        let scene = look.scene(mesh);
        turntable(
            &PreparedScene::new(&scene)?,
            &scene.camera(self.view, self.size),
            self.size,
            frames,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    #[test]
    fn a_look_takes_one_number_per_vertex_face_or_triangle() {
        let sheet = bumpy_sheet(4, 0.2);
        for count in [
            sheet.vertex_count(),
            sheet.face_count(),
            sheet.triangles().len(),
        ] {
            let look = Look::default().with_scalar((0..count).map(|i| i as f64).collect(), "index");
            Shot::new(View::Front, [60, 40])
                .of(&sheet, &look)
                .expect("values that fit");
        }

        let look = Look::default().with_scalar(vec![1.0; 7], "too few");
        let message = Shot::new(View::Front, [60, 40])
            .of(&sheet, &look)
            .unwrap_err()
            .to_string();

        assert!(message.contains('7'), "{message}");
    }

    #[test]
    fn the_same_shot_gives_the_same_bytes() {
        let sphere = icosphere(2);
        let draw = || {
            Shot::new(View::ThreeQuarter, [80, 60])
                .of(&sphere, &Look::default())
                .unwrap()
                .to_png()
                .unwrap()
        };
        assert_eq!(draw(), draw());
    }
}
