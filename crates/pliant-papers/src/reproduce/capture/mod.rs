//! Performances: planted takes on several rigs, damaged as devices damage them.
//!
//! - `planted`: performances with a known answer, and their damage.
//! - `channels`: cleaned channels against a plain copy.
//! - `markers`: weights from markers against least squares for each frame.
//! - `heads`: one take on two unlike heads, with lids and lips.
//! - `times`: a long take on a large rig.

mod channels;
mod heads;
mod markers;
mod planted;
mod times;

use pliant_mesh::Progress;

use super::chapter::{self, Chapter, ChapterEntry, after_models};
use super::data::set_of;
use super::{Data, Model, ReproduceError, lcg, numerals};
use crate::page::Section;

/// The heads: name and locator.
const HEADS: [(&str, &str); 4] = [
    ("built-in head", "specimen:head"),
    ("Face Cap", "facecap-head/facecap-plain.glb"),
    (
        "MakeHuman",
        "makehuman-face/base.obj+makehuman-face/expression-units-caucasian",
    ),
    (
        "ICT FaceKit",
        "ict-facekit/generic_neutral_mesh.obj+ict-facekit/expressions.delta.npy",
    ),
];

fn chapters() -> [Chapter<[Model]>; 4] {
    [
        Chapter::new("damaged channels", "ours", channels::section),
        Chapter::new("markers with dropouts", "ours", markers::section),
        Chapter::new("two unlike heads", "ours", heads::section),
        Chapter::new("a long take", "ours", times::section),
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
    let mut heads = Vec::new();
    let mut warnings = Vec::new();
    for (name, locator) in HEADS {
        match data.model(name, locator)? {
            Some(model) => heads.push(model),
            // Without a data folder, only the built-in head is expected.
            None => warnings.extend(data.folder().map(|folder| {
                format!(
                    "{name} is left out: there is no '{}' in '{}'",
                    set_of(locator),
                    folder.display()
                )
            })),
        }
    }
    chapter::sections(&heads[..], &chapters, warnings, &progress)
}

/// An error of the rig of a model.
fn failed(model: &Model) -> impl Fn(pliant_rig::RigError) -> ReproduceError + '_ {
    |source| ReproduceError::Rig {
        model: model.name.clone(),
        source,
    }
}
