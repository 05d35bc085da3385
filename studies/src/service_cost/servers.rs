//! The servers: each is a process pinned to one core, and ends when it is dropped.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use xtask::command::{Error, Workspace, on_path, run as run_command, succeeds};

use super::load::{Call, Seen};
use super::message::HS256_PROFILE;

/// The core that the servers run on: one works while the other waits.
const CORE: &str = "0";
/// Where everything that they write goes.
const FOLDER: &str = "target/service-cost";
/// How long a server may take to say where it listens.
const START_LIMIT: Duration = Duration::from_secs(120);
/// What callgrind counts: the function that drives a connection.
const CONNECTION: &str = "--toggle-collect=*CoalescedStream*drive*";
/// The folder of a server under callgrind, and the names of the counts in it.
const CALLGRIND: &str = "callgrind";

/// Whether the machine has what it takes to build the servers and to load one from another core.
pub(crate) fn needs() -> Result<(), Error> {
    for (program, package) in [
        ("h2load", "nghttp2-client"),
        ("taskset", "util-linux"),
        ("go", "go"),
    ] {
        if on_path(program).is_none() {
            return Err(Error::Usage(format!(
                "{program} is not installed: it comes with {package}"
            )));
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 2 {
        return Err(Error::Usage(
            "one core is not enough: the server and the loader need one each".into(),
        ));
    }
    Ok(())
}

/// One that listens on this machine.
pub(crate) struct Server {
    process: Child,
    address: String,
    scratch: PathBuf,
}

impl Server {
    /// The Go server of the report with its bugs fixed.
    pub(crate) fn go(workspace: &Workspace) -> Result<Self, Error> {
        let scratch = fresh(workspace, "go")?;
        let binary = scratch.join("fixed");
        run_command(
            workspace
                .command("go")
                .args(["build", "-o"])
                .arg(&binary)
                .arg(".")
                .current_dir(workspace.path("servers/go/fixed")),
        )?;
        Self::start(pinned(workspace, &binary), scratch, "listening on ")
    }

    /// jeton's, as `jeton serve` is with an issuer that has both algorithms.
    pub(crate) fn jeton(workspace: &Workspace) -> Result<Self, Error> {
        build(workspace)?;
        let scratch = fresh(workspace, "jeton")?;
        let config = both_algorithms(&scratch)?;
        let mut command = pinned(workspace, &workspace.target().join("dist/jeton"));
        command.arg("serve").arg("--config").arg(&config);
        Self::start(command, scratch, "gRPC and HTTP   http://")
    }

    /// This program under callgrind, with the same configuration.
    pub(super) fn under_callgrind(workspace: &Workspace, program: &Path) -> Result<Self, Error> {
        let scratch = fresh(workspace, CALLGRIND)?;
        let config = both_algorithms(&scratch)?;
        // Under callgrind the server is slow, and would refuse calls.
        std::fs::OpenOptions::new()
            .append(true)
            .open(&config)
            .and_then(|mut file| file.write_all(b"[limits]\nworker_delay_milliseconds = 60000\n"))
            .map_err(|error| Error::Usage(format!("{}: {error}", config.display())))?;
        let mut valgrind = workspace.command("valgrind");
        valgrind.args(["-q", "--tool=callgrind", CONNECTION]);
        valgrind.arg(format!(
            "--callgrind-out-file={}",
            scratch.join(CALLGRIND).to_string_lossy()
        ));
        valgrind
            .arg(program)
            .arg("serve")
            .arg("--config")
            .arg(&config);
        Self::start(valgrind, scratch, "gRPC and HTTP   http://")
    }

    /// Ends a count of callgrind, begins the next one, and returns what was counted.
    pub(super) fn instructions(&self, workspace: &Workspace) -> Result<u64, Error> {
        let mut control = workspace.command("callgrind_control");
        if !succeeds(control.arg("--dump").arg(self.process.id().to_string())) {
            return Err(Error::Failed("callgrind_control wrote no count".to_owned()));
        }
        // Each dump is a file with the next number: the last one is this one.
        let number = |entry: std::fs::DirEntry| -> Option<u32> {
            let name = entry.file_name().into_string().ok()?;
            name.strip_prefix(CALLGRIND)?
                .strip_prefix('.')?
                .parse()
                .ok()
        };
        let written = std::fs::read_dir(&self.scratch).map_err(|_| gone())?;
        let last = written.flatten().filter_map(number).max();
        last.and_then(|last| {
            std::fs::read_to_string(self.scratch(&format!("{CALLGRIND}.{last}"))).ok()
        })
        .and_then(|dump| {
            let mut lines = dump.lines();
            lines.find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok())
        })
        .filter(|&count| count > 0)
        .ok_or_else(|| Error::Failed(format!("callgrind counted nothing with {CONNECTION}")))
    }

    /// jeton's from a built binary, with this configuration in a folder of that name. The data folder stays from one
    /// start to the next.
    pub(super) fn jeton_with(
        workspace: &Workspace,
        name: &str,
        configuration: &str,
    ) -> Result<Self, Error> {
        let scratch = workspace.path(FOLDER).join(name);
        let failed = |error| Error::Usage(format!("{}: {error}", scratch.display()));
        std::fs::create_dir_all(&scratch).map_err(failed)?;
        let config = scratch.join("jeton.toml");
        std::fs::write(&config, configuration).map_err(failed)?;
        let mut command = pinned(workspace, &workspace.target().join("dist/jeton"));
        command.arg("serve").arg("--config").arg(&config);
        Self::start(command, scratch, "gRPC and HTTP   http://")
    }

    /// jeton's from a built binary, on every core, with these arguments. Its log is in `folder`.
    pub(crate) fn jeton_on_all_cores(
        workspace: &Workspace,
        folder: &Path,
        arguments: &[&str],
    ) -> Result<Self, Error> {
        let mut command = workspace.command(workspace.target().join("dist/jeton"));
        command.arg("serve").args(arguments);
        Self::start(command, folder.to_owned(), "gRPC and HTTP   http://")
    }

    fn start(mut command: Command, scratch: PathBuf, before_address: &str) -> Result<Self, Error> {
        let log = scratch.join("log");
        let failed = |error: std::io::Error| Error::Usage(format!("{}: {error}", log.display()));
        let file = File::create(&log).map_err(failed)?;
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone().map_err(failed)?)
            .stderr(file);
        let process = command
            .spawn()
            .map_err(|error| Error::Usage(format!("the server did not start: {error}")))?;
        let mut server = Self {
            process,
            address: String::new(),
            scratch,
        };
        let began = Instant::now();
        while began.elapsed() < START_LIMIT {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            let whole = said
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'));
            let mut addresses =
                whole.filter_map(|line| line.trim_end().strip_prefix(before_address));
            if let Some(address) = addresses.next() {
                server.address = address.to_owned();
                return Ok(server);
            }
            if !matches!(server.process.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(Error::Failed(format!(
            "the server does not say where it listens; it said:\n{}",
            std::fs::read_to_string(&log).unwrap_or_default()
        )))
    }

    /// Where it listens: host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// A file of that name, among those that it writes.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Makes the calls, and says what they cost.
    pub(super) fn load(&self, workspace: &Workspace, call: &Call) -> Result<Seen, Error> {
        let before = self.cpu_ns()?;
        let per_second = call.make(workspace, &self.scratch, &self.address)?;
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let cpu_us = (self.cpu_ns()? - before) as f64 / 1e3 / call.times() as f64;
        Ok(Seen {
            cpu_us,
            per_second,
            resident: self.resident_mib()?,
        })
    }

    /// CPU time of all its threads until now.
    pub(crate) fn cpu_ns(&self) -> Result<u64, Error> {
        let tasks = PathBuf::from(format!("/proc/{}/task", self.process.id()));
        let threads = std::fs::read_dir(&tasks).map_err(|_| gone())?;
        let on_cpu = |thread: std::fs::DirEntry| -> Option<u64> {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse().ok()
        };
        Ok(threads.flatten().filter_map(on_cpu).sum())
    }

    pub(crate) fn resident_mib(&self) -> Result<f64, Error> {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).map_err(|_| gone())?;
        let kib: Option<f64> = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok());
        kib.map(|kib| kib / 1024.0).ok_or_else(gone)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Gone already, if either fails.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Builds the service and the lab as they are shipped.
pub(crate) fn build(workspace: &Workspace) -> Result<(), Error> {
    let mut build = workspace.cargo(&["build", "--profile", "dist", "--locked"]);
    run_command(build.args(["-p", "jeton-cli", "-p", "jeton-lab"]))
}

/// Writes a configuration with an issuer that has both algorithms.
fn both_algorithms(scratch: &Path) -> Result<PathBuf, Error> {
    let config = scratch.join("jeton.toml");
    let text = format!(
        "data = \"data\"\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\nworkers = 1\n\n\
         [[issuer]]\niss = \"https://id.example\"\nprofiles = [\n  \
         {{ name = \"{HS256_PROFILE}\", alg = \"HS256\", lifetime_seconds = 7200, audiences = [\"api\"] }},\n  \
         {{ name = \"access\", alg = \"ES256\", lifetime_seconds = 7200, audiences = [\"api\"] }},\n]\n\n\
         [generate_jwt]\nissuer = \"https://id.example\"\nhs256 = \"{HS256_PROFILE}\"\nes256 = \"access\"\n"
    );
    std::fs::write(&config, text)
        .map_err(|error| Error::Usage(format!("{}: {error}", config.display())))?;
    Ok(config)
}

fn gone() -> Error {
    Error::Failed("the server ended while it was loaded".into())
}

fn pinned(workspace: &Workspace, binary: &Path) -> Command {
    let mut command = workspace.command("taskset");
    command.args(["-c", CORE]).arg(binary);
    command
}

pub(crate) fn fresh(workspace: &Workspace, name: &str) -> Result<PathBuf, Error> {
    let folder = workspace.path(FOLDER).join(name);
    let failed = |error| Error::Usage(format!("{}: {error}", folder.display()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(failed)?;
    }
    std::fs::create_dir_all(&folder).map_err(failed)?;
    Ok(folder)
}
