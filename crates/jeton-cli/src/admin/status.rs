//! `jeton admin status`.

use clap::Args;
use jeton_store::block_on;
use serde::Serialize;

use super::display;
use super::folder::{AdminArgs, failure};
use crate::exit::Outcome;
use crate::output;

/// Show the state of the data folder
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin status
  jeton admin status --data /var/lib/jeton --json | jq .is_ready")]
pub(super) struct Status {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    folder: AdminArgs,
}

#[derive(Serialize)]
struct StatusJson<'s> {
    is_ready: bool,
    fault: Option<&'s str>,
    warning: Option<&'s str>,
    issuers: &'s [String],
    revoked_tokens: usize,
    rules: usize,
    revision: u64,
    oldest_revision: u64,
    engine: &'static str,
    bytes: Option<u64>,
    key_encryption_keys: &'s [String],
}

impl Status {
    pub(super) fn run(self) -> Outcome {
        let opened = self.folder.open()?;
        let node = opened.node.status();
        let store =
            block_on(opened.folder.store().status()).map_err(|error| failure(error.into()))?;
        let sealed_under = opened.folder.sealed_under().map_err(failure)?;
        let status = StatusJson {
            is_ready: node.is_ready,
            fault: node.fault.as_deref(),
            warning: node.warning.as_deref(),
            issuers: &node.issuers,
            revoked_tokens: node.revocations,
            rules: node.rules,
            revision: store.revision.number(),
            oldest_revision: store.oldest.number(),
            engine: store.engine,
            bytes: store.bytes,
            key_encryption_keys: &sealed_under,
        };
        if self.json {
            return output::json(&status);
        }
        output::text(&status.lines())
    }
}

impl StatusJson<'_> {
    fn lines(&self) -> String {
        let ready = match (self.is_ready, self.fault, self.issuers) {
            (true, ..) => "yes".to_owned(),
            (false, Some(fault), _) => format!("no: {fault}"),
            (false, None, []) => "no: there is no issuer".to_owned(),
            (false, None, _) => "no: a profile has no key".to_owned(),
        };
        let bytes = self.bytes.map_or("?".to_owned(), |bytes| bytes.to_string());
        let rows = [
            ("ready", ready),
            ("issuers", self.issuers.len().to_string()),
            ("revoked tokens", self.revoked_tokens.to_string()),
            ("other revocations", self.rules.to_string()),
            ("store", format!("{}, {bytes} bytes", self.engine)),
            ("revision", self.revision.to_string()),
            ("encrypted under", self.key_encryption_keys.join(", ")),
        ];
        let mut rows = rows.map(|(name, value)| [name.to_owned(), value]).to_vec();
        if let Some(warning) = self.warning {
            rows.insert(1, ["warning".to_owned(), warning.to_owned()]);
        }
        display::table(&rows)
    }
}
