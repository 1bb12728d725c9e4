//! `pliant reproduce`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use pliant::reproduce::{Data, REPRODUCTIONS, ReproduceError, Reproduced};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  pliant reproduce --out papers               every reproduction on the built-in models
  pliant reproduce transfer --out papers      one of them
  pliant reproduce --data sets --out papers   also on the open models in the folder 'sets'

Open papers/index.html in any browser; it needs no network. Sets that the data folder lacks are left
out and named. Published values stand beside ours in italics; times are this machine's.";

/// The papers' tables and figures on open data, with peers and plots.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to reproduce (default: everything).
    #[arg(value_name = "NAME", value_parser = names())]
    names: Vec<String>,

    /// The folder of open data, with a folder for each set: ict-facekit, makehuman-face,
    /// facecap-head, horse-camel, horse-sequences, elastic-cow, samba.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// The folder to write to.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let made = {
        let bar = console.progress();
        let data = args
            .data
            .as_ref()
            .map_or_else(|| Ok(Data::built_in()), Data::in_folder)?;
        pliant::reproduce::run(&args.names, &data, &args.out, &bar).map_err(failure)?
    };
    let mut text = String::new();
    for [page, _, name, value] in &made.figures {
        text.push_str(&format!("{page:>10}  {name:<32} {value}\n"));
    }
    text.push_str(&format!("\nopen {}\n", made.index.display()));
    console.done(object(&made), &text, &made.problems)
}

/// The names there are, so that help lists them.
fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        REPRODUCTIONS
            .iter()
            .map(|known| PossibleValue::new(known.name).help(known.title)),
    )
}

fn failure(error: ReproduceError) -> Failure {
    match error {
        ReproduceError::Unknown { .. } => Failure::usage(error.to_string()),
        ReproduceError::Io(error) => error.into(),
        error => Failure::about("reproduce", &error),
    }
}

fn object(made: &Reproduced) -> Map<String, Value> {
    let title = |name: &str| {
        REPRODUCTIONS
            .iter()
            .find(|known| known.name == name)
            .map_or("", |known| known.title)
    };
    let pages = made.pages.iter().map(|(name, file)| json!({"name": name, "title": title(name), "file": file.display().to_string()}));
    let figures =
        made.figures.iter().map(|[page, section, name, value]| json!({"page": page, "section": section, "name": name, "value": value}));
    let tables = made.pages.iter().zip(&made.contents).flat_map(|((name, _), page)| {
        page.tables().map(move |table| {
            json!({"page": name, "caption": table.caption(), "header": table.header(), "rows": table.rows().collect::<Vec<_>>()})
        })
    });
    let mut object = Map::new();
    object.insert("index".into(), json!(made.index.display().to_string()));
    object.insert("pages".into(), pages.collect());
    object.insert("figures".into(), figures.collect());
    object.insert("tables".into(), tables.collect());
    object
}
