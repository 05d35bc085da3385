//! `jeton admin verify`.

use clap::Args;
use jeton_issuer::{Error, audit_last_hash, check_records, verify_audit};
use jeton_store::{Error as StoreError, block_on};
use serde::Serialize;

use super::folder::Place;
use super::target::{ReadArgs, Source};
use super::view::StoreView;
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::verification_output;

/// Verify every page, every record and the audit log
///
/// Exit codes: 0 valid; 1 damaged, with the problem on standard error; 2 the folder could not be read.
///
/// Each entry of the audit log contains the hash of the previous entry. This detects a changed, removed or added
/// entry, unless all later entries were rewritten. To detect that too, compare the last hash with a copy that is
/// stored elsewhere.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin verify
  jeton admin verify --json | jq -r .last_hash
  jeton admin verify --server http://127.0.0.1:8421

For a running server and for etcd, the command checks the records and the audit log. They have no pages to check.")]
pub(super) struct Verify {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: ReadArgs,
}

#[derive(Serialize)]
struct Valid {
    valid: bool,
    records: u64,
    audit_entries: u64,
    /// SHA-256 of the last entry.
    last_hash: Option<String>,
}

impl Verify {
    pub(super) fn run(self) -> Outcome {
        let result = self.verify();
        let valid = if self.json {
            verification_output::print_rejection(result, &[])?
        } else {
            result?
        };
        if self.json {
            return output::json(&valid);
        }
        output::line(&format!(
            "valid: {} records, {} audit log entries",
            valid.records, valid.audit_entries
        ))
    }

    fn verify(&self) -> Outcome<Valid> {
        let found = match self.source.open()? {
            Source::Store(place) => verify(&place)?,
            Source::Server(remote) => remote.check()?,
        };
        Ok(Valid {
            valid: true,
            records: found.records,
            audit_entries: found.audit_entries,
            last_hash: found.last_hash,
        })
    }
}

fn verify(place: &Place) -> Outcome<StoreView> {
    let found = |error| found(place, error);
    let opened = place.verify()?.map_err(found)?;
    let store = opened.store();
    Ok(StoreView {
        records: block_on(check_records(&*store)).map_err(found)?,
        audit_entries: block_on(verify_audit(&*store)).map_err(found)?,
        last_hash: block_on(audit_last_hash(&*store)).map_err(found)?,
    })
}

/// Returns a rejection for damage, and an error for a folder that cannot be read.
pub(super) fn found(place: &Place, error: Error) -> Failure {
    match error {
        Error::Audit(_)
        | Error::AuditExport(_)
        | Error::Record(_)
        | Error::Store(StoreError::Damaged(_)) => Failure::rejected(error.to_string()),
        other => place.failure(other),
    }
}
