//! Ma and others' paper: shapes between shapes as equilibria of springs.

mod anchored;
mod bars;
mod cylinder;
mod portrait;
mod pulled;
mod results;
mod shrinking;
mod three_shapes;
mod times;

use std::ops::ControlFlow;

use pliant_mesh::Progress;
use pliant_physics::PhysicsError;

use super::data::set_of;
use super::{Data, ReproduceError, numerals};
use crate::page::Section;

/// One section of the page.
type Chapter = fn(&Data) -> Result<Section, ReproduceError>;

pub(super) fn sections(data: &Data, progress: &dyn Progress) -> Result<Vec<Section>, ReproduceError> {
    let chapters: [(&str, Chapter); 7] = [
        ("times", times::section),
        ("shrinking", shrinking::section),
        ("obstacle", cylinder::section),
        ("three shapes", three_shapes::section),
        ("anchor", anchored::section),
        ("pulled vertex", pulled::section),
        ("results", results::section),
    ];
    let mut sections = Vec::new();
    for (k, (name, chapter)) in chapters.iter().enumerate() {
        if let ControlFlow::Break(()) = progress.report(name, k as f64 / chapters.len() as f64) {
            return Err(ReproduceError::Stopped);
        }
        sections.push(chapter(data)?);
    }
    if let Some(first) = sections.first_mut() {
        missing(data).into_iter().for_each(|problem| first.problem(problem));
    }
    Ok(sections)
}

/// A line for each set that a data folder lacks.
fn missing(data: &Data) -> Vec<String> {
    let Some(folder) = data.folder() else { return Vec::new() };
    let sets = results::SHARED.iter().map(|pair| set_of(pair.locator));
    let lacking = sets.filter(|set| !folder.join(set).exists());
    lacking.map(|set| format!("{set} is left out: there is no such folder in '{}'", folder.display())).collect()
}

/// Names the model in an error.
fn failed<E: Into<PhysicsError>>(model: &str) -> impl Fn(E) -> ReproduceError + use<'_, E> {
    move |error| ReproduceError::Physics { model: model.to_owned(), source: error.into() }
}
