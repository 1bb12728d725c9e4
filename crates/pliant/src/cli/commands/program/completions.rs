//! `pliant completions`: scripts that complete commands and options in a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::cli::report::console::print;
use crate::cli::report::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  # Bash
  pliant completions bash \\
      > ~/.local/share/bash-completion/completions/pliant

  # Zsh, with ~/.zfunc in $fpath
  pliant completions zsh > ~/.zfunc/_pliant

  # Fish
  pliant completions fish > ~/.config/fish/completions/pliant.fish";

/// Prints a script that completes commands and options in a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pliant", &mut script);
    print(&String::from_utf8_lossy(&script))
}
