//! A driver under attack: it is started again whenever it died or was ended.

use std::time::{Duration, Instant};

use super::trial::TRIALS_PER_CONTROL;
use crate::driver::Built;
use crate::host::Cores;
use crate::protocol::{ANSWER_LIMIT, Fault, Hello, Prepare, Process, VerifyAnswer, Work};
use crate::stop::Stop;

/// What a driver said of one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    Accepted,
    /// With the library's reason.
    Refused(String),
    /// The library panicked, or the process died.
    Crashed(String),
    /// It did not answer in time.
    Hung(String),
    /// The driver could not be asked this.
    Unasked(String),
}

/// The run was asked to stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopped;

/// A driver, its process if it has one, and what that is prepared for.
#[derive(Debug)]
pub(super) struct Session<'a> {
    built: &'a Built,
    stop: &'a Stop,
    process: Option<Process>,
    ready: Option<String>,
    control: Option<Control>,
}

/// The token that was accepted last as a control, under what the process is ready for.
#[derive(Debug)]
struct Control {
    token: String,
    took: Duration,
    /// How many trials have stood on it.
    trials: u32,
}

impl<'a> Session<'a> {
    pub(super) fn new(built: &'a Built, stop: &'a Stop) -> Self {
        Self {
            built,
            stop,
            process: None,
            ready: None,
            control: None,
        }
    }

    /// Who it is.
    pub(super) fn hello(&mut self) -> Result<Hello, Fault> {
        self.process()?.hello()
    }

    /// Another process in the place of this one, so that its memory is its own.
    pub(super) fn afresh(&mut self) {
        self.end();
    }

    /// The most memory that the process ever held.
    pub(super) fn peak_rss_bytes(&self) -> Option<u64> {
        self.process.as_ref()?.peak_rss_bytes()
    }

    /// Makes it ready, if it is not: what it said against it.
    pub(super) fn prepare(&mut self, order: &Prepare) -> Result<Result<(), Reply>, Stopped> {
        let text = serde_json::to_string(order).unwrap_or_default();
        if self.ready.as_ref() == Some(&text) && self.process.is_some() {
            return Ok(Ok(()));
        }
        (self.ready, self.control) = (None, None);
        let asked = self.process().and_then(|p| p.prepare(order));
        let said = self.heard(asked)?;
        if said.is_ok() {
            self.ready = Some(text);
        }
        Ok(said)
    }

    /// What it says of a token, and how long that took.
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
        Ok((self.heard(asked)?.map_or_else(|reply| reply, verdict), took))
    }

    /// The same of a control, which is not asked again for each of many trials beside it.
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

    /// Whether it loads a key.
    pub(super) fn load(&mut self, order: &Prepare) -> Result<Reply, Stopped> {
        if let Err(reply) = self.prepare(order)? {
            return Ok(reply);
        }
        let asked = self
            .process()
            .and_then(|p| p.run(Work::of(1), 1, ANSWER_LIMIT));
        Ok(self
            .heard(asked)?
            .map_or_else(|reply| reply, |_| Reply::Accepted))
    }

    /// The token that it makes.
    pub(super) fn token(&mut self, order: &Prepare) -> Result<Result<String, Reply>, Stopped> {
        if let Err(reply) = self.prepare(order)? {
            return Ok(Err(reply));
        }
        let asked = self.process().and_then(|p| p.token(0));
        self.heard(asked)
    }

    fn process(&mut self) -> Result<&mut Process, Fault> {
        let process = match self.process.take() {
            Some(process) => process,
            None => {
                (self.ready, self.control) = (None, None);
                Process::start(&self.built.spawn, 1, &Cores::unpinned(), self.stop)?
            }
        };
        Ok(self.process.insert(process))
    }

    fn end(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.bye();
        }
        (self.ready, self.control) = (None, None);
    }

    /// What a fault says of the library, and whether the process survived it.
    fn heard<T>(&mut self, asked: Result<T, Fault>) -> Result<Result<T, Reply>, Stopped> {
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
                Reply::Crashed(why)
            }
            Fault::TimedOut(why) => {
                self.end();
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
    let reason = answer.reason.unwrap_or_else(|| "it gives no reason".into());
    match (answer.accepted, is_panic(&reason)) {
        (true, _) => Reply::Accepted,
        (false, true) => Reply::Crashed(reason),
        (false, false) => Reply::Refused(reason),
    }
}

/// The harnesses catch a library's panic, and say so.
fn is_panic(reason: &str) -> bool {
    ["panic: ", "panicked: "].iter().any(|p| reason.contains(p))
        || reason.contains("StackOverflowError")
        || reason.contains("OutOfMemoryError")
}
