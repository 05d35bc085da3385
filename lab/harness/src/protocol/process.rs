//! A driver's process: one JSON line per request and response, within a time limit.
//!
//! The process leads its own group, so that stopping it stops its children too.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::pipes::{Received, Tail, keep_tail, read_answers, write_requests};
use super::{ANSWER_LIMIT, HELLO_LIMIT};
use crate::Stop;
use crate::host::Cores;
use jeton_lab_model::protocol::{
    Hello, MAX_LINE_BYTES, PROTOCOL, Prepare, RunReport, VerifyAnswer, Work,
};

/// The longest wait for the end of a driver that closed its output, and for what it wrote last.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How to start a driver.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// The command and its arguments.
    pub command: Vec<OsString>,
    /// The working folder.
    pub folder: PathBuf,
    /// Additional environment variables.
    pub environment: Vec<(OsString, OsString)>,
}

/// A running driver. Dropping it stops it and its children.
#[derive(Debug)]
pub struct Process {
    child: Child,
    requests: Option<SyncSender<Vec<u8>>>,
    answers: Receiver<Received>,
    talk: Tail,
    /// Ends with the driver's standard error.
    talk_reader: JoinHandle<()>,
    stop: Stop,
    /// The core, if it runs on exactly one.
    core: Option<usize>,
    ended: bool,
}

/// A fault of a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It could not start.
    NotStarted(String),
    /// It exited, flooded its output, or sent an invalid response.
    Crashed(String),
    /// It did not respond in time.
    TimedOut(String),
    /// It responded that it does not offer this.
    Unsupported(String),
    /// It responded that it failed.
    Failed(String),
    /// The run was asked to stop while waiting.
    Stopped,
}

impl Process {
    /// Starts a driver for this number of threads, on the drivers' cores.
    ///
    /// # Errors
    /// [`Fault::NotStarted`].
    pub fn start(spawn: &Spawn, threads: u32, cores: &Cores, stop: &Stop) -> Result<Self, Fault> {
        let (program, arguments) = spawn
            .command
            .split_first()
            .ok_or_else(|| Fault::NotStarted("the manifest's `run` is empty".into()))?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&spawn.folder)
            .envs(spawn.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = cores
            .for_driver(threads, || command.spawn())
            .map_err(|e| Fault::NotStarted(format!("cannot start {}: {e}", program.display())))?;
        let (stdin, stdout, stderr) =
            match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
                (Some(i), Some(o), Some(e)) => (i, o, e),
                _ => return Err(Fault::NotStarted("the driver has no pipes".into())),
            };
        let (requests, to_write) = sync_channel(1);
        let (received, answers) = sync_channel(1);
        let talk = Tail::default();
        let tail = talk.clone();
        thread::spawn(move || write_requests(stdin, &to_write));
        thread::spawn(move || read_answers(stdout, &received));
        let talk_reader = thread::spawn(move || keep_tail(stderr, &tail));
        Ok(Self {
            child,
            requests: Some(requests),
            answers,
            talk,
            talk_reader,
            stop: stop.clone(),
            core: cores.driver_core().filter(|_| threads == 1),
            ended: false,
        })
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Moves a process with one core to the drivers' current core. Reports whether it moved.
    pub(crate) fn follow(&mut self, cores: &Cores) -> bool {
        let now = cores.driver_core();
        if self.core.is_none() || self.core == now {
            return false;
        }
        self.core = now;
        cores.follow(self.id());
        true
    }

    /// Requests the driver's identification.
    ///
    /// # Errors
    /// A [`Fault`]; each fault except [`Fault::Unsupported`] and [`Fault::Failed`] stops the process.
    /// The same applies to the other requests.
    pub fn hello(&mut self) -> Result<Hello, Fault> {
        let question = json!({"op": "hello", "protocol": PROTOCOL});
        let hello: Hello = self.ask(&question, HELLO_LIMIT)?;
        if hello.protocol == PROTOCOL {
            Ok(hello)
        } else {
            Err(Fault::Crashed(format!(
                "the driver uses protocol version {}, the lab supports {PROTOCOL}",
                hello.protocol
            )))
        }
    }

    /// Prepares the driver for one operation.
    ///
    /// # Errors
    /// See [`Self::hello`].
    pub fn prepare(&mut self, prepare: &Prepare) -> Result<(), Fault> {
        #[derive(Serialize)]
        struct Tagged<'a> {
            op: &'static str,
            #[serde(flatten)]
            prepare: &'a Prepare,
        }
        let op = "prepare";
        self.ask::<Value>(&Tagged { op, prepare }, ANSWER_LIMIT)
            .map(drop)
    }

    /// Requests a token of the claims value `index`.
    ///
    /// # Errors
    /// See [`Self::hello`].
    pub fn token(&mut self, index: usize) -> Result<String, Fault> {
        #[derive(serde::Deserialize)]
        struct Token {
            token: String,
        }
        let question = json!({"op": "token", "index": index});
        self.ask(&question, ANSWER_LIMIT).map(|t: Token| t.token)
    }

    /// Requests the verification of one token.
    ///
    /// # Errors
    /// See [`Self::hello`].
    pub fn verify(&mut self, token: &str) -> Result<VerifyAnswer, Fault> {
        self.ask(&json!({"op": "verify", "token": token}), ANSWER_LIMIT)
    }

    /// Requests the verification of one token by one of several prepared verifiers.
    ///
    /// # Errors
    /// See [`Self::hello`].
    pub fn verify_by(&mut self, verifier: usize, token: &str) -> Result<VerifyAnswer, Fault> {
        let question = json!({"op": "verify", "token": token, "verifier": verifier});
        self.ask(&question, ANSWER_LIMIT)
    }

    /// Runs the prepared operation on each of `threads` threads.
    ///
    /// # Errors
    /// See [`Self::hello`].
    pub fn run(&mut self, work: Work, threads: u32, limit: Duration) -> Result<RunReport, Fault> {
        #[derive(Serialize)]
        struct Run {
            op: &'static str,
            threads: u32,
            #[serde(flatten)]
            work: Work,
        }
        let op = "run";
        self.ask(&Run { op, threads, work }, limit)
    }

    /// Returns the peak resident memory in bytes, if known.
    #[must_use]
    pub fn peak_rss_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    }

    /// Sends `bye` without waiting: dropping the process stops it.
    pub fn bye(&mut self) {
        if let Some(requests) = self.requests.take() {
            // A driver that does not read it is stopped anyway.
            let _ = requests.try_send(b"{\"op\":\"bye\"}\n".to_vec());
        }
    }

    fn ask<A: DeserializeOwned>(
        &mut self,
        question: &impl Serialize,
        limit: Duration,
    ) -> Result<A, Fault> {
        let answer = self.exchange(question, limit);
        if let Err(Fault::Crashed(_) | Fault::TimedOut(_) | Fault::Stopped) = &answer {
            self.end();
        }
        answer
    }

    fn exchange<A: DeserializeOwned>(
        &mut self,
        question: &impl Serialize,
        limit: Duration,
    ) -> Result<A, Fault> {
        if self.stop.requested() {
            return Err(Fault::Stopped);
        }
        match self.answers.try_recv() {
            Ok(Received::Line(_) | Received::TooLong) => {
                return Err(Fault::Crashed(
                    "unexpected output: wrote without a request".into(),
                ));
            }
            Ok(Received::End) | Err(TryRecvError::Disconnected) => {
                return Err(self.exit_fault());
            }
            Err(TryRecvError::Empty) => {}
        }
        let mut line = serde_json::to_vec(question)
            .map_err(|e| Fault::Failed(format!("cannot write the request: {e}")))?;
        line.push(b'\n');
        let sent = self.requests.as_ref().map(|r| r.try_send(line));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.exit_fault());
        }
        let line = self.receive(limit)?;
        parse(&line)
    }

    /// Waits in slices, so that a stop request is noticed meanwhile.
    fn receive(&mut self, limit: Duration) -> Result<Vec<u8>, Fault> {
        const SLICE: Duration = Duration::from_millis(50);
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(left.min(SLICE)) {
                Ok(Received::Line(line)) => return Ok(line),
                Ok(Received::TooLong) => {
                    return Err(Fault::Crashed(format!(
                        "unexpected output: a line of more than {} MiB",
                        MAX_LINE_BYTES >> 20
                    )));
                }
                Ok(Received::End) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.exit_fault());
                }
                Err(RecvTimeoutError::Timeout) if self.stop.requested() => {
                    return Err(Fault::Stopped);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Err(Fault::TimedOut(format!(
                        "no response within {} s",
                        limit.as_secs()
                    )));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Returns the reason why a driver exited or closed its output.
    fn exit_fault(&mut self) -> Fault {
        // The last output may still be in the pipe, which another process may hold open.
        let deadline = Instant::now() + LAST_WORDS;
        let mut status = None;
        while Instant::now() < deadline {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() && self.talk_reader.is_finished() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let how = status.map_or("closed its output".into(), describe);
        Fault::Crashed(match self.talk.last_words() {
            Some(words) => format!("{how}: {words}"),
            None => how,
        })
    }

    fn end(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        drop(self.requests.take());
        #[allow(clippy::cast_possible_wrap, reason = "process ids are positive i32")]
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            // The group is stopped even if its leader has exited: its children keep the group id in
            // use.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn parse<A: DeserializeOwned>(line: &[u8]) -> Result<A, Fault> {
    let nonsense = |what: &str| {
        let shown: String = String::from_utf8_lossy(line).chars().take(60).collect();
        Fault::Crashed(format!("invalid response: {what} in `{}`", shown.trim()))
    };
    let value: Value = serde_json::from_slice(line).map_err(|_| nonsense("not JSON"))?;
    match value.get("ok").and_then(Value::as_bool) {
        Some(true) => serde_json::from_value(value).map_err(|e| nonsense(&e.to_string())),
        Some(false) => {
            let reason = value.get("reason").and_then(Value::as_str);
            let reason: String = reason
                .unwrap_or("no reason given")
                .chars()
                .take(300)
                .collect();
            match value.get("error").and_then(Value::as_str) {
                Some("unsupported") => Err(Fault::Unsupported(reason)),
                _ => Err(Fault::Failed(reason)),
            }
        }
        None => Err(nonsense("`ok` is missing")),
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended for an unknown reason".into(),
    }
}
