//! `pliant completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::console::print;
use super::{Cli, Failure};

const EXAMPLES: &str = "\
Examples:
  pliant completions bash > ~/.local/share/bash-completion/completions/pliant
  pliant completions zsh > ~/.zfunc/_pliant           with ~/.zfunc in $fpath
  pliant completions fish > ~/.config/fish/completions/pliant.fish";

/// Prints what a shell needs to complete commands and options.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Which shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pliant", &mut script);
    print(&String::from_utf8_lossy(&script))
}
