//! Huang and others' paper: a detailed mesh that a few control points drive, learned from a handful
//! of examples.

mod creases;
mod effectors;
mod left_out;
mod noise;
mod set;
mod times;
mod variants;

use pliant_learn::LearnError;
use pliant_mesh::Progress;

use super::{Chapter, Data, ReproduceError, after_models, lcg, numerals, told};
use crate::page::Section;
use set::Set;

/// Who is learned from.
struct Cast {
    /// The built-in hand.
    hand: Set,
    /// The sets of the data folder.
    shared: Vec<Set>,
}

pub(super) fn sections(
    data: &Data,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let chapters: [Chapter<&Cast>; 6] = [
        ("times", times::section),
        ("poses left out", left_out::section),
        ("local models", variants::section),
        ("creases", creases::section),
        ("noisy markers", noise::section),
        ("end effectors", effectors::section),
    ];
    let progress = after_models(progress, chapters.len())?;
    let cast = Cast {
        hand: Set::hand()?,
        shared: Set::shared(data)?,
    };
    told(
        &cast,
        &chapters,
        data.missing(set::SHARED.iter().map(|shared| shared.locator)),
        &progress,
    )
}

/// Names the model in an error.
fn failed<E: Into<LearnError>>(model: &str) -> impl Fn(E) -> ReproduceError + use<'_, E> {
    move |error| ReproduceError::Learn {
        model: model.to_owned(),
        source: error.into(),
    }
}
