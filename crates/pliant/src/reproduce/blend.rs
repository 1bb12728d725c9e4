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

use pliant_mesh::Progress;
use pliant_physics::PhysicsError;

use super::{Chapter, Data, ReproduceError, numerals, told};
use crate::page::Section;

pub(super) fn sections(
    data: &Data,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let chapters: [Chapter<&Data>; 7] = [
        ("times", times::section),
        ("shrinking", shrinking::section),
        ("obstacle", cylinder::section),
        ("three shapes", three_shapes::section),
        ("anchor", anchored::section),
        ("pulled vertex", pulled::section),
        ("results", results::section),
    ];
    told(
        data,
        &chapters,
        data.missing(results::SHARED.iter().map(|pair| pair.locator)),
        progress,
    )
}

/// Names the model in an error.
fn failed<E: Into<PhysicsError>>(model: &str) -> impl Fn(E) -> ReproduceError + use<'_, E> {
    move |error| ReproduceError::Physics {
        model: model.to_owned(),
        source: error.into(),
    }
}
