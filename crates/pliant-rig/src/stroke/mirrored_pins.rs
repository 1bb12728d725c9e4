//! Pins for both sides of a face.
//!
//! **Problem.** One brow is drawn; both should move.
//!
//! **Equation.** With the plane through `o` with the unit normal `n`, directions go to `H d = d − 2 (n·d) n` and points to
//! `o + H (p − o)`. A pin goes to the counterparts of its vertices.
//!
//! **Ours.** A face need not be posed alike on both sides: the counterpart is found by the mirror map, and goals keep their
//! offset from it. A pin in a triangle goes to the surface's point closest to the blend of the counterparts, since mirrored quads
//! are often cut along their other diagonal. A pin that is its own counterpart stays one pin and keeps the part of its
//! displacement that both sides share.

use glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, SurfacePoint};

use crate::{Aim, Pin, RigError};

/// The two sides of a mesh.
#[derive(Debug, Clone, Copy)]
pub struct Mirror<'a> {
    /// The counterpart of each vertex; a vertex on the middle line is its own.
    pub counterparts: &'a [Option<u32>],
    /// A point of the mirror plane.
    pub point: DVec3,
    /// Its normal, of any length but zero.
    pub normal: DVec3,
}

impl Mirror<'_> {
    /// Places closer than this part of a mean edge are one.
    const ONE_PLACE: f64 = 1e-6;

    /// `pins` and, after each, its counterpart.
    pub fn both_sides(&self, mesh: &Mesh, positions: &[DVec3], pins: &[Pin]) -> Result<Vec<Pin>, RigError> {
        let normal = self.check(mesh)?;
        let posed = mesh.posed(positions.to_vec())?;
        let index = SurfaceIndex::new(&posed)?;
        let one_place = Self::ONE_PLACE * posed.mean_edge_length();
        let mut both = Vec::with_capacity(2 * pins.len());
        for pin in pins {
            pin.check(mesh)?;
            let other = self.counterpart(&posed, &index, pin, normal)?;
            if other.at.position(&posed).distance(pin.at.position(&posed)) <= one_place {
                both.push(Pin { displacement: (pin.displacement + other.displacement) * 0.5, ..pin.clone() });
            } else {
                both.extend([pin.clone(), other]);
            }
        }
        Ok(both)
    }

    fn check(&self, mesh: &Mesh) -> Result<DVec3, RigError> {
        let (found, expected) = (self.counterparts.len(), mesh.vertex_count());
        if found != expected {
            return Err(RigError::VertexCount { what: "the mirror map".into(), found, expected });
        }
        if let Some(&vertex) = self.counterparts.iter().flatten().find(|&&v| v as usize >= expected) {
            mesh.require_vertex(vertex as usize)?;
        }
        let value = self.normal.length();
        let bad = RigError::BadOption { what: "the length of the mirror plane's normal", value, needed: "above 0 and finite" };
        if self.point.is_finite() { self.normal.try_normalize().ok_or(bad) } else { Err(bad) }
    }

    fn counterpart(&self, posed: &Mesh, index: &SurfaceIndex, pin: &Pin, normal: DVec3) -> Result<Pin, RigError> {
        let reflect = |d: DVec3| d - normal * (2.0 * normal.dot(d));
        let other = |v: u32| self.counterparts[v as usize].ok_or(RigError::NoMirror { vertex: v as usize });
        let at = match pin.at {
            SurfacePoint::Vertex(v) => SurfacePoint::Vertex(other(v)?),
            SurfacePoint::InTriangle(_) => {
                let mut support = pin.support(posed);
                for (vertex, share) in support.vertices.iter_mut().zip(support.shares) {
                    // A corner without share need not have a counterpart.
                    *vertex = if share > 0.0 { other(*vertex)? } else { *vertex };
                }
                index.closest_points(&[support.of(posed.positions())])?[0].place.into()
            }
        };
        let here = at.position(posed) - reflect(pin.at.position(posed));
        let aim = match &pin.aim {
            Aim::Point => Aim::Point,
            Aim::Across(direction) => Aim::Across(reflect(*direction)),
            Aim::Along(direction) => Aim::Along(reflect(*direction)),
            Aim::Curve(points) => Aim::Curve(points.iter().map(|p| reflect(*p) + here).collect()),
        };
        Ok(Pin { at, displacement: reflect(pin.displacement), aim, stiffness: pin.stiffness })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::TrianglePoint;
    use pliant_mesh::shapes::flat_sheet;

    const SIDE: usize = 8;

    /// The counterparts of a grid's vertices left and right of x = ½.
    fn counterparts() -> Vec<Option<u32>> {
        (0..(SIDE + 1) * (SIDE + 1)).map(|v| Some(((SIDE - v / (SIDE + 1)) * (SIDE + 1) + v % (SIDE + 1)) as u32)).collect()
    }

    fn mirror(map: &[Option<u32>]) -> Mirror<'_> {
        Mirror { counterparts: map, point: DVec3::X * 0.5, normal: DVec3::X * 3.0 }
    }

    #[test]
    fn mirrored_pins_are_reflections_on_a_symmetric_pose() {
        let (sheet, map) = (flat_sheet(SIDE, 0.0), counterparts());
        let reflected = |p: DVec3| DVec3::new(1.0 - p.x, p.y, p.z);
        let inside =
            Pin { at: TrianglePoint { triangle: 5, barycentric: [0.2, 0.3, 0.5] }.into(), ..Pin::new(0, DVec3::new(0.1, 0.2, 0.3)) };
        let curve = vec![DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.4, 0.0, 0.0)];
        let pins = [Pin::new(3, DVec3::ONE), inside.with_aim(Aim::Curve(curve.clone())), Pin::hold(1).with_aim(Aim::Along(DVec3::X))];
        let both = mirror(&map).both_sides(&sheet, sheet.positions(), &pins).unwrap();
        assert_eq!(both.len(), 6);
        for pair in both.chunks(2) {
            let (p, q) = (pair[0].at.position(&sheet), pair[1].at.position(&sheet));
            assert!(q.distance(reflected(p)) < 1e-14);
            assert!((q + pair[1].displacement).distance(reflected(p + pair[0].displacement)) < 1e-14);
        }
        let Aim::Curve(points) = &both[3].aim else { panic!("{:?}", both[3].aim) };
        assert!(points.iter().zip(&curve).all(|(found, p)| found.distance(reflected(*p)) < 1e-14));
        assert_eq!(both[5].aim, Aim::Along(DVec3::NEG_X));
    }

    #[test]
    fn on_the_middle_line_one_pin_keeps_what_both_sides_share() {
        let (sheet, map) = (flat_sheet(SIDE, 0.0), counterparts());
        let middle = (SIDE / 2) * (SIDE + 1) + 3;
        let both = mirror(&map).both_sides(&sheet, sheet.positions(), &[Pin::new(middle, DVec3::new(1.0, 2.0, 3.0))]).unwrap();
        assert_eq!(both, vec![Pin::new(middle, DVec3::new(0.0, 2.0, 3.0))]);
    }

    #[test]
    fn vertices_without_counterpart_and_maps_of_another_mesh_are_declined() {
        let sheet = flat_sheet(SIDE, 0.0);
        let mut map = counterparts();
        map[7] = None;
        let both = |map: &[Option<u32>], vertex| mirror(map).both_sides(&sheet, sheet.positions(), &[Pin::hold(vertex)]);
        assert_eq!(both(&map, 7), Err(RigError::NoMirror { vertex: 7 }));
        assert!(both(&map, 8).is_ok());
        assert!(matches!(both(&map[1..], 8), Err(RigError::VertexCount { .. })));
        map[0] = Some(10_000);
        assert!(both(&map, 8).is_err());
    }
}
