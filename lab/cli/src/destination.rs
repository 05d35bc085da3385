//! The option `-o`: writes output to a file or to standard output.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use jeton_lab_model::result::{PAGE, write_whole};

use crate::output;

/// A file, or standard output.
#[derive(Debug, Args)]
pub(super) struct Destination {
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Destination {
    /// Writes exactly this text. Fails if the destination is one of the input files `sources`.
    pub(super) fn text(&self, text: &str, sources: &[&PathBuf]) -> Result<ExitCode, String> {
        match self.file() {
            Some(path) => whole(path, text, sources),
            None => output::text(text)
                .map(|()| ExitCode::SUCCESS)
                .map_err(|failure| failure.with_hint()),
        }
    }

    /// Writes a page, on a terminal to the file `report.html`: nobody reads markup there.
    pub(super) fn page(&self, text: &str, sources: &[&PathBuf]) -> Result<ExitCode, String> {
        if self.output.is_some() || !std::io::stdout().is_terminal() {
            return self.text(text, sources);
        }
        let done = whole(Path::new(PAGE), text, sources)?;
        written(writeln!(anstream::stdout(), "{PAGE}")).map(|_| done)
    }

    /// Writes styled text; a file gets it without styles.
    pub(super) fn styled(&self, text: &str, sources: &[&PathBuf]) -> Result<ExitCode, String> {
        match self.file() {
            Some(path) => whole(
                path,
                &anstream::adapter::strip_str(text).to_string(),
                sources,
            ),
            None => written(anstream::stdout().write_all(text.as_bytes())),
        }
    }

    fn file(&self) -> Option<&Path> {
        let path = self.output.as_deref();
        path.filter(|path| *path != Path::new("-"))
    }
}

fn whole(path: &Path, text: &str, sources: &[&PathBuf]) -> Result<ExitCode, String> {
    let real = |path: &Path| path.canonicalize().ok();
    let own = |source: &&&PathBuf| real(path).is_some() && real(path) == real(source);
    if let Some(source) = sources.iter().find(own) {
        return Err(format!(
            "-o {} would overwrite an input file; choose another file",
            source.display()
        ));
    }
    write_whole(path, text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Treats a closed pipe as success: the reader stopped reading.
pub(super) fn written(done: std::io::Result<()>) -> Result<ExitCode, String> {
    match done {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {e}"))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}
