//! A driver that stays running: its process, and the meaning of its faults.

use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Built, Driver};
use jeton_lab_harness::host::Cores;
use jeton_lab_harness::protocol::{Fault, Process};
use jeton_lab_model::protocol::Hello;
use jeton_lab_model::result::{Interop, Party};

/// The maximum number of starts: a process that ends is started again, twice for each request that it does not
/// answer.
const STARTS_MAX: u32 = 12;

/// A driver with its process, if running.
#[derive(Debug)]
pub(super) struct DriverHandle {
    pub driver: String,
    pub party: Party,
    /// The driver's `hello`, after the first start.
    pub hello: Option<Hello>,
    /// Why the driver does not take part, if so.
    pub absent: Option<String>,
    built: Option<Built>,
    process: Option<Process>,
    starts: u32,
    last_failure: String,
}

/// What a driver did instead of answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The driver does not offer it.
    NotOffered(String),
    /// The operation failed.
    Failed(String),
    /// The process crashed.
    Crashed(String),
    /// No answer in time.
    Hung(String),
}

/// The run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

impl Failure {
    /// Returns the outcome of an exchange; `failed` is the outcome of an ordinary failure.
    pub(super) fn outcome(&self, failed: Interop) -> Interop {
        match self {
            Self::NotOffered(_) => Interop::NotOffered,
            Self::Failed(_) => failed,
            Self::Crashed(_) => Interop::Crashed,
            Self::Hung(_) => Interop::Hung,
        }
    }

    pub(super) fn reason(&self) -> &str {
        match self {
            Self::NotOffered(why) | Self::Failed(why) | Self::Crashed(why) | Self::Hung(why) => why,
        }
    }
}

impl DriverHandle {
    /// Creates the handle of a driver, or of one that could not be built with the reason.
    pub(super) fn new(driver: &Driver, built: Result<Built, String>) -> Self {
        let m = &driver.manifest;
        let (built, absent) = match built {
            Ok(built) => (Some(built), None),
            Err(why) => (None, Some(why)),
        };
        Self {
            driver: driver.id.clone(),
            party: Party {
                driver: driver.id.clone(),
                library: m.library.clone(),
                version: m.version.clone(),
                language: m.language.clone(),
            },
            hello: None,
            absent,
            built,
            process: None,
            starts: 0,
            last_failure: String::new(),
        }
    }

    /// Starts the driver for the first time. A driver that cannot be started, or that differs from
    /// its manifest, does not take part.
    pub(super) fn begin(&mut self, stop: &Stop) -> Result<(), Stopped> {
        if self.absent.is_some() {
            return Ok(());
        }
        match self.ask(stop, |_| Ok(())) {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => self.absent = Some(failure.reason().to_owned()),
            Err(stopped) => return Err(stopped),
        }
        let Some(hello) = &self.hello else {
            return Ok(());
        };
        let p = &self.party;
        if (&hello.library, &hello.version, &hello.language)
            != (&p.library, &p.version, &p.language)
        {
            self.absent = Some(format!(
                "`hello` reports {} {} ({}), but the manifest says {} {} ({})",
                hello.library, hello.version, hello.language, p.library, p.version, p.language
            ));
            self.process = None;
        }
        Ok(())
    }

    /// Returns whether the driver must be prepared again, because its process has ended.
    pub(super) fn is_down(&self) -> bool {
        self.process.is_none()
    }

    /// Returns whether the driver passes a key's text to its library under every operation.
    pub(super) fn takes_key_text(&self) -> bool {
        self.hello.as_ref().is_some_and(|h| h.takes_key_text)
    }

    /// Sends a request; starts the driver first if it is not running. If the process crashes or does not answer in
    /// time, the request is sent once more to a new process, which is not prepared: a machine that stalls once
    /// must not look like a driver that hangs.
    pub(super) fn ask<T>(
        &mut self,
        stop: &Stop,
        mut question: impl FnMut(&mut Process) -> Result<T, Fault>,
    ) -> Result<Result<T, Failure>, Stopped> {
        match self.ask_once(stop, &mut question)? {
            Err(Failure::Crashed(_) | Failure::Hung(_)) => self.ask_once(stop, &mut question),
            answer => Ok(answer),
        }
    }

    fn ask_once<T>(
        &mut self,
        stop: &Stop,
        question: &mut impl FnMut(&mut Process) -> Result<T, Fault>,
    ) -> Result<Result<T, Failure>, Stopped> {
        let answer = match self.start(stop) {
            Ok(()) => match &mut self.process {
                Some(process) => question(process),
                None => Err(Fault::NotStarted("the driver could not be started".into())),
            },
            Err(fault) => Err(fault),
        };
        let fault = match answer {
            Ok(answer) => return Ok(Ok(answer)),
            Err(Fault::Stopped) => return Err(Stopped),
            Err(fault) => fault,
        };
        let failure = match fault {
            Fault::Unsupported(why) => Failure::NotOffered(why),
            Fault::Failed(why) => Failure::Failed(why),
            Fault::TimedOut(what) => Failure::Hung(what),
            Fault::Crashed(how) | Fault::NotStarted(how) => Failure::Crashed(how),
            Fault::Stopped => return Err(Stopped),
        };
        if matches!(failure, Failure::Crashed(_) | Failure::Hung(_)) {
            self.process = None;
            failure.reason().clone_into(&mut self.last_failure);
        }
        Ok(Err(failure))
    }

    pub(super) fn bye(&mut self) {
        if let Some(process) = &mut self.process {
            process.bye();
        }
    }

    fn start(&mut self, stop: &Stop) -> Result<(), Fault> {
        if self.process.is_some() {
            return Ok(());
        }
        let Some(built) = &self.built else {
            return Err(Fault::NotStarted("the driver was not built".into()));
        };
        if self.starts == STARTS_MAX {
            return Err(Fault::Crashed(format!(
                "ended after each of {STARTS_MAX} starts; the last time: {}",
                self.last_failure
            )));
        }
        self.starts += 1;
        let mut process = Process::start(&built.spawn, 1, &Cores::unpinned(), stop)?;
        self.hello = Some(process.hello()?);
        self.process = Some(process);
        Ok(())
    }
}
