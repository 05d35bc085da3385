//! A case during a run: its process, its expected answers, and its results.

use std::time::{Duration, Instant};

use super::checksum::Expected;
use crate::host::Cores;
use crate::protocol::{Fault, Process, RUN_LIMIT};
use jeton_lab_model::Case;
use jeton_lab_model::protocol::{Hello, Work};
use jeton_lab_model::result::{NOT_OFFERED, Status};

/// A case with its process, or the reason why it has none.
#[derive(Debug)]
pub(super) struct CaseRun {
    pub case: Case,
    pub suite: &'static str,
    /// The case that this one repeats as an A/A pair.
    pub aa_pair_of: Option<usize>,
    pub process: Option<Process>,
    /// The failure, if there is one.
    pub failure: Option<(Status, String)>,
    pub hello: Option<Hello>,
    pub expected: Option<Expected>,
    /// The operations of one timed batch.
    pub iterations: u64,
    /// Nanoseconds per operation after warm-up.
    pub ns_per_op: f64,
    pub token_bytes: Option<u64>,
    pub bytes_per_op: Option<f64>,
    pub allocs_per_op: Option<f64>,
    pub peak_rss_bytes: Option<u64>,
    /// Wrong keys that it loads.
    pub loads_wrong_keys: Vec<String>,
    pub unsettled: bool,
    /// Nanoseconds per operation by round.
    pub rounds: Vec<f64>,
}

/// The run was asked to stop; the subject has no fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

impl CaseRun {
    pub(super) fn new(case: Case, suite: &'static str) -> Self {
        Self {
            case,
            suite,
            aa_pair_of: None,
            process: None,
            failure: None,
            hello: None,
            expected: None,
            iterations: 1,
            ns_per_op: 0.0,
            token_bytes: None,
            bytes_per_op: None,
            allocs_per_op: None,
            peak_rss_bytes: None,
            loads_wrong_keys: Vec::new(),
            unsettled: false,
            rounds: Vec::new(),
        }
    }

    pub(super) fn live(&self) -> bool {
        self.failure.is_none() && self.process.is_some()
    }

    /// Returns the estimated duration of one timed batch, at most the driver's time limit.
    pub(super) fn batch_takes(&self) -> Duration {
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let operations = self.iterations as f64 * f64::from(self.case.threads);
        let takes = Duration::try_from_secs_f64(operations * self.ns_per_op / 1e9);
        takes.map_or(RUN_LIMIT, |takes| takes.min(RUN_LIMIT))
    }

    /// Reports whether the driver itself performs the untimed operations before a batch.
    pub(super) fn has_own_lead(&self) -> bool {
        self.hello.as_ref().is_some_and(|hello| hello.leads)
    }

    /// Returns the number of operations that take about this time, at most one batch.
    pub(super) fn lead(&self, time: Duration) -> u64 {
        let leads = self.batch_takes().as_micros() / time.as_micros().max(1);
        let leads = u64::try_from(leads).unwrap_or(u64::MAX).max(1);
        self.iterations.div_ceil(leads)
    }

    /// Ends the case. The first reason is kept.
    pub(super) fn fail(&mut self, status: Status, reason: impl Into<String>) {
        self.process = None;
        self.rounds.clear();
        self.failure.get_or_insert((status, reason.into()));
    }

    /// Ends the process and records its peak memory.
    pub(super) fn end_process(&mut self) {
        if let Some(process) = self.process.take() {
            self.peak_rss_bytes = self.peak_rss_bytes.max(process.peak_rss_bytes());
        }
    }

    /// Moves the process to the drivers' current core. Reports whether it moved.
    pub(super) fn follow(&mut self, cores: &Cores) -> bool {
        let process = self.process.as_mut();
        process.is_some_and(|process| process.follow(cores))
    }

    /// Sends a request to the process; a fault ends the case.
    ///
    /// Returns `None` if there is no process or it failed.
    pub(super) fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut Process) -> Result<T, Fault>,
    ) -> Result<Option<T>, Stopped> {
        let Some(process) = &mut self.process else {
            return Ok(None);
        };
        match question(process) {
            Ok(answer) => Ok(Some(answer)),
            Err(fault) => self.ask_failed(fault).map(|()| None),
        }
    }

    /// Records a fault.
    pub(super) fn ask_failed(&mut self, fault: Fault) -> Result<(), Stopped> {
        if fault == Fault::Stopped {
            return Err(Stopped);
        }
        let (status, reason) = explain(fault);
        self.fail(status, reason);
        Ok(())
    }

    /// Runs one batch and checks it: nanoseconds per operation and counts. `expected_time` is the
    /// calibrated duration; the limit is ten times that.
    pub(super) fn batch(
        &mut self,
        work: Work,
        expected_time: Duration,
    ) -> Result<Option<Batch>, Stopped> {
        let iterations = work.iterations;
        let limit = RUN_LIMIT.max(expected_time * 10);
        let threads = self.case.threads;
        let began = Instant::now();
        let Some(report) = self.ask(|p| p.run(work, threads, limit))? else {
            return Ok(None);
        };
        let waited = began.elapsed();
        let fits = self
            .expected
            .as_ref()
            .is_none_or(|e| e.fits(report.checksum, iterations, threads));
        if !fits {
            self.fail(
                Status::Crashed,
                format!("wrong checksum after {iterations} operations: the work was not done"),
            );
            return Ok(None);
        }
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let per_op = |total: u64| total as f64 / iterations as f64 / f64::from(threads);
        Ok(Some(Batch {
            elapsed: Duration::from_nanos(report.elapsed_ns),
            waited,
            operations: iterations * u64::from(threads),
            ns_per_op: per_op(report.elapsed_ns),
            waited_per_op: per_op(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX)),
            bytes_per_op: report.bytes.map(per_op),
            allocs_per_op: report.allocs.map(per_op),
            collects_after: report.collects_after,
        }))
    }
}

/// The measurements of one batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    /// The operations of all threads.
    pub operations: u64,
    /// The duration by the driver's clock.
    pub elapsed: Duration,
    /// The duration by the lab's clock, from request to response.
    pub waited: Duration,
    pub ns_per_op: f64,
    /// Nanoseconds that the lab waited, per operation.
    pub waited_per_op: f64,
    pub bytes_per_op: Option<f64>,
    pub allocs_per_op: Option<f64>,
    /// Operations of each thread between two garbage collections.
    pub collects_after: Option<u64>,
}

impl Batch {
    /// Returns nanoseconds per operation without the time for which the batch was stopped.
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    pub(super) fn ns_per_op_without(&self, stood_still: Duration) -> f64 {
        let worked = self.elapsed.saturating_sub(stood_still);
        worked.as_nanos() as f64 / self.operations as f64
    }
}

/// Maps a fault to the status and reason of a row.
fn explain(fault: Fault) -> (Status, String) {
    match fault {
        Fault::NotStarted(why) => (Status::Unavailable, why),
        Fault::Unsupported(why) => (Status::Unavailable, format!("{NOT_OFFERED}: {why}")),
        Fault::TimedOut(what) => (Status::TimedOut, what),
        Fault::Crashed(how) => (Status::Crashed, how),
        Fault::Failed(why) => (Status::FailedPreflight, format!("failed: {why}")),
        Fault::Stopped => (Status::Unavailable, "the run ended".into()),
    }
}
