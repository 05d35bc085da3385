//! The studies: they are in a crate of their own, which is built only when one of them is called.

use std::process::ExitCode;

use crate::command::{Error, Workspace};

/// Builds `studies/` and runs one study with the options of the task. Its exit code is that of the task.
pub(crate) fn run(
    workspace: &Workspace,
    study: &str,
    options: &[String],
) -> Result<ExitCode, Error> {
    let mut cargo = workspace.cargo(&["run", "--locked", "--quiet", "--package", "jeton-studies"]);
    let status = cargo.arg("--").arg(study).args(options).status();
    let status =
        status.map_err(|error| Error::Usage(format!("`cargo run` did not start: {error}")))?;
    // The study has said why it failed.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
