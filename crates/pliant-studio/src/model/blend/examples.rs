//! Documents to start with in the Blend room.

use super::setup::{Setup, ShapeMark};
use super::{Form, ObstacleMark};
use crate::model::document::{Character, Document};
use crate::model::examples::Example;

/// Blends to begin with: a name, and how to make one.
#[must_use]
pub fn examples() -> Vec<Example> {
    vec![
        ("Bar around a cylinder", bar_around_a_cylinder),
        ("Three shapes of a bar", three_shapes),
        ("Expressions of a head", expressions),
    ]
}

fn of(asset: &str, blend: Setup) -> Document {
    Document {
        character: Character {
            asset: asset.into(),
            ..Character::default()
        },
        blend,
        ..Document::default()
    }
}

/// A bar bends up, and a cylinder is where its right half would be.
#[must_use]
pub fn bar_around_a_cylinder() -> Document {
    let cylinder = ObstacleMark {
        form: Form::Cylinder,
        center: [2.0, 1.5, 0.0],
        radius: 0.9,
        length: 2.0,
        ..ObstacleMark::default()
    };

    let shapes = vec![ShapeMark::neutral(), ShapeMark::target("bent")];
    of(
        "specimen:bar",
        Setup {
            shapes,
            weights: vec![0.2, 0.8],
            obstacles: vec![cylinder],
            ..Setup::default()
        },
    )
}

/// Bent, twisted and stretched at once.
#[must_use]
pub fn three_shapes() -> Document {
    let shapes = ["bent", "twisted", "stretched"]
        .map(ShapeMark::target)
        .to_vec();
    of(
        "specimen:bar",
        Setup {
            shapes,
            weights: vec![0.4, 0.4, 0.2],
            ..Setup::default()
        },
    )
}

/// A jaw that opens turns, and straight lines shorten it.
#[must_use]
pub fn expressions() -> Document {
    let shapes = vec![
        ShapeMark::neutral(),
        ShapeMark::target("jawOpen"),
        ShapeMark::target("mouthPucker"),
    ];
    of(
        "specimen:head",
        Setup {
            shapes,
            weights: vec![0.3, 0.5, 0.2],
            ..Setup::default()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_name_existing_targets_and_their_weights_sum_to_one() {
        for (name, example) in examples() {
            let document = example();
            let rig = pliant::load(&document.character.asset)
                .unwrap()
                .rig()
                .unwrap();

            for shape in &document.blend.shapes {
                assert!(
                    shape.target.is_empty() || rig.slider_named(&shape.target).is_ok(),
                    "{name}: {}",
                    shape.name()
                );
            }

            assert_eq!(document.blend.weights.len(), document.blend.shapes.len());
            assert!(
                (document.blend.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12,
                "{name}"
            );
        }
    }
}
