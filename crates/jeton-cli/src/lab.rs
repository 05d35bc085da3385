//! `jeton lab`: runs the program `jeton-lab`.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;

#[cfg(not(unix))]
use crate::exit;
use crate::exit::Failure;
use crate::output;

const PROGRAM: &str = if cfg!(windows) {
    "jeton-lab.exe"
} else {
    "jeton-lab"
};

/// Measure and compare token formats, algorithms and libraries: runs `jeton-lab`
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Lab {
    /// Arguments of `jeton-lab`
    #[arg(
        value_name = "ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    arguments: Vec<OsString>,
}

impl Lab {
    pub(crate) fn run(self) -> ExitCode {
        let Some(program) = program() else {
            return output::report(Err(Failure::error(
                "the program jeton-lab is not installed",
            )
            .hint("in a checkout of jeton: cargo install --path lab/cli")));
        };
        match run(Command::new(&program).args(self.arguments)) {
            Ok(code) => code,
            Err(error) => output::report(Err(Failure::error(format!(
                "cannot start {}: {error}",
                program.display()
            )))),
        }
    }
}

/// The program beside this one, or on PATH.
fn program() -> Option<PathBuf> {
    let beside = env::current_exe()
        .ok()
        .map(|own| own.with_file_name(PROGRAM));
    let on_path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&on_path).map(|folder| folder.join(PROGRAM));
    beside
        .into_iter()
        .chain(on_path)
        .find(|program| program.is_file())
}

/// Replaces this process.
#[cfg(unix)]
fn run(command: &mut Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

/// Waits for the program, and ends with its exit code.
#[cfg(not(unix))]
fn run(command: &mut Command) -> std::io::Result<ExitCode> {
    let status = command.status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or_else(exit::error_code, ExitCode::from))
}
