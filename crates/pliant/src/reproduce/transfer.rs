//! Wang and Lee's paper: animations put together from those of other meshes.

mod assembly;
mod bending;
mod blended;
mod expressions;
mod matching;
mod published_poses;
mod resized;
mod scribble;
mod times;

use pliant_mesh::Progress;
use pliant_rig::Clip;
use pliant_transfer::{Correspondence, Markers, TransferError};
use pliant_view::View;

use super::{Chapter, Data, ReproduceError, after_models, numerals, told};
use crate::page::Section;
use crate::walking_tapir::WalkingTapir;

const HORSE: &str = "horse-camel/horse-poses.reference.obj+horse-camel/horse-poses.frames.npy";
const CAMEL: &str = "horse-camel/camel-poses.reference.obj+horse-camel/camel-poses.frames.npy";
const HORSE_CAMEL_MARKERS: &str = "horse-camel/horse_camel.cons";
const GALLOP: &str = "horse-sequences/horse-gallop-every2nd.reference.obj+horse-sequences/horse-gallop-every2nd.frames.npy";

/// Where the animals are seen from.
const SIDE: View = View::Orbit {
    azimuth_rad: 1.05,
    elevation_rad: 0.12,
};
/// Where the faces are seen from.
const FACE: View = View::Orbit {
    azimuth_rad: 0.3,
    elevation_rad: 0.04,
};
/// γ for the built-in animals. *Ours*: eq. 1 compares neighbours, so on a mesh of finer triangles
/// each pair bends less; the paper's 0.1 leaves a whole hound as one part, and this one its limbs.
const FINE_THRESHOLD: f64 = 0.01;

/// All who play.
struct Cast {
    pair: WalkingTapir,
    /// From the hound to the tapir.
    found: Correspondence,
    /// The pair of the paper that this one builds on, where the data folder has it.
    horse_and_camel: Option<HorseAndCamel>,
    gallop: Option<Clip>,
}

/// Poses of a horse, and what the authors of deformation transfer made of them on a camel.
struct HorseAndCamel {
    horse: Clip,
    camel: Clip,
    markers: Markers,
}

pub(super) fn sections(
    data: &Data,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let chapters: [Chapter<&Cast>; 6] = [
        ("times", times::section),
        ("flexibility", bending::section),
        ("scribbles", scribble::section),
        ("assembly", assembly::section),
        ("expressions", expressions::section),
        ("correspondence", matching::section),
    ];
    let progress = after_models(progress, chapters.len())?;
    let cast = Cast::load(data)?;
    told(&cast, &chapters, data.missing([HORSE, GALLOP]), &progress)
}

impl Cast {
    fn load(data: &Data) -> Result<Self, ReproduceError> {
        let pair = WalkingTapir::load()?;
        let found = pair.correspondence().map_err(failed("tapir"))?;
        let clip = |locator: &str| data.asset(locator)?.map(|asset| asset.clip()).transpose();
        let markers = match data.text(HORSE_CAMEL_MARKERS)? {
            Some(text) => Some(Markers::parse(&text).map_err(failed(HORSE_CAMEL_MARKERS))?),
            None => None,
        };
        let horse_and_camel = match (clip(HORSE)?, clip(CAMEL)?, markers) {
            (Some(horse), Some(camel), Some(markers)) => Some(HorseAndCamel {
                horse,
                camel,
                markers,
            }),
            _ => None,
        };
        Ok(Self {
            pair,
            found,
            horse_and_camel,
            gallop: clip(GALLOP)?,
        })
    }
}

/// Names the model in an error.
fn failed<E: Into<TransferError>>(model: &str) -> impl Fn(E) -> ReproduceError + use<'_, E> {
    move |error| ReproduceError::Transfer {
        model: model.to_owned(),
        source: error.into(),
    }
}
