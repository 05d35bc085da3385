//! `jeton admin verify`.

use clap::Args;
use jeton_issuer::{Error, audit_last_hash, check_records, verify_audit};
use jeton_store::{Error as StoreError, block_on};
use serde::Serialize;

use super::folder::{Folder, failure};
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::verification_output;

/// Look at every page, every record and the audit chain
///
/// Exit code 0: sound; 1: not, and what is wrong; 2: it could not be looked at.
///
/// The audit log is a chain: each entry has the hash of the one before, and the store says which is the
/// last. An entry that was changed, removed or added later is found, unless everything after it was
/// written anew; compare the last hash with one that was noted elsewhere to exclude that too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin verify
  jeton admin verify --json | jq -r .last_hash")]
pub(super) struct Verify {
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    folder: Folder,
}

#[derive(Serialize)]
struct Sound {
    valid: bool,
    records: u64,
    audit_entries: u64,
    /// SHA-256 of the last entry of the chain.
    last_hash: Option<String>,
}

impl Verify {
    pub(super) fn run(self) -> Outcome {
        let looked = self.look();
        let sound = match self.json {
            true => verification_output::print_rejection(looked)?,
            false => looked?,
        };
        if self.json {
            return output::json(&sound);
        }
        output::line(&format!(
            "sound: {} records, {} entries of the audit chain",
            sound.records, sound.audit_entries
        ))
    }

    fn look(&self) -> Outcome<Sound> {
        let folder = self.folder.verify().map_err(found)?;
        let store = folder.store();
        Ok(Sound {
            valid: true,
            records: block_on(check_records(&*store)).map_err(found)?,
            audit_entries: block_on(verify_audit(&*store)).map_err(found)?,
            last_hash: block_on(audit_last_hash(&*store)).map_err(found)?,
        })
    }
}

/// What is wrong with the folder, as against what kept anybody from looking.
fn found(error: Error) -> Failure {
    match error {
        Error::Audit(_) | Error::Record(_) | Error::Store(StoreError::Damaged(_)) => {
            Failure::rejected(error.to_string())
        }
        other => failure(other),
    }
}
