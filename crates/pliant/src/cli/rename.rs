//! `pliant rename`.

use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use pliant_io::Asset;
use pliant_rig::{Likeness, NameMap, NamePair, Target, Vocabulary, match_names};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::edited;
use super::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  pliant rename face.glb --map arkit --dry-run          which slider would be which, and what is missing
  pliant rename face.glb --map arkit --out arkit.glb    so that a capture device drives it
  pliant rename base.obj+targets --map facs --out facs.glb
                                                        action units: AU12L, AU12R, AU26

Each slider and each name is used once, and left never becomes right. A slider that was not
recognised keeps its name. `how` says how sure it is: the same text, the same but for case and
separators, the same meaning in another vocabulary, or only alike.";

/// Gives sliders the names of a vocabulary.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The rig.
    rig: String,

    /// The vocabulary.
    #[arg(long, value_enum)]
    map: Words,

    /// Only show what would be renamed.
    #[arg(long)]
    dry_run: bool,

    /// Where to write the rig.
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "dry_run",
        conflicts_with = "dry_run"
    )]
    out: Option<PathBuf>,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Words {
    /// Apple's 52 blend shapes.
    Arkit,
    /// Action units by code.
    Facs,
    /// Expressions of VRM 1.0.
    Vrm,
    /// Presets of VRM 0.x.
    Vrm0,
    /// Expression units of MakeHuman.
    Makehuman,
}

impl From<Words> for Vocabulary {
    fn from(words: Words) -> Self {
        match words {
            Words::Arkit => Self::Arkit,
            Words::Facs => Self::Facs,
            Words::Vrm => Self::Vrm,
            Words::Vrm0 => Self::Vrm0,
            Words::Makehuman => Self::MakeHuman,
        }
    }
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let asset = edited::load(&args.rig, args.neutral.as_deref())?;
    let names = asset.target_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let map = match_names(&names, args.map.into());
    let mut object = map_json(&map, &names);
    let mut text = table(&map, &names);
    let mut problems = asset.problems.clone();
    if let Some(out) = &args.out {
        edited::save(
            &renamed(&asset, &map, &names)?,
            out,
            &mut object,
            &mut problems,
        )?;
        let _ = writeln!(text, "written to {}", out.display());
        return console.done(object, &text, &problems);
    }
    console.result(object, &text, &problems)
}

fn renamed(asset: &Asset, map: &NameMap, names: &[&str]) -> Result<Asset, Failure> {
    let new_name = |old: &str| {
        map.pairs
            .iter()
            .find(|pair| names[pair.source] == old)
            .map_or(old, |pair| &pair.name)
            .to_owned()
    };
    let renamed = asset.map_rigs(|object| {
        let targets: Vec<Target> = object
            .rig
            .targets()
            .iter()
            .map(|t| Target {
                name: new_name(&t.name),
                ..t.clone()
            })
            .collect();
        let same: Vec<Option<usize>> = (0..targets.len()).map(Some).collect();
        Ok((object.rig.with_targets_from(targets, &same)?, same))
    });
    Ok(renamed?)
}

fn how(pair: &NamePair) -> (&'static str, f64) {
    match pair.how {
        Likeness::Exact => ("exact", 1.0),
        Likeness::Case => ("case", 1.0),
        Likeness::Meaning => ("meaning", 1.0),
        Likeness::Fuzzy(score) => ("fuzzy", score),
    }
}

fn map_json(map: &NameMap, names: &[&str]) -> Map<String, Value> {
    let pair = |pair: &NamePair| {
        let (how, score) = how(pair);
        json!({"from": names[pair.source], "to": pair.name, "how": how, "score": score})
    };
    let split =
        |(source, into): &(usize, [String; 2])| json!({"slider": names[*source], "into": into});
    let merge = |([left, right], name): &([usize; 2], String)| json!({"sliders": [names[*left], names[*right]], "name": name});
    let mut object = Map::new();
    object.insert("renamed".into(), map.pairs.iter().map(pair).collect());
    object.insert(
        "unmatched_sliders".into(),
        map.unmatched_sources
            .iter()
            .map(|&k| json!(names[k]))
            .collect(),
    );
    object.insert("unmatched_names".into(), json!(map.unmatched_names));
    object.insert("to_split".into(), map.to_split.iter().map(split).collect());
    object.insert("to_merge".into(), map.to_merge.iter().map(merge).collect());
    object
}

fn table(map: &NameMap, names: &[&str]) -> String {
    let width = map
        .pairs
        .iter()
        .map(|pair| names[pair.source].chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for pair in &map.pairs {
        let told = match pair.how {
            Likeness::Fuzzy(score) => format!("fuzzy {score:.2}"),
            _ => how(pair).0.to_owned(),
        };
        let _ = writeln!(
            text,
            "{:width$}  {:24} {told}",
            names[pair.source], pair.name
        );
    }
    let unmatched: Vec<&str> = map.unmatched_sources.iter().map(|&k| names[k]).collect();
    let _ = writeln!(
        text,
        "{} of {} sliders recognised",
        map.pairs.len(),
        names.len()
    );
    if !unmatched.is_empty() {
        let _ = writeln!(text, "not recognised: {}", unmatched.join(", "));
    }
    if !map.unmatched_names.is_empty() {
        let _ = writeln!(
            text,
            "names without a slider: {}",
            map.unmatched_names.join(", ")
        );
    }
    for (source, [left, right]) in &map.to_split {
        let _ = writeln!(
            text,
            "'{}' would be {left} and {right}: split it first",
            names[*source]
        );
    }
    for ([left, right], name) in &map.to_merge {
        let _ = writeln!(
            text,
            "'{}' and '{}' together would be {name}",
            names[*left], names[*right]
        );
    }
    text
}
