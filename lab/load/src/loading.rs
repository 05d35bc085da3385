//! Runs one load: the loader's process and the server's, with the resources that each used.

use std::ffi::OsString;
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::loader::Loaded;
use super::pacing::Planned;
use jeton_lab_harness::Stop;
use jeton_lab_harness::host::{Processes, ServerCores};

/// How often memory is read.
const MEMORY_INTERVAL: Duration = Duration::from_millis(50);
/// The time a loader may take in addition to its load: to start, to wait for the last answers, to
/// write.
const OVERHEAD: Duration = Duration::from_secs(20);

/// Starts loaders.
#[derive(Debug)]
pub(super) struct Loader<'a> {
    command: &'a [OsString],
}

/// The times of one load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// The warm-up.
    pub(super) warm_up: Duration,
    pub(super) measured: Duration,
}

/// Files for one load.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Files<'a> {
    /// The key of the tokens in answers.
    pub(super) verify_with: Option<&'a Path>,
    /// The tokens for a gateway.
    pub(super) tokens: Option<&'a Path>,
}

/// The outcome of one load.
pub(super) struct Measured {
    pub(super) loaded: Loaded,
    /// CPU time of the server during the loader's measurement.
    pub(super) cpu: Option<Duration>,
    pub(super) peak: Option<u64>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(command: &'a [OsString]) -> Self {
        Self { command }
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "each is a separate parameter of one load"
    )]
    pub(super) fn load(
        &self,
        target: SocketAddr,
        planned: &Planned,
        times: Times,
        files: Files<'_>,
        server_cores: &ServerCores,
        server: &Processes,
        stop: &Stop,
    ) -> Result<Measured, String> {
        let mut child = self.start(target, planned, times, files, server_cores)?;
        let began = Instant::now();
        let until = times.warm_up + times.measured;
        let mut peak = server.resident_bytes();
        let mut before = None;
        let mut after = None;
        let status = loop {
            let passed = began.elapsed();
            if before.is_none() && passed >= times.warm_up {
                before = Some((passed, server.cpu_time()));
            }
            if after.is_none() && passed >= until {
                after = Some((passed, server.cpu_time()));
            }
            peak = peak.max(server.resident_bytes());
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if passed > until + OVERHEAD || stop.requested() => break None,
                Ok(None) => {}
                Err(e) => return Err(format!("cannot wait for the loader: {e}")),
            }
            std::thread::sleep(MEMORY_INTERVAL.min(next(passed, times.warm_up, until)));
        };
        let Some(status) = status else {
            let _ = child.kill();
            let _ = child.wait();
            return Err("the loader was stopped before it finished".to_owned());
        };
        let mut said = String::new();
        if let Some(mut out) = child.stdout.take() {
            out.read_to_string(&mut said)
                .map_err(|e| format!("cannot read the loader's file: {e}"))?;
        }
        if !status.success() {
            return Err(format!("the loader failed ({status})"));
        }
        Ok(Measured {
            loaded: Loaded::read(&said).map_err(|e| format!("invalid loader file: {e}"))?,
            cpu: used(before, after, times.measured),
            peak,
        })
    }

    fn start(
        &self,
        target: SocketAddr,
        planned: &Planned,
        times: Times,
        files: Files<'_>,
        server_cores: &ServerCores,
    ) -> Result<Child, String> {
        let (program, arguments) = self
            .command
            .split_first()
            .ok_or_else(|| "no loader command".to_owned())?;
        let Planned { scenario, rate } = planned;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .arg(target.to_string())
            .args(["--call", scenario.call.name()])
            .args(["--alg", scenario.alg.name()])
            .args(["--connections", &scenario.connections.to_string()])
            .args(["--in-flight", &scenario.in_flight.to_string()])
            .args(["--seconds", &seconds(times.measured)])
            .args(["--warm-up", &seconds(times.warm_up)])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(rate) = rate {
            command.args(["--rate", &rate.to_string()]);
        }
        for (option, file) in [
            ("--verify-with", files.verify_with),
            ("--tokens", files.tokens),
        ] {
            if let Some(file) = file {
                command.arg(option).arg(file);
            }
        }
        server_cores
            .for_loader(|| command.spawn())
            .map_err(|e| format!("cannot start the loader {}: {e}", program.display()))
    }
}

fn seconds(time: Duration) -> String {
    time.as_secs_f64().to_string()
}

/// Returns the time until CPU time is read next.
fn next(passed: Duration, from: Duration, until: Duration) -> Duration {
    let next = if passed < from { from } else { until };
    let left = next.saturating_sub(passed);
    if left.is_zero() {
        MEMORY_INTERVAL
    } else {
        left
    }
}

type Reading = Option<(Duration, Option<Duration>)>;

/// Returns the CPU time scaled to the requested duration: readings are off by some microseconds.
fn used(before: Reading, after: Reading, measured: Duration) -> Option<Duration> {
    let ((from, before), (until, after)) = (before?, after?);
    let used = after?.checked_sub(before?)?;
    let between = until.checked_sub(from)?;
    (!between.is_zero()).then(|| used.mul_f64(measured.as_secs_f64() / between.as_secs_f64()))
}
