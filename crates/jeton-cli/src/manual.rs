//! `jeton completions` and `jeton man`: files that packages install with the binary.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::{Failure, Outcome};
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton completions bash > ~/.local/share/bash-completion/completions/jeton
  jeton completions zsh > ~/.zfunc/_jeton
  jeton completions fish > ~/.config/fish/completions/jeton.fish")]
pub(crate) struct Completions {
    /// Shell that reads the script
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton man | man -l -
  jeton man --out ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write one page for each command to this folder [default: the main page, to standard output]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Completions {
    pub(crate) fn run(self, mut command: Command) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "jeton", &mut script);
        output::payload(&script)
    }
}

impl Man {
    pub(crate) fn run(self, command: Command) -> Outcome {
        let Some(folder) = self.out else {
            let page = page(command).map_err(|error| unwritable(Path::new("-"), &error))?;
            return output::payload(&page);
        };
        let command = command.mut_subcommands(|command| command.disable_help_subcommand(true));
        fs::create_dir_all(&folder)
            .and_then(|()| clap_mangen::generate_to(command, &folder))
            .map_err(|error| unwritable(&folder, &error))
    }
}

fn page(command: Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::error(format!("cannot write {}: {error}", path.display()))
}
