//! Landmarks where the targets of a rig show them.
//!
//! **Problem.** The vertex that a smile and a frown both move most is near the corner of the mouth,
//! whatever the face looks like.
//!
//! **Equation.** For targets `k` with the displacements `dₖ`, the vertex of a landmark is
//!
//! ```text
//! argmaxᵥ minₖ |dₖ(v)| / maxᵤ |dₖ(u)|
//! ```
//!
//! over the vertices of the skin: the connected component of the vertex that brows, cheeks and lips
//! move most. On the midline, a target of the left and one of the right side are among the `k`.
//!
//! **Method.** Targets are found by the names of ARKit, or of a vocabulary that
//! [`match_names`] relates to it.
//!
//! **Departures.** The confidence of each recipe is *measured* on `facecap` and the built-in head.

use std::collections::HashMap;

use pliant_linalg::DisjointSets;

use super::{FaceLandmark, FacePlace, FoundLandmark};
use crate::{Rig, Side, Target, Vocabulary, match_names};

/// The targets that move a landmark, without `Left`, and the confidence in the result.
struct Recipe {
    place: FacePlace,
    /// A `*` stands for the side; on the midline a name with it means both sides.
    targets: &'static [&'static str],
    /// A target that must move the vertex more than its mirror image does.
    side_of: &'static str,
    confidence: f64,
}

const RECIPES: [Recipe; 9] = [
    Recipe {
        place: FacePlace::MouthCorner,
        targets: &["mouthSmile*", "mouthFrown*"],
        side_of: "mouthSmile*",
        confidence: 0.75,
    },
    Recipe {
        place: FacePlace::LidUpper,
        targets: &["eyeBlink*"],
        side_of: "eyeBlink*",
        confidence: 0.75,
    },
    Recipe {
        place: FacePlace::BrowInner,
        targets: &["browInnerUp", "browDown*"],
        side_of: "browDown*",
        confidence: 0.6,
    },
    Recipe {
        place: FacePlace::BrowOuter,
        targets: &["browOuterUp*"],
        side_of: "browOuterUp*",
        confidence: 0.5,
    },
    Recipe {
        place: FacePlace::NoseWing,
        targets: &["noseSneer*"],
        side_of: "noseSneer*",
        confidence: 0.35,
    },
    Recipe {
        place: FacePlace::Cheek,
        targets: &["cheekPuff"],
        side_of: "mouthSmile*",
        confidence: 0.5,
    },
    Recipe {
        place: FacePlace::LipUpper,
        targets: &["mouthUpperUp*"],
        side_of: "",
        confidence: 0.5,
    },
    Recipe {
        place: FacePlace::LipLower,
        targets: &["mouthLowerDown*"],
        side_of: "",
        confidence: 0.5,
    },
    Recipe {
        place: FacePlace::Chin,
        targets: &["jawOpen", "mouthShrugLower"],
        side_of: "",
        confidence: 0.4,
    },
];

/// Targets that move skin and nothing else.
const OF_SKIN: [&str; 4] = ["browInnerUp", "cheekPuff", "mouthSmileLeft", "mouthFunnel"];

/// The landmarks that the targets of a rig show; none on a rig without known names.
#[must_use]
pub fn landmarks_by_targets(rig: &Rig) -> Vec<FoundLandmark> {
    let known = KnownTargets::of(rig);
    let mut found = Vec::new();
    for recipe in &RECIPES {
        let sides: &[Option<Side>] = if recipe.place.is_on_midline() {
            &[None]
        } else {
            &[Some(Side::Left), Some(Side::Right)]
        };
        for &side in sides {
            if let Some(vertex) = known.vertex(recipe, side) {
                found.push(FoundLandmark {
                    landmark: FaceLandmark {
                        place: recipe.place,
                        side,
                    },
                    vertex,
                    confidence: recipe.confidence,
                });
            }
        }
    }
    found
}

/// The targets of a rig by the names of ARKit.
struct KnownTargets<'a> {
    by_name: HashMap<String, &'a Target>,
    skin: Vec<bool>,
}

impl<'a> KnownTargets<'a> {
    fn of(rig: &'a Rig) -> Self {
        let names: Vec<&str> = rig.targets().iter().map(|t| t.name.as_str()).collect();
        let mut by_name = HashMap::new();
        for pair in match_names(&names, Vocabulary::Arkit).pairs {
            by_name.insert(pair.name, &rig.targets()[pair.source]);
        }
        let skin = skin_of(rig, &by_name);
        Self { by_name, skin }
    }

    fn vertex(&self, recipe: &Recipe, side: Option<Side>) -> Option<u32> {
        let mut strengths = Vec::new();
        for pattern in recipe.targets {
            for name in spelled(pattern, side) {
                strengths.push(self.relative_motion(&name)?);
            }
        }

        // A vertex of the other side may move as much in a target of both sides.
        let own_side = match side {
            Some(side) if !recipe.side_of.is_empty() => Some([
                self.relative_motion(&spelled(recipe.side_of, Some(side))[0])?,
                self.relative_motion(&spelled(recipe.side_of, Some(side.mirrored()))[0])?,
            ]),
            _ => None,
        };

        let mut best = (0.0, None);
        for vertex in 0..self.skin.len() {
            let is_other_side = own_side
                .as_ref()
                .is_some_and(|[own, other]| own[vertex] <= other[vertex]);
            if !self.skin[vertex] || is_other_side {
                continue;
            }
            let strength = strengths.iter().map(|motion| motion[vertex]);
            let least = strength.fold(f32::INFINITY, f32::min);
            if least > best.0 {
                best = (least, Some(vertex as u32));
            }
        }
        best.1
    }

    /// The length of the displacement of each vertex, relative to the largest.
    fn relative_motion(&self, name: &str) -> Option<Vec<f32>> {
        let target = self.by_name.get(name)?;
        let mut motion = vec![0.0; self.skin.len()];
        let mut largest = 0.0_f32;
        for (&vertex, delta) in target.vertices.iter().zip(&target.deltas) {
            if self.skin[vertex as usize] {
                motion[vertex as usize] = delta.length();
                largest = largest.max(delta.length());
            }
        }

        for value in &mut motion {
            *value /= largest;
        }
        (largest > 0.0).then_some(motion)
    }
}

/// The names that a pattern means; on the midline both sides.
fn spelled(pattern: &str, side: Option<Side>) -> Vec<String> {
    let sides: &[&str] = match side {
        _ if !pattern.contains('*') => &[""],
        Some(Side::Left) => &["Left"],
        Some(Side::Right) => &["Right"],
        None => &["Left", "Right"],
    };
    sides
        .iter()
        .map(|side| pattern.replace('*', side))
        .collect()
}

/// The vertices of the component that targets of the skin move most; all vertices if no such
/// target is known.
fn skin_of(rig: &Rig, by_name: &HashMap<String, &Target>) -> Vec<bool> {
    let mesh = rig.neutral();
    let mut sets = DisjointSets::new(mesh.vertex_count());
    for &[a, b, c] in mesh.triangles() {
        sets.merge(a, b);
        sets.merge(b, c);
    }
    let (component_of, components) = sets.into_labels();

    let mut motion = vec![0.0; components];
    for target in OF_SKIN.iter().filter_map(|name| by_name.get(*name)) {
        for (&vertex, delta) in target.vertices.iter().zip(&target.deltas) {
            motion[component_of[vertex as usize] as usize] += f64::from(delta.length());
        }
    }

    let most = (0..components).max_by(|&a, &b| motion[a].total_cmp(&motion[b]));
    let skin = most.filter(|&component| motion[component] > 0.0);
    let is_skin = |v: &u32| skin.is_none_or(|component| *v as usize == component);
    component_of.iter().map(is_skin).collect()
}
