//! The program `pliant-studio`: command line and window.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use eframe::egui;
use pliant_studio::engine::command::Command;
use pliant_studio::engine::storage::files::NativeFiles;
use pliant_studio::engine::storage::places::Places;
use pliant_studio::engine::storage::preferences::Preferences;
use pliant_studio::model::document::{Character, Document};
use pliant_studio::model::project::{self, absolute, resolved};
use pliant_studio::{Recover, Studio};

const HELP: &str = "\
The studio of Pliant: pose, touch, blend, transfer and learn.

Usage: pliant-studio [ASSET | PROJECT.pliant]

  ASSET           a mesh, rig or clip: FILE, FILE#NAME, MESH+DELTAS, specimen:NAME
  PROJECT.pliant  a project saved before
  --help          this text
  --version       the version
";

/// Options of the command line.
enum Start {
    Help,
    Version,
    /// A head to try things on.
    First,
    Asset(String),
    Project(String),
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Start, String> {
    let start = match arguments.next() {
        None => return Ok(Start::First),
        Some(text) if text == "--help" || text == "-h" => Start::Help,
        Some(text) if text == "--version" || text == "-V" => Start::Version,
        Some(text) if text.starts_with('-') => return Err(format!("unknown option '{text}'")),
        Some(text)
            if text
                .to_lowercase()
                .ends_with(&format!(".{}", project::ENDING)) =>
        {
            Start::Project(text)
        }
        Some(text) => Start::Asset(text),
    };
    match arguments.next() {
        None => Ok(start),
        Some(other) => Err(format!(
            "only one file can be opened, but '{other}' follows the first; drop more files onto the window"
        )),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a program that cannot open its window speaks where it was started"
)]
fn main() -> ExitCode {
    let arguments = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned());

    match parse(arguments) {
        Ok(Start::Help) => print_line(HELP),
        Ok(Start::Version) => {
            print_line(concat!("pliant-studio ", env!("CARGO_PKG_VERSION"), "\n"))
        }
        Ok(start) => {
            if let Err(error) = run(start) {
                eprintln!("pliant-studio: {}", advice(&error));
                return ExitCode::FAILURE;
            }
        }
        Err(wrong) => {
            // 2 is the usual exit code for wrong arguments.
            eprintln!("pliant-studio: {wrong}; try --help");
            return ExitCode::from(2);
        }
    }

    ExitCode::SUCCESS
}

/// Prints a line; a reader that closes the pipe early, such as `head`, is no error.
fn print_line(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

fn run(start: Start) -> eframe::Result {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Pliant")
        .with_app_id("pliant-studio");
    // As large as the last window.
    let last =
        Places::of_user().and_then(|places| Preferences::load(&NativeFiles, &places.config).window);
    let [width, height] = last.unwrap_or([1440.0, 900.0]);
    let [least_width, least_height] = pliant_studio::LEAST_WINDOW;
    let viewport = viewport
        .with_inner_size([width.max(least_width), height.max(least_height)])
        .with_min_inner_size(pliant_studio::LEAST_WINDOW);

    // The studio itself stores the preferences.
    let options = eframe::NativeOptions {
        viewport,
        persist_window: false,
        ..eframe::NativeOptions::default()
    };

    eframe::run_native(
        "Pliant",
        options,
        Box::new(move |cc| Ok(Box::new(studio(cc, start)))),
    )
}

fn studio(cc: &eframe::CreationContext<'_>, start: Start) -> Studio {
    let ctx = &cc.egui_ctx;
    pliant_studio::view::install(ctx, cc.wgpu_render_state.as_ref());
    let here = absolute(Path::new("."));
    let head = matches!(start, Start::First).then(|| "specimen:head".to_owned());
    let document = Document {
        character: Character {
            asset: head.unwrap_or_default(),
            ..Character::default()
        },
        ..Document::default()
    };

    let mut studio = Studio::new(ctx, document);
    let recover = match &start {
        Start::Asset(_) => Recover::Nothing,
        Start::Project(path) => Recover::Of(absolute(Path::new(path))),
        Start::First | Start::Help | Start::Version => Recover::Newest,
    };

    let places = Places::of_user();
    match start {
        Start::Asset(locator) => studio.request_command(Command::Open(resolved(&locator, &here))),
        // The autosave looks for unsaved work of the project first, and opens the project if there
        // is none.
        Start::Project(path) if places.is_none() => studio.request_command(Command::Open(
            absolute(Path::new(&path)).display().to_string(),
        )),
        Start::Project(_) | Start::First | Start::Help | Start::Version => {}
    }

    if let Some(places) = places {
        studio.enable_autosave(places, recover);
    }
    studio
}

/// What is missing, and how to get it, on one line.
fn advice(error: &eframe::Error) -> String {
    let message = error.to_string().replace('\n', " ");
    let lower = message.to_lowercase();
    if matches!(
        error,
        eframe::Error::Winit(_) | eframe::Error::WinitEventLoop(_)
    ) || lower.contains("display")
    {
        // Before the last colon is where the library's source says so.
        let message = message
            .rsplit_once(": ")
            .map_or(&*message, |(_, why)| why)
            .trim_end_matches('.');
        let how = "start it in a desktop session, or set DISPLAY or WAYLAND_DISPLAY";
        return format!("no display to open a window on ({message}); {how}");
    }

    let how = "install a Vulkan driver (Debian and Ubuntu: mesa-vulkan-drivers, which also has one in software)";
    format!("no graphics driver that works ({message}); {how}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Start, String> {
        parse(arguments.iter().map(|text| (*text).to_owned()))
    }

    #[test]
    fn arguments_are_parsed() {
        assert!(matches!(parsed(&[]), Ok(Start::First)));
        assert!(matches!(parsed(&["--version"]), Ok(Start::Version)));
        assert!(matches!(
            parsed(&["work/face.pliant"]),
            Ok(Start::Project(_))
        ));

        assert!(matches!(
            parsed(&["specimen:hound#walk"]),
            Ok(Start::Asset(_))
        ));
        assert!(parsed(&["--fast"]).is_err() && parsed(&["a.obj", "b.obj"]).is_err());
    }
}
