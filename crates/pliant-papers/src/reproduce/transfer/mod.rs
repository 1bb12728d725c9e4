//! Wang, Lee 2008: animations assembled from those of other meshes.
//!
//! - `times`: the cost of weights, factorisation and frames at the paper's sizes.
//! - `bending`: flexibility, and where markers matter; `scribble`: refined regions.
//! - `assembly`: two animations in one; `expressions`: speech with emotions.
//! - `matching`: correspondence with few markers, measured on `known_poses`.
//! - `resized`: a surface in another number of triangles; `blended`: pictures of weights.

mod assembly;
mod bending;
mod blended;
mod expressions;
mod known_poses;
mod matching;
mod resized;
mod scribble;
mod times;

use pliant_mesh::Progress;
use pliant_rig::Clip;
use pliant_transfer::{Correspondence, Markers, TransferError};
use pliant_view::View;

use super::chapter::{self, Chapter, ChapterEntry, after_models};
use super::{Data, ReproduceError, numerals};
use crate::page::Section;
use crate::subjects::WalkingTapir;

const HORSE: &str = "horse-camel/horse-poses.reference.obj+horse-camel/horse-poses.frames.npy";
const CAMEL: &str = "horse-camel/camel-poses.reference.obj+horse-camel/camel-poses.frames.npy";
const HORSE_CAMEL_MARKERS: &str = "horse-camel/horse_camel.cons";
const GALLOP: &str = "horse-sequences/horse-gallop-every2nd.reference.obj+horse-sequences/horse-gallop-every2nd.frames.npy";

/// The view of the animals.
const SIDE: View = View::Orbit {
    azimuth_rad: 1.05,
    elevation_rad: 0.12,
};
/// The view of the faces.
const FACE: View = View::Orbit {
    azimuth_rad: 0.3,
    elevation_rad: 0.04,
};
/// γ for the built-in animals. *Chosen*: eq. 1 compares neighbours, so each pair bends less on a
/// finer mesh. With the 0.1 of Wang, Lee 2008 a whole hound is one stiff part; with this value its
/// limbs are parts.
const FINE_THRESHOLD: f64 = 0.01;

/// The animals and their correspondences.
struct Models {
    pair: WalkingTapir,
    /// From the hound to the tapir.
    correspondence: Correspondence,
    /// The pair of Sumner, Popović 2004, if the data folder has it.
    horse_and_camel: Option<HorseAndCamel>,
    gallop: Option<Clip>,
}

/// Poses of a horse, and their transfer to a camel by the authors of deformation transfer.
struct HorseAndCamel {
    horse: Clip,
    camel: Clip,
    markers: Markers,
}

fn chapters() -> [Chapter<Models>; 6] {
    [
        Chapter::new("times", "table 1", times::section),
        Chapter::new("flexibility", "figure 3, eq. 1", bending::section),
        Chapter::new("scribbles", "figures 7 and 8, eq. 5", scribble::section),
        Chapter::new("assembly", "figures 1 and 5", assembly::section),
        Chapter::new("expressions", "figure 11", expressions::section),
        Chapter::new("correspondence", "figures 2 and 4", matching::section),
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
    let models = Models::load(data)?;

    let missing = data.missing([HORSE, GALLOP]);
    chapter::sections(&models, &chapters, missing, &progress)
}

impl Models {
    fn load(data: &Data) -> Result<Self, ReproduceError> {
        let pair = WalkingTapir::load()?;
        let correspondence = pair.correspondence().map_err(failed("tapir"))?;
        Ok(Self {
            pair,
            correspondence,
            horse_and_camel: HorseAndCamel::load(data)?,
            gallop: clip(data, GALLOP)?,
        })
    }
}

impl HorseAndCamel {
    /// The pair, if the data folder has both clips and their markers.
    fn load(data: &Data) -> Result<Option<Self>, ReproduceError> {
        let Some(text) = data.text(HORSE_CAMEL_MARKERS)? else {
            return Ok(None);
        };
        let markers = Markers::parse(&text).map_err(failed(HORSE_CAMEL_MARKERS))?;

        let (Some(horse), Some(camel)) = (clip(data, HORSE)?, clip(data, CAMEL)?) else {
            return Ok(None);
        };
        Ok(Some(Self {
            horse,
            camel,
            markers,
        }))
    }
}

fn clip(data: &Data, locator: &str) -> Result<Option<Clip>, ReproduceError> {
    match data.asset(locator)? {
        Some(asset) => Ok(Some(asset.clip()?)),
        None => Ok(None),
    }
}

/// Names the model in an error.
fn failed<E: Into<TransferError>>(model: &str) -> impl Fn(E) -> ReproduceError + use<'_, E> {
    move |error| ReproduceError::Transfer {
        model: model.to_owned(),
        source: error.into(),
    }
}
