//! The prior over poses that `pose` and `sketch` may use.

use pliant_io::{Asset, Shape};
use pliant_rig::{MostProbable, PosePrior, Rig, WeightTrack};
use schemars::JsonSchema;
use serde::Serialize;

use super::source;
use crate::cli::report::failure::Failure;

/// The prior of the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct PriorArgs {
    /// box: find the most probable pose instead of the sparsest, learnt from the slider weights of
    /// a clip: `builtin` (the performance of the built-in head), an asset with a clip of weights,
    /// or `none`. Sliders are matched by their names or by their ARKit meaning.
    #[arg(
        long,
        value_name = "builtin|CLIP|none",
        default_value = "none",
        help_heading = "Solver"
    )]
    prior: String,
}

/// Where a prior comes from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PriorReport {
    /// Asset whose clip it was learnt from.
    source: String,
    /// Number of poses of the clip.
    poses: usize,
    /// Number of sliders of the rig that the clip has.
    sliders: usize,
}

impl PriorArgs {
    /// Whether a prior is wanted.
    pub(crate) fn is_given(&self) -> bool {
        self.prior != "none"
    }

    /// The solver with this prior for the sliders of `rig`, and where it comes from.
    pub(crate) fn load(&self, rig: &Rig) -> Result<Option<(MostProbable, PriorReport)>, Failure> {
        if !self.is_given() {
            return Ok(None);
        }

        let locator = match self.prior.as_str() {
            "builtin" => "specimen:head",
            file => file,
        };
        let asset = pliant_io::load(locator, &source::options(None))?;
        let Some((names, track)) = longest_track(&asset) else {
            return Err(Failure::new(format!(
                "{locator}: --prior needs a clip of slider weights, and the asset has none; give one that `pliant invert` wrote, or builtin"
            )));
        };

        let (prior, sliders) = PosePrior::learn_by_name(&names, track, rig)
            .map_err(|error| Failure::about(locator, &error))?;
        let report = PriorReport {
            source: locator.to_owned(),
            poses: prior.pose_count(),
            sliders,
        };
        Ok(Some((MostProbable::new(prior), report)))
    }
}

/// The track of weights with the most keys, and the names of its sliders.
fn longest_track(asset: &Asset) -> Option<(Vec<&str>, &WeightTrack)> {
    let motions = asset.clips.iter().flat_map(|clip| &clip.motions);
    let tracks = motions.filter_map(|motion| match &motion.shape {
        Shape::Weights(track) => Some((motion.object, track)),
        _ => None,
    });

    let (object, track) = tracks.max_by_key(|(_, track)| track.keys().len())?;
    let targets = asset.objects[object].rig.targets();
    Some((targets.iter().map(|t| t.name.as_str()).collect(), track))
}
