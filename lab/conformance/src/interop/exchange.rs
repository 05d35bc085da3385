//! One exchange: every issuer makes a token of one kind, and every verifier gets every token.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::driver_handle::{DriverHandle, Failure, Stopped};
use super::explain::explain;
use super::plan::{Exchange, Plan, Role};
use jeton_lab_fixtures::Owner;
use jeton_lab_fixtures::tamper::{Part, tamper};
use jeton_lab_fixtures::token_issuer::TokenIssuer;
use jeton_lab_harness::Stop;
use jeton_lab_harness::runner::difference;
use jeton_lab_model::claims::{ClaimsSets, STANDARD};
use jeton_lab_model::protocol::{ClaimsPool, Keys, Policy, Prepare, VerifyAnswer};
use jeton_lab_model::result::{Interop, InteropRow, KeyExchange, Reader, Status};
use jeton_lab_model::{Dialect, KeyForm, Operation};

/// All drivers by id.
pub(super) type DriverHandles = BTreeMap<String, DriverHandle>;

/// The state of an exchange, which runs in rounds with a new key each.
#[derive(Debug, Default)]
pub(super) struct ExchangeState {
    cells: Cells,
    rounds: u32,
    /// Why there was nothing to exchange, if so.
    nothing: Option<String>,
}

impl ExchangeState {
    /// Runs one more round.
    pub(super) fn run_round(
        &mut self,
        exchange: &Exchange,
        plan: &Plan,
        handles: &mut DriverHandles,
        sets: &ClaimsSets,
        order: &mut ChaCha8Rng,
        stop: &Stop,
    ) -> Result<(), Stopped> {
        match Work::new(&exchange.dialect, sets) {
            Ok(work) => {
                exchange_tokens(&work, exchange, plan, handles, order, stop, &mut self.cells)?;
                self.rounds += 1;
            }
            Err(why) => self.nothing = Some(why),
        }
        Ok(())
    }

    /// Returns a row for each requested pair.
    pub(super) fn rows(
        self,
        exchange: &Exchange,
        plan: &Plan,
        handles: &DriverHandles,
    ) -> Vec<InteropRow> {
        match &self.nothing {
            Some(why) => nothing_to_exchange(exchange, handles, why),
            None => rows(exchange, plan, handles, &self.cells, self.rounds),
        }
    }
}

/// Makes a token with every issuer and gives it to every verifier.
fn exchange_tokens(
    work: &Work,
    exchange: &Exchange,
    plan: &Plan,
    handles: &mut DriverHandles,
    order: &mut ChaCha8Rng,
    stop: &Stop,
    cells: &mut Cells,
) -> Result<(), Stopped> {
    let present: Vec<&Role> = exchange
        .roles
        .iter()
        .filter(|role| {
            handles
                .get(&role.driver)
                .is_some_and(|p| p.absent.is_none())
        })
        .collect();
    let mut tokens = Tokens::new();
    for role in &present {
        if let (Some(operation), Some(handle)) = (role.issues, handles.get_mut(&role.driver)) {
            tokens.insert(
                role.driver.clone(),
                issue(work, role, operation, handle, stop)?,
            );
        }
    }
    for verifier in &present {
        let (Some(operation), Some(handle)) =
            (verifier.verifies, handles.get_mut(&verifier.driver))
        else {
            continue;
        };
        let mut issuers: Vec<&str> = present
            .iter()
            .filter(|issuer| plan.is_requested(&exchange.dialect, issuer, verifier))
            .filter_map(|issuer| Some(tokens.get_key_value(&issuer.driver)?.0.as_str()))
            .collect();
        issuers.shuffle(order);
        for &form in &work.forms {
            let given = Given::of(form, work, verifier, handle);
            let found = match given {
                None => not_read(&issuers, form),
                Some(given) => {
                    let mut session = VerifierSession {
                        work,
                        order: work.prepare(operation, given),
                        handle: &mut *handle,
                        stop,
                        part: 0,
                    };
                    session.verify_all(&issuers, &tokens, form, given)?
                }
            };
            for (issuer, attempt) in issuers.iter().zip(found) {
                let pair = ((*issuer).to_owned(), verifier.driver.clone());
                attempt.add_to(cells.entry(pair).or_default());
            }
        }
    }
    Ok(())
}

/// The tokens of each issuer, by the form of its key.
type Tokens = BTreeMap<String, BTreeMap<KeyForm, Result<String, Failure>>>;

/// The attempts of each pair, one for each form of the key.
type Cells = BTreeMap<(String, String), Vec<Attempt>>;

#[derive(Debug)]
struct Attempt {
    key: KeyExchange,
    reason: Option<String>,
    /// The number of rounds with this outcome.
    rounds: u32,
}

impl Attempt {
    fn new(key: KeyExchange, reason: Option<String>) -> Self {
        Self {
            key,
            reason,
            rounds: 1,
        }
    }

    /// Adds an attempt to those of earlier rounds. For each form of the key the worst is kept.
    fn add_to(self, known: &mut Vec<Self>) {
        let same = |e: &&mut Self| e.key.encoding == self.key.encoding;
        match known.iter_mut().find(same) {
            Some(before) if before.key.outcome == self.key.outcome => before.rounds += 1,
            Some(before) if before.key.outcome < self.key.outcome => *before = self,
            Some(_) => {}
            None => known.push(self),
        }
    }
}

/// The keys and claims of an exchange.
struct Work {
    dialect: Dialect,
    token_issuer: TokenIssuer,
    claims: Value,
    policy: Policy,
    /// A token made by the lab: some drivers require a pool in `prepare`.
    sample: String,
    /// The forms of the key; the first is the one that the protocol always sends.
    forms: Vec<KeyForm>,
}

impl Work {
    fn new(dialect: &Dialect, sets: &ClaimsSets) -> Result<Self, String> {
        let token_issuer = TokenIssuer::new(dialect, Owner::Lab)?;
        let set = sets
            .named(STANDARD)
            .ok_or("the standard claims set is missing")?;
        let claims = set.value(dialect.format, 0);
        let sample = token_issuer.token(&claims)?;
        let (issuer, audience) = set.policy();
        let has = |form: &KeyForm| token_issuer.key_text(*form).is_some();
        let mut forms: Vec<KeyForm> = KeyForm::ALL.into_iter().filter(has).collect();
        forms.sort_by_key(|form| *form == KeyForm::Pem);
        Ok(Self {
            dialect: dialect.clone(),
            claims,
            policy: Policy { issuer, audience },
            sample,
            forms,
            token_issuer,
        })
    }

    fn own_form(&self) -> Option<KeyForm> {
        self.forms.first().copied()
    }

    fn prepare(&self, operation: Operation, given: Given) -> Prepare {
        let (keys, key_text) = match given {
            Given::Keys => (self.token_issuer.keys_for(operation), None),
            Given::Text(form) => (
                Keys::default(),
                self.token_issuer.key_text_for(form, operation),
            ),
        };
        Prepare {
            operation: operation.name().into(),
            format: self.dialect.format.name().into(),
            alg: self.dialect.alg.clone(),
            enc: self.dialect.enc.clone(),
            key_handling: "prepared".into(),
            keys,
            key_text,
            claims: ClaimsPool {
                name: STANDARD.into(),
                values: vec![self.claims.clone()],
            },
            policy: self.policy.clone(),
            practice: None,
            extra: None,
            tokens: operation.opens_tokens().then(|| vec![self.sample.clone()]),
        }
    }
}

/// How a driver is given a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// As the protocol always sends it; the driver converts it to what the library takes.
    Keys,
    /// As the text that the library reads.
    Text(KeyForm),
}

impl Given {
    /// Returns `None` if the key cannot be given in this form.
    fn of(form: KeyForm, work: &Work, role: &Role, handle: &DriverHandle) -> Option<Self> {
        if handle.takes_key_text() && role.reads.contains(&form) {
            Some(Self::Text(form))
        } else {
            (work.own_form() == Some(form)).then_some(Self::Keys)
        }
    }

    fn reader(self) -> Reader {
        match self {
            Self::Keys => Reader::Driver,
            Self::Text(_) => Reader::Library,
        }
    }
}

/// Makes a token for each form of the key that the issuer accepts.
fn issue(
    work: &Work,
    role: &Role,
    operation: Operation,
    handle: &mut DriverHandle,
    stop: &Stop,
) -> Result<BTreeMap<KeyForm, Result<String, Failure>>, Stopped> {
    let mut made = BTreeMap::new();
    for &form in &work.forms {
        let Some(given) = Given::of(form, work, role, handle) else {
            continue;
        };
        let order = work.prepare(operation, given);
        let token = handle.ask(stop, |p| p.prepare(&order).and_then(|()| p.token(0)))?;
        made.insert(form, token);
    }
    Ok(made)
}

fn not_read(issuers: &[&str], form: KeyForm) -> Vec<Attempt> {
    let attempt = |_: &&str| {
        let key = KeyExchange {
            encoding: form.name().into(),
            issued_with: None,
            read_by: None,
            outcome: Interop::NotOffered,
        };
        Attempt::new(key, None)
    };
    issuers.iter().map(attempt).collect()
}

/// A verifier with one form of the key.
struct VerifierSession<'a> {
    work: &'a Work,
    order: Prepare,
    handle: &'a mut DriverHandle,
    stop: &'a Stop,
    /// The part of a token to change next: each verifier gets all of them.
    part: usize,
}

impl VerifierSession<'_> {
    /// Returns the outcome for each issuer's token, in the order of the issuers.
    fn verify_all(
        &mut self,
        issuers: &[&str],
        tokens: &Tokens,
        form: KeyForm,
        given: Given,
    ) -> Result<Vec<Attempt>, Stopped> {
        let mut ready = self.make_ready()?;
        let mut void_reason: Option<String> = None;
        let mut attempts = Vec::new();
        for issuer in issuers {
            let of_issuer = &tokens[*issuer];
            // Made with the key in the same form, if the issuer accepts that form.
            let used = if of_issuer.contains_key(&form) {
                Some(form)
            } else {
                self.work.own_form()
            };
            let token = used.and_then(|form| of_issuer.get(&form));
            let (outcome, reason) = match (token, &ready) {
                (None, _) => (Interop::NotOffered, None),
                (Some(Err(failure)), _) => described(failure, Interop::IssueFailed, "no token: "),
                (_, Err(failure)) => described(failure, Interop::Refused, "cannot use the key: "),
                (Some(Ok(token)), Ok(())) => {
                    let (outcome, reason) = self.open(token)?;
                    if outcome == Interop::Void {
                        void_reason.clone_from(&reason);
                    }
                    if self.handle.is_down() {
                        ready = self.make_ready()?;
                    }
                    (outcome, reason)
                }
            };
            let key = KeyExchange {
                encoding: form.name().into(),
                issued_with: used.map(|form| form.name().into()),
                read_by: Some(given.reader()),
                outcome,
            };
            attempts.push(Attempt::new(key, reason));
        }
        if let Some(why) = void_reason {
            for attempt in &mut attempts {
                if attempt.key.outcome == Interop::Verified {
                    attempt.key.outcome = Interop::Void;
                    attempt.reason = Some(why.clone());
                }
            }
        }
        Ok(attempts)
    }

    fn make_ready(&mut self) -> Result<Result<(), Failure>, Stopped> {
        let order = &self.order;
        self.handle.ask(self.stop, |p| p.prepare(order))
    }

    /// Verifies a token. A new process is prepared first.
    fn verify(&mut self, token: &str) -> Result<Result<VerifyAnswer, Failure>, Stopped> {
        let order = &self.order;
        let mut is_prepared = !self.handle.is_down();
        self.handle.ask(self.stop, |p| {
            if !std::mem::take(&mut is_prepared) {
                p.prepare(order)?;
            }
            p.verify(token)
        })
    }

    /// Verifies a token, then the same token with one bit changed.
    fn open(&mut self, token: &str) -> Result<(Interop, Option<String>), Stopped> {
        let answer = match self.verify(token)? {
            Ok(answer) => answer,
            Err(failure) => return Ok(described(&failure, Interop::Refused, "")),
        };
        if !answer.accepted {
            let why = answer.reason.unwrap_or_else(|| "no reason given".into());
            return Ok((Interop::Refused, Some(why)));
        }
        if let Some(member) = difference(&self.work.claims, answer.claims.as_ref()) {
            let why = format!("returns a different `{member}` than was signed");
            return Ok((Interop::WrongClaims, Some(why)));
        }
        let Some((what, tampered)) = self.tampered(token) else {
            return Ok((Interop::Verified, None));
        };
        match self.verify(&tampered)? {
            Ok(answer) if answer.accepted => Ok((Interop::Void, Some(format!("accepts {what}")))),
            Ok(_) => Ok((Interop::Verified, None)),
            Err(Failure::NotOffered(_) | Failure::Failed(_)) => Ok((Interop::Verified, None)),
            Err(failure) => {
                let before = format!("after {what}: ");
                Ok(described(&failure, Interop::Refused, &before))
            }
        }
    }

    /// Returns the token with one bit changed, in a different part each time.
    fn tampered(&mut self, token: &str) -> Option<(&'static str, String)> {
        let format = self.work.dialect.format;
        let parts = Part::of(format);
        for _ in parts {
            let (what, part) = parts[self.part % parts.len()];
            self.part += 1;
            // Direct encryption has no encrypted key to change.
            if let Some(tampered) = tamper(format, token, part) {
                return Some((what, tampered));
            }
        }
        None
    }
}

fn described(failure: &Failure, failed: Interop, before: &str) -> (Interop, Option<String>) {
    let reason = format!("{before}{}", failure.reason());
    (failure.outcome(failed), Some(reason))
}

fn rows(
    exchange: &Exchange,
    plan: &Plan,
    handles: &DriverHandles,
    cells: &Cells,
    rounds: u32,
) -> Vec<InteropRow> {
    let mut rows = Vec::new();
    for issuer in &exchange.roles {
        for verifier in &exchange.roles {
            let (Some(m), Some(v)) = (handles.get(&issuer.driver), handles.get(&verifier.driver))
            else {
                continue;
            };
            let mut row = empty_row(exchange, m, v);
            if let Some(why) = &m.absent {
                // One row is enough: a whole column and row of the same would add nothing.
                if issuer.driver == verifier.driver {
                    row.reason = Some(why.clone());
                    rows.push(row);
                }
                continue;
            }
            if v.absent.is_some() || !plan.is_requested(&exchange.dialect, issuer, verifier) {
                continue;
            }
            let pair = (issuer.driver.clone(), verifier.driver.clone());
            let attempts = cells.get(&pair).map_or(&[][..], Vec::as_slice);
            fill(&mut row, attempts, rounds);
            if row.keys.is_empty() {
                let (who, what) = match issuer.issues {
                    None => (m, "makes no tokens of this kind"),
                    Some(_) => (v, "verifies no tokens of this kind"),
                };
                row.reason = Some(format!("the driver {} {what}", who.driver));
            }
            row.explanation = explain(&row, &exchange.dialect);
            rows.push(row);
        }
    }
    rows
}

/// Fills in the worst outcome over all forms of the key and all rounds, with its reason.
fn fill(row: &mut InteropRow, attempts: &[Attempt], rounds: u32) {
    let outcome = attempts.iter().map(|e| e.key.outcome).max();
    let outcome = outcome.unwrap_or(Interop::NotOffered);
    row.outcome = Some(outcome);
    row.status = match outcome {
        Interop::Crashed => Status::Crashed,
        Interop::Hung => Status::TimedOut,
        _ => Status::Ok,
    };
    row.keys = attempts.iter().map(|e| e.key.clone()).collect();
    let Some(worst) = attempts.iter().find(|e| e.key.outcome == outcome) else {
        return;
    };
    let read = |e: &&Attempt| e.key.outcome != Interop::NotOffered;
    let alone = attempts
        .iter()
        .filter(read)
        .any(|e| e.key.outcome != outcome);
    row.reason = worst.reason.as_ref().map(|why| {
        let form = if alone {
            format!("with the key as {}: ", worst.key.encoding)
        } else {
            String::new()
        };
        let times = if worst.rounds < rounds {
            format!("in {} of {rounds} rounds: ", worst.rounds)
        } else {
            String::new()
        };
        format!("{times}{form}{why}")
    });
}

fn empty_row(exchange: &Exchange, issuer: &DriverHandle, verifier: &DriverHandle) -> InteropRow {
    let dialect = &exchange.dialect;
    InteropRow {
        status: Status::Unavailable,
        issuer: issuer.party.clone(),
        verifier: verifier.party.clone(),
        format: dialect.format.name().into(),
        alg: dialect.alg.clone(),
        enc: dialect.enc.clone(),
        outcome: None,
        reason: None,
        explanation: None,
        keys: Vec::new(),
    }
}

/// Returns the rows of a kind of token for which the lab cannot make keys.
fn nothing_to_exchange(exchange: &Exchange, handles: &DriverHandles, why: &str) -> Vec<InteropRow> {
    let roles = exchange.roles.iter();
    let handles = roles.filter_map(|role| handles.get(&role.driver));
    handles
        .map(|handle| {
            let mut row = empty_row(exchange, handle, handle);
            row.reason = Some(handle.absent.clone().unwrap_or_else(|| why.to_owned()));
            row
        })
        .collect()
}
