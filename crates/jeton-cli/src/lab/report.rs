//! `jeton lab report`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab::report::html;
use jeton_lab::result;

use super::{sentence, terminal};

/// Show a result file again, on the terminal or as a page
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab report jeton-lab/results.json
  jeton lab report jeton-lab/results.json --html > report.html")]
pub(super) struct Report {
    /// A results.json that `jeton lab run` wrote
    file: PathBuf,

    /// The page on standard output, instead of the tables
    #[arg(long)]
    html: bool,

    /// Let advice be drawn from a run that other work disturbed
    #[arg(long)]
    allow_noisy: bool,
}

impl Report {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let result = result::read(&self.file).map_err(sentence)?;
        let text = if self.html {
            html::page(&result)
        } else {
            terminal::show(&result, terminal::columns(), self.allow_noisy)
        };
        // A page is no terminal's business: nothing may be taken out of it.
        let written = if self.html {
            std::io::stdout().write_all(text.as_bytes())
        } else {
            anstream::stdout().write_all(text.as_bytes())
        };
        match written {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(format!("cannot write to standard output: {e}"))
            }
            _ => Ok(ExitCode::SUCCESS),
        }
    }
}
