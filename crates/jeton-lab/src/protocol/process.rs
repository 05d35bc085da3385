//! A driver's process: one JSON line out, one JSON line back, within a time limit.
//!
//! The process leads a group of its own, so that ending it ends whatever it started.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::pipes::{Heard, Tail, keep_tail, read_answers, write_requests};
use super::{
    ANSWER_LIMIT, HELLO_LIMIT, Hello, MAX_LINE_BYTES, PROTOCOL, Prepare, RunReport, VerifyAnswer,
    Work,
};
use crate::host::Cores;
use crate::stop::Stop;

/// How to start a driver.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// The command and its arguments.
    pub command: Vec<OsString>,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// Variables beside those of the lab.
    pub environment: Vec<(OsString, OsString)>,
}

/// A running driver. Dropping it ends it and everything it started.
#[derive(Debug)]
pub struct Process {
    child: Child,
    requests: Option<SyncSender<Vec<u8>>>,
    answers: Receiver<Heard>,
    talk: Tail,
    stop: Stop,
    /// The one core that it runs on, if it has just one.
    core: Option<usize>,
    ended: bool,
}

/// What went wrong with a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It could not be started at all.
    NotStarted(String),
    /// It died, flooded its output or answered nonsense.
    Crashed(String),
    /// It did not answer in time.
    TimedOut(String),
    /// It answered that it does not offer this.
    Unsupported(String),
    /// It answered that it could not do it.
    Failed(String),
    /// The run was asked to stop while the answer was awaited.
    Stopped,
}

impl Process {
    /// Starts a driver, to work on so many threads, on the cores that are meant for drivers.
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
        let (heard, answers) = sync_channel(1);
        let talk = Tail::default();
        let tail = talk.clone();
        thread::spawn(move || write_requests(stdin, &to_write));
        thread::spawn(move || read_answers(stdout, &heard));
        thread::spawn(move || keep_tail(stderr, &tail));
        Ok(Self {
            child,
            requests: Some(requests),
            answers,
            talk,
            stop: stop.clone(),
            core: cores.driver_core().filter(|_| threads == 1),
            ended: false,
        })
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Brings one that runs on one core to where the drivers are now. Whether it was elsewhere.
    pub(crate) fn follow(&mut self, cores: &Cores) -> bool {
        let now = cores.driver_core();
        if self.core.is_none() || self.core == now {
            return false;
        }
        self.core = now;
        cores.follow(self.id());
        true
    }

    /// Asks the driver who it is.
    ///
    /// # Errors
    /// A [`Fault`]; the process is ended by all of them except [`Fault::Unsupported`] and
    /// [`Fault::Failed`]. The same is true of the other requests.
    pub fn hello(&mut self) -> Result<Hello, Fault> {
        let question = json!({"op": "hello", "protocol": PROTOCOL});
        let hello: Hello = self.ask(&question, HELLO_LIMIT)?;
        if hello.protocol == PROTOCOL {
            Ok(hello)
        } else {
            Err(Fault::Crashed(format!(
                "speaks version {} of the protocol, the lab speaks {PROTOCOL}",
                hello.protocol
            )))
        }
    }

    /// Makes the driver ready for one contract.
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

    /// One token, for the claims value `index`.
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

    /// What the driver thinks of one token.
    ///
    /// # Errors
    /// See [`Self::hello`].
    pub fn verify(&mut self, token: &str) -> Result<VerifyAnswer, Fault> {
        self.ask(&json!({"op": "verify", "token": token}), ANSWER_LIMIT)
    }

    /// Does the prepared contract on each of `threads` threads.
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

    /// The most memory the process ever held, bytes; `None` where the system does not say.
    #[must_use]
    pub fn peak_rss_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    }

    /// Says `bye`, and does not wait: dropping the process ends it.
    pub fn bye(&mut self) {
        if let Some(requests) = self.requests.take() {
            // A driver that is too busy to hear it is ended anyway.
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
            Ok(Heard::Line(_) | Heard::TooLong) => {
                return Err(Fault::Crashed(
                    "flooded its output: wrote without being asked".into(),
                ));
            }
            Ok(Heard::End) | Err(TryRecvError::Disconnected) => {
                return Err(self.obituary());
            }
            Err(TryRecvError::Empty) => {}
        }
        let mut line = serde_json::to_vec(question)
            .map_err(|e| Fault::Failed(format!("the request cannot be written: {e}")))?;
        line.push(b'\n');
        let sent = self.requests.as_ref().map(|r| r.try_send(line));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.obituary());
        }
        let line = self.hear(limit)?;
        parse(&line)
    }

    /// Waits in slices, so that a request to stop is noticed while a driver is silent.
    fn hear(&mut self, limit: Duration) -> Result<Vec<u8>, Fault> {
        const SLICE: Duration = Duration::from_millis(50);
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(left.min(SLICE)) {
                Ok(Heard::Line(line)) => return Ok(line),
                Ok(Heard::TooLong) => {
                    return Err(Fault::Crashed(format!(
                        "flooded its output: a line of more than {} MiB",
                        MAX_LINE_BYTES >> 20
                    )));
                }
                Ok(Heard::End) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.obituary());
                }
                Err(RecvTimeoutError::Timeout) if self.stop.requested() => {
                    return Err(Fault::Stopped);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Err(Fault::TimedOut(format!(
                        "did not answer within {} s",
                        limit.as_secs()
                    )));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Why a driver that is gone, or closed its output, went.
    fn obituary(&mut self) -> Fault {
        // The last words may still be on their way through the pipe.
        let mut status = None;
        for _ in 0..20 {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(10));
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
            // Also when the leader is gone: what it started keeps the group's number taken.
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
        Fault::Crashed(format!("answered nonsense: {what} in `{}`", shown.trim()))
    };
    let value: Value = serde_json::from_slice(line).map_err(|_| nonsense("no JSON"))?;
    match value.get("ok").and_then(Value::as_bool) {
        Some(true) => serde_json::from_value(value).map_err(|e| nonsense(&e.to_string())),
        Some(false) => {
            let reason = value.get("reason").and_then(Value::as_str);
            let reason: String = reason
                .unwrap_or("gave no reason")
                .chars()
                .take(300)
                .collect();
            match value.get("error").and_then(Value::as_str) {
                Some("unsupported") => Err(Fault::Unsupported(reason)),
                _ => Err(Fault::Failed(reason)),
            }
        }
        None => Err(nonsense("no `ok`")),
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("died with exit code {code}"),
        (None, Some(signal)) => format!("died of signal {signal}"),
        (None, None) => "died".into(),
    }
}
