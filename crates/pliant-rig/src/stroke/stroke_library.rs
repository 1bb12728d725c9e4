//! Stroke library: saved strokes that can be reused on other faces.
//!
//! **Problem.** A smile that was drawn once should be reusable on every face, whatever its mesh.
//!
//! **Equation.** With the [`LandmarkWarp`] `W` from the saved landmarks to the new ones and its
//! Jacobian `J`, a pin at `p` with the displacement `d` moves to the surface point closest to
//! `W(p)` with the displacement `J(p) d`. Free directions become `J n`; constrained ones, which are
//! covectors, become `J⁻ᵀ n`.
//!
//! **Method.** A stroke is saved as positions in space with its landmarks, so that a library needs
//! no mesh. Pins that were on vertices are placed on vertices again.

use glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, SurfacePoint};
use serde::{Deserialize, Serialize};

use super::sketch::nearest_corner;
use crate::{Aim, LandmarkWarp, Pin, RigError, SurfaceCurve};

/// Named strokes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StrokeLibrary {
    /// The strokes, each name once.
    pub strokes: Vec<SavedStroke>,
}

/// A stroke with its pins, relative to landmarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedStroke {
    /// Its name, such as `smile`.
    pub name: String,
    /// The positions of the landmarks when it was saved.
    pub landmarks: Vec<DVec3>,
    /// The curve's points.
    pub curve: Vec<DVec3>,
    /// Whether the curve is a loop.
    pub closed: bool,
    /// The pins.
    pub pins: Vec<SavedPin>,
}

/// A pin without a mesh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedPin {
    /// Its position on the surface.
    pub place: DVec3,
    /// Whether it was on a vertex.
    pub on_vertex: bool,
    /// From its position to its goal.
    pub displacement: DVec3,
    /// Which coordinates are constrained.
    pub aim: Aim,
    /// Its weight relative to other pins.
    pub stiffness: f64,
}

/// A saved stroke on a face.
#[derive(Debug, Clone, PartialEq)]
pub struct ReusedStroke {
    /// The curve on the surface.
    pub curve: SurfaceCurve,
    /// The pins, in the saved order.
    pub pins: Vec<Pin>,
    /// Whether the landmarks determined only a similarity.
    pub by_similarity: bool,
}

impl StrokeLibrary {
    /// Adds a stroke; one of the same name is replaced and returned.
    pub fn insert(&mut self, stroke: SavedStroke) -> Option<SavedStroke> {
        let existing = self.strokes.iter_mut().find(|s| s.name == stroke.name);
        match existing {
            Some(existing) => Some(std::mem::replace(existing, stroke)),
            None => {
                self.strokes.push(stroke);
                None
            }
        }
    }

    /// The stroke of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&SavedStroke> {
        self.strokes.iter().find(|stroke| stroke.name == name)
    }
}

impl SavedStroke {
    /// Saves a stroke on the mesh with its vertices at `positions`; `landmarks` are vertices.
    pub fn new(
        name: impl Into<String>,
        mesh: &Mesh,
        positions: &[DVec3],
        landmarks: &[u32],
        curve: &SurfaceCurve,
        pins: &[Pin],
    ) -> Result<Self, RigError> {
        let posed = mesh.posed(positions.to_vec())?;
        let landmarks = landmark_positions(&posed, landmarks)?;
        for pin in pins {
            pin.check(&posed)?;
        }

        let pins = pins.iter().map(|pin| SavedPin::of(pin, &posed)).collect();
        Ok(Self {
            name: name.into(),
            landmarks,
            curve: curve.positions(&posed)?,
            closed: curve.closed,
            pins,
        })
    }

    /// The stroke on a mesh with its vertices at `positions`, where the saved landmarks are the
    /// vertices `landmarks`, in order.
    pub fn reuse(
        &self,
        mesh: &Mesh,
        positions: &[DVec3],
        landmarks: &[u32],
    ) -> Result<ReusedStroke, RigError> {
        let posed = mesh.posed(positions.to_vec())?;
        let warp = LandmarkWarp::fit(&self.landmarks, &landmark_positions(&posed, landmarks)?)?;
        let index = SurfaceIndex::new(&posed)?;
        let points: Vec<DVec3> = self.curve.iter().map(|p| warp.apply(*p)).collect();

        // The warped curve is projected onto the surface.
        let curve = SurfaceCurve {
            closed: self.closed,
            ..SurfaceCurve::nearest(&index, &points)?
        };

        let pins = self
            .pins
            .iter()
            .map(|pin| pin.on(&posed, &index, &warp))
            .collect::<Result<_, _>>()?;

        Ok(ReusedStroke {
            curve,
            pins,
            by_similarity: warp.is_similarity(),
        })
    }
}

impl SavedPin {
    fn of(pin: &Pin, posed: &Mesh) -> Self {
        Self {
            place: pin.at.position(posed),
            on_vertex: matches!(pin.at, SurfacePoint::Vertex(_)),
            displacement: pin.displacement,
            aim: pin.aim.clone(),
            stiffness: pin.stiffness,
        }
    }

    fn on(&self, posed: &Mesh, index: &SurfaceIndex, warp: &LandmarkWarp) -> Result<Pin, RigError> {
        let position = warp.apply(self.place);
        let closest = index.closest_points(&[position])?[0];
        let at = if self.on_vertex {
            SurfacePoint::Vertex(nearest_corner(posed, closest.place, position))
        } else {
            closest.place.into()
        };

        // Directions transform as vectors, constraints as covectors.
        let jacobian = warp.jacobian(self.place);
        let aim = match &self.aim {
            Aim::Point => Aim::Point,
            Aim::Across(n) => Aim::Across(jacobian * *n),
            Aim::Along(n) => Aim::Along(jacobian.inverse().transpose() * *n),
            Aim::Curve(points) => Aim::Curve(points.iter().map(|p| warp.apply(*p)).collect()),
        };

        let pin = Pin {
            at,
            displacement: jacobian * self.displacement,
            aim,
            stiffness: self.stiffness,
        };

        pin.check(posed)?;
        Ok(pin)
    }
}

fn landmark_positions(posed: &Mesh, landmarks: &[u32]) -> Result<Vec<DVec3>, RigError> {
    let mut positions = Vec::with_capacity(landmarks.len());
    for &v in landmarks {
        posed.require_vertex(v as usize)?;
        positions.push(posed.positions()[v as usize]);
    }

    Ok(positions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};
    use pliant_mesh::shapes::icosphere;
    use pliant_mesh::{SurfaceIndex, TrianglePoint};

    const LANDMARKS: [u32; 6] = [0, 5, 17, 33, 80, 140];

    /// An egg.
    fn face() -> Mesh {
        let sphere = icosphere(3);
        let egg = sphere
            .positions()
            .iter()
            .map(|p| *p * DVec3::new(1.0, 1.4 + 0.2 * p.x, 1.1))
            .collect();
        sphere.posed(egg).unwrap()
    }

    fn pins() -> Vec<Pin> {
        let inside = TrianglePoint {
            triangle: 77,
            barycentric: [0.5, 0.3, 0.2],
        };
        vec![
            Pin::new(12, DVec3::new(0.1, 0.2, -0.1)),
            Pin {
                at: inside.into(),
                ..Pin::new(0, DVec3::Y * 0.3).with_aim(Aim::Across(DVec3::Z))
            }
            .with_stiffness(2.0),
            Pin::new(100, DVec3::X).with_aim(Aim::Along(DVec3::new(1.0, 1.0, 0.0))),
            Pin::new(101, DVec3::X).with_aim(Aim::Curve(vec![DVec3::X, DVec3::Y, DVec3::Z])),
        ]
    }

    fn saved() -> SavedStroke {
        let curve = SurfaceCurve::through_vertices(&[12, 40, 100]);
        SavedStroke::new(
            "smile",
            &face(),
            face().positions(),
            &LANDMARKS,
            &curve,
            &pins(),
        )
        .unwrap()
    }

    #[test]
    fn on_the_same_face_the_pins_are_the_same() {
        let again = saved()
            .reuse(&face(), face().positions(), &LANDMARKS)
            .unwrap();

        assert!(!again.by_similarity);
        for (a, b) in pins().iter().zip(&again.pins) {
            assert!(a.at.position(&face()).distance(b.at.position(&face())) < 1e-12);
            assert!(a.displacement.distance(b.displacement) < 1e-12 && a.stiffness == b.stiffness);
            assert!(!matches!(a.at, SurfacePoint::Vertex(_)) || a.at == b.at);
        }

        let points = again.curve.positions(&face()).unwrap();
        assert!(
            points
                .iter()
                .zip(&saved().curve)
                .all(|(p, q)| p.distance(*q) < 1e-12)
        );
    }

    #[test]
    fn on_a_scaled_and_rotated_face_the_pins_are_scaled_and_rotated() {
        let rotation = DQuat::from_axis_angle(DVec3::new(2.0, 1.0, -1.0).normalize(), 1.9);
        let transform = |p: DVec3| rotation * p * 17.0 + DVec3::new(100.0, 20.0, -3.0);

        // With three landmarks the map is a similarity, with more it is an interpolation.
        let moved: Vec<DVec3> = face().positions().iter().map(|p| transform(*p)).collect();
        let there = face().posed(moved.clone()).unwrap();

        for landmarks in [&LANDMARKS[..], &LANDMARKS[..3]] {
            let stroke = SavedStroke {
                landmarks: saved().landmarks[..landmarks.len()].to_vec(),
                ..saved()
            };
            let reused = stroke.reuse(&face(), &moved, landmarks).unwrap();

            assert_eq!(reused.by_similarity, landmarks.len() < 4);
            for (a, b) in pins().iter().zip(&reused.pins) {
                assert!(transform(a.at.position(&face())).distance(b.at.position(&there)) < 1e-10);
                assert!((rotation * a.displacement * 17.0).distance(b.displacement) < 1e-10);
                match (&a.aim, &b.aim) {
                    (Aim::Across(n), Aim::Across(m)) | (Aim::Along(n), Aim::Along(m)) => {
                        assert!((rotation * *n).normalize().distance(m.normalize()) < 1e-11);
                    }
                    (Aim::Curve(n), Aim::Curve(m)) => {
                        assert!(
                            n.iter()
                                .zip(m)
                                .all(|(p, q)| transform(*p).distance(*q) < 1e-10)
                        )
                    }
                    (a, b) => assert_eq!(a, b),
                }
            }
        }
    }

    #[test]
    fn on_another_mesh_the_pins_lie_on_its_surface_near_their_landmarks() {
        let other = icosphere(4);

        // The same directions from the middle, on a face without the egg's shape.
        let index = SurfaceIndex::new(&other).unwrap();
        let landmarks = LANDMARKS.map(|v| {
            let direction = icosphere(3).positions()[v as usize];
            nearest_corner(
                &other,
                index.closest_point(direction).unwrap().place,
                direction,
            )
        });

        let curve = SurfaceCurve::through_vertices(&[0, 5]);
        let stroke = SavedStroke::new(
            "hold",
            &face(),
            face().positions(),
            &LANDMARKS,
            &curve,
            &LANDMARKS.map(|v| Pin::hold(v as usize)),
        )
        .unwrap();

        let reused = stroke.reuse(&other, other.positions(), &landmarks).unwrap();
        let found: Vec<SurfacePoint> = reused.pins.iter().map(|pin| pin.at).collect();
        assert_eq!(
            found,
            landmarks.map(SurfacePoint::Vertex),
            "a pin on a landmark goes to the landmark"
        );
        assert!(
            reused
                .pins
                .iter()
                .all(|pin| pin.displacement == DVec3::ZERO)
        );
    }

    #[test]
    fn a_library_round_trips_and_has_each_name_once() {
        let mut library = StrokeLibrary::default();
        assert_eq!(library.insert(saved()), None);
        assert_eq!(
            library.insert(SavedStroke {
                closed: true,
                ..saved()
            }),
            Some(saved())
        );
        assert!(
            library.get("smile").is_some_and(|stroke| stroke.closed)
                && library.get("frown").is_none()
        );

        // Numbers that every JSON reader takes to the bit.
        let short = |p: &mut DVec3| *p = (*p * 1024.0).round() / 1024.0;
        let stroke = &mut library.strokes[0];
        stroke
            .landmarks
            .iter_mut()
            .chain(&mut stroke.curve)
            .chain(stroke.pins.iter_mut().map(|pin| &mut pin.place))
            .for_each(short);

        let text = serde_json::to_string(&library).unwrap();
        assert_eq!(
            serde_json::from_str::<StrokeLibrary>(&text).unwrap(),
            library
        );
    }

    #[test]
    fn landmarks_off_the_mesh_or_of_another_number_are_errors() {
        assert!(
            saved()
                .reuse(&face(), face().positions(), &LANDMARKS[1..])
                .is_err()
        );
        assert!(
            saved()
                .reuse(&face(), face().positions(), &[0, 5, 17, 33, 80, 1_000_000])
                .is_err()
        );
    }
}
