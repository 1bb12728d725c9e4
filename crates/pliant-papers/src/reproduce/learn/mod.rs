//! Huang et al. 2012: a detailed mesh driven by a few control points, learned from examples.
//!
//! - `times`: the cost of training and of a frame at the paper's sizes.
//! - `left_out`, `variants`: leave-one-out errors of methods and of local models.
//! - `creases`: detail; `noise`: noisy markers; `effectors`: inverse kinematics.
//! - `set`: examples with their control points.

mod creases;
mod effectors;
mod left_out;
mod noise;
mod set;
mod times;
mod variants;

use pliant_learn::LearnError;
use pliant_mesh::Progress;

use super::chapter::{self, Chapter, ChapterEntry, after_models};
use super::{Data, ReproduceError, lcg, numerals};
use crate::page::Section;
use set::Set;

/// The sets of examples.
struct Models {
    /// The built-in hand.
    hand: Set,
    /// The sets of the data folder.
    shared: Vec<Set>,
}

fn chapters() -> [Chapter<Models>; 6] {
    [
        Chapter::new("times", "table 1", times::section),
        Chapter::new(
            "poses left out",
            "table 2, figures 9 and 10",
            left_out::section,
        ),
        Chapter::new("local models", "figure 6", variants::section),
        Chapter::new("creases", "figures 7 and 8", creases::section),
        Chapter::new("noisy markers", "figure 11", noise::section),
        Chapter::new("end effectors", "figures 12 and 13", effectors::section),
    ]
}

pub(super) fn entries() -> Vec<ChapterEntry> {
    chapter::entries(&chapters())
}

pub(super) fn sections(
    data: &Data,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let chapters = chapters();
    let progress = after_models(progress, chapters.len())?;
    let models = Models {
        hand: Set::hand()?,
        shared: Set::shared(data)?,
    };

    let missing = data.missing(set::SHARED.iter().map(|shared| shared.locator));
    chapter::sections(&models, &chapters, missing, &progress)
}

/// Names the model in an error.
fn failed<E: Into<LearnError>>(model: &str) -> impl Fn(E) -> ReproduceError + use<'_, E> {
    move |error| ReproduceError::Learn {
        model: model.to_owned(),
        source: error.into(),
    }
}
