//! A server's process: started on its cores, watched, ended with all that it started.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::keys::Keys;
use super::manifest::Server;
use crate::driver::Cache;
use crate::host::{Processes, ServerCores};
use crate::stop::Stop;

/// How long a server may take to say where it listens, and each command that makes it ready.
const START_LIMIT: Duration = Duration::from_secs(30);
/// What is shown of a server's last words.
const WORDS_MAX: usize = 200;
/// How much of what it wrote is read for them.
const LOG_BYTES_MAX: u64 = 64 * 1024;

/// A server that listens. Dropping it ends it and everything it started.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    log: PathBuf,
    pub(crate) address: SocketAddr,
}

/// What is needed to start one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) server: &'a Server,
    pub(crate) cache: &'a Cache,
    pub(crate) keys: &'a Keys,
    pub(crate) server_cores: &'a ServerCores,
    pub(crate) cores: u32,
    /// An empty folder, for this start alone.
    pub(crate) folder: &'a Path,
}

impl Start<'_> {
    /// Makes it ready, starts it, and waits until it says where it listens.
    pub(crate) fn start(&self, stop: &Stop) -> Result<Running, String> {
        fs::create_dir_all(self.folder)
            .map_err(|e| format!("{} cannot be made: {e}", self.folder.display()))?;
        for (name, content) in &self.server.manifest.files {
            let path = self.folder.join(name);
            let content = self.filled_in(content);
            fs::write(&path, content).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        if let Some(address) = self.server.manifest.address {
            free(address)?;
        }
        for command in &self.server.manifest.prepare {
            self.prepare(command, stop)?;
        }
        let mut running = self.spawn(&self.server.manifest.start, "log")?;
        running.address = self.listening(&mut running, stop)?;
        Ok(running)
    }

    fn prepare(&self, command: &[String], stop: &Stop) -> Result<(), String> {
        let mut running = self.spawn(command, "prepare.log")?;
        let began = Instant::now();
        loop {
            match running.ended() {
                Some(status) if status.success() => return Ok(()),
                Some(_) => return Err(format!("cannot be made ready: {}", running.last_words())),
                None if stop.requested() => return Err("the run was over".to_owned()),
                None if began.elapsed() > START_LIMIT => {
                    return Err(format!(
                        "was not made ready within {} s",
                        START_LIMIT.as_secs()
                    ));
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    fn spawn(&self, command: &[String], log: &str) -> Result<Running, String> {
        let command: Vec<String> = command.iter().map(|part| self.filled_in(part)).collect();
        let command = self.cache.expand(&command, self.server.recipe());
        let (program, arguments): (&OsString, _) = command
            .split_first()
            .ok_or_else(|| "its manifest names no command".to_owned())?;
        let log = self.folder.join(log);
        let io = |e: std::io::Error| format!("cannot start {}: {e}", program.display());
        let file = File::create(&log).map_err(io)?;
        let mut process = Command::new(program);
        process
            .args(arguments)
            .current_dir(&self.server.folder)
            .stdin(Stdio::null())
            .stdout(file.try_clone().map_err(io)?)
            .stderr(file)
            .process_group(0);
        for (name, value) in &self.server.manifest.environment {
            process.env(name, self.filled_in(value));
        }
        let child = self
            .server_cores
            .for_server(|| process.spawn())
            .map_err(io)?;
        Ok(Running {
            child,
            log,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
        })
    }

    fn filled_in(&self, text: &str) -> String {
        let mut text = text
            .replace("{run}", &self.folder.to_string_lossy())
            .replace("{cores}", &self.cores.to_string());
        for name in Keys::FILES {
            let file = self.keys.file(name);
            text = text.replace(&format!("{{{name}}}"), &file.to_string_lossy());
        }
        text
    }

    fn listening(&self, running: &mut Running, stop: &Stop) -> Result<SocketAddr, String> {
        let began = Instant::now();
        loop {
            let found = match (
                &self.server.manifest.announces,
                self.server.manifest.address,
            ) {
                (Some(before), _) => running.announced(before)?,
                (None, Some(address)) => TcpStream::connect(address).is_ok().then_some(address),
                (None, None) => None,
            };
            if let Some(address) = found {
                return Ok(address);
            }
            if running.ended().is_some() {
                return Err(format!("did not start: {}", running.last_words()));
            }
            if stop.requested() {
                return Err("the run was over".to_owned());
            }
            if began.elapsed() > START_LIMIT {
                return Err(format!(
                    "did not say within {} s where it listens: {}",
                    START_LIMIT.as_secs(),
                    running.last_words()
                ));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A server that chooses no port itself must find its own free.
pub(super) fn free(address: SocketAddr) -> Result<(), String> {
    TcpListener::bind(address).map(drop).map_err(|e| {
        format!(
            "{address} is taken ({e}): end who listens there, or give the server another address"
        )
    })
}

impl Running {
    /// It and all that it started.
    pub(crate) fn processes(&self) -> Processes {
        Processes::of_group(self.child.id())
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Why it is gone, in words; none if it is not.
    pub(crate) fn obituary(&mut self) -> Option<String> {
        let status = self.ended()?;
        Some(format!("died ({status}): {}", self.last_words()))
    }

    /// The last line that it wrote.
    pub(crate) fn last_words(&self) -> String {
        let said = self.said();
        let mut lines = said.lines().rev().map(str::trim);
        let line = lines.find(|line| !line.is_empty());
        line.unwrap_or("it said nothing")
            .chars()
            .filter(|c| !c.is_control())
            .take(WORDS_MAX)
            .collect()
    }

    fn said(&self) -> String {
        use std::io::{Read, Seek, SeekFrom};
        let mut bytes = Vec::new();
        if let Ok(mut file) = File::open(&self.log) {
            let length = file.metadata().map_or(0, |m| m.len());
            let from = length.saturating_sub(LOG_BYTES_MAX);
            if file.seek(SeekFrom::Start(from)).is_ok() {
                // What cannot be read is not shown.
                let _ = file.take(LOG_BYTES_MAX).read_to_end(&mut bytes);
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn announced(&self, before: &str) -> Result<Option<SocketAddr>, String> {
        let said = self.said();
        let whole = said.split_inclusive('\n').filter(|l| l.ends_with('\n'));
        let mut named = whole.filter_map(|line| line.trim().strip_prefix(before));
        let Some(address) = named.next() else {
            return Ok(None);
        };
        match address.trim().parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Ok(Some(address)),
            _ => Err("listens on no address of this machine alone".to_owned()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        // Also when the leader is gone: what it started keeps the group's number taken.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}
