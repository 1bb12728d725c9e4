//! Mirrored pins: the same drag on both sides of a face.
//!
//! **Problem.** The user draws one brow; both should move.
//!
//! **Equation.** With the unit normal `n` of the plane, directions are mirrored to
//! `H d = d − 2 (n·d) n`, and a pin moves to the partners of its vertices.
//!
//! **Departures.** The pose may differ on both sides: the other point is found by the mirror map,
//! and goals keep their offset from it. A pin in a triangle is mirrored to the point of the surface
//! closest to the weighted mean of the partners, since mirrored quads are often split along their
//! other diagonal. Where an image coincides with an existing pin (on the middle line with itself),
//! one pin stays, with the mean of the two displacements.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, SurfacePoint};

use crate::{Aim, Pin, RigError, VertexMirror};

/// Pins closer than this part of the mean edge length coincide.
const SAME_POINT: f64 = 1e-6;

impl VertexMirror {
    /// `pins` in their order and then, in the same order, the images that fall on none of them.
    /// `positions` are those of `mesh` in the pose that is dragged.
    ///
    /// # Errors
    /// [`RigError::NoMirror`] if a pin is on a vertex without a partner, [`RigError::VertexCount`]
    /// if the mirror map belongs to another mesh.
    pub fn mirror_pins(
        &self,
        mesh: &Mesh,
        positions: &[DVec3],
        pins: &[Pin],
    ) -> Result<Vec<Pin>, RigError> {
        let found = self.partners().len();
        let expected = mesh.vertex_count();
        if found != expected {
            return Err(RigError::VertexCount {
                what: "the mirror map".into(),
                found,
                expected,
            });
        }

        for pin in pins {
            pin.check(mesh)?;
        }

        let posed = mesh.posed(positions.to_vec())?;
        let index = SurfaceIndex::new(&posed)?;

        // Images that coincide with a given pin are merged with it.
        let same_point = SAME_POINT * posed.mean_edge_length();

        let mut both = pins.to_vec();
        for pin in pins {
            let image = self.image_of(&posed, &index, pin)?;
            let position = image.at.position(&posed);
            let coinciding = both[..pins.len()]
                .iter_mut()
                .find(|other| other.at.position(&posed).distance(position) <= same_point);
            match coinciding {
                Some(other) => other.displacement = (other.displacement + image.displacement) * 0.5,
                None => both.push(image),
            }
        }

        Ok(both)
    }

    fn image_of(&self, posed: &Mesh, index: &SurfaceIndex, pin: &Pin) -> Result<Pin, RigError> {
        let at = self.image_point(posed, index, pin)?;
        let mirror = |d: DVec3| self.plane().mirror_vector(d);

        // Goals keep their offset from the pin.
        let offset = at.position(posed) - mirror(pin.at.position(posed));
        let aim = match &pin.aim {
            Aim::Point => Aim::Point,
            Aim::Across(direction) => Aim::Across(mirror(*direction)),
            Aim::Along(direction) => Aim::Along(mirror(*direction)),
            Aim::Curve(points) => Aim::Curve(points.iter().map(|p| mirror(*p) + offset).collect()),
        };

        Ok(Pin {
            at,
            displacement: mirror(pin.displacement),
            aim,
            stiffness: pin.stiffness,
        })
    }

    fn image_point(
        &self,
        posed: &Mesh,
        index: &SurfaceIndex,
        pin: &Pin,
    ) -> Result<SurfacePoint, RigError> {
        let partner =
            |v: u32| self.partners()[v as usize].ok_or(RigError::NoMirror { vertex: v as usize });
        if let SurfacePoint::Vertex(v) = pin.at {
            return Ok(SurfacePoint::Vertex(partner(v)?));
        }

        let mut support = pin.support(posed);
        for (vertex, weight) in support.vertices.iter_mut().zip(support.shares) {
            // A corner with weight zero needs no partner.
            if weight > 0.0 {
                *vertex = partner(*vertex)?;
            }
        }

        let image = support.of(posed.positions());
        Ok(index.closest_points(&[image])?[0].place.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MirrorPlane;
    use pliant_mesh::TrianglePoint;
    use pliant_mesh::shapes::flat_sheet;

    const SIDE: usize = 8;

    /// A grid from x = 0 to 1 and its mirror map at x = ½.
    fn sheet() -> (Mesh, VertexMirror) {
        let sheet = flat_sheet(SIDE, 0.0);
        let mirror = VertexMirror::by_position(&sheet, MirrorPlane::across(0, 0.5));
        (sheet, mirror)
    }

    fn at(i: usize, j: usize) -> usize {
        i * (SIDE + 1) + j
    }

    #[test]
    fn mirrored_pins_are_reflections_on_a_symmetric_pose() {
        let (sheet, mirror) = sheet();
        let reflected = |p: DVec3| DVec3::new(1.0 - p.x, p.y, p.z);

        // A pin on a vertex, one in a triangle with a curve, and one with a direction.
        let inside = Pin {
            at: TrianglePoint {
                triangle: 5,
                barycentric: [0.2, 0.3, 0.5],
            }
            .into(),
            ..Pin::new(0, DVec3::new(0.1, 0.2, 0.3))
        };

        let curve = vec![DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.4, 0.0, 0.0)];
        let pins = [
            Pin::new(3, DVec3::ONE),
            inside.with_aim(Aim::Curve(curve.clone())),
            Pin::hold(1).with_aim(Aim::Along(DVec3::X)),
        ];

        let both = mirror
            .mirror_pins(&sheet, sheet.positions(), &pins)
            .unwrap();

        assert_eq!((both.len(), &both[..3]), (6, &pins[..]));
        for (pin, image) in both[..3].iter().zip(&both[3..]) {
            let p = pin.at.position(&sheet);
            let q = image.at.position(&sheet);
            assert!(q.distance(reflected(p)) < 1e-14);
            assert!((q + image.displacement).distance(reflected(p + pin.displacement)) < 1e-14);
        }

        // Curves and directions are mirrored too.
        let Aim::Curve(points) = &both[4].aim else {
            panic!("{:?}", both[4].aim)
        };

        assert!(
            points
                .iter()
                .zip(&curve)
                .all(|(found, p)| found.distance(reflected(*p)) < 1e-14)
        );
        assert_eq!(both[5].aim, Aim::Along(DVec3::NEG_X));
    }

    #[test]
    fn a_pin_on_the_middle_line_keeps_its_symmetric_part() {
        let (sheet, mirror) = sheet();
        let middle = at(SIDE / 2, 3);
        let both = mirror
            .mirror_pins(
                &sheet,
                sheet.positions(),
                &[Pin::new(middle, DVec3::new(1.0, 2.0, 3.0))],
            )
            .unwrap();

        assert_eq!(both, vec![Pin::new(middle, DVec3::new(0.0, 2.0, 3.0))]);
    }

    #[test]
    fn coinciding_pins_and_images_take_the_mean_displacement() {
        let (sheet, mirror) = sheet();
        let left = at(1, 3);
        let right = at(SIDE - 1, 3);
        let pins = [
            Pin::new(left, DVec3::new(-1.0, 2.0, 0.0)),
            Pin::new(right, DVec3::new(3.0, 4.0, 1.0)),
        ];

        let both = mirror
            .mirror_pins(&sheet, sheet.positions(), &pins)
            .unwrap();

        assert_eq!(
            both,
            [
                Pin::new(left, DVec3::new(-2.0, 3.0, 0.5)),
                Pin::new(right, DVec3::new(2.0, 3.0, 0.5))
            ]
        );
    }

    #[test]
    fn vertices_without_partner_and_mirror_maps_of_another_mesh_are_errors() {
        let (sheet, mirror) = sheet();
        let without_partners = VertexMirror::by_topology(&sheet, mirror.plane(), &[]).unwrap();
        let both =
            |mirror: &VertexMirror| mirror.mirror_pins(&sheet, sheet.positions(), &[Pin::hold(7)]);
        assert_eq!(
            both(&without_partners),
            Err(RigError::NoMirror { vertex: 7 })
        );
        assert!(both(&mirror).is_ok());
        let other = VertexMirror::by_position(&flat_sheet(3, 0.0), mirror.plane());
        assert!(matches!(both(&other), Err(RigError::VertexCount { .. })));
    }
}
