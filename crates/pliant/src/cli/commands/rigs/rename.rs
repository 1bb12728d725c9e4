//! `pliant rename`: slider names of a published vocabulary.

use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use pliant_io::Asset;
use pliant_rig::{MatchKind, NameMap, NamePair, Target, Vocabulary, match_names};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, SavedAsset};

const EXAMPLES: &str = "\
Examples:
  # Show which slider would get which name, and which names are missing
  pliant rename face.glb --map arkit --dry-run

  # Rename for a capture device
  pliant rename face.glb --map arkit --out arkit.glb

  # Action units: AU12L, AU12R, AU26
  pliant rename base.obj+targets --map facs --out facs.glb

Matching:
  Each slider and each name is used once, and left never becomes right. A
  slider that is not recognised keeps its name. The last column shows how
  names were matched:
    exact    the same text
    case     the same text except for case and separators
    meaning  the same meaning in another vocabulary
    fuzzy    a similar text, with a score from 0 to 1";

/// Gives sliders the names of a published vocabulary.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rig: any asset with targets.
    rig: String,

    /// Vocabulary.
    #[arg(long, value_enum)]
    map: VocabularyArg,

    /// Show the new names and write nothing.
    #[arg(long)]
    dry_run: bool,

    /// File for the renamed rig.
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "dry_run",
        conflicts_with = "dry_run"
    )]
    out: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VocabularyArg {
    /// The 52 blendshapes of Apple ARKit.
    Arkit,
    /// Action units of the Facial Action Coding System.
    Facs,
    /// Expressions of VRM 1.0.
    Vrm,
    /// Presets of VRM 0.x.
    Vrm0,
    /// Expression units of MakeHuman.
    Makehuman,
}

impl From<VocabularyArg> for Vocabulary {
    fn from(vocabulary: VocabularyArg) -> Self {
        match vocabulary {
            VocabularyArg::Arkit => Self::Arkit,
            VocabularyArg::Facs => Self::Facs,
            VocabularyArg::Vrm => Self::Vrm,
            VocabularyArg::Vrm0 => Self::Vrm0,
            VocabularyArg::Makehuman => Self::MakeHuman,
        }
    }
}

/// The report of `pliant rename`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RenameReport {
    /// Sliders that were recognised.
    renamed: Vec<RenamedSlider>,
    /// Sliders that were not recognised.
    unmatched_sliders: Vec<String>,
    /// Names of the vocabulary without a slider.
    unmatched_names: Vec<String>,
    /// Sliders that stand for a left and a right name.
    to_split: Vec<SliderToSplit>,
    /// Pairs of sliders that stand for one name.
    to_merge: Vec<SlidersToMerge>,
    /// The written rig; absent with `--dry-run`.
    #[serde(flatten)]
    saved: Option<SavedAsset>,
}

/// A slider and its new name.
#[derive(Debug, Serialize, JsonSchema)]
struct RenamedSlider {
    from: String,
    to: String,
    /// How the names were matched: exact, case, meaning or fuzzy.
    how: &'static str,
    /// Similarity of the names, from 0 to 1.
    score: f64,
}

/// A slider that should be split into two.
#[derive(Debug, Serialize, JsonSchema)]
struct SliderToSplit {
    slider: String,
    /// Names of the left and the right slider.
    into: [String; 2],
}

/// Two sliders that should be merged into one.
#[derive(Debug, Serialize, JsonSchema)]
struct SlidersToMerge {
    sliders: [String; 2],
    name: String,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let asset = source::load_with_targets(&args.rig, args.neutral.as_deref())?;
    let asset = args.settings.apply(asset)?;
    let names = asset.target_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let map = match_names(&names, args.map.into());

    let mut report = RenameReport::new(&map, &names);
    let mut text = report.table(names.len());
    let mut warnings = asset.warnings.clone();
    let Some(out) = &args.out else {
        return console.print_result(&report, &text, &warnings);
    };

    let renamed = rename_targets(&asset, &map, &names)?;
    report.saved = Some(output::save_asset(&renamed, out, &mut warnings)?);
    let _ = writeln!(text, "written to {}", out.display());
    console.print_summary(&report, &text, &warnings)
}

fn rename_targets(asset: &Asset, map: &NameMap, names: &[&str]) -> Result<Asset, Failure> {
    let new_name = |old: &str| {
        let pair = map.pairs.iter().find(|pair| names[pair.source] == old);
        pair.map_or(old, |pair| &pair.name).to_owned()
    };

    let renamed = asset.map_rigs(|object| {
        let targets: Vec<Target> = object
            .rig
            .targets()
            .iter()
            .map(|target| Target {
                name: new_name(&target.name),
                ..target.clone()
            })
            .collect();

        // Targets keep their places, so that limits, in-betweens and clips stay attached.
        let same: Vec<Option<usize>> = (0..targets.len()).map(Some).collect();
        Ok((object.rig.with_targets_from(targets, &same)?, same))
    });
    Ok(renamed?)
}

impl RenamedSlider {
    fn new(pair: &NamePair, names: &[&str]) -> Self {
        let (how, score) = match pair.how {
            MatchKind::Exact => ("exact", 1.0),
            MatchKind::Case => ("case", 1.0),
            MatchKind::Meaning => ("meaning", 1.0),
            MatchKind::Fuzzy(score) => ("fuzzy", score),
        };
        Self {
            from: names[pair.source].to_owned(),
            to: pair.name.clone(),
            how,
            score,
        }
    }
}

impl RenameReport {
    fn new(map: &NameMap, names: &[&str]) -> Self {
        let name = |slider: usize| names[slider].to_owned();
        let split = map.to_split.iter().map(|(slider, into)| SliderToSplit {
            slider: name(*slider),
            into: into.clone(),
        });
        let merge = map.to_merge.iter().map(|(sliders, merged)| SlidersToMerge {
            sliders: sliders.map(name),
            name: merged.clone(),
        });

        Self {
            renamed: map
                .pairs
                .iter()
                .map(|pair| RenamedSlider::new(pair, names))
                .collect(),
            unmatched_sliders: map.unmatched_sources.iter().map(|&k| name(k)).collect(),
            unmatched_names: map.unmatched_names.clone(),
            to_split: split.collect(),
            to_merge: merge.collect(),
            saved: None,
        }
    }

    fn table(&self, sliders: usize) -> String {
        let longest = self.renamed.iter().map(|pair| pair.from.chars().count());
        let width = longest.max().unwrap_or(0);

        let mut text = String::new();
        for RenamedSlider {
            from,
            to,
            how,
            score,
        } in &self.renamed
        {
            let score = if *how == "fuzzy" {
                format!(" {score:.2}")
            } else {
                String::new()
            };
            let _ = writeln!(text, "{from:width$}  {to:24} {how}{score}");
        }

        let _ = writeln!(
            text,
            "{} of {sliders} sliders recognised",
            self.renamed.len()
        );
        text + &self.open_points()
    }

    /// What is left for the user to do, one line each.
    fn open_points(&self) -> String {
        let mut text = String::new();
        if !self.unmatched_sliders.is_empty() {
            let _ = writeln!(
                text,
                "not recognised: {}",
                self.unmatched_sliders.join(", ")
            );
        }
        if !self.unmatched_names.is_empty() {
            let _ = writeln!(
                text,
                "names without a slider: {}",
                self.unmatched_names.join(", ")
            );
        }

        for SliderToSplit { slider, into } in &self.to_split {
            let [left, right] = into;
            let _ = writeln!(
                text,
                "'{slider}' stands for {left} and {right}; split it with `pliant split` first"
            );
        }
        for SlidersToMerge { sliders, name } in &self.to_merge {
            let [left, right] = sliders;
            let _ = writeln!(text, "'{left}' and '{right}' together stand for {name}");
        }

        text
    }
}
