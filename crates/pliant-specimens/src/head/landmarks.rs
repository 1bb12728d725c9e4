//! The face of the head as a template, with landmarks.
//!
//! **Implementation.** The template is the skin and the lips in front of the ears, from below the
//! chin to the hair. A landmark is the vertex of it closest to a place that was chosen on the model.

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, dvec3 as at};
use pliant_rig::{FaceLandmark, FacePlace, Side};

/// A face without hair, eyes and the inside of the mouth.
#[derive(Debug, Clone)]
pub struct HeadFace {
    /// The surface, which is open; it looks along +Z, and +Y is up.
    pub mesh: Mesh,
    /// All landmarks, by vertex.
    pub landmarks: Vec<(FaceLandmark, u32)>,
}

/// Vertices in front of this depth and between these heights belong to the face.
const LEAST_Z: f64 = 3.0;
const HEIGHTS: [f64; 2] = [-10.8, 5.0];
/// Materials of the outer surface.
const OUTSIDE: [&str; 2] = ["skin", "lips"];

/// The place of each landmark, of the left one where there are two.
fn place(of: FacePlace) -> DVec3 {
    match of {
        FacePlace::Chin => at(0.0, -10.22, 8.06),
        FacePlace::NoseTip => at(0.0, -2.9, 10.8),
        FacePlace::NoseBridge => at(0.0, 0.3, 9.1),
        FacePlace::NoseBase => at(0.0, -4.1, 8.93),
        FacePlace::LipUpper => at(0.0, -5.68, 9.21),
        FacePlace::LipLower => at(0.0, -6.87, 8.98),
        FacePlace::MouthCorner => at(2.48, -5.49, 8.2),
        FacePlace::NoseWing => at(1.5, -3.3, 9.2),
        FacePlace::BrowInner => at(1.38, 2.76, 8.6),
        FacePlace::BrowMiddle => at(3.4, 3.4, 8.3),
        FacePlace::BrowOuter => at(5.4, 2.5, 6.9),
        FacePlace::EyeInner => at(1.7, -0.3, 7.6),
        FacePlace::EyeOuter => at(5.15, -0.2, 6.5),
        FacePlace::LidUpper => at(3.4, 0.83, 7.9),
        FacePlace::LidLower => at(3.4, -1.45, 7.6),
        FacePlace::Cheek => at(4.6, -3.2, 7.6),
    }
}

/// The face of a head with its landmarks.
pub(super) fn face(head: &Mesh) -> HeadFace {
    let is_in_front = |v: &u32| {
        let p = head.positions()[*v as usize];
        p.z > LEAST_Z && (HEIGHTS[0]..HEIGHTS[1]).contains(&p.y)
    };

    let mut new_vertex = vec![u32::MAX; head.vertex_count()];
    let mut positions = Vec::new();
    let mut polygons = Vec::new();
    for face in 0..head.face_count() {
        let is_outside = head
            .materials()
            .of(face)
            .is_some_and(|name| OUTSIDE.contains(&name));
        if !is_outside || !head.face(face).iter().all(is_in_front) {
            continue;
        }

        let mut polygon = Vec::new();
        for &v in head.face(face) {
            let new = &mut new_vertex[v as usize];
            if *new == u32::MAX {
                *new = positions.len() as u32;
                positions.push(head.positions()[v as usize]);
            }
            polygon.push(*new);
        }
        polygons.push(polygon);
    }

    let mut landmarks = Vec::new();
    for landmark in FaceLandmark::all() {
        let mut place = place(landmark.place);
        if landmark.side == Some(Side::Right) {
            place.x = -place.x;
        }
        landmarks.push((landmark, nearest(&positions, place)));
    }

    HeadFace {
        mesh: Mesh::from_polygons(positions, &polygons).expect("faces name their own vertices"),
        landmarks,
    }
}

fn nearest(positions: &[DVec3], place: DVec3) -> u32 {
    let mut best = (f64::INFINITY, 0);
    for (v, position) in positions.iter().enumerate() {
        let distance = position.distance_squared(place);
        if distance < best.0 {
            best = (distance, v as u32);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_face_is_symmetric_and_expressions_move_its_landmarks() {
        let (rig, _) = super::super::build();
        let face = face(rig.neutral());
        assert_eq!(face.landmarks.len(), 26);

        let position = |name: &str| {
            let landmark = FaceLandmark::from_name(name).unwrap();
            let (_, vertex) = face.landmarks.iter().find(|(l, _)| *l == landmark).unwrap();
            face.mesh.positions()[*vertex as usize]
        };
        for place in FacePlace::ALL {
            if !place.is_on_midline() {
                let left = position(&format!("{} left", place.name()));
                let right = position(&format!("{} right", place.name()));
                assert_eq!(left * DVec3::new(-1.0, 1.0, 1.0), right, "{}", place.name());
                assert!(left.x > 0.5);
            }
        }

        // A blink closes the gap between the lids in the middle.
        let gap = position("lid upper left").y - position("lid lower left").y;
        assert!(gap > 1.0, "{gap}");
        assert!(position("chin").y < position("lip lower").y);
        assert!(position("nose tip").z > position("nose base").z + 1.0);
    }
}
