//! Calls of each client of the configuration, by outcome.
//!
//! The configuration bounds the number of clients, and [`LABELLED_CLIENTS`](limits::LABELLED_CLIENTS) that of labels.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{CallOutcome, OUTCOMES, label};
use crate::limits;

/// The label of clients without one of their own, and of callers of a server without clients.
const OTHERS: &str = "(others)";

/// The calls of a client.
#[derive(Debug)]
pub(crate) struct ClientCalls {
    outcomes: [AtomicU64; OUTCOMES.len()],
    created: Instant,
    /// When the last call began: milliseconds after `created`, plus 1. 0: there was none.
    last: AtomicU64,
}

/// The calls of a client at one time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClientCount {
    /// In the order of the outcomes.
    pub(crate) outcomes: [u64; OUTCOMES.len()],
    /// Time since the last call.
    pub(crate) last: Option<Duration>,
}

impl ClientCalls {
    pub(crate) fn new() -> ClientCalls {
        ClientCalls {
            outcomes: Default::default(),
            created: Instant::now(),
            last: AtomicU64::new(0),
        }
    }

    pub(crate) fn count(&self, outcome: CallOutcome, started: Instant) {
        self.outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
        self.last.fetch_max(self.after(started), Ordering::Relaxed);
    }

    /// Continues the numbers of the same client in the configuration before.
    pub(crate) fn continue_from(&self, before: &ClientCalls) {
        for (counter, before) in self.outcomes.iter().zip(&before.outcomes) {
            counter.fetch_add(before.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        if let Some(ago) = before.now().last
            && let Some(last) = Instant::now().checked_sub(ago)
        {
            self.last.fetch_max(self.after(last), Ordering::Relaxed);
        }
    }

    pub(crate) fn now(&self) -> ClientCount {
        let last = self.last.load(Ordering::Relaxed).checked_sub(1);
        ClientCount {
            outcomes: self
                .outcomes
                .each_ref()
                .map(|counter| counter.load(Ordering::Relaxed)),
            last: last.map(|after| {
                let at = Duration::from_millis(after);
                self.created.elapsed().saturating_sub(at)
            }),
        }
    }

    fn after(&self, started: Instant) -> u64 {
        let after = started.saturating_duration_since(self.created).as_millis();
        u64::try_from(after).unwrap_or(u64::MAX - 1) + 1
    }
}

impl ClientCount {
    /// Adds the calls of another entry of the same client.
    pub(crate) fn add(&mut self, other: ClientCount) {
        for (sum, count) in self.outcomes.iter_mut().zip(other.outcomes) {
            *sum += count;
        }
        self.last = match (self.last, other.last) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    /// Calls that succeeded.
    pub(crate) fn succeeded(&self) -> u64 {
        self.outcomes[CallOutcome::Ok as usize]
    }

    /// Calls that did not succeed.
    pub(crate) fn failed(&self) -> u64 {
        self.outcomes.iter().sum::<u64>() - self.succeeded()
    }
}

/// Writes OpenMetrics text. The clients are in the order of the configuration.
pub(crate) fn write(clients: &[(&str, ClientCount)], others: ClientCount, text: &mut String) {
    text.push_str(
        "# HELP jeton_client_calls Calls of each client of the configuration, by outcome.\n\
         # TYPE jeton_client_calls counter\n",
    );
    let labelled = clients.len().min(limits::LABELLED_CLIENTS);
    let (labelled, rest) = clients.split_at(labelled);
    let mut sum = others;
    rest.iter().for_each(|(_, count)| sum.add(*count));
    for (name, count) in labelled.iter().chain(&[(OTHERS, sum)]) {
        let client = label(name);
        for ((_, outcome), calls) in OUTCOMES.iter().zip(count.outcomes) {
            let _ = writeln!(
                text,
                "jeton_client_calls_total{{client=\"{client}\",outcome=\"{outcome}\"}} {calls}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_outcome_and_continued() {
        let (before, started) = (ClientCalls::new(), Instant::now());
        assert_eq!(before.now(), ClientCount::default());
        before.count(CallOutcome::Ok, started);
        before.count(CallOutcome::ClientError, started);
        let after = ClientCalls::new();
        after.continue_from(&before);
        after.count(CallOutcome::ClientError, started);
        let count = after.now();
        assert_eq!((count.succeeded(), count.failed()), (1, 2));
        assert!(count.last.is_some());
    }

    #[test]
    fn labels_are_bounded_and_no_call_is_lost() {
        let one = ClientCount {
            outcomes: [1; OUTCOMES.len()],
            last: None,
        };
        let names: Vec<String> = (0..limits::LABELLED_CLIENTS + 3)
            .map(|number| format!("c{number}"))
            .collect();
        let clients: Vec<_> = names.iter().map(|name| (name.as_str(), one)).collect();
        let mut text = String::new();
        write(&clients, one, &mut text);
        let series = text.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(
            series.count(),
            (limits::LABELLED_CLIENTS + 1) * OUTCOMES.len()
        );
        assert!(text.ends_with("{client=\"(others)\",outcome=\"server_error\"} 4\n"));
    }
}
