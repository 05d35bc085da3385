//! The first program of a page, which tests of packages run.

use std::fs;

use crate::command::{Error, Workspace};

/// Fails unless the program in the first block of code of a page prints this.
pub(crate) fn check_printed(page: &str, printed: &str, expected: &str) -> Result<(), Error> {
    if printed.trim() == expected {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "{page}: the first program prints `{}`, expected `{expected}`",
            printed.trim()
        )))
    }
}

/// Returns the first block of code in this language of a page.
pub(crate) fn first_block(
    workspace: &Workspace,
    page: &str,
    language: &str,
) -> Result<String, Error> {
    let path = workspace.path(page);
    let text =
        fs::read_to_string(&path).map_err(|error| Error::Failed(format!("{page}: {error}")))?;
    let (_, rest) = text
        .split_once(&format!("```{language}\n"))
        .ok_or_else(|| Error::Failed(format!("{page}: no block of {language}")))?;
    Ok(rest.split("```").next().unwrap_or(rest).to_owned())
}
