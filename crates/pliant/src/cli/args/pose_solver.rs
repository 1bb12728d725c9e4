//! The method that poses a rig, and the settings of the rig: what `pose` and `sketch` share.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use pliant_io::Asset;
use pliant_rig::{
    Bounded, Hybrid, Limits, Localized, PoseSolver, PseudoInverse, Range, Rig, RigError,
    RigSettings, SliderPairs, Tikhonov, Transpose, Units,
};

use super::number::{self, non_negative};
use super::source;
use crate::cli::report::failure::Failure;

/// How pins become slider weights.
#[derive(Debug, clap::Args)]
pub(crate) struct SolverArgs {
    /// Method that computes slider weights from pins.
    #[arg(long, value_enum, default_value_t = Method::Box, help_heading = "Solver")]
    pub(crate) method: Method,

    /// tikhonov, localized: penalty on squared weights, relative to the largest eigenvalue.
    #[arg(long, value_name = "A", default_value_t = Tikhonov::DEFAULT_ALPHA, allow_negative_numbers = true, value_parser = non_negative, help_heading = "Solver")]
    alpha: f64,

    /// hybrid: share of the pseudo-inverse, from 0 to 1. `auto` is the smallest over the largest
    /// singular value.
    #[arg(long, value_name = "G|auto", default_value = "auto", allow_negative_numbers = true, value_parser = parse_gamma, help_heading = "Solver")]
    gamma: Gamma,

    /// localized: outer radius r_max in asset units; r_min is a fifth of it [default: 1/200 of
    /// the diagonal].
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = non_negative, help_heading = "Solver")]
    radius: Option<f64>,

    /// How to treat weights outside their limits. `box` always solves inside the limits.
    #[arg(long, value_enum, default_value_t = RangeArg::Clip, help_heading = "Solver")]
    range: RangeArg,

    /// Unit of the parameters of tikhonov, localized, transpose and hybrid.
    #[arg(long, value_enum, default_value_t = UnitsArg::Relative, help_heading = "Solver")]
    units: UnitsArg,

    /// box: radius around the pins within which motion costs little, in asset units [default: a
    /// tenth of the diagonal].
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = non_negative, help_heading = "Solver")]
    reach: Option<f64>,

    /// box: penalty for each slider that moves. 0 distributes a drag over all sliders that help.
    #[arg(long, value_name = "L", default_value_t = Bounded::DEFAULT_SPARSITY, allow_negative_numbers = true, value_parser = non_negative, help_heading = "Solver")]
    sparsity: f64,

    /// box: penalty on the moved surface. 0 reaches the goal exactly where possible, 1 stops
    /// about half way.
    #[arg(long, value_name = "D", default_value_t = Bounded::DEFAULT_DAMPING, allow_negative_numbers = true, value_parser = non_negative, help_heading = "Solver")]
    damping: f64,

    /// JSON file with limits, locks, groups, combinations and in-betweens of the rig, by name.
    #[arg(long, value_name = "FILE.json", help_heading = "Rig")]
    settings: Option<PathBuf>,

    /// Sliders that keep their weights.
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        help_heading = "Rig"
    )]
    lock: Vec<String>,

    /// Limits of a slider [default: 0..1].
    #[arg(long, value_name = "NAME=MIN..MAX", value_delimiter = ',', value_parser = parse_limits, help_heading = "Rig")]
    limits: Vec<(String, Limits)>,

    /// Two sliders of which at most one differs from zero.
    #[arg(long, value_name = "A/B", value_delimiter = ',', value_parser = parse_pair, help_heading = "Rig")]
    exclusive: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// Bounded solver: few sliders, near the pins, inside the limits.
    Box,
    /// Pseudo-inverse (Çetinaslan 2016, eq. 4.2).
    Pinv,
    /// Least squares with a penalty on the weights (eq. 3.5).
    Tikhonov,
    /// Tikhonov without targets that hardly move a pin (eq. 3.6).
    Localized,
    /// Jacobian transpose (eq. 4.5).
    Transpose,
    /// Mixture of pseudo-inverse and transpose (eq. 4.7).
    Hybrid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RangeArg {
    /// Clip them to the limits after the solve.
    Clip,
    /// Keep them.
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnitsArg {
    /// Relative to the rig: scaling the scene changes no weight.
    Relative,
    /// The raw values of Çetinaslan 2016: scaling the scene changes the weights.
    Scene,
}

#[derive(Debug, Clone, Copy)]
struct Gamma(Option<f64>);

impl SolverArgs {
    /// Loads a rig with its settings, and the same with the locks and limits of the command line.
    pub(crate) fn load_rig(
        &self,
        locator: &str,
        neutral: Option<&str>,
    ) -> Result<(Asset, Rig), Failure> {
        let mut asset = pliant_io::load(locator, &source::options(neutral))?;
        if let Some(path) = &self.settings {
            let settings = read_settings(path)?;
            asset = asset
                .with_rig_settings(&settings)
                .map_err(|error| Failure::about(path.display(), &error))?;
        }

        let rig = self.prepare(asset.rig()?, locator)?;
        if let Some(radius) = self.radius {
            let warning = asset.length_warning("--radius", radius);
            asset.warnings.extend(warning);
        }
        Ok((asset, rig))
    }

    /// The solver. `protected` vertices and the `mirror` partners of sliders matter to `box` only.
    pub(crate) fn solver(
        &self,
        protected: Vec<u32>,
        mirror: Option<Vec<Option<usize>>>,
    ) -> Box<dyn PoseSolver> {
        let units = match self.units {
            UnitsArg::Relative => Units::Relative,
            UnitsArg::Scene => Units::Scene,
        };

        // `localized` is a variant of `tikhonov` and shares its parameters.
        let tikhonov = Tikhonov {
            alpha: self.alpha,
            units,
        };

        match self.method {
            Method::Box => Box::new(self.bounded(mirror).with_protected(protected)),
            Method::Pinv => Box::new(PseudoInverse),
            Method::Tikhonov => Box::new(tikhonov),
            Method::Localized => Box::new(Localized {
                tikhonov,
                outer_radius: self.radius,
            }),
            Method::Transpose => Box::new(Transpose { units }),
            Method::Hybrid => Box::new(Hybrid {
                gamma: self.gamma.0,
                units,
            }),
        }
    }

    fn bounded(&self, mirror: Option<Vec<Option<usize>>>) -> Bounded {
        let bounded = Bounded::default()
            .with_reach(self.reach)
            .with_sparsity(self.sparsity)
            .with_damping(self.damping);
        match mirror {
            Some(mirror) => bounded.with_symmetry(mirror, 1.0),
            None => bounded,
        }
    }

    pub(crate) fn range(&self) -> Range {
        match self.range {
            RangeArg::Clip => Range::Clip,
            RangeArg::Free => Range::Free,
        }
    }

    fn prepare(&self, rig: Rig, locator: &str) -> Result<Rig, Failure> {
        let about = |error: RigError| Failure::about(locator, &error);
        // Options of the command line come after the settings and override them. They hold for this
        // run only, so that they are not saved with the rig.
        let rig = with_locks_and_limits(rig, &self.lock, &self.limits).map_err(about)?;

        // Pairs add to those of the settings file.
        let mut pairs = rig.exclusive_pairs().to_vec();
        for (a, b) in &self.exclusive {
            let a = rig.slider_named(a).map_err(about)?;
            let b = rig.slider_named(b).map_err(about)?;
            pairs.push([a, b]);
        }
        rig.with_exclusive_pairs(pairs).map_err(about)
    }
}

/// The rig with some sliders locked and with other limits.
pub(crate) fn with_locks_and_limits(
    rig: Rig,
    locked: &[String],
    limits: &[(String, Limits)],
) -> Result<Rig, RigError> {
    let mut sliders = rig.sliders().to_vec();
    for name in locked {
        sliders[rig.slider_named(name)?.index()].locked = true;
    }
    for (name, limits) in limits {
        sliders[rig.slider_named(name)?.index()].limits = *limits;
    }
    rig.with_sliders(sliders)
}

/// For each slider the slider of the same name on the other side.
pub(crate) fn mirrored_sliders(rig: &Rig) -> Vec<Option<usize>> {
    let names: Vec<&str> = rig
        .targets()
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    SliderPairs::by_name(&names).partners().to_vec()
}

fn read_settings(path: &Path) -> Result<RigSettings, Failure> {
    let bytes = pliant_io::read_file(path)?;
    serde_json::from_slice(&bytes).map_err(|error| Failure::about(path.display(), &error))
}

fn parse_gamma(text: &str) -> Result<Gamma, String> {
    if text.trim() == "auto" {
        return Ok(Gamma(None));
    }
    match non_negative(text) {
        Ok(gamma) if gamma <= 1.0 => Ok(Gamma(Some(gamma))),
        _ => Err(format!(
            "'{text}' is neither 'auto' nor a number from 0 to 1"
        )),
    }
}

/// Parses `NAME=MIN..MAX`.
pub(crate) fn parse_limits(text: &str) -> Result<(String, Limits), String> {
    let parsed = text.split_once('=').and_then(|(name, range)| {
        let (min, max) = range.split_once("..")?;
        let limits = Limits::new(number::finite(min).ok()?, number::finite(max).ok()?);
        Some((name.trim().to_owned(), limits))
    });
    parsed.ok_or_else(|| format!("'{text}' is not NAME=MIN..MAX, as in jawLeft=-1..1"))
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((a, b)) => Ok((a.trim().to_owned(), b.trim().to_owned())),
        None => Err(format!(
            "'{text}' is not A/B, as in mouthSmileLeft/mouthFrownLeft"
        )),
    }
}
