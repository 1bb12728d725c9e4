//! Ma et al. 2012: shapes between shapes as equilibria of springs.
//!
//! - `times`: the cost of one step at the paper's sizes.
//! - `shrinking`: area and volume on the path, beside linear and ARAP interpolation.
//! - `cylinder`: contact with an obstacle; `three_shapes`: a blend of three shapes.
//! - `anchored`: the anchor; `pulled`: a pulled vertex; `results`: hands and animals.
//! - `bars`: bent, twisted and stretched bars; `portrait`: pictures in the paper's colours.

mod anchored;
mod bars;
mod cylinder;
mod portrait;
mod pulled;
mod results;
mod shrinking;
mod three_shapes;
mod times;

use pliant_mesh::Progress;
use pliant_physics::PhysicsError;

use super::chapter::{self, Chapter, ChapterEntry};
use super::{Data, ReproduceError, numerals};
use crate::page::Section;

fn chapters() -> [Chapter<Data>; 7] {
    [
        Chapter::new("times", "table I", times::section),
        Chapter::new("shrinking", "figure 1", shrinking::section),
        Chapter::new("obstacle", "figure 2", cylinder::section),
        Chapter::new("three shapes", "figure 3", three_shapes::section),
        Chapter::new("anchor", "figure 4", anchored::section),
        Chapter::new("pulled vertex", "figure 5", pulled::section),
        Chapter::new("results", "figure 6", results::section),
    ]
}

pub(super) fn entries() -> Vec<ChapterEntry> {
    chapter::entries(&chapters())
}

pub(super) fn sections(
    data: &Data,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let missing = data.missing(results::SHARED.iter().map(|pair| pair.locator));
    chapter::sections(data, &chapters(), missing, progress)
}

/// Names the model in an error.
fn failed<E: Into<PhysicsError>>(model: &str) -> impl Fn(E) -> ReproduceError + use<'_, E> {
    move |error| ReproduceError::Physics {
        model: model.to_owned(),
        source: error.into(),
    }
}
