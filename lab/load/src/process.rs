//! A server's process: started on its cores, monitored, and ended with its child processes.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::keys::Keys;
use super::manifest::Server;
use super::proxy::Proxy;
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::Cache;
use jeton_lab_harness::host::{Processes, ServerCores};

/// The time limit until a server reports its address, and for each command that prepares it.
const START_LIMIT: Duration = Duration::from_secs(30);
/// The maximum length of the last output line in a message.
const LINE_CHARS_MAX: usize = 200;
/// How much of the log is read for it.
const LOG_BYTES_MAX: u64 = 64 * 1024;

/// A server that listens. Dropping it ends the server and its child processes.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    log: PathBuf,
    pub(crate) address: SocketAddr,
}

/// What is needed to start a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) server: &'a Server,
    pub(crate) cache: &'a Cache,
    pub(crate) keys: &'a Keys,
    pub(crate) server_cores: &'a ServerCores,
    pub(crate) cores: u32,
    /// An empty folder for this start only.
    pub(crate) folder: &'a Path,
    /// Its address, which is free, if it does not report one.
    pub(crate) address: Option<SocketAddr>,
}

impl Start<'_> {
    /// Prepares the server, starts it, and waits until it reports its address.
    pub(crate) fn start(&self, stop: &Stop) -> Result<Running, String> {
        fs::create_dir_all(self.folder)
            .map_err(|e| format!("cannot create {}: {e}", self.folder.display()))?;
        for (name, content) in &self.server.manifest.files {
            let path = self.folder.join(name);
            let content = self.filled_in(content);
            fs::write(&path, content).map_err(|e| format!("{}: {e}", path.display()))?;
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
                Some(_) => {
                    return Err(format!(
                        "cannot be prepared: {}",
                        running.last_output_line()
                    ));
                }
                None if stop.requested() => return Err("the run was stopped".to_owned()),
                None if began.elapsed() > START_LIMIT => {
                    return Err(format!(
                        "was not prepared within {} s",
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
            .ok_or_else(|| "its manifest has no command".to_owned())?;
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
            .process_group(0)
            .envs(self.server.recipe().environment());
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
        if let Some(address) = self.address {
            text = text.replace("{port}", &address.port().to_string());
        }
        if let Some(program) = self.server.manifest.proxy.and_then(Proxy::program) {
            text = text.replace("{proxy}", &program.to_string_lossy());
        }
        for name in Keys::FILES {
            let file = self.keys.file(name);
            text = text.replace(&format!("{{{name}}}"), &file.to_string_lossy());
        }
        text
    }

    fn listening(&self, running: &mut Running, stop: &Stop) -> Result<SocketAddr, String> {
        let began = Instant::now();
        loop {
            let found = match (&self.server.manifest.announces, self.address) {
                (Some(before), _) => running.announced(before)?,
                (None, Some(address)) => TcpStream::connect(address).is_ok().then_some(address),
                (None, None) => None,
            };
            if let Some(address) = found {
                return Ok(address);
            }
            if running.ended().is_some() {
                return Err(format!("did not start: {}", running.last_output_line()));
            }
            if stop.requested() {
                return Err("the run was stopped".to_owned());
            }
            if began.elapsed() > START_LIMIT {
                return Err(format!(
                    "did not report its address within {} s: {}",
                    START_LIMIT.as_secs(),
                    running.last_output_line()
                ));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Checks that an address is free, and returns it. For port 0, it has a free port.
pub(super) fn free(address: SocketAddr) -> Result<SocketAddr, String> {
    let listener = TcpListener::bind(address).and_then(|listener| listener.local_addr());
    listener.map_err(|e| {
        format!(
            "{address} is in use ({e}): stop the process that listens there, or change the server's address"
        )
    })
}

impl Running {
    /// Returns the process and all its child processes.
    pub(crate) fn processes(&self) -> Processes {
        Processes::of_group(self.child.id())
    }

    /// Returns how it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Returns why it ended, as text; none if it is running.
    pub(crate) fn end_reason(&mut self) -> Option<String> {
        let status = self.ended()?;
        Some(format!("died ({status}): {}", self.last_output_line()))
    }

    /// Returns the last line of its output.
    pub(crate) fn last_output_line(&self) -> String {
        let said = self.said();
        let mut lines = said.lines().rev().map(str::trim);
        let line = lines.find(|line| !line.is_empty());
        line.unwrap_or("no output")
            .chars()
            .filter(|c| !c.is_control())
            .take(LINE_CHARS_MAX)
            .collect()
    }

    fn said(&self) -> String {
        use std::io::{Read, Seek, SeekFrom};
        let mut bytes = Vec::new();
        if let Ok(mut file) = File::open(&self.log) {
            let length = file.metadata().map_or(0, |m| m.len());
            let from = length.saturating_sub(LOG_BYTES_MAX);
            if file.seek(SeekFrom::Start(from)).is_ok() {
                // Output that cannot be read is not shown.
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
            _ => Err("does not listen on a loopback address".to_owned()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        // Also if the leader has exited: its children keep the process group alive.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}
