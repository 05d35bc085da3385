//! `jeton admin page`.

use clap::Args;

use super::target::{ReadArgs, Source};
use crate::exit::{Failure, Outcome};
use crate::output;

/// Print a link that opens the page of a running server in a browser
///
/// The page is at the address of the admin listener. It has the facts of `jeton admin status`, the calls of each
/// client, and the issuers with their keys. It only shows. The link opens it once, within a minute; then the browser sees it for 30 minutes, or until
/// the server reloads its configuration. A browser with the certificate of an administrator needs no link.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin page --server http://127.0.0.1:8421
  jeton admin page --context production")]
pub(super) struct Page {
    #[command(flatten)]
    source: ReadArgs,
}

impl Page {
    pub(super) fn run(self) -> Outcome {
        match self.source.open()? {
            Source::Server(remote) => output::line(&remote.page_link()?),
            Source::Store(place) => {
                // Another error explains more: the folder is wrong, or a server uses it.
                drop(place.open()?);
                Err(Failure::error("a store has no page: a server shows it")
                    .hint("to name the admin listener of a running server, add `--server URL`"))
            }
        }
    }
}
