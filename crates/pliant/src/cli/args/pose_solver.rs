//! The method that poses a rig, and the settings of the rig: what `pose` and `sketch` share.

use clap::ValueEnum;
use pliant_io::{Asset, CharacterPose};
use pliant_rig::{
    Bounded, Hybrid, Limits, Localized, PoseSolver, PseudoInverse, Range, Recognition, Rig,
    RigError, RigSettings, SliderPairs, Tikhonov, Transpose, Units,
};

use super::number::{self, non_negative};
use super::prior::{PriorArgs, PriorReport};
use super::settings::SettingsArgs;
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

    #[command(flatten)]
    prior: PriorArgs,

    #[command(flatten)]
    settings: SettingsArgs,

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

    /// Two or more sliders of which at most one differs from zero. Repeat for more sets.
    #[arg(long, value_name = "A,B,…", value_parser = parse_exclusive, help_heading = "Rig")]
    exclusive: Vec<ExclusiveSets>,

    /// How to treat targets that are named as combinations or in-betweens.
    #[arg(long, value_enum, default_value_t = Driven::Auto, help_heading = "Rig")]
    driven: Driven,

    /// Keep the weights of targets that equal others or sums of others, so that no shape is
    /// applied twice.
    #[arg(long, conflicts_with = "driven", help_heading = "Rig")]
    lock_aliases: bool,
}

/// Sets of names, each of two or more.
#[derive(Debug, Clone)]
struct ExclusiveSets(Vec<Vec<String>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Driven {
    /// Their sliders drive them, if their displacements agree. A message lists them.
    Auto,
    /// Every target is a slider.
    Off,
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

/// A rig in the pose in which it is seen: a frame of its clip, or its rest pose.
pub(crate) struct LoadedRig {
    /// The asset with its settings.
    pub(crate) asset: Asset,
    /// Its rig before joints move it, with the locks and limits of the command line.
    pub(crate) bind: Rig,
    pub(crate) pose: CharacterPose,
    /// The rig in the pose; its sliders are those of `bind`.
    pub(crate) rig: Rig,
}

impl SolverArgs {
    /// Loads a rig with its settings, and in its pose.
    pub(crate) fn load_rig(
        &self,
        locator: &str,
        neutral: Option<&str>,
    ) -> Result<LoadedRig, Failure> {
        let (mut asset, frame) = pliant_io::load_with_frame(locator, &source::options(neutral))?;
        asset = self.settings.apply(asset)?;

        let mut rig = asset.rig()?;
        if self.driven == Driven::Auto {
            let found = Recognition::of(&rig).keeping_sliders(&self.named_sliders());
            let settings = found.settings();
            if settings != RigSettings::default() {
                asset = asset.with_rig_settings(&settings)?;
                rig = asset.rig()?;
            }
            asset.warnings.extend(found.sentences());
            if self.lock_aliases {
                rig = found
                    .lock_aliases(rig)
                    .map_err(|error| Failure::about(locator, &error))?;
            } else if !found.aliases.is_empty() {
                let offer = "--lock-aliases keeps the weights of targets that repeat others";
                asset.warnings.push(offer.to_owned());
            }
        }

        let bind = self.prepare(rig, locator)?;
        if let Some(radius) = self.radius {
            let warning = asset.length_warning("--radius", radius);
            asset.warnings.extend(warning);
        }

        let pose = match frame {
            Some(frame) => asset.pose_at(frame)?,
            None => asset.rest_pose(),
        };
        asset.warnings.extend(source::collapse_warning(&pose));
        let rig = pose
            .rig(&bind)
            .map_err(|error| Failure::about(locator, &error))?;
        Ok(LoadedRig {
            asset,
            bind,
            pose,
            rig,
        })
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

    /// The most probable solver of `--prior` for `rig` instead of the bounded one, if it is given.
    pub(crate) fn with_prior(
        &self,
        solver: Box<dyn PoseSolver>,
        rig: &Rig,
    ) -> Result<(Box<dyn PoseSolver>, Option<PriorReport>), Failure> {
        if self.prior.is_given() && self.method != Method::Box {
            return Err(Failure::usage(
                "--prior needs --method box; the other methods do not support it",
            ));
        }
        Ok(match self.prior.load(rig)? {
            Some((most_probable, report)) => (Box::new(most_probable), Some(report)),
            None => (solver, None),
        })
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

    /// The sliders that options name, which therefore are sliders.
    fn named_sliders(&self) -> Vec<&str> {
        let limited = self.limits.iter().map(|(name, _)| name);
        let excluded = self
            .exclusive
            .iter()
            .flat_map(|sets| sets.0.iter().flatten());
        let named = self.lock.iter().chain(limited).chain(excluded);
        named.map(String::as_str).collect()
    }

    fn prepare(&self, rig: Rig, locator: &str) -> Result<Rig, Failure> {
        let about = |error: RigError| Failure::about(locator, &error);
        // Options of the command line come after the settings and override them. They hold for this
        // run only, so that they are not saved with the rig.
        let rig = with_locks_and_limits(rig, &self.lock, &self.limits).map_err(about)?;

        // Pairs add to those of the settings file.
        let mut pairs = rig.exclusive_pairs().to_vec();
        for names in self.exclusive.iter().flat_map(|sets| &sets.0) {
            pairs.extend(rig.exclusive_pairs_of(names).map_err(about)?);
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

/// Parses `A,B,…`, or pairs `A/B,C/D`.
fn parse_exclusive(text: &str) -> Result<ExclusiveSets, String> {
    let names = |list: &str, separator: char| -> Vec<String> {
        list.split(separator)
            .map(|name| name.trim().to_owned())
            .collect()
    };
    let sets: Vec<Vec<String>> = if text.contains('/') {
        text.split(',').map(|set| names(set, '/')).collect()
    } else {
        vec![names(text, ',')]
    };

    let are_complete = |set: &Vec<String>| set.len() > 1 && set.iter().all(|name| !name.is_empty());
    if sets.iter().all(are_complete) {
        Ok(ExclusiveSets(sets))
    } else {
        Err(format!(
            "'{text}' is not A,B,…, two sliders or more, as in mouthSmileLeft,mouthFrownLeft"
        ))
    }
}
