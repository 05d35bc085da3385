//! What a verb that measures leaves: the result, its page, and what it shows of them.

use std::io::Write;
use std::path::PathBuf;

use jeton_lab::report::html;
use jeton_lab::result::{FileError, OutDir, PAGE, RunResult};

use super::terminal;
use crate::output;

/// Writes the result and its page, and shows the tables, or with `json` the result itself.
///
/// Whatever cannot be written, the tables are shown, and the result is kept somewhere: minutes or hours
/// of measuring are not lost because a disk is full.
pub(super) fn leave(out: &OutDir, result: &RunResult, json: bool) -> Result<(), String> {
    let file = written(out, result);
    let page = file
        .as_ref()
        .ok()
        .map(|_| out.write(PAGE, html::page(result).as_bytes()));
    let stdout = &mut anstream::stdout().lock();
    let shown = match json {
        true => serde_json::to_writer_pretty(&mut *stdout, result)
            .map_err(std::io::Error::from)
            .and_then(|()| writeln!(stdout)),
        false => write!(stdout, "{}", terminal::show(result, terminal::columns())),
    };
    let shown = shown.and_then(|()| match (&file, &page) {
        (Ok(file), Some(Ok(page))) if !json => {
            writeln!(stdout, "\n{}\n{}", file.display(), page.display())
        }
        _ => Ok(()),
    });
    // A reader that closed the pipe has seen what it wanted; the files are there.
    drop(shown);
    match (file, page) {
        (Err(why), _) => Err(kept_elsewhere(result, &why)),
        (Ok(file), Some(Err(why))) => Err(format!(
            "{why}; the result is in {}, and `jeton lab report --html` draws its page",
            file.display()
        )),
        (Ok(_), _) => Ok(()),
    }
}

fn written(out: &OutDir, result: &RunResult) -> Result<PathBuf, FileError> {
    if let Some(aside) = out.make_room(&result.command)? {
        output::note(format_args!(
            "the result that was there is another verb's: it is now {}",
            aside.display()
        ));
    }
    out.write_result(result)
}

fn kept_elsewhere(result: &RunResult, why: &FileError) -> String {
    let elsewhere = OutDir::temporary().and_then(|folder| folder.write_result(result));
    match elsewhere {
        Ok(path) => format!("{why}; the result is in {}", path.display()),
        Err(also) => format!("{why}, and {also}: what was shown is all that is left of it"),
    }
}
