//! The commands `completions` and `man` of both programs: files that packages install with them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::{Failure, Outcome};
use crate::output;

/// Print a shell completion script
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell that reads the script
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Print the manual page, or write all manual pages
#[derive(Debug, Args)]
pub struct Man {
    /// Write one page for each command to this folder [default: the main page, to standard output]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Completions {
    /// Prints the script of this program.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn run(self, mut command: Command) -> Outcome {
        let mut script = Vec::new();
        let name = command.get_name().to_owned();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        output::payload(&script)
    }
}

impl Man {
    /// Prints or writes the pages of this program.
    ///
    /// # Errors
    /// If standard output or a file cannot be written.
    pub fn run(self, command: Command) -> Outcome {
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
