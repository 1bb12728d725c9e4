//! A ball that presses skin, as a collider and as something to be seen.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, shapes, vertex_normals};
use pliant_physics::{Collider, Obstacle, ObstacleMotion, PhysicsError};
use pliant_view::{Color, Material, Scene};

use crate::touch_job::TouchCollider;

/// *Paper*: figure 5.11 of the thesis has a red one.
const RED: [u8; 3] = [196, 62, 52];
/// Ours: round at the sizes of our pictures.
const LEVELS: usize = 5;
/// How far a ball is from the skin before it presses, in parts of its radius: ours.
const GAP: f64 = 0.1;

/// A ball, and where it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PressingBall {
    pub(crate) center: DVec3,
    pub(crate) radius: f64,
    /// From there, when it has gone all its way.
    pub(crate) toward: DVec3,
}

impl PressingBall {
    /// A ball above a vertex, that goes against the vertex' normal until it would be `depth` inside
    /// the surface.
    pub(crate) fn above(mesh: &Mesh, vertex: usize, radius: f64, depth: f64) -> Self {
        let (place, normal) = (mesh.positions()[vertex], vertex_normals(mesh)[vertex]);
        let gap = GAP * radius;
        Self {
            center: place + normal * (radius + gap),
            radius,
            toward: normal * -(gap + depth),
        }
    }

    /// What it is to a touch.
    pub(crate) fn collider(&self) -> Result<TouchCollider, PhysicsError> {
        let collider = Collider::new(Obstacle::sphere(self.center, self.radius)?, 0.0)?;
        Ok(TouchCollider {
            collider,
            motion: ObstacleMotion::still(),
            motion_secs: 0.0,
            toward: self.toward,
        })
    }

    /// The scene with the ball after a share of its way.
    pub(crate) fn shown(&self, scene: Scene, share: f64) -> Scene {
        let [r, g, b] = RED;
        scene.with_mesh(&self.surface(share), Material::plain(Color::srgb8(r, g, b)))
    }

    fn surface(&self, share: f64) -> Mesh {
        let (ball, center) = (shapes::icosphere(LEVELS), self.center + self.toward * share);
        ball.posed(
            ball.positions()
                .iter()
                .map(|p| center + *p * self.radius)
                .collect(),
        )
        .expect("as many places as vertices")
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
        assert!(((ball.center + ball.toward).distance(top) - 0.25).abs() < 1e-12);
        let surface = ball.surface(1.0);
        assert!(
            surface
                .positions()
                .iter()
                .all(|p| (p.distance(ball.center + ball.toward) - 0.4).abs() < 1e-12)
        );
    }
}
