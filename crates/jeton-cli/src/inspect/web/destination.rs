//! Where the page goes. It holds a token, so only its owner can read it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Page, Token};
use crate::exit::{Failure, Outcome};
use crate::{output, private_file};

/// Whether a page is wanted, and where.
#[derive(Debug, Args)]
pub(in crate::inspect) struct Web {
    /// Write a page for a browser, to a new file that only its owner can read, and print that file's name
    #[arg(long, conflicts_with = "json")]
    web: bool,

    /// The page's file, instead of one in the system's temporary folder; - is standard output
    #[arg(short, long, value_name = "FILE", requires = "web")]
    output: Option<PathBuf>,
}

impl Web {
    pub(in crate::inspect) fn is_wanted(&self) -> bool {
        self.web
    }

    /// Writes the page, and says where it is and what to do with it.
    pub(in crate::inspect) fn write(&self, page: &Page<'_>) -> Outcome {
        let html = page.html();
        match self.output.as_deref() {
            Some(path) if path == Path::new("-") => output::text(&html)?,
            Some(path) => {
                private_file::create(path, html.as_bytes(), "a page is written over nothing")?;
                name(path)?;
            }
            None => name(&temporary(html.as_bytes())?)?,
        }
        output::note(match page.token {
            Token::Shown(_) => {
                "the page holds the token: open it in a browser, and delete it afterwards"
            }
            Token::Withheld => "the page does not hold the token: open it in a browser",
            Token::Key => "the page does not hold the key: open it in a browser",
        });
        Ok(())
    }
}

/// The name as it is, also if it is not text.
fn name(path: &Path) -> Outcome {
    output::payload(&[path.as_os_str().as_encoded_bytes(), b"\n"].concat())
}

/// A new file in the system's temporary folder, which others can look into.
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
            .hint("name the page's file: -o FILE")
    })
}
