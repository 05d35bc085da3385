//! Backups: every entry of a store at one revision, as lines of JSON. The last line has the number of
//! entries and their hash. The format is the same for every engine.
//!
//! Private keys stay encrypted. A backup does not contain the key-encryption key and is useless without it.

use std::io::{self, BufRead, Read as _, Write};
use std::path::Path;

use aws_lc_rs::digest;
use jeton_store::{Key, Prefix, RedbStore, Revision, Store, Txn, block_on, limits as store_limits};
use serde::{Deserialize, Serialize};

use crate::audit::verify_audit;
use crate::error::{Error, Result};
use crate::hex::hex;
use crate::limits;
use crate::record::{self, is_of_node, rule_counter_key};
use crate::revocation::{Counter, Stamp};

/// The backup version that this code writes.
const VERSION: u64 = 1;

/// Folder in which a restored store is built.
const UNFINISHED: &str = "restoring";

/// Maximum bytes of a line: a fully escaped value, its key, and the surrounding JSON.
const LINE_BYTES_MAX: u64 = 6 * (store_limits::VALUE_BYTES + store_limits::KEY_BYTES) as u64 + 64;

/// Concurrent transactions during a restore, which share flushes.
const AT_ONCE: usize = 64;

/// A summary of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSummary {
    /// The revision of the store.
    pub revision: Revision,
    /// Time of the backup, seconds since 1970.
    pub at: i64,
    /// Number of entries.
    pub entries: u64,
    /// Number of audit entries among them.
    pub audit_entries: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct First {
    jeton_backup: u64,
    revision: u64,
    at: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: String,
    value: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Last {
    entries: u64,
    /// SHA-256 of all previous lines, hexadecimal.
    sha256: String,
}

/// Writes a backup of a store at one revision. `at` is the time, seconds since 1970.
///
/// # Errors
///
/// [`Error::Backup`] if it cannot be written, [`Error::Record`], [`Error::Store`].
pub fn back_up(store: &dyn Store, at: i64, out: &mut dyn Write) -> Result<BackupSummary> {
    let mut out = Hashed::new(out);
    let mut pages = block_on(store.scan(&Prefix::all()))?;
    let mut made = BackupSummary {
        revision: pages.revision(),
        at,
        entries: 0,
        audit_entries: 0,
    };
    out.line(&First {
        jeton_backup: VERSION,
        revision: made.revision.number(),
        at,
    })?;
    while let Some(page) = block_on(pages.next())? {
        // A restored store has no node yet.
        for entry in page.into_iter().filter(|entry| !is_of_node(&entry.key)) {
            let damaged = |_| Error::Record(entry.key.to_string());
            out.line(&Line {
                key: entry.key.as_str().to_owned(),
                value: String::from_utf8(entry.value).map_err(damaged)?,
            })?;
            made.count(&entry.key);
        }
    }
    let sha256 = hex(out.hash.clone().finish().as_ref());
    out.line(&Last {
        entries: made.entries,
        sha256,
    })?;
    out.inner.flush().map_err(|error| unwritable(&error))?;
    Ok(made)
}

/// Restores a backup into a folder without a store. The store appears only after the hash, all records and
/// the audit chain have been verified.
///
/// Changes after the backup are lost: revocations since then must be repeated. `at` is the time, seconds
/// since 1970. The restored store begins a new epoch of the rule counter (see [`Stamp`]). So a repeated
/// rule also rejects tokens of nodes that had seen the lost rule.
///
/// # Errors
///
/// [`Error::Backup`] for a damaged, truncated or newer backup; [`Error::Store`] with
/// [`AlreadyThere`](jeton_store::Error::AlreadyThere), [`Error::Audit`], [`Error::NewerRecord`].
pub fn restore(folder: &Path, input: &mut dyn BufRead, at: i64) -> Result<BackupSummary> {
    if RedbStore::is_in(folder)? {
        return Err(jeton_store::Error::AlreadyThere.into());
    }
    let unfinished = folder.join(UNFINISHED);
    let there = folder.try_exists().map_err(jeton_store::Error::from)?;
    let read = read_into(&unfinished, input, at).and_then(|read| {
        RedbStore::move_in(&unfinished, folder)?;
        Ok(read)
    });
    // Removes the unfinished store in every case.
    if !matches!(read, Err(Error::Store(jeton_store::Error::InUse))) {
        let _ = std::fs::remove_dir_all(&unfinished);
        if read.is_err() && !there {
            let _ = std::fs::remove_dir(folder);
        }
    }
    read
}

fn read_into(folder: &Path, input: &mut dyn BufRead, at: i64) -> Result<BackupSummary> {
    if RedbStore::is_in(folder)? {
        // Left by a killed process. Another process that has it open would cause InUse.
        drop(RedbStore::open(folder)?);
        std::fs::remove_dir_all(folder).map_err(jeton_store::Error::from)?;
    }
    let mut lines = Lines::new(input);
    let first: First = lines.next()?;
    if first.jeton_backup > VERSION {
        return Err(Error::Backup(format!(
            "has version {}, and this version of jeton reads up to {VERSION}: use a newer jeton",
            first.jeton_backup
        )));
    }
    let mut read = BackupSummary {
        revision: Revision::from_number(first.revision),
        at: first.at,
        entries: 0,
        audit_entries: 0,
    };
    let store = RedbStore::open(folder)?;
    loop {
        let mut waiting = Vec::new();
        let mut last = None;
        while waiting.len() < AT_ONCE && last.is_none() {
            let (txn, ended) = lines.txn(&mut read)?;
            if !txn.operations().is_empty() {
                waiting.push(store.commit(txn));
            }
            last = ended;
        }
        for pending in waiting {
            block_on(pending)?;
        }
        if let Some((last, sha256)) = last {
            lines.end()?;
            if last.entries != read.entries || last.sha256 != sha256 {
                return Err(Error::Backup(
                    "is damaged: the last line does not match the lines before it".to_owned(),
                ));
            }
            break;
        }
    }
    block_on(verify_audit(&store))?;
    begin_epoch(&store, at)?;
    Ok(read)
}

fn begin_epoch(store: &RedbStore, at: i64) -> Result<()> {
    let key = rule_counter_key()?;
    let found = block_on(store.read(std::slice::from_ref(&key)))?;
    let counter = found.entries[0].as_ref().map(record::read::<Counter>);
    let counter = counter.transpose()?.unwrap_or_default();
    let counter = counter.new_epoch(at, Stamp::default());
    block_on(store.commit(Txn::new().put(key, record::write(&counter))))?;
    Ok(())
}

impl BackupSummary {
    fn count(&mut self, key: &Key) {
        self.entries += 1;
        let mut parts = key.parts();
        let is_audit = parts.next().is_some_and(|part| part == "a");
        self.audit_entries +=
            u64::from(is_audit && parts.next().is_some_and(|part| !part.starts_with('_')));
    }
}

/// A writer that hashes its output.
struct Hashed<'o> {
    inner: &'o mut dyn Write,
    hash: digest::Context,
}

impl<'o> Hashed<'o> {
    fn new(inner: &'o mut dyn Write) -> Hashed<'o> {
        Hashed {
            inner,
            hash: digest::Context::new(&digest::SHA256),
        }
    }

    fn line(&mut self, line: &impl Serialize) -> Result<()> {
        let mut bytes = serde_json::to_vec(line).expect("texts and numbers can be written");
        bytes.push(b'\n');
        self.hash.update(&bytes);
        self.inner
            .write_all(&bytes)
            .map_err(|error| unwritable(&error))
    }
}

/// A reader of backup lines.
struct Lines<'i> {
    input: &'i mut dyn BufRead,
    line: Vec<u8>,
    number: u64,
    hash: digest::Context,
}

impl<'i> Lines<'i> {
    fn new(input: &'i mut dyn BufRead) -> Lines<'i> {
        Lines {
            input,
            line: Vec::new(),
            number: 0,
            hash: digest::Context::new(&digest::SHA256),
        }
    }

    /// Reads the entries of one transaction, and the last line with the hash before it, if reached.
    fn txn(&mut self, read: &mut BackupSummary) -> Result<(Txn, Option<(Last, String)>)> {
        let mut txn = Txn::new();
        let mut bytes = 0;
        while txn.operations().len() < limits::REVOCATIONS_PER_TXN
            // Leaves space for the largest entry.
            && bytes < store_limits::TXN_BYTES - store_limits::VALUE_BYTES - store_limits::KEY_BYTES
        {
            let before = hex(self.hash.clone().finish().as_ref());
            self.read()?;
            if let Ok(last) = serde_json::from_slice::<Last>(&self.line) {
                return Ok((txn, Some((last, before))));
            }
            let line: Line = self.parsed()?;
            let key = Key::parse(&line.key).map_err(|_| self.damaged())?;
            record::check_schema(&key, line.value.as_bytes())?;
            bytes += line.key.len() + line.value.len();
            read.count(&key);
            txn = txn.put(key, line.value);
        }
        Ok((txn, None))
    }

    fn next<T: for<'d> Deserialize<'d>>(&mut self) -> Result<T> {
        self.read()?;
        self.parsed()
    }

    fn parsed<T: for<'d> Deserialize<'d>>(&self) -> Result<T> {
        serde_json::from_slice(&self.line).map_err(|_| self.damaged())
    }

    /// Reads the next line, including the line break.
    fn read(&mut self) -> Result<()> {
        self.line.clear();
        self.number += 1;
        let mut bounded = (&mut *self.input).take(LINE_BYTES_MAX);
        bounded
            .read_until(b'\n', &mut self.line)
            .map_err(|error| Error::Backup(format!("cannot be read: {error}")))?;
        if self.line.last() != Some(&b'\n') {
            return Err(match self.line.len() as u64 {
                LINE_BYTES_MAX => self.damaged(),
                _ => Error::Backup(format!("is truncated in line {}", self.number)),
            });
        }
        self.hash.update(&self.line);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let rest = self
            .input
            .fill_buf()
            .map_err(|error| Error::Backup(format!("cannot be read: {error}")))?;
        if rest.is_empty() {
            Ok(())
        } else {
            Err(Error::Backup("continues after its last line".to_owned()))
        }
    }

    fn damaged(&self) -> Error {
        match self.number {
            1 => Error::Backup("is not a jeton backup (bad header)".to_owned()),
            number => Error::Backup(format!("is damaged in line {number}")),
        }
    }
}

fn unwritable(error: &io::Error) -> Error {
    Error::Backup(format!("cannot be written: {error}"))
}
