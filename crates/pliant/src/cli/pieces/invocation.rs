//! The command line of a piece, in a form that can be compared and run again.

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command};

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// Its name.
    pub(crate) command: String,
    /// The arguments that were given, options first, in the order of their definition; without those
    /// that name outputs and frames or change no result.
    pub(crate) arguments: Vec<String>,
}

/// Arguments that differ between pieces of one job, or change no result.
const NOT_OF_THE_JOB: [&str; 9] = [
    "confidence",
    "frames",
    "json",
    "out",
    "output",
    "progress",
    "quiet",
    "resume",
    "threads",
];

/// An argument of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenArgument {
    /// The name of its definition.
    pub(crate) id: String,
    /// The option; none for a position.
    pub(crate) long: Option<String>,
    /// Its value; none for a switch.
    pub(crate) value: Option<String>,
}

impl GivenArgument {
    /// All arguments that were given, options first, in the order of their definition.
    pub(crate) fn all(program: &Command, matches: &ArgMatches) -> Vec<Self> {
        let Some((name, matches)) = matches.subcommand() else {
            return Vec::new();
        };
        let mut options = Vec::new();
        let mut positions = Vec::new();
        let command = program.find_subcommand(name);
        for argument in command.into_iter().flat_map(Command::get_arguments) {
            let id = argument.get_id().as_str();
            let is_given = matches!(matches.try_contains_id(id), Ok(true))
                && matches.value_source(id) == Some(ValueSource::CommandLine);
            if !is_given {
                continue;
            }
            let given = |value| Self {
                id: id.to_owned(),
                long: argument.get_long().map(str::to_owned),
                value,
            };
            let list = match argument.get_long() {
                Some(_) => &mut options,
                None => &mut positions,
            };
            if matches!(argument.get_action(), ArgAction::SetTrue) {
                list.push(given(None));
            } else {
                list.extend(texts(matches, id).into_iter().map(|text| given(Some(text))));
            }
        }
        options.extend(positions);
        options
    }

    /// As one word of a command line.
    pub(crate) fn word(&self) -> String {
        match (&self.long, &self.value) {
            (Some(long), Some(value)) => format!("--{long}={value}"),
            (Some(long), None) => format!("--{long}"),
            (None, value) => value.clone().unwrap_or_default(),
        }
    }

    /// Whether it is the same in all pieces of a job and changes the result.
    pub(crate) fn is_of_the_job(&self) -> bool {
        !NOT_OF_THE_JOB.contains(&self.id.as_str())
    }
}

impl Invocation {
    /// The invocation of a command line that was parsed as `matches` of `program`.
    pub(crate) fn of(program: &Command, matches: &ArgMatches) -> Self {
        let mut arguments = GivenArgument::all(program, matches);
        arguments.retain(GivenArgument::is_of_the_job);
        Self {
            command: matches.subcommand_name().unwrap_or_default().to_owned(),
            arguments: arguments.iter().map(GivenArgument::word).collect(),
        }
    }
}

fn texts(matches: &ArgMatches, id: &str) -> Vec<String> {
    let values = matches.try_get_raw(id).ok().flatten();
    values
        .into_iter()
        .flatten()
        .map(|text| text.to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn invocation(words: &str) -> Invocation {
        let matches = Cli::command()
            .try_get_matches_from(words.split(' '))
            .unwrap();
        Invocation::of(&Cli::command(), &matches)
    }

    #[test]
    fn spelling_outputs_and_threads_make_no_other_job() {
        let one = invocation("pliant blend a.obj b.obj --steps 9 --pull 4:1,2,3 --out a.glb");
        let other = invocation(
            "pliant blend --out=b.npy --pull=4:1,2,3 --steps=9 a.obj b.obj --threads 1 --frames 0-3 --json",
        );
        assert_eq!(one, other);
        assert_eq!(
            one.arguments,
            ["--steps=9", "--pull=4:1,2,3", "a.obj", "b.obj"]
        );
        assert_ne!(
            one,
            invocation("pliant blend a.obj b.obj --steps 8 --pull 4:1,2,3 --out a.glb")
        );
    }

    #[test]
    fn an_invocation_parses_to_itself() {
        for words in [
            "pliant blend a.obj b.obj --fix 1,2,3 --self-contact --friction 0.5 --out a.glb",
            "pliant transfer --source w.glb#walk --target t.obj --feet --out a.glb",
            "pliant render a.glb --weights jawOpen=1,smile=-0.5 --size 8x6 --out a.png",
        ] {
            let first = invocation(words);
            let again = format!(
                "pliant {} {} --out x.glb",
                first.command,
                first.arguments.join(" ")
            );
            assert_eq!(invocation(&again), first);
        }
    }
}
