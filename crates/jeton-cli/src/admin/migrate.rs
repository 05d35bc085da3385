//! `jeton admin migrate`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use jeton_issuer::{
    DataFolder, Error, Found, IfUnfinished, MigrateError, MigrationEntry, MigrationSource,
    MigrationStep, MigrationTarget, Missing, RECORD_SCHEMA, count_records,
};
use jeton_store::{Error as StoreError, RedbStore, block_on};

use super::display;
use super::etcd::EtcdPlace;
use super::failure::{FINISHED_ELSEWHERE, OTHER_KEY, failure, unfilled};
use super::folder::{FolderArgs, user};
use super::open_store::OpenStore;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::output;

/// The time between two lines about the progress.
const REPORT_EVERY: Duration = Duration::from_secs(2);

/// Upgrade the store to the format of this version, or move it to or from etcd
///
/// Without --from and --to, upgrades the store in place. A store of a newer version is an error and is not changed.
/// Make a backup first.
///
/// With --from and --to, copies every record from a data folder to etcd, or back. It counts the records, copies
/// them, and compares every record of both stores. No server opens the target before the comparison is complete. The
/// source does not change. Stop its servers first: a change during the copy is an error.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin backup --output before.backup
  jeton admin migrate
  jeton admin migrate --from jeton-data --to etcd://127.0.0.1:2379 --dry-run
  jeton admin migrate --from jeton-data --to etcd://127.0.0.1:2379
  jeton admin migrate --from etcd://127.0.0.1:2379 --to new-data

For etcd over TLS, pass --config with a file that has [etcd].

The private keys stay encrypted under the same key-encryption key, which the command does not need. Give it to every \
server of the target. The revocations, the counter of revocation rules and its epoch stay the same, so revoked tokens \
stay revoked, and no other token becomes revoked.

After an interruption, run the command again with --continue or --start-over.")]
pub(super) struct Migrate {
    /// Source: a data folder, or `etcd://HOST:PORT[,HOST:PORT…][/ROOT]`
    #[arg(long, value_name = "DIR|URL", requires = "to", conflicts_with_all = ["data", "store"])]
    from: Option<String>,

    /// Empty target: a data folder, or `etcd://HOST:PORT[,HOST:PORT…][/ROOT]`
    #[arg(long, value_name = "DIR|URL", requires = "from")]
    to: Option<String>,

    /// Check the source and the target, count the records, and write nothing
    #[arg(long, requires = "from")]
    dry_run: bool,

    /// Continue an interrupted migration of the same source: write what is missing or differs
    #[arg(long = "continue", requires = "from", conflicts_with_all = ["dry_run", "start_over"])]
    continues: bool,

    /// Delete what an interrupted migration of the same source wrote, and begin again
    #[arg(long, requires = "from", conflicts_with = "dry_run")]
    start_over: bool,

    /// Name in the audit log [default: the name of the user]
    #[arg(long, value_name = "NAME", requires = "from")]
    actor: Option<String>,

    #[command(flatten)]
    folder: FolderArgs,
}

/// A source or a target.
enum End {
    Folder(PathBuf),
    Etcd(EtcdPlace),
}

impl Migrate {
    pub(super) fn run(self) -> Outcome {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => self.copy(from, to),
            _ => self.upgrade(),
        }
    }

    fn upgrade(&self) -> Outcome {
        // Opening fails for a newer format, and there is no older format.
        let opened = self.folder.place()?.open()?;
        let counts = block_on(count_records(&*opened.store()));
        let counts = counts.map_err(|error| opened.failure(error))?;
        let format = match opened {
            OpenStore::Folder(_) => RedbStore::FORMAT,
            OpenStore::Etcd { .. } => jeton_store::EtcdStore::FORMAT,
        };
        output::line(&format!(
            "nothing to do: the store has format {format} and its {} records have schemas up to {RECORD_SCHEMA}, \
             which are the newest",
            counts.total()
        ))
    }

    fn copy(&self, from: &str, to: &str) -> Outcome {
        let (from, to) = (self.end(from)?, self.end(to)?);
        let opened = self.open(&from)?;
        let store = opened.store();
        let source = MigrationSource::check(&*store).map_err(|error| opened.failure(error))?;
        let rows = source.counts().by_kind();
        let rows = rows.map(|(kind, count)| [kind.to_owned(), count.to_string()]);
        output::text(&display::table(&rows))?;
        if self.dry_run {
            return look_at(&to, &source);
        }
        let target = self.target(&to, &source)?;
        let if_unfinished = match (self.continues, self.start_over) {
            (true, _) => IfUnfinished::Continue,
            (_, true) => IfUnfinished::StartOver,
            _ => IfUnfinished::Refuse,
        };
        let actor = self.actor.clone().unwrap_or_else(user);
        let entry = MigrationEntry {
            actor: &actor,
            at: display::now(),
            from: &opened.name(),
        };
        let mut progress = Progress::new(source.counts().total());
        let copied = source.copy_to(target, if_unfinished, entry, &mut |step, passed| {
            progress.report(step, passed);
        });
        let compared = copied.map_err(stopped)?;
        output::status(format_args!(
            "migrated {compared} records from {} to {}: all are equal",
            opened.name(),
            to.name()?
        ));
        self.open(&to)?.note_key()?;
        output::note(format_args!(
            "{} still has its store: remove it, so that no server uses it again",
            opened.name()
        ));
        Ok(())
    }

    fn end(&self, text: &str) -> Outcome<End> {
        if text.contains("://") {
            let configured = self.folder.configured()?.and_then(|config| config.etcd);
            return Ok(End::Etcd(EtcdPlace::new(text, configured)));
        }
        let path = Path::new(text);
        input::must_be_a_name(path)?;
        Ok(End::Folder(path.to_owned()))
    }

    fn open(&self, end: &End) -> Outcome<OpenStore> {
        match end {
            End::Folder(path) => {
                let opened = DataFolder::open(path, Missing::Refuse, self.folder.lock_timeout());
                opened.map(OpenStore::Folder).map_err(unopened)
            }
            End::Etcd(etcd) => etcd.open(),
        }
    }

    fn target(&self, to: &End, source: &MigrationSource<'_>) -> Outcome<MigrationTarget> {
        let target = match to {
            End::Folder(path) => MigrationTarget::folder(path, source, self.folder.lock_timeout()),
            End::Etcd(etcd) => MigrationTarget::etcd(&etcd.address()?, etcd.access()?, source),
        };
        let root = to.root()?;
        target.map_err(|error| unfilled(error, root.as_deref()))
    }
}

impl End {
    fn name(&self) -> Outcome<String> {
        match self {
            End::Folder(path) => Ok(path.display().to_string()),
            End::Etcd(etcd) => Ok(etcd.address()?.to_string()),
        }
    }

    /// Returns the root, if it is an etcd.
    fn root(&self) -> Outcome<Option<String>> {
        match self {
            End::Folder(_) => Ok(None),
            End::Etcd(etcd) => Ok(Some(etcd.address()?.root().to_owned())),
        }
    }
}

/// Looks at the target of a dry run.
fn look_at(to: &End, source: &MigrationSource<'_>) -> Outcome {
    let found = match to {
        End::Folder(path) => MigrationTarget::look_at_folder(path, source),
        End::Etcd(etcd) => MigrationTarget::look_at_etcd(&etcd.address()?, etcd.access()?, source),
    };
    let (target, root) = (to.name()?, to.root()?);
    match found.map_err(|error| unfilled(error, root.as_deref()))? {
        Found::Nothing => {
            output::status(format_args!("{target} has no store: nothing was written"))
        }
        Found::Unfinished => output::status(format_args!(
            "{target} has a part of an interrupted migration: nothing was written"
        )),
    }
    Ok(())
}

/// Returns the failure of a source.
fn unopened(error: Error) -> Failure {
    match error {
        Error::NoStore(_) => {
            Failure::error(error.to_string()).hint("name the data folder: `--from DIR`")
        }
        Error::Store(StoreError::InUse) => Failure::error(error.to_string())
            .hint("stop the server that uses the folder, and run the command again"),
        other => failure(other),
    }
}

/// Returns the failure of a migration that has begun.
fn stopped(error: Error) -> Failure {
    let hint = match &error {
        Error::Migrate(MigrateError::Unfinished) => {
            "to write what is missing, add `--continue`; to delete it and begin again, add `--start-over`"
        }
        Error::Migrate(MigrateError::OtherKey(_)) => OTHER_KEY,
        Error::Migrate(MigrateError::SourceChanged(_)) => {
            "stop every server of the source, and run the command again with `--continue`"
        }
        Error::Migrate(MigrateError::Differs(_)) => "run the command again with `--start-over`",
        Error::Store(StoreError::Full) => {
            "free space or raise the quota, and run the command again with `--continue`"
        }
        Error::Migrate(MigrateError::FinishedElsewhere) => FINISHED_ELSEWHERE,
        // Of the folder to which the store is moved at the end.
        Error::Store(StoreError::Unsafe(_) | StoreError::AlreadyThere) => {
            return unfilled(error, None);
        }
        Error::Store(_) => "run the command again with `--continue`",
        _ => return failure(error),
    };
    Failure::error(error.to_string()).hint(hint)
}

/// Prints how far a step is.
struct Progress {
    total: u64,
    step: Option<MigrationStep>,
    last: Instant,
}

impl Progress {
    fn new(total: u64) -> Progress {
        Progress {
            total,
            step: None,
            last: Instant::now(),
        }
    }

    /// Prints the first and the last report of a step, and one every few seconds.
    fn report(&mut self, step: MigrationStep, passed: u64) {
        let total = self.total;
        let is_end = passed >= total;
        if self.step == Some(step) && self.last.elapsed() < REPORT_EVERY && !is_end {
            return;
        }
        self.step = Some(step);
        self.last = Instant::now();
        match step {
            MigrationStep::Delete => output::status(format_args!("deleted {passed} records")),
            MigrationStep::Copy => {
                output::status(format_args!("copied {passed} of {total} records"));
            }
            MigrationStep::Compare => {
                output::status(format_args!("compared {passed} of {total} records"));
            }
        }
    }
}
