//! Pins for both sides of a face.
//!
//! **Problem.** One brow is drawn; both should move.
//!
//! **Equation.** With the plane's unit normal `n`, directions go to `H d = d − 2 (n·d) n`, and a
//! pin goes to the partners of its vertices.
//!
//! **Ours.** A face need not be posed alike on both sides: the other place is found by the mirror
//! map, and goals keep their offset from it. A pin in a triangle goes to the surface's point
//! closest to the blend of the partners, since mirrored quads are often cut along their other
//! diagonal. Where an image falls on a pin that is there already (a pin on the middle line falls on
//! itself), one pin stays, with the mean of the two displacements: what both sides share.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, SurfacePoint};

use crate::{Aim, Pin, RigError, VertexMirror};

/// Places closer than this part of a mean edge are one.
const ONE_PLACE: f64 = 1e-6;

impl VertexMirror {
    /// `pins` in their order and then, in the same order, the images that fall on none of them.
    /// `positions` are those of `mesh` in the pose that is dragged.
    ///
    /// # Errors
    /// [`RigError::NoMirror`] if a pin stands on a vertex without a partner,
    /// [`RigError::VertexCount`] if the mesh is not the mirror's.
    pub fn mirror_pins(
        &self,
        mesh: &Mesh,
        positions: &[DVec3],
        pins: &[Pin],
    ) -> Result<Vec<Pin>, RigError> {
        let (found, expected) = (self.partners().len(), mesh.vertex_count());
        if found != expected {
            return Err(RigError::VertexCount {
                what: "the mirror map".into(),
                found,
                expected,
            });
        }
        pins.iter().try_for_each(|pin| pin.check(mesh))?;
        let posed = mesh.posed(positions.to_vec())?;
        let index = SurfaceIndex::new(&posed)?;
        let one_place = ONE_PLACE * posed.mean_edge_length();
        let mut both = pins.to_vec();
        for pin in pins {
            let image = self.image_of(&posed, &index, pin)?;
            let place = image.at.position(&posed);
            match both[..pins.len()]
                .iter_mut()
                .find(|known| known.at.position(&posed).distance(place) <= one_place)
            {
                Some(known) => known.displacement = (known.displacement + image.displacement) * 0.5,
                None => both.push(image),
            }
        }
        Ok(both)
    }

    fn image_of(&self, posed: &Mesh, index: &SurfaceIndex, pin: &Pin) -> Result<Pin, RigError> {
        let reflect = |d: DVec3| self.plane().mirror_vector(d);
        let partner =
            |v: u32| self.partners()[v as usize].ok_or(RigError::NoMirror { vertex: v as usize });
        let at = match pin.at {
            SurfacePoint::Vertex(v) => SurfacePoint::Vertex(partner(v)?),
            SurfacePoint::InTriangle(_) => {
                let mut support = pin.support(posed);
                for (vertex, share) in support.vertices.iter_mut().zip(support.shares) {
                    // A corner without share need not have a partner.
                    *vertex = if share > 0.0 {
                        partner(*vertex)?
                    } else {
                        *vertex
                    };
                }
                index.closest_points(&[support.of(posed.positions())])?[0]
                    .place
                    .into()
            }
        };
        let here = at.position(posed) - reflect(pin.at.position(posed));
        let aim = match &pin.aim {
            Aim::Point => Aim::Point,
            Aim::Across(direction) => Aim::Across(reflect(*direction)),
            Aim::Along(direction) => Aim::Along(reflect(*direction)),
            Aim::Curve(points) => Aim::Curve(points.iter().map(|p| reflect(*p) + here).collect()),
        };
        Ok(Pin {
            at,
            displacement: reflect(pin.displacement),
            aim,
            stiffness: pin.stiffness,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MirrorPlane;
    use pliant_mesh::TrianglePoint;
    use pliant_mesh::shapes::flat_sheet;

    const SIDE: usize = 8;

    /// A grid from x = 0 to 1 and its mirror at x = ½.
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
            let (p, q) = (pin.at.position(&sheet), image.at.position(&sheet));
            assert!(q.distance(reflected(p)) < 1e-14);
            assert!((q + image.displacement).distance(reflected(p + pin.displacement)) < 1e-14);
        }
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
    fn on_the_middle_line_one_pin_keeps_what_both_sides_share() {
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
    fn pins_on_both_sides_meet_at_the_mean_of_their_goals() {
        let (sheet, mirror) = sheet();
        let (left, right) = (at(1, 3), at(SIDE - 1, 3));
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
    fn vertices_without_partner_and_mirrors_of_another_mesh_are_declined() {
        let (sheet, mirror) = sheet();
        let lonely = VertexMirror::by_topology(&sheet, mirror.plane(), &[]).unwrap();
        let both =
            |mirror: &VertexMirror| mirror.mirror_pins(&sheet, sheet.positions(), &[Pin::hold(7)]);
        assert_eq!(both(&lonely), Err(RigError::NoMirror { vertex: 7 }));
        assert!(both(&mirror).is_ok());
        let other = VertexMirror::by_position(&flat_sheet(3, 0.0), mirror.plane());
        assert!(matches!(both(&other), Err(RigError::VertexCount { .. })));
    }
}
