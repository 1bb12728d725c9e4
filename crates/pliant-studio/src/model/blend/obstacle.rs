//! Obstacles of a blend: spheres, capsules, cylinders and boxes.

use pliant::mesh::glam::{DQuat, DVec3, EulerRot};
use pliant::physics::{Obstacle, PhysicsError};
use serde::{Deserialize, Serialize};

/// An obstacle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObstacleMark {
    /// Its form.
    pub form: Form,
    /// Its centre.
    pub center: [f64; 3],
    /// The radius of round obstacles.
    pub radius: f64,
    /// Length of a cylinder or of a capsule's straight part, along its own z.
    pub length: f64,
    /// Sides of a box.
    pub sides: [f64; 3],
    /// Rotation about x, then y, then z, in degrees.
    pub turned_deg: [f64; 3],
}

/// The form of a solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A ball.
    #[default]
    Sphere,
    /// A bar with round ends.
    Capsule,
    /// A bar with flat ends.
    Cylinder,
    /// A box.
    Box,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sphere, Self::Capsule, Self::Cylinder, Self::Box];

    /// Display name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Sphere => "Sphere",
            Self::Capsule => "Capsule",
            Self::Cylinder => "Cylinder",
            Self::Box => "Box",
        }
    }
}

impl Default for ObstacleMark {
    fn default() -> Self {
        Self {
            form: Form::default(),
            center: [0.0; 3],
            radius: 1.0,
            length: 2.0,
            sides: [1.0; 3],
            turned_deg: [0.0; 3],
        }
    }
}

impl ObstacleMark {
    /// One that is easily seen beside a shape of some size.
    #[must_use]
    pub fn beside(form: Form, center: DVec3, size: f64) -> Self {
        let radius = 0.1 * size;
        Self {
            form,
            center: center.to_array(),
            radius,
            length: 4.0 * radius,
            sides: [2.0 * radius; 3],
            turned_deg: [0.0; 3],
        }
    }

    pub(crate) fn rotation(&self) -> DQuat {
        let [x, y, z] = self.turned_deg.map(f64::to_radians);
        DQuat::from_euler(EulerRot::ZYX, z, y, x)
    }

    /// Its centre.
    #[must_use]
    pub fn middle(&self) -> DVec3 {
        DVec3::from_array(self.center)
    }

    pub(crate) fn ends(&self) -> [DVec3; 2] {
        let half = self.rotation() * DVec3::Z * (0.5 * self.length);
        [self.middle() - half, self.middle() + half]
    }

    /// The obstacle for the solver.
    ///
    /// # Errors
    /// A size that no solid has.
    pub fn solid(&self) -> Result<Obstacle, PhysicsError> {
        let [start, end] = self.ends();
        match self.form {
            Form::Sphere => Obstacle::sphere(self.middle(), self.radius),
            Form::Capsule => Obstacle::capsule(start, end, self.radius),
            Form::Cylinder => Obstacle::cylinder(start, end, self.radius),
            Form::Box => Obstacle::cuboid(
                self.middle(),
                0.5 * DVec3::from_array(self.sides),
                self.rotation(),
            ),
        }
    }
}
