//! A ball that presses skin, as a collider and in pictures.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, VertexId, shapes, vertex_normals};
use pliant_physics::{Collider, Obstacle, ObstacleMotion, PhysicsError, TouchCollider};
use pliant_view::{Color, Material, Scene};

/// *Çetinaslan 2016*, figure 5.11: the ball is red.
const RED: [u8; 3] = [196, 62, 52];
/// Chosen: it looks round at the sizes of our pictures.
const LEVELS: usize = 5;
/// Chosen: the initial distance between ball and skin, relative to the radius of the ball.
const GAP: f64 = 0.1;

/// A ball and its displacement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PressingBall {
    /// The centre before the touch.
    pub center: DVec3,
    /// The radius.
    pub radius: f64,
    /// The full displacement from there.
    pub displacement: DVec3,
}

impl PressingBall {
    /// A ball above a vertex that moves against the vertex normal until it is `depth` inside the
    /// surface.
    #[must_use]
    pub fn above(mesh: &Mesh, vertex: impl Into<VertexId>, radius: f64, depth: f64) -> Self {
        let vertex = vertex.into().index();
        let position = mesh.positions()[vertex];
        let normal = vertex_normals(mesh)[vertex];
        let gap = GAP * radius;
        Self {
            center: position + normal * (radius + gap),
            radius,
            displacement: normal * -(gap + depth),
        }
    }

    /// The collider of a touch.
    ///
    /// # Errors
    /// A radius that is not above zero.
    pub fn collider(&self) -> Result<TouchCollider, PhysicsError> {
        let collider = Collider::new(Obstacle::sphere(self.center, self.radius)?, 0.0)?;
        Ok(TouchCollider {
            collider,
            motion: ObstacleMotion::still(),
            motion_secs: 0.0,
            displacement: self.displacement,
            timing: None,
            rides_on: None,
        })
    }

    /// Adds the ball to `scene`, at a share of its displacement.
    #[must_use]
    pub fn shown(&self, scene: Scene, share: f64) -> Scene {
        let [r, g, b] = RED;
        scene.with_mesh(&self.surface(share), Material::plain(Color::srgb8(r, g, b)))
    }

    fn surface(&self, share: f64) -> Mesh {
        let ball = shapes::icosphere(LEVELS);
        let center = self.center + self.displacement * share;
        ball.posed(
            ball.positions()
                .iter()
                .map(|p| center + *p * self.radius)
                .collect(),
        )
        .expect("one position per vertex")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_ends_as_deep_as_asked_below_the_vertex_it_hangs_over() {
        let mesh = shapes::icosphere(3);
        let ball = PressingBall::above(&mesh, 5, 0.4, 0.15);
        let top = mesh.positions()[5];

        assert!(
            (ball.center.distance(top) - 0.44).abs() < 1e-12,
            "off the skin at first"
        );
        assert!(((ball.center + ball.displacement).distance(top) - 0.25).abs() < 1e-12);

        let surface = ball.surface(1.0);
        assert!(
            surface
                .positions()
                .iter()
                .all(|p| (p.distance(ball.center + ball.displacement) - 0.4).abs() < 1e-12)
        );
    }
}
