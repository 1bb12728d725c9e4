//! The choice of a solver, which `pose` and `sketch` share.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use pliant_rig::{
    Bounded, Hybrid, Limits, Localized, PoseSolver, PseudoInverse, Range, Rig, RigError,
    RigSettings, Tikhonov, Transpose, Units,
};

use super::failure::Failure;

/// How pins become weights.
#[derive(Debug, clap::Args)]
pub(crate) struct SolverArgs {
    /// How pins become weights.
    #[arg(long, value_enum, default_value_t = Method::Box, help_heading = "Solver")]
    pub(crate) method: Method,

    /// Price on squared weights (tikhonov, localized), in units of the largest eigenvalue.
    #[arg(long, value_name = "A", default_value_t = Tikhonov::DEFAULT_ALPHA, allow_negative_numbers = true, value_parser = from_zero, help_heading = "Solver")]
    alpha: f64,

    /// Share of the pseudo-inverse in hybrid, or `auto`: the smallest over the largest singular
    /// value.
    #[arg(long, value_name = "G|auto", default_value = "auto", allow_negative_numbers = true, value_parser = parse_gamma, help_heading = "Solver")]
    gamma: Gamma,

    /// Outer radius r_max of localized, in the asset's units; r_min is a fifth of it [default:
    /// 1/200 of the size].
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = from_zero, help_heading = "Solver")]
    radius: Option<f64>,

    /// What becomes of weights outside their limits; `box` never leaves them.
    #[arg(long, value_enum, default_value_t = RangeArg::Clip, help_heading = "Solver")]
    range: RangeArg,

    /// Parameters relative to the rig, or raw as in the thesis, where scaling the scene changes
    /// the weights.
    #[arg(long, value_enum, default_value_t = UnitsArg::Relative, help_heading = "Solver")]
    units: UnitsArg,

    /// box: radius around the pins within which motion is cheap, in the asset's units [default: a
    /// tenth of the size].
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = from_zero, help_heading = "Solver")]
    reach: Option<f64>,

    /// box: price of moving one more slider; 0 spreads a drag over all that help.
    #[arg(long, value_name = "L", default_value_t = Bounded::DEFAULT_SPARSITY, allow_negative_numbers = true, value_parser = from_zero, help_heading = "Solver")]
    sparsity: f64,

    /// box: price of moved surface; 0 is exact, 1 follows the goal half-heartedly.
    #[arg(long, value_name = "D", default_value_t = Bounded::DEFAULT_DAMPING, allow_negative_numbers = true, value_parser = from_zero, help_heading = "Solver")]
    damping: f64,

    /// Limits, locks, groups, correctives and in-betweens of the rig, by name, as JSON.
    #[arg(long, value_name = "FILE.json", help_heading = "Rig")]
    settings: Option<PathBuf>,

    /// Sliders that stay where they are.
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        help_heading = "Rig"
    )]
    lock: Vec<String>,

    /// Other limits than 0 to 1.
    #[arg(long, value_name = "NAME=MIN..MAX", value_delimiter = ',', value_parser = parse_limits, help_heading = "Rig")]
    limits: Vec<(String, Limits)>,

    /// Two sliders of which only one may be away from zero.
    #[arg(long, value_name = "A/B", value_delimiter = ',', value_parser = parse_pair, help_heading = "Rig")]
    exclusive: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// Inside the limits, few sliders, near the pins: the default.
    Box,
    /// Pseudo-inverse (thesis, eq. 4.2).
    Pinv,
    /// Least squares with a price on weights (eq. 3.5).
    Tikhonov,
    /// Tikhonov without targets that hardly move a pin (eq. 3.6).
    Localized,
    /// Along the transpose (eq. 4.5).
    Transpose,
    /// Between pseudo-inverse and transpose (eq. 4.7).
    Hybrid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RangeArg {
    /// Cut to the limits after the solve.
    Clip,
    /// Leave them.
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnitsArg {
    /// Scaling the scene changes no weight.
    Relative,
    /// The thesis' raw values.
    Scene,
}

#[derive(Debug, Clone, Copy)]
struct Gamma(Option<f64>);

impl SolverArgs {
    /// The solver; `protected` and `mirror` are for `box`.
    pub(crate) fn solver(
        &self,
        protected: Vec<u32>,
        mirror: Option<Vec<Option<usize>>>,
    ) -> Box<dyn PoseSolver> {
        let units = if self.units == UnitsArg::Scene {
            Units::Scene
        } else {
            Units::Relative
        };
        let tikhonov = Tikhonov {
            alpha: self.alpha,
            units,
        };
        match self.method {
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
            Method::Box => {
                let bounded = Bounded::default()
                    .with_reach(self.reach)
                    .with_sparsity(self.sparsity)
                    .with_damping(self.damping);
                let coupled = match mirror {
                    Some(mirror) => bounded.with_symmetry(mirror, 1.0),
                    None => bounded,
                };
                Box::new(coupled.with_protected(protected))
            }
        }
    }

    pub(crate) fn range(&self) -> Range {
        if self.range == RangeArg::Free {
            Range::Free
        } else {
            Range::Clip
        }
    }

    /// The rig with the settings, locks, limits and exclusions that were asked for.
    pub(crate) fn prepare(&self, rig: Rig, asset: &str) -> Result<Rig, Failure> {
        let failed = |error: RigError| Failure::about(asset, &error);
        let rig = match &self.settings {
            Some(path) => read_settings(path)?
                .apply(&rig)
                .map_err(|error| Failure::about(path.display(), &error))?,
            None => rig,
        };
        let mut sliders = rig.sliders().to_vec();
        for name in &self.lock {
            sliders[rig.slider_named(name).map_err(failed)?].locked = true;
        }
        for (name, limits) in &self.limits {
            sliders[rig.slider_named(name).map_err(failed)?].limits = *limits;
        }
        let mut pairs = rig.exclusive_pairs().to_vec();
        for (a, b) in &self.exclusive {
            pairs.push([
                rig.slider_named(a).map_err(failed)?,
                rig.slider_named(b).map_err(failed)?,
            ]);
        }
        rig.with_sliders(sliders)
            .and_then(|rig| rig.with_exclusive_pairs(pairs))
            .map_err(failed)
    }
}

fn read_settings(path: &Path) -> Result<RigSettings, Failure> {
    let bytes = pliant_io::read_file(path)?;
    serde_json::from_slice(&bytes).map_err(|error| Failure::about(path.display(), &error))
}

pub(crate) fn from_zero(text: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(value) if value >= 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err(format!("'{text}' is not a number from zero up")),
    }
}

fn parse_gamma(text: &str) -> Result<Gamma, String> {
    if text.trim() == "auto" {
        return Ok(Gamma(None));
    }
    match from_zero(text) {
        Ok(gamma) if gamma <= 1.0 => Ok(Gamma(Some(gamma))),
        _ => Err(format!(
            "'{text}' is neither 'auto' nor a number from 0 to 1"
        )),
    }
}

pub(crate) fn parse_limits(text: &str) -> Result<(String, Limits), String> {
    let wrong = || format!("'{text}' is not NAME=MIN..MAX, as in jawLeft=-1..1");
    let (name, range) = text.split_once('=').ok_or_else(wrong)?;
    let (min, max) = range.split_once("..").ok_or_else(wrong)?;
    let number = |part: &str| {
        part.trim()
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
            .ok_or_else(wrong)
    };
    Ok((
        name.trim().to_owned(),
        Limits::new(number(min)?, number(max)?),
    ))
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    let pair = text
        .split_once('/')
        .ok_or_else(|| format!("'{text}' is not A/B, as in mouthSmileLeft/mouthFrownLeft"))?;
    Ok((pair.0.trim().to_owned(), pair.1.trim().to_owned()))
}
