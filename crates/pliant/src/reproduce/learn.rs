//! Huang and others' paper: a detailed mesh that a few control points drive, learned from a handful of examples.

mod creases;
mod effectors;
mod left_out;
mod noise;
mod set;
mod times;
mod variants;

use std::ops::ControlFlow;

use pliant_learn::LearnError;
use pliant_mesh::Progress;

use super::data::set_of;
use super::{Data, ReproduceError, lcg, numerals};
use crate::page::Section;
use set::Set;

/// Who is learned from.
struct Cast {
    /// The built-in hand.
    hand: Set,
    /// The sets of the data folder.
    shared: Vec<Set>,
}

/// One section of the page.
type Chapter = fn(&Cast) -> Result<Section, ReproduceError>;

pub(super) fn sections(data: &Data, progress: &dyn Progress) -> Result<Vec<Section>, ReproduceError> {
    let chapters: [(&str, Chapter); 6] = [
        ("times", times::section),
        ("poses left out", left_out::section),
        ("local models", variants::section),
        ("creases", creases::section),
        ("noisy markers", noise::section),
        ("end effectors", effectors::section),
    ];
    let steps = (chapters.len() + 1) as f64;
    let say = |stage: &str, step: usize| match progress.report(stage, step as f64 / steps) {
        ControlFlow::Break(()) => Err(ReproduceError::Stopped),
        ControlFlow::Continue(()) => Ok(()),
    };
    say("models", 0)?;
    let cast = Cast { hand: Set::hand()?, shared: Set::shared(data)? };
    let mut sections = Vec::new();
    for (k, (name, chapter)) in chapters.iter().enumerate() {
        say(name, k + 1)?;
        sections.push(chapter(&cast)?);
    }
    if let Some(first) = sections.first_mut() {
        missing(data).into_iter().for_each(|problem| first.problem(problem));
    }
    Ok(sections)
}

/// A line for each set that a data folder lacks.
fn missing(data: &Data) -> Vec<String> {
    let Some(folder) = data.folder() else { return Vec::new() };
    let sets = set::SHARED.iter().map(|shared| set_of(shared.locator));
    let lacking = sets.filter(|set| !folder.join(set).exists());
    lacking.map(|set| format!("{set} is left out: there is no such folder in '{}'", folder.display())).collect()
}

/// Names the model in an error.
fn failed<E: Into<LearnError>>(model: &str) -> impl Fn(E) -> ReproduceError + use<'_, E> {
    move |error| ReproduceError::Learn { model: model.to_owned(), source: error.into() }
}
