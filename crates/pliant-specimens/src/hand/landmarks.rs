//! Landmarks on the back of the hand, connected as its bones are. They are control points and the
//! skeleton of inverse kinematics.
//!
//! **Departures.** A point lies over each joint on the side away from the palm, where a marker
//! would be glued, and one on each tip. The thumb's root has none: it moves with the palm.

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, dvec3 as at};

use super::anatomy::{Anatomy, Digit};

/// A point of the hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandLandmark {
    /// Such as `index 2`; tips are called `index tip`.
    pub name: String,
    /// The vertex there.
    pub vertex: u32,
    /// Index of the parent point in the list; none for the forearm.
    pub parent: Option<usize>,
    /// Whether it is the end of a limb.
    pub is_tip: bool,
}

/// The forearm, the wrist and the palm first, then digit by digit from root to tip.
pub(super) fn of(anatomy: &Anatomy, mesh: &Mesh) -> Vec<HandLandmark> {
    let root = |name: &str, place: DVec3, parent| HandLandmark {
        name: name.to_owned(),
        vertex: nearest(mesh, place),
        parent,
        is_tip: false,
    };

    let mut landmarks = vec![
        root("forearm", at(0.0, -4.0, -2.0), None),
        root("wrist", at(0.1, 0.2, -1.9), Some(0)),
        root("palm", at(0.3, 5.0, -1.6), Some(1)),
    ];

    for digit in &anatomy.digits {
        // The thumb's first joint moves with the palm and has no point.
        let first = usize::from(digit.name == "thumb");
        for joint in first..4 {
            let parent = if joint == first {
                2
            } else {
                landmarks.len() - 1
            };
            let name = if joint == 3 {
                format!("{} tip", digit.name)
            } else {
                format!("{} {}", digit.name, joint + 1 - first)
            };
            let vertex = nearest(mesh, place(digit, joint));
            landmarks.push(HandLandmark {
                name,
                vertex,
                parent: Some(parent),
                is_tip: joint == 3,
            });
        }
    }

    landmarks
}

/// On the back of a joint, or at the end of the tip.
fn place(digit: &Digit, joint: usize) -> DVec3 {
    let radius = digit.radii[joint];
    if joint == 3 {
        digit.joints[3] + digit.along(2) * radius
    } else {
        digit.joints[joint] - digit.inward(joint) * radius
    }
}

fn nearest(mesh: &Mesh, place: DVec3) -> u32 {
    let distance = |v: usize| mesh.positions()[v].distance_squared(place);
    (1..mesh.vertex_count()).fold(0, |best, v| {
        if distance(v) < distance(best) {
            v
        } else {
            best
        }
    }) as u32
}

#[cfg(test)]
mod tests {
    use super::super::landmarks as hand_landmarks;

    #[test]
    fn landmarks_are_distinct_and_their_parents_come_first() {
        let points = hand_landmarks();
        assert_eq!(points.len(), 22);
        assert_eq!(points.iter().filter(|point| point.is_tip).count(), 5);

        for (k, point) in points.iter().enumerate() {
            assert!(
                points[..k]
                    .iter()
                    .all(|other| other.vertex != point.vertex && other.name != point.name)
            );
            assert!(
                point.parent.is_none_or(|parent| parent < k)
                    && (point.parent.is_none() == (k == 0))
            );
        }
    }
}
