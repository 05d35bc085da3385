//! A driver under attack, restarted whenever it crashes or is ended.

use std::time::{Duration, Instant};

use super::trial::TRIALS_PER_CONTROL;
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::Built;
use jeton_lab_harness::host::Cores;
use jeton_lab_harness::protocol::{ANSWER_LIMIT, Fault, Process};
use jeton_lab_model::protocol::{Hello, Prepare, VerifyAnswer, Work};

/// A driver's reply to one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    Accepted,
    /// Rejected, with the library's reason.
    Refused(String),
    /// The library panicked, or the process crashed.
    Crashed(String),
    /// No answer in time.
    Hung(String),
    /// The driver does not support this request.
    Unasked(String),
}

/// The run was stopped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopped;

/// A driver, its process if running, and what the process is prepared for.
#[derive(Debug)]
pub(super) struct Session<'a> {
    built: &'a Built,
    stop: &'a Stop,
    process: Option<Process>,
    /// The `hello` of the last process that was started.
    hello: Option<Hello>,
    /// The number of processes that crashed or did not answer in time.
    faults: u32,
    ready: Option<String>,
    control: Option<Control>,
}

/// The last accepted control for the current preparation.
#[derive(Debug)]
struct Control {
    token: String,
    took: Duration,
    /// The number of trials since.
    trials: u32,
}

impl<'a> Session<'a> {
    pub(super) fn new(built: &'a Built, stop: &'a Stop) -> Self {
        Self {
            built,
            stop,
            process: None,
            hello: None,
            faults: 0,
            ready: None,
            control: None,
        }
    }

    /// Returns the driver's `hello`.
    pub(super) fn hello(&mut self) -> Result<Hello, Fault> {
        self.process()?;
        let missing = || Fault::NotStarted("the driver could not be started".into());
        self.hello.clone().ok_or_else(missing)
    }

    /// Returns the number of processes so far that crashed or did not answer in time.
    pub(super) fn faults(&self) -> u32 {
        self.faults
    }

    /// Starts another process, whose memory is not affected by earlier tokens.
    pub(super) fn restart(&mut self) {
        self.end();
    }

    /// Returns the peak memory of the process.
    pub(super) fn peak_rss_bytes(&self) -> Option<u64> {
        self.process.as_ref()?.peak_rss_bytes()
    }

    /// Prepares the driver if needed. Returns its error, if any.
    pub(super) fn prepare(&mut self, order: &Prepare) -> Result<Result<(), Reply>, Stopped> {
        let text = serde_json::to_string(order).unwrap_or_default();
        if self.ready.as_ref() == Some(&text) && self.process.is_some() {
            return Ok(Ok(()));
        }
        (self.ready, self.control) = (None, None);
        let asked = self.process().and_then(|p| p.prepare(order));
        let said = self.after_fault(asked)?;
        if said.is_ok() {
            self.ready = Some(text);
        }
        Ok(said)
    }

    /// Verifies a token. Returns the reply and the time that it took.
    pub(super) fn verify(
        &mut self,
        order: &Prepare,
        token: &str,
    ) -> Result<(Reply, Duration), Stopped> {
        if let Err(reply) = self.prepare(order)? {
            return Ok((reply, Duration::ZERO));
        }
        let began = Instant::now();
        let asked = self.process().and_then(|p| p.verify(token));
        let took = began.elapsed();
        Ok((
            self.after_fault(asked)?.map_or_else(|reply| reply, verdict),
            took,
        ))
    }

    /// Verifies a token with one of the prepared verifiers.
    pub(super) fn verify_by(
        &mut self,
        order: &Prepare,
        verifier: usize,
        token: &str,
    ) -> Result<Reply, Stopped> {
        if let Err(reply) = self.prepare(order)? {
            return Ok(reply);
        }
        let asked = self.process().and_then(|p| p.verify_by(verifier, token));
        Ok(self.after_fault(asked)?.map_or_else(|reply| reply, verdict))
    }

    /// Verifies a control. An accepted control is not sent again for each of many trials.
    pub(super) fn control(
        &mut self,
        order: &Prepare,
        token: &str,
    ) -> Result<(Reply, Duration), Stopped> {
        if let Err(reply) = self.prepare(order)? {
            return Ok((reply, Duration::ZERO));
        }
        if let Some(known) = &mut self.control
            && known.token == token
            && known.trials < TRIALS_PER_CONTROL
        {
            known.trials += 1;
            return Ok((Reply::Accepted, known.took));
        }
        let (reply, took) = self.verify(order, token)?;
        self.control = (reply == Reply::Accepted).then(|| Control {
            token: token.to_owned(),
            took,
            trials: 0,
        });
        Ok((reply, took))
    }

    /// Returns the reply to loading a key.
    pub(super) fn load(&mut self, order: &Prepare) -> Result<Reply, Stopped> {
        if let Err(reply) = self.prepare(order)? {
            return Ok(reply);
        }
        let asked = self
            .process()
            .and_then(|p| p.run(Work::of(1), 1, ANSWER_LIMIT));
        Ok(self
            .after_fault(asked)?
            .map_or_else(|reply| reply, |_| Reply::Accepted))
    }

    /// Returns the token that the driver makes.
    pub(super) fn token(&mut self, order: &Prepare) -> Result<Result<String, Reply>, Stopped> {
        if let Err(reply) = self.prepare(order)? {
            return Ok(Err(reply));
        }
        let asked = self.process().and_then(|p| p.token(0));
        self.after_fault(asked)
    }

    /// Returns the process. A new one has answered `hello`, whose time limit includes the start. One that does
    /// not is started once more: on a busy machine the start may take too long.
    fn process(&mut self) -> Result<&mut Process, Fault> {
        let process = match self.process.take() {
            Some(process) => process,
            None => match self.start() {
                Err(Fault::TimedOut(_) | Fault::Crashed(_)) => self.start()?,
                started => started?,
            },
        };
        Ok(self.process.insert(process))
    }

    fn start(&mut self) -> Result<Process, Fault> {
        (self.ready, self.control) = (None, None);
        let mut process = Process::start(&self.built.spawn, 1, &Cores::unpinned(), self.stop)?;
        self.hello = Some(process.hello()?);
        Ok(process)
    }

    fn end(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.bye();
        }
        (self.ready, self.control) = (None, None);
    }

    /// Converts a fault to a reply about the library, and ends a process that did not survive it.
    fn after_fault<T>(&mut self, asked: Result<T, Fault>) -> Result<Result<T, Reply>, Stopped> {
        let fault = match asked {
            Ok(answer) => return Ok(Ok(answer)),
            Err(fault) => fault,
        };
        Ok(Err(match fault {
            Fault::Stopped => return Err(Stopped),
            Fault::Failed(why) if is_panic(&why) => Reply::Crashed(why),
            Fault::Failed(why) => Reply::Refused(why),
            Fault::Unsupported(why) => Reply::Unasked(why),
            Fault::NotStarted(why) => Reply::Unasked(why),
            Fault::Crashed(why) => {
                self.end();
                self.faults += 1;
                Reply::Crashed(why)
            }
            Fault::TimedOut(why) => {
                self.end();
                self.faults += 1;
                Reply::Hung(why)
            }
        }))
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

fn verdict(answer: VerifyAnswer) -> Reply {
    let reason = answer.reason.unwrap_or_else(|| "no reason given".into());
    match (answer.accepted, is_panic(&reason)) {
        (true, _) => Reply::Accepted,
        (false, true) => Reply::Crashed(reason),
        (false, false) => Reply::Refused(reason),
    }
}

/// The harnesses catch panics of the library and report them in this form.
fn is_panic(reason: &str) -> bool {
    ["panic: ", "panicked: "].iter().any(|p| reason.contains(p))
        || reason.contains("StackOverflowError")
        || reason.contains("OutOfMemoryError")
}
