//! `pliant completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Failure};

/// Shell completions, to be sourced: `pliant completions bash > ~/.local/share/bash-completion/completions/pliant`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pliant", &mut script);
    // A reader that has gone away is no error.
    let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), &script);
    Ok(())
}
