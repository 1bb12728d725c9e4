//! What presses: a solid of a chosen form, wherever a hand holds it.

use pliant::mesh::glam::{DQuat, DVec3};
use pliant::physics::{Collider, Obstacle, PhysicsError};
use serde::{Deserialize, Serialize};

use crate::view::{Model, Solids};

/// A solid and its place, as the document remembers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Solid {
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
    /// Its middle; ready above the last patch where there is none.
    pub place: Option<[f64; 3]>,
    /// Where a hand took it, outside the skin.
    pub from: Option<[f64; 3]>,
}

/// Forms of a solid.
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

    /// What the list says.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Ball => "Ball",
            Self::Capsule => "Finger (capsule)",
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

impl Default for Solid {
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

impl Solid {
    /// How far a solid that is ready is from the skin, in its radii: ours.
    pub const GAP: f64 = 0.15;
    /// How deep a press goes before anybody chose: ours, a dent that is seen at once and leaves the
    /// skin its form.
    pub const DEFAULT_DEPTH: f64 = 0.75;
    /// The deepest press that is offered.
    pub const MOST_DEPTH: f64 = 2.0;
    /// The radius that suits a patch, in the patch's: ours, a thumb on a cheek.
    pub const SHARE_OF_PATCH: f64 = 0.35;

    /// Its axis, whatever a foreign document says.
    #[must_use]
    pub fn axis(&self) -> DVec3 {
        DVec3::from_array(self.axis).normalize_or(DVec3::Z)
    }

    /// From its middle to its ends, along its axis.
    fn half_axis(&self, radius: f64) -> DVec3 {
        let beyond = match self.form {
            // A capsule's ends are round and belong to its length.
            Form::Ball | Form::Capsule => self.slenderness - 1.0,
            Form::Cylinder | Form::Box => self.slenderness,
        };
        self.axis() * (radius * beyond.max(0.01))
    }

    /// How far it reaches from its middle along a unit vector, and as far against it.
    #[must_use]
    pub fn reach(&self, radius: f64, along: DVec3) -> f64 {
        let half = self.half_axis(radius);
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

    /// As a collider with its middle at the origin.
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

    /// As it is drawn.
    #[must_use]
    pub fn model(&self, radius: f64, place: DVec3) -> Model {
        let (solids, half) = (Solids::shared(), self.half_axis(radius));
        match self.form {
            Form::Ball => solids.sphere(place, radius),
            Form::Capsule => solids.capsule(place - half, place + half, radius),
            Form::Cylinder => solids.cylinder(place - half, place + half, radius),
            Form::Box => solids.cuboid(place, self.half_extents(radius), self.rotation()),
        }
    }

    fn half_extents(&self, radius: f64) -> DVec3 {
        DVec3::new(radius, radius, self.half_axis(radius).length())
    }

    fn rotation(&self) -> DQuat {
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

    /// Where its middle is when it lies against a skin at `point`, `gap` of its radii away.
    #[must_use]
    pub fn against(&self, radius: f64, point: DVec3, normal: DVec3, gap: f64) -> DVec3 {
        point + normal * (self.reach(radius, normal) + gap * radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_drawn_where_it_collides() {
        for form in Form::ALL {
            let solid = Solid {
                form,
                axis: [0.6, 0.0, 0.8],
                slenderness: 2.0,
                ..Solid::default()
            };
            let (radius, place) = (0.7, DVec3::new(1.0, 2.0, 3.0));
            let (collider, model) = (
                solid.collider(radius, 0.0).unwrap(),
                solid.model(radius, place),
            );
            let found = model.vertices.positions.len() as u32;
            let surface: Vec<DVec3> = (0..found).map(|v| model.position(v) - place).collect();
            let outside: Vec<DVec3> = surface.iter().map(|p| *p * 1.02).collect();
            let inside: Vec<DVec3> = surface.iter().map(|p| *p * 0.98).collect();
            assert!(
                collider.obstacle().contacts(&outside, 0.0).is_empty(),
                "{form:?}"
            );
            assert_eq!(
                collider.obstacle().contacts(&inside, 0.0).len(),
                inside.len(),
                "{form:?}"
            );
        }
    }

    #[test]
    fn a_solid_that_lies_against_the_skin_touches_it_with_its_end() {
        let solid = Solid {
            form: Form::Capsule,
            ..Solid::default()
        }
        .turned(DVec3::Y);
        let place = solid.against(0.5, DVec3::ZERO, DVec3::Y, 0.0);
        let lowest = solid.model(0.5, place).bounds().unwrap().min.y;
        assert!(lowest.abs() < 1e-5, "{lowest}");
    }

    #[test]
    fn a_solid_reaches_as_far_as_it_is_drawn_whichever_way() {
        for form in Form::ALL {
            let solid = Solid {
                form,
                axis: [0.48, 0.6, 0.64],
                slenderness: 2.0,
                ..Solid::default()
            };
            let model = solid.model(0.7, DVec3::ZERO);
            for along in [
                DVec3::X,
                DVec3::Y,
                DVec3::NEG_Z,
                DVec3::new(0.48, 0.6, 0.64),
                DVec3::new(0.6, -0.8, 0.0),
            ] {
                let drawn = (0..model.vertices.positions.len() as u32)
                    .map(|v| model.position(v).dot(along))
                    .fold(0.0, f64::max);
                let reach = solid.reach(0.7, along);
                // What is drawn of round things has corners on the surface, and nothing outside.
                assert!(
                    drawn <= reach + 1e-5 && drawn > 0.97 * reach,
                    "{form:?} {along}: {drawn} of {reach}"
                );
            }
        }
    }
}
