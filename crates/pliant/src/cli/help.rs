//! The help page of the program, with its commands in groups.

use clap::Command;

/// Commands by what a person wants to do.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Start here", &["demo", "studio"]),
    (
        "Pose and touch a character",
        &[
            "pose", "sketch", "invert", "play", "listen", "touch", "mirror", "split", "rename",
        ],
    ),
    (
        "Make new shapes and animations",
        &["blend", "transfer", "markers", "shapes"],
    ),
    (
        "Learn from examples",
        &["register", "learn", "validate", "drive", "bones"],
    ),
    (
        "Look, measure and convert",
        &[
            "info",
            "pick",
            "render",
            "convert",
            "repair",
            "bake",
            "geodesic",
            "flexibility",
        ],
    ),
    ("Work on several machines", &["job", "join"]),
    (
        "More",
        &["reproduce", "schema", "completions", "man", "help"],
    ),
];

/// Columns of the narrowest usual terminal. Help pages are not wider in any terminal, so that
/// options and examples line up.
pub(crate) const MAX_WIDTH: usize = 80;
/// Widest written line; terminals break a line that fills the last column.
const WIDTH: usize = MAX_WIDTH - 1;
/// Column at which the descriptions of commands begin.
const INDENT: usize = 15;

/// Text below the options of `pliant --help`.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  # Every capability on built-in models, as one page
  pliant demo

  # The content of a file, and warnings about it
  pliant info head.obj

  # Drag a vertex of a face; the sliders follow
  pliant pose head.glb --pin 88:0,-1,0 --out posed.obj

  # Shapes between two shapes, without shrinking
  pliant blend straight.obj bent.obj --out bend.glb

  # The walk of one animal on another
  pliant transfer --source walk.glb --target camel.obj \\
      --markers pairs.json --out camel.glb

  # A model from poses, driven by a few points
  pliant learn horse.toml --out horse.safetensors
  pliant drive horse.safetensors --points p.npy --out run.glb

  `pliant COMMAND --help` shows examples of each command.

An ASSET is
  FILE                     a mesh, rig or clip in any format that can be read
  FILE#NAME                one mesh or clip of a file
  ASSET@N                  frame N of a clip, counted from 0, as a mesh
  specimen:NAME            a built-in model: head, hand, hound, tapir, bar
  NEUTRAL.obj+DELTAS.npy   a rig: targets x vertices x 3, target minus neutral
  BASE.obj+FOLDER          a rig: a folder of MakeHuman .target files
  FOLDER                   a rig: OBJ files, one of them neutral.obj
  NAME.reference.obj+NAME.frames.npy
                           a clip: frames x vertices x 3
  MESH+CACHE.mdd (.pc2)    a clip: a point cache

Vertices are counted from 0 in the order of the file. glTF splits vertices at
UV seams; here they are counted as welded.

Exit codes: 0 done; 1 failed, with one line on stderr; 2 wrong usage; 70 a
defect of pliant, with one line that says where to report it; 130 stopped by
Ctrl-C or SIGTERM, so that a scheduler may try again.";

/// The command with a help page that lists its subcommands in groups.
pub(crate) fn with_groups(command: Command) -> Command {
    let mut groups = String::new();
    for (title, names) in GROUPS {
        groups += &format!("{title}:\n");
        for name in names {
            groups += &entry(&command, name);
        }
        groups.push('\n');
    }

    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

/// One command with its description.
fn entry(command: &Command, name: &str) -> String {
    let about = match command.find_subcommand(name).and_then(Command::get_about) {
        Some(about) => about.to_string(),
        // Clap adds this command when it parses.
        None => "Prints this page, or the help page of a command".to_owned(),
    };

    // Clap wraps the texts of options, but not what a template contains.
    let mut text = String::new();
    let mut line = format!("  {name:<width$}", width = INDENT - 2);
    for (k, word) in about.split_whitespace().enumerate() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            text += &format!("{line}\n");
            line = " ".repeat(INDENT);
        } else if k > 0 {
            line.push(' ');
        }
        line += word;
    }
    format!("{text}{line}\n")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        grouped.sort_unstable();

        let command = Cli::command();
        let mut existing: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        existing.push("help");
        existing.sort_unstable();
        assert_eq!(grouped, existing);
    }

    #[test]
    fn no_line_of_written_help_is_wider_than_a_terminal() {
        let command = with_groups(Cli::command());
        let mut pages = vec![&command];
        while let Some(page) = pages.pop() {
            let text = page.get_after_help().map(ToString::to_string);
            for line in text.unwrap_or_default().lines() {
                assert!(line.chars().count() <= WIDTH, "{}: {line}", page.get_name());
            }
            pages.extend(page.get_subcommands());
        }
    }
}
