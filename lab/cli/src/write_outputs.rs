//! Writes the result file and the HTML page, and prints the tables.

use std::io::Write;
use std::path::PathBuf;

use jeton_lab_model::result::{OutDir, PAGE, RunResult};
use jeton_lab_report::{html, terminal};

use crate::{output, width};

/// Writes the result and its page, and prints the tables, or the result itself with `json`.
///
/// If a file cannot be written, the tables are still printed and the result goes to a temporary folder:
/// a full disk must not lose hours of measuring.
pub(super) fn write_outputs(out: &OutDir, result: &RunResult, json: bool) -> Result<(), String> {
    let file = written(out, result);
    let page = file
        .as_ref()
        .ok()
        .map(|_| out.write(PAGE, html::page(result).as_bytes()));
    let stdout = &mut anstream::stdout().lock();
    let shown = if json {
        serde_json::to_writer_pretty(&mut *stdout, result)
            .map_err(std::io::Error::from)
            .and_then(|()| writeln!(stdout))
    } else {
        write!(stdout, "{}", terminal::show(result, width::columns()))
    };
    let shown = shown.and_then(|()| match (&file, &page) {
        (Ok(file), Some(Ok(page))) if !json => {
            writeln!(stdout, "\n{}\n{}", file.display(), page.display())
        }
        _ => Ok(()),
    });
    // A closed pipe is no error: the files are written.
    drop(shown);
    match (file, page) {
        (Err(why), _) => Err(kept_elsewhere(result, &why)),
        (Ok(file), Some(Err(why))) => Err(format!(
            "{why}; the result is in {}; create the page with `jeton-lab report --html`",
            file.display()
        )),
        (Ok(_), _) => Ok(()),
    }
}

fn written(out: &OutDir, result: &RunResult) -> Result<PathBuf, String> {
    if let Some(aside) = out.make_room(&result.command)? {
        output::note(format_args!(
            "moved the result of another lab command to {}",
            aside.display()
        ));
    }
    out.write_result(result)
}

fn kept_elsewhere(result: &RunResult, why: &str) -> String {
    let elsewhere = OutDir::temporary().and_then(|folder| folder.write_result(result));
    match elsewhere {
        Ok(path) => format!("{why}; the result is in {}", path.display()),
        Err(also) => format!("{why}, and {also}: the result is not saved"),
    }
}
