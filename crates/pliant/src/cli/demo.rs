//! `pliant demo`.

use std::path::PathBuf;

use serde_json::{Map, json};

use super::console::Console;
use super::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  pliant demo                 writes pliant-demo/index.html
  pliant demo --out page      somewhere else

Open the page in any browser; it needs no network.";

/// Every capability on the built-in models: pictures, figures and files on one page.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder to write to.
    #[arg(long, value_name = "DIR", default_value = "pliant-demo")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let demo = {
        let bar = console.progress();
        pliant::demo::run(&args.out, &bar).map_err(|error| Failure::about("demo", &error))?
    };
    let mut text = String::new();
    for (section, name, value) in &demo.figures {
        text.push_str(&format!("{section:>10}  {name:<32} {value}\n"));
    }
    text.push_str(&format!("\nopen {}\n", demo.index.display()));
    let mut object = Map::new();
    object.insert("index".into(), json!(demo.index.display().to_string()));
    object.insert("files".into(), json!(demo.files.len()));
    let figures: Vec<_> = demo
        .figures
        .iter()
        .map(|(s, n, v)| json!({"section": s, "name": n, "value": v}))
        .collect();
    object.insert("figures".into(), json!(figures));
    console.done(object, &text, &[])
}
