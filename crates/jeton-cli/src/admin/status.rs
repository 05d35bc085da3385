//! `jeton admin status`.

use clap::Args;
use jeton_issuer::Cause;

use super::display;
use super::target::TargetArgs;
use super::view::StatusView;
use crate::exit::Outcome;
use crate::output;

/// Show the state of a store or a running server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin status
  jeton admin status --data /var/lib/jeton --json | jq .is_ready
  jeton admin status --server http://127.0.0.1:8421")]
pub(super) struct Status {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,
}

impl Status {
    pub(super) fn run(self) -> Outcome {
        let status = self.target.open()?.status()?;
        if self.json {
            return output::json(&status);
        }
        output::text(&lines(&status))
    }
}

fn lines(status: &StatusView) -> String {
    let mut causes = Cause::ALL.into_iter();
    let cause = causes.find(|cause| status.cause.as_deref() == Some(cause.name()));
    let reason = match (&status.fault, cause, status.issuers.as_slice()) {
        (Some(fault), ..) => fault,
        (None, Some(cause), _) => cause.sentence(),
        // A server of an older version names no cause.
        (None, None, []) => Cause::NoIssuer.sentence(),
        (None, None, _) => Cause::NoKey.sentence(),
    };
    let ready = match (status.is_ready, status.can_revoke) {
        (true, true) => "yes".to_owned(),
        (true, false) => format!("yes, but revoking fails: {reason}"),
        (false, _) => format!("no: {reason}"),
    };
    let bytes = status
        .bytes
        .map_or("?".to_owned(), |bytes| bytes.to_string());
    let store = match status.engine.as_str() {
        "" => "unknown, because it does not answer".to_owned(),
        engine => format!("{engine}, {bytes} bytes"),
    };
    let rows = [
        ("ready", ready),
        ("issuers", status.issuers.len().to_string()),
        ("revoked tokens", status.revoked_tokens.to_string()),
        ("other revocations", status.rules.to_string()),
        ("audit log entries", status.audit_entries.to_string()),
        ("store", store),
        ("revision", status.revision.to_string()),
        ("encrypted under", status.key_encryption_keys.join(", ")),
    ];
    let mut rows = rows.map(|(name, value)| [name.to_owned(), value]).to_vec();
    if let Some(version) = &status.version {
        rows.push(["version".to_owned(), version.clone()]);
    }
    if let Some(since) = status.cause_since {
        rows.insert(1, ["since".to_owned(), display::moment(since)]);
    }
    if let Some(warning) = &status.warning {
        rows.insert(1, ["warning".to_owned(), warning.clone()]);
    }
    display::table(&rows)
}
