//! The collider that presses into the skin, as the document stores it.

use pliant::mesh::glam::{DQuat, DVec3};
use pliant::physics::{Collider, Obstacle, PhysicsError};
use serde::{Deserialize, Serialize};

/// A collider and its position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColliderSetup {
    /// Its form.
    pub form: Form,
    /// Half its thickness; one that suits the patches where there is no number.
    pub radius: Option<f64>,
    /// Its length over its thickness.
    pub slenderness: f64,
    /// Where its long axis points; a unit vector.
    pub axis: [f64; 3],
    /// Whether the axis turns out of the skin wherever it is put.
    pub upright: bool,
    /// How deep a press goes into the skin under it, in its radii.
    pub depth: f64,
    /// 0 slides, 1 drags skin along.
    pub friction: f64,
    /// Its centre; ready above the last patch where there is none.
    pub place: Option<[f64; 3]>,
    /// Where the user took it, outside the skin.
    pub from: Option<[f64; 3]>,
}

/// Forms of a collider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A sphere.
    #[default]
    Ball,
    /// A finger.
    Capsule,
    /// A stick with flat ends.
    Cylinder,
    /// A cuboid.
    Box,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ball, Self::Capsule, Self::Cylinder, Self::Box];

    /// Text of the list entry.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Ball => "Sphere",
            Self::Capsule => "Capsule",
            Self::Cylinder => "Cylinder",
            Self::Box => "Box",
        }
    }

    /// Whether it has a long axis.
    #[must_use]
    pub fn is_long(self) -> bool {
        self != Self::Ball
    }
}

impl Default for ColliderSetup {
    fn default() -> Self {
        Self {
            form: Form::Ball,
            radius: None,
            slenderness: 2.5,
            axis: [0.0, 0.0, 1.0],
            upright: true,
            depth: Self::DEFAULT_DEPTH,
            friction: 0.3,
            place: None,
            from: None,
        }
    }
}

impl ColliderSetup {
    /// How far a collider that is ready is from the skin, in its radii. Chosen by eye.
    pub const GAP: f64 = 0.15;
    /// How deep a press goes before anybody chose. Chosen: a dent that is seen at once and leaves
    /// the skin its form.
    pub const DEFAULT_DEPTH: f64 = 0.75;
    /// The deepest press that is offered.
    pub const MOST_DEPTH: f64 = 2.0;
    /// The radius that suits a patch, in the patch's. Chosen: a thumb on a cheek.
    pub const SHARE_OF_PATCH: f64 = 0.35;

    /// Its axis, whatever a foreign document says.
    #[must_use]
    pub fn axis(&self) -> DVec3 {
        DVec3::from_array(self.axis).normalize_or(DVec3::Z)
    }

    /// From its centre to its ends, along its axis.
    pub(crate) fn half_axis(&self, radius: f64) -> DVec3 {
        let beyond = match self.form {
            // A capsule's ends are round and belong to its length.
            Form::Ball | Form::Capsule => self.slenderness - 1.0,
            Form::Cylinder | Form::Box => self.slenderness,
        };
        self.axis() * (radius * beyond.max(0.01))
    }

    /// How far it reaches from its centre along a unit vector, and as far against it.
    #[must_use]
    pub fn reach(&self, radius: f64, along: DVec3) -> f64 {
        let half = self.half_axis(radius);
        // The extent of the axis, then that of the cross section.
        let lengthwise = half.dot(along).abs();
        match self.form {
            Form::Ball => radius,
            Form::Capsule => lengthwise + radius,
            Form::Cylinder => lengthwise + radius * self.axis().cross(along).length(),
            Form::Box => {
                (self.rotation() * DVec3::X)
                    .dot(along)
                    .abs()
                    .mul_add(radius, lengthwise)
                    + radius * (self.rotation() * DVec3::Y).dot(along).abs()
            }
        }
    }

    /// As a collider with its centre at the origin.
    ///
    /// # Errors
    /// A radius, slenderness or friction that is none.
    pub fn collider(&self, radius: f64, friction: f64) -> Result<Collider, PhysicsError> {
        let half = self.half_axis(radius);
        let obstacle = match self.form {
            Form::Ball => Obstacle::sphere(DVec3::ZERO, radius),
            Form::Capsule => Obstacle::capsule(-half, half, radius),
            Form::Cylinder => Obstacle::cylinder(-half, half, radius),
            Form::Box => Obstacle::cuboid(DVec3::ZERO, self.half_extents(radius), self.rotation()),
        };
        Collider::new(obstacle?, friction)
    }

    pub(crate) fn half_extents(&self, radius: f64) -> DVec3 {
        DVec3::new(radius, radius, self.half_axis(radius).length())
    }

    pub(crate) fn rotation(&self) -> DQuat {
        DQuat::from_rotation_arc(DVec3::Z, self.axis())
    }

    /// The same with its axis out of a skin with this normal, if it turns that way.
    #[must_use]
    pub fn turned(&self, normal: DVec3) -> Self {
        if self.upright {
            Self {
                axis: normal.normalize_or(DVec3::Z).to_array(),
                ..self.clone()
            }
        } else {
            self.clone()
        }
    }

    /// Where its centre is when it lies against a skin at `point`, `gap` of its radii away.
    #[must_use]
    pub fn against(&self, radius: f64, point: DVec3, normal: DVec3, gap: f64) -> DVec3 {
        point + normal * (self.reach(radius, normal) + gap * radius)
    }
}
