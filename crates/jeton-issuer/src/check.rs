//! Checks that every record can be read.

use jeton_store::{Entry, Prefix, Store};

use crate::audit::AuditEntry;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::record::{self, IssuerRecord, SealedKey};
use crate::revocation::{RuleRecord, Stamp};

/// Reads every record of a store and returns their number. Does not decrypt private keys.
///
/// # Errors
///
/// [`Error::Record`] with the first record that is damaged or unknown, [`Error::NewerRecord`],
/// [`Error::Store`].
pub async fn check_records(store: &dyn Store) -> Result<u64> {
    let mut records = 0;
    let mut pages = store.scan(&Prefix::all()).await?;
    while let Some(page) = pages.next().await? {
        for entry in &page {
            check(entry)?;
            records += 1;
        }
    }
    Ok(records)
}

fn check(entry: &Entry) -> Result<()> {
    let parts: Vec<String> = entry.key.parts().collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["i", _] => IssuerRecord::read(entry).map(drop),
        ["k", _, "_set"] => record::read::<Keyring>(entry).map(drop),
        ["k", _, named] if record::kid_of(named).is_some() => {
            record::read::<SealedKey>(entry).map(drop)
        }
        ["r" | "u", _, _, _] => record::read::<i64>(entry).map(drop),
        ["rule", _, _, _] => record::read::<RuleRecord>(entry).map(drop),
        ["c", "rules"] => record::read::<Stamp>(entry).map(drop),
        ["a", "_head"] => record::check_schema(&entry.key, &entry.value).map(drop),
        ["a", _] => record::read::<AuditEntry>(entry).map(drop),
        _ => Err(Error::Record(entry.key.to_string())),
    }
}
