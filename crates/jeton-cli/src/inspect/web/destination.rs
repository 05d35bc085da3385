//! Writes the page. It contains a token, so only its owner can read it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Page, Token};
use crate::exit::{Failure, Outcome};
use crate::{output, private_file};

/// The arguments for the page.
#[derive(Debug, Args)]
pub(in crate::inspect) struct Web {
    /// Write an HTML page to a new file, readable only by its owner, and print the name of the file
    #[arg(long, conflicts_with = "json")]
    web: bool,

    /// File for the page (- for standard output) [default: a file in the temporary folder]
    #[arg(short, long, value_name = "FILE", requires = "web")]
    output: Option<PathBuf>,
}

impl Web {
    pub(in crate::inspect) fn is_wanted(&self) -> bool {
        self.web
    }

    /// Writes the page, prints the name of the file, and notes what to do with it.
    pub(in crate::inspect) fn write(&self, page: &Page<'_>) -> Outcome {
        let html = page.html();
        match self.output.as_deref() {
            Some(path) if path == Path::new("-") => output::text(&html)?,
            Some(path) => {
                private_file::create(path, html.as_bytes(), "pages are never overwritten")?;
                name(path)?;
            }
            None => name(&temporary(html.as_bytes())?)?,
        }
        output::note(match page.token {
            Token::Shown(_) => {
                "open the page in a browser; it contains the token, so delete it after use"
            }
            Token::Withheld => "open the page in a browser; it does not contain the token",
            Token::Key => "open the page in a browser; it does not contain the key",
        });
        Ok(())
    }
}

/// Prints the name of the file byte by byte, because it may not be UTF-8.
fn name(path: &Path) -> Outcome {
    output::payload(&[path.as_os_str().as_encoded_bytes(), b"\n"].concat())
}

/// Creates a file in the temporary folder, which other users can list.
fn temporary(bytes: &[u8]) -> Outcome<PathBuf> {
    let write = || {
        let mut file = tempfile::Builder::new()
            .prefix("jeton-inspect-")
            .suffix(".html")
            .rand_bytes(16)
            .tempfile()?;
        file.write_all(bytes)?;
        let (_, path) = file.keep()?;
        Ok(path)
    };
    write().map_err(|error: std::io::Error| {
        Failure::error(format!("cannot write to the temporary folder: {error}"))
            .hint("to set the file for the page, add `-o FILE`")
    })
}
