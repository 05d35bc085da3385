//! The thread that writes revocations, many per transaction, and runs maintenance.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Weak;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use jeton_store::{Completer, Key, Outcome, Revision, Txn, block_on};

use super::inner::Inner;
use crate::audit::{Act, Chain};
use crate::conflict;
use crate::decision::DecisionTime;
use crate::error::{Error, Result};
use crate::limits;
use crate::record::{self, audit_head_key, revocation_key, rule_key, set_key, settings_key};
use crate::revocation::{
    Extent, NewRules, Revoke, Room, Subject, Term, actor_hash, minute, token_hash,
};

/// A revocation and its reply channel.
pub(crate) struct Job {
    pub(crate) actor: String,
    pub(crate) iss: String,
    pub(crate) revoke: Revoke,
    pub(crate) reply: Completer<Result<Revision>>,
}

pub(crate) fn run(node: &Weak<Inner>, jobs: &Receiver<Box<Job>>) {
    let mut looked = Instant::now();
    loop {
        let first =
            jobs.recv_timeout(limits::MAINTENANCE_INTERVAL.saturating_sub(looked.elapsed()));
        let Some(node) = node.upgrade() else { return };
        match first {
            Ok(first) => {
                let waiting = jobs.try_iter().take(limits::REVOCATIONS_PER_TXN - 1);
                let batch = std::iter::once(first).chain(waiting);
                let batch: Vec<Job> = batch.map(|job| *job).collect();
                write(&node, batch);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if looked.elapsed() >= limits::MAINTENANCE_INTERVAL {
            node.do_what_is_due();
            looked = Instant::now();
        }
    }
}

/// Writes one transaction per issuer and actor: an audit entry names one of each. Rules have an order, and single
/// tokens have none, so they are apart, after the rules.
fn write(node: &Inner, jobs: Vec<Job>) {
    let mut groups: BTreeMap<(String, String, bool), Vec<Job>> = BTreeMap::new();
    for job in jobs {
        let group = (
            job.actor.clone(),
            job.iss.clone(),
            job.revoke.rule().is_none(),
        );
        groups.entry(group).or_default().push(job);
    }
    for ((actor, iss, _), group) in groups {
        let mut waiting = refuse_beyond_the_limit(node, &actor, &iss, group);
        while !waiting.is_empty() {
            let later = waiting.split_off(fit_one_entry(&iss, &waiting));
            let group = std::mem::replace(&mut waiting, later);
            let written = commit(node, &actor, &iss, &group)
                // Acknowledged when it is durable and this node rejects the token.
                .and_then(|revision| node.wait_for(revision).map(|()| revision));
            for job in group {
                job.reply.complete(Ok(written.clone()));
            }
        }
    }
}

/// Returns how many jobs one audit entry can list, at least one: names may be long.
fn fit_one_entry(iss: &str, jobs: &[Job]) -> usize {
    let mut bytes = 0;
    let fit = jobs.iter().take_while(|job| {
        // Maximum encoded size, see `Key`.
        let name = job.revoke.rule().map_or(0, |(_, name)| name.len());
        bytes += 3 * (iss.len() + name);
        bytes <= limits::NAMES_PER_TXN_BYTES
    });
    fit.count().max(1)
}

/// Rejects jobs beyond the limit of rules. Rules are looked up for every token and kept for the longest
/// token lifetime, so their number is bounded. Renewing a rule does not count.
fn refuse_beyond_the_limit(node: &Inner, actor: &str, iss: &str, group: Vec<Job>) -> Vec<Job> {
    let (rules, issuers) = node.rules_now();
    let by = actor_hash(actor);
    let mut new = HashSet::new();
    let mut within = Vec::with_capacity(group.len());
    for job in group {
        if let Some((kind, name)) = job.revoke.rule()
            && !rules.has(iss, kind, name)
            && !new.contains(&(kind, name.to_owned()))
        {
            let room = Room {
                iss,
                issuers,
                by,
                per_client: node.rules_per_client(),
                new: new.len(),
            };
            if let Err(full) = rules.check_room(room) {
                job.reply.complete(Ok(Err(full)));
                continue;
            }
            new.insert((kind, name.to_owned()));
        }
        within.push(job);
    }
    within
}

fn commit(node: &Inner, actor: &str, iss: &str, group: &[Job]) -> Result<Revision> {
    let mut tokens = BTreeSet::new();
    let mut rules = NewRules::by(actor);
    for job in group {
        add(iss, &job.revoke, &mut tokens, &mut rules)?;
    }
    let about: Vec<_> = tokens
        .iter()
        .chain(rules.keys())
        .map(Key::to_string)
        .collect();
    let act = |at: i64| Act {
        at,
        actor,
        act: "revoke",
        iss,
        about: about.clone(),
    };
    if rules.is_empty() {
        commit_tokens(node, &tokens, act)
    } else {
        commit_rules(node, iss, &rules, act)
    }
}

/// Depends on nothing in the store, and on no other node.
fn commit_tokens<'a>(
    node: &Inner,
    tokens: &BTreeSet<Key>,
    act: impl Fn(i64) -> Act<'a>,
) -> Result<Revision> {
    for attempt in 0..limits::ATTEMPTS {
        conflict::pause(attempt);
        let now = node.now();
        let value = record::write(&now);
        let txn = (tokens.iter()).fold(Txn::new(), |txn, key| txn.put(key.clone(), value.clone()));
        if let Some(revision) = node.append(txn, act(now))? {
            return Ok(revision);
        }
    }
    Err(Error::Contended)
}

fn commit_rules<'a>(
    node: &Inner,
    iss: &str,
    rules: &NewRules,
    act: impl Fn(i64) -> Act<'a>,
) -> Result<Revision> {
    let mut names = vec![audit_head_key()?, settings_key(iss)?, set_key(iss)?];
    names.extend(rules.reads()?);
    for attempt in 0..limits::ATTEMPTS {
        conflict::pause(attempt);
        let now = node.now();
        let decision = DecisionTime::new(now);
        let seen = node.seen();
        let read = block_on(node.store.read(&names))?;
        node.check_history(read.revision, seen)?;
        let [head, settings, keyring, found @ ..] = read.entries.as_slice() else {
            return Err(Error::Contended);
        };
        let newest = node.not_behind(now);
        let term = Term::of_tokens(now, newest, settings.as_ref(), keyring.as_ref())?;
        let begins = node.begins_epoch();
        let txn = rules.put(Txn::new(), found, read.revision, term, begins)?;
        let outcome = node.commit(Chain::read(head.as_ref())?.append(txn, act(now))?)?;
        if matches!(outcome, Outcome::Committed(_)) {
            node.history.has_begun();
        }
        match outcome {
            // If the commit was late, rules end too early for tokens issued in between: they are written
            // again before the reply.
            Outcome::Committed(revision) if decision.late_by(node.now()).is_none() => {
                return Ok(revision);
            }
            Outcome::Committed(_) | Outcome::Conflict(_) => {}
        }
    }
    Err(Error::Contended)
}

/// Adds the record of a revocation: a revoked token, or a rule.
fn add(iss: &str, revoke: &Revoke, tokens: &mut BTreeSet<Key>, rules: &mut NewRules) -> Result<()> {
    let (kind, name, extent) = match (&revoke.what, revoke.expires_at) {
        (Subject::Token(id), Some(at)) => {
            tokens.insert(revocation_key(iss, minute(at), token_hash(iss, id))?);
            return Ok(());
        }
        // Independent of the issue time: the id belongs to one token.
        (Subject::Token(id), None) => ("token", id, Extent::All),
        (Subject::Subject(name), _) => ("subject", name, Extent::Before),
        (Subject::Client(name), _) => ("client", name, Extent::Before),
        (Subject::Key(kid), _) => ("key", kid, Extent::Before),
    };
    rules.add(rule_key(iss, kind, name)?, extent);
    Ok(())
}
