//! `jeton admin audit`.

use clap::Args;
use jeton::Timestamp;
use jeton_issuer::{AuditEntry, AuditFilter, read_audit};
use jeton_store::block_on;

use super::display;
use super::target::{ReadArgs, Source};
use crate::exit::{Failure, Outcome};
use crate::{output, time};

/// Print the audit log, oldest entry first
///
/// An entry has a number, a time, the actor, the operation, the issuer, and what changed. It is printed if it meets all
/// conditions that are set. The entries are chained by hashes: `jeton admin verify` verifies the chain.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin audit --last 20
  jeton admin audit --act 'key.*' --issuer https://id.example
  jeton admin audit --since 2026-11-01T00:00:00Z --actor alice
  jeton admin audit --json --after 1200 >> audit.jsonl

Operations: issuer.create, issuer.set, key.rotate, key.import, key.retire, key.compromised, key.reseal, revoke, and \
those of the service itself: key.tick, key.confirm, key.forward, key.gone, key.late.")]
pub(super) struct Audit {
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

    /// Only entries with a higher number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: u64,

    /// Only this many of the newest matching entries
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    last: Option<u32>,

    /// Print one JSON object on each line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: ReadArgs,
}

impl Audit {
    pub(super) fn run(self) -> Outcome {
        let filter = AuditFilter {
            iss: self.issuer,
            actor: self.actor,
            act: self.act,
            about: self.about,
            since: self.since.map(Timestamp::unix_seconds),
            until: self.until.map(Timestamp::unix_seconds),
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
        match self.source.open()? {
            Source::Server(remote) => remote.audit(filter, &mut { print }),
            Source::Store(place) => {
                let store = place.open()?.store();
                let mut printed = Ok(());
                let read = block_on(read_audit(&*store, &filter, &mut |entry| {
                    printed = print(entry);
                    printed.is_ok()
                }));
                read.map_err(|error| place.failure(error))?;
                printed
            }
        }
    }
}

fn json_line(entry: &AuditEntry) -> Outcome {
    let text = serde_json::to_string(entry)
        .map_err(|error| Failure::error(format!("cannot write an entry: {error}")))?;
    output::json_line(&text)
}

fn line(entry: &AuditEntry) -> String {
    let parts = [
        format!("{:>6}", entry.number),
        display::moment(entry.at),
        entry.actor.clone(),
        entry.act.clone(),
        entry.iss.clone(),
        entry.about.join(", "),
    ];
    parts.join("  ").trim_end().to_owned()
}
