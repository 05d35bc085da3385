//! `jeton admin audit`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jeton::Timestamp;
use jeton_issuer::{
    AuditEntry, AuditFilter, AuditFolder, AuditPart, AuditPositions, Error, audit_bases,
    audit_last_hash, check_audit, drop_audit, export_audit, read_audit, read_audit_with,
};
use jeton_store::block_on;

use super::display;
use super::failure::failure;
use super::folder::user;
use super::target::{ReadArgs, Source};
use super::verify::found;
use crate::exit::{Failure, Outcome};
use crate::{escape, output, time};

/// Segments that stay in the store.
const KEPT: u32 = 4;

/// Print the audit log, oldest entry first; export it, and verify it
///
/// An entry has a number, a time, the actor, the operation, the issuer, and what changed. It is printed if it meets all
/// conditions that are set. The main chain has the operations on issuers, keys and rules. Each server has a chain of its
/// own for revoked tokens, and checkpoints in the main chain join them. The entries of a chain are linked by hashes:
/// `jeton admin audit verify` verifies them.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  jeton admin audit --last 20
  jeton admin audit --act 'key.*' --issuer https://id.example
  jeton admin audit --since 2026-11-01T00:00:00Z --actor alice
  jeton admin audit --exported /var/backups/jeton/audit --json
  jeton admin audit export /var/backups/jeton/audit --drop

Operations: issuer.create, issuer.set, key.rotate, key.import, key.retire, key.compromised, key.reseal, revoke, \
store.migrate, audit.drop, and those of the service itself: key.tick, key.confirm, key.forward, key.gone, key.late, \
audit.checkpoint."
)]
pub(super) struct Audit {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    print: Print,
}

#[derive(Debug, Subcommand)]
enum Command {
    Export(Export),
    Verify(VerifyLog),
}

#[derive(Debug, Args)]
struct Print {
    /// Only entries of this issuer, by its `iss`
    #[arg(long, value_name = "ISS")]
    issuer: Option<String>,

    /// Only entries of this actor
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,

    /// Only this operation; a * at the end matches any text, as in key.*
    #[arg(long, value_name = "NAME")]
    act: Option<String>,

    /// Only entries about this id, such as a key id
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    about: Option<String>,

    /// Only entries from this time on: RFC 3339 or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    since: Option<Timestamp>,

    /// Only entries up to this time: RFC 3339 or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    until: Option<Timestamp>,

    /// Only entries of this chain: main, or the name of a server's chain
    #[arg(long, value_name = "NAME")]
    chain: Option<String>,

    /// Only entries with a higher number in their chain
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: u64,

    /// Only this many of the newest matching entries
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    last: Option<u32>,

    /// Also read the exported segments in this folder
    #[arg(long, value_name = "DIR")]
    exported: Option<PathBuf>,

    /// Print one JSON object on each line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: ReadArgs,
}

/// Write the segments of the audit log to a folder, and drop them from the store
///
/// Writes a checkpoint, and then every segment that the folder does not have yet: each 4096 entries of a chain, and the
/// rest of a chain whose server has gone for a day. Every file is read back. With --drop, the entries in the folder are
/// then deleted from the store, except the newest segments. Keep the folder: it is a part of the log.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin audit export /var/backups/jeton/audit
  jeton admin audit export /var/backups/jeton/audit --drop --keep 10
  jeton admin audit export audit --drop --server http://127.0.0.1:8421")]
struct Export {
    /// Folder for the files, which is created if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Delete from the store what the folder has
    #[arg(long)]
    drop: bool,

    /// How many of the newest segments stay in the store with --drop [default: 4]
    #[arg(long, value_name = "COUNT", requires = "drop")]
    keep: Option<u32>,

    /// Name in the audit log [default: the name of the user]
    #[arg(long, value_name = "NAME", conflicts_with = "server")]
    actor: Option<String>,

    #[command(flatten)]
    source: ReadArgs,
}

/// Verify the audit log: every chain, the checkpoints, and exported segments
///
/// Exit codes: 0 valid; 1 damaged, with the problem on standard error; 2 the log could not be read.
///
/// With --exported, every entry since the first one must be in the folder or in the store. For a running server, the
/// files and the log in the store are verified each by itself.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin audit verify
  jeton admin audit verify --exported /var/backups/jeton/audit
  jeton admin audit verify --server http://127.0.0.1:8421")]
struct VerifyLog {
    /// Folder with the exported segments
    #[arg(long, value_name = "DIR")]
    exported: Option<PathBuf>,

    #[command(flatten)]
    source: ReadArgs,
}

impl Audit {
    pub(super) fn run(self) -> Outcome {
        match self.command {
            Some(Command::Export(export)) => export.run(),
            Some(Command::Verify(verify)) => verify.run(),
            None => self.print.run(),
        }
    }
}

impl Print {
    fn run(self) -> Outcome {
        let filter = AuditFilter {
            iss: self.issuer,
            actor: self.actor,
            act: self.act,
            about: self.about,
            since: self.since.map(Timestamp::unix_seconds),
            until: self.until.map(Timestamp::unix_seconds),
            chain: self.chain,
            after: self.after,
            last: self.last.map(|last| last as usize),
        };
        let print = |entry: AuditEntry| {
            if self.json {
                json_line(&entry)
            } else {
                output::line(&line(&entry))
            }
        };
        let source = self.source.open()?;
        let mut printed = Ok(());
        let mut each = |entry| {
            printed = print(entry);
            printed.is_ok()
        };
        let read = match self.exported {
            None => read(&source, &filter, &mut each),
            Some(folder) => {
                let folder = existing(&folder, failure)?;
                read_audit_with(&folder, &filter, &mut each, failure, |each| {
                    read(&source, &filter, each)
                })
            }
        };
        printed?;
        read
    }
}

fn read(
    source: &Source,
    filter: &AuditFilter,
    each: &mut (dyn FnMut(AuditEntry) -> bool + Send),
) -> Outcome {
    match source {
        Source::Server(remote) => {
            let mut goes_on = true;
            let read = remote.audit(filter.clone(), &mut |entry| {
                goes_on = each(entry);
                // The caller knows why.
                if goes_on {
                    Ok(())
                } else {
                    Err(Failure::error("stopped"))
                }
            });
            if goes_on { read } else { Ok(()) }
        }
        Source::Store(place) => {
            let store = place.open()?.store();
            block_on(read_audit(&*store, filter, each)).map_err(|error| place.failure(error))
        }
    }
}

/// Opens a folder to read, and does not create it.
fn existing(path: &Path, failed: fn(Error) -> Failure) -> Outcome<AuditFolder> {
    if !path.is_dir() {
        return Err(
            Failure::error(format!("{}: not a directory", path.display()))
                .hint("to export the audit log, run `jeton admin audit export DIR`"),
        );
    }
    AuditFolder::open(path).map_err(failed)
}

fn damaged(error: Error) -> Failure {
    Failure::rejected(error.to_string())
}

impl Export {
    fn run(self) -> Outcome {
        let source = self.source.open()?;
        match &source {
            Source::Server(remote) => self.copy(
                remote.audit_bases()?,
                |ends, write| remote.export_audit(ends, &mut |part| write(part).map_err(failure)),
                |ends| remote.drop_audit(ends),
            ),
            Source::Store(place) => {
                let store = place.open()?.store();
                let failed = |error| place.failure(error);
                let now = display::now();
                let actor = self.actor.clone().unwrap_or_else(user);
                self.copy(
                    audit_bases(&*store).map_err(failed)?,
                    |ends, write| export_audit(&*store, &ends, now, write).map_err(failed),
                    |ends| drop_audit(&*store, &ends, &actor, now).map_err(failed),
                )
            }
        }
    }

    fn copy(
        &self,
        bases: AuditPositions,
        export: impl FnOnce(AuditPositions, Write<'_>) -> Outcome,
        drop: impl FnOnce(AuditPositions) -> Outcome<u64>,
    ) -> Outcome {
        let mut folder = AuditFolder::open(&self.folder).map_err(failure)?;
        let before = folder.count();
        let ends = folder.ends(&bases).map_err(failure)?;
        export(ends, &mut |part| folder.write(part))?;
        let (segments, entries) = folder.count();
        output::status(format_args!(
            "exported {} segments with {} entries; {} has {segments} with {entries}",
            segments - before.0,
            entries - before.1,
            self.folder.display()
        ));
        if !self.drop {
            return Ok(());
        }
        let keep = self.keep.unwrap_or(KEPT) as usize;
        let dropped = drop(folder.droppable(&bases, keep).map_err(failure)?)?;
        output::status(format_args!("dropped {dropped} entries from the store"));
        Ok(())
    }
}

/// Takes the parts of an export.
type Write<'w> = &'w mut dyn FnMut(AuditPart) -> Result<(), Error>;

impl VerifyLog {
    fn run(self) -> Outcome {
        let folder = self.exported.as_deref();
        let folder = folder.map(|path| existing(path, damaged)).transpose()?;
        let (entries, hash) = match self.source.open()? {
            Source::Store(place) => {
                let store = place.open()?.store();
                let check = block_on(check_audit(&*store, folder.as_ref()));
                let check = check.map_err(|error| found(&place, error))?;
                let hash = block_on(audit_last_hash(&*store));
                let hash = hash.map_err(|error| found(&place, error))?;
                let entries = format!("{} audit log entries", check.entries);
                let entries = match check.exported {
                    0 => entries,
                    exported => format!("{entries}, {exported} of them only in files"),
                };
                (entries, hash)
            }
            Source::Server(remote) => {
                let exported = folder.map(|folder| folder.verify()).transpose();
                let exported = exported.map_err(damaged)?;
                let check = remote.check()?;
                let entries = format!("{} audit log entries in the store", check.audit_entries);
                let entries = match exported {
                    None => entries,
                    Some(exported) => format!("{entries}, {exported} in files"),
                };
                (entries, check.last_hash)
            }
        };
        output::line(&format!(
            "valid: {entries}, last hash {}",
            hash.as_deref().unwrap_or("none")
        ))
    }
}

fn json_line(entry: &AuditEntry) -> Outcome {
    let text = serde_json::to_string(entry)
        .map_err(|error| Failure::error(format!("cannot write an entry: {error}")))?;
    output::json_line(&text)
}

fn line(entry: &AuditEntry) -> String {
    let chain = match entry.chain.as_str() {
        "" => String::new(),
        chain => format!("[{chain}]"),
    };
    let parts = [
        format!("{:>6}", entry.number),
        display::moment(entry.at),
        entry.actor.clone(),
        entry.act.clone(),
        entry.iss.clone(),
        // A name may have any characters.
        escape::line(&entry.words().join(", ")),
        chain,
    ];
    parts.join("  ").trim_end().to_owned()
}
