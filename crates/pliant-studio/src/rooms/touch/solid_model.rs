//! The collider as the viewport draws it.

use pliant::mesh::glam::DVec3;

use crate::model::touch::{ColliderSetup, Form};
use crate::view::{Model, Solids};

impl ColliderSetup {
    /// As it is drawn.
    #[must_use]
    pub fn model(&self, radius: f64, place: DVec3) -> Model {
        let solids = Solids::shared();
        let half = self.half_axis(radius);
        match self.form {
            Form::Ball => solids.sphere(place, radius),
            Form::Capsule => solids.capsule(place - half, place + half, radius),
            Form::Cylinder => solids.cylinder(place - half, place + half, radius),
            Form::Box => solids.cuboid(place, self.half_extents(radius), self.rotation()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collider_is_drawn_where_it_collides() {
        for form in Form::ALL {
            let solid = ColliderSetup {
                form,
                axis: [0.6, 0.0, 0.8],
                slenderness: 2.0,
                ..ColliderSetup::default()
            };

            let radius = 0.7;
            let place = DVec3::new(1.0, 2.0, 3.0);
            let collider = solid.collider(radius, 0.0).unwrap();
            let model = solid.model(radius, place);
            let found = model.vertices.positions.len() as u32;
            let surface: Vec<DVec3> = (0..found).map(|v| model.position(v) - place).collect();
            // Scaling about the centre moves every vertex a little off the surface.
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
    fn a_collider_against_the_skin_touches_it_with_its_end() {
        let solid = ColliderSetup {
            form: Form::Capsule,
            ..ColliderSetup::default()
        }
        .turned(DVec3::Y);
        let place = solid.against(0.5, DVec3::ZERO, DVec3::Y, 0.0);
        let lowest = solid.model(0.5, place).bounds().unwrap().min.y;
        assert!(lowest.abs() < 1e-5, "{lowest}");
    }

    #[test]
    fn the_extent_of_a_collider_equals_its_drawn_extent() {
        for form in Form::ALL {
            let solid = ColliderSetup {
                form,
                axis: [0.48, 0.6, 0.64],
                slenderness: 2.0,
                ..ColliderSetup::default()
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
