//! Figures of the process, by the names that every Prometheus client uses. Those of memory and files come from
//! `/proc`; other systems have none.

use std::fmt::Write as _;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// The start of the server.
#[derive(Debug)]
pub(crate) struct Process {
    started_at: SystemTime,
}

impl Default for Process {
    fn default() -> Self {
        Process {
            started_at: SystemTime::now(),
        }
    }
}

impl Process {
    /// Writes the figures that the system tells.
    pub(super) fn write(&self, text: &mut String) {
        let mut gauge = |name: &str, help: &str, value: u64| {
            let _ = writeln!(
                text,
                "# HELP process_{name} {help}\n# TYPE process_{name} gauge\nprocess_{name} {value}"
            );
        };
        let started_at = self.started_at.duration_since(UNIX_EPOCH);
        gauge(
            "start_time_seconds",
            "Start of the server, seconds since 1970.",
            started_at.unwrap_or_default().as_secs(),
        );
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        for (field, unit, name, help) in [
            ("VmRSS:", 1024, "resident_memory_bytes", "Resident memory."),
            ("VmSize:", 1024, "virtual_memory_bytes", "Virtual memory."),
            ("Threads:", 1, "threads", "Threads of the process."),
        ] {
            if let Some(value) = field_of(&status, field) {
                gauge(name, help, value.saturating_mul(unit));
            }
        }
        if let Ok(open) = fs::read_dir("/proc/self/fd") {
            // Without the descriptor of this listing.
            let open = open.count().saturating_sub(1) as u64;
            gauge("open_fds", "Open file descriptors.", open);
        }
        if let Some(limit) = getrlimit(Resource::Nofile).current {
            gauge("max_fds", "Maximum number of open file descriptors.", limit);
        }
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let _ = writeln!(
            text,
            "# HELP process_cpu_seconds CPU time, in user and system mode.\n\
             # TYPE process_cpu_seconds counter\n\
             process_cpu_seconds_total {}.{:09}",
            cpu.tv_sec, cpu.tv_nsec
        );
    }
}

/// The first number of a field in `/proc/self/status`.
fn field_of(status: &str, field: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(field))?;
    value.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn figures_of_this_process_are_plausible() {
        let mut text = String::new();
        Process::default().write(&mut text);
        let value = |name: &str| -> f64 {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line.rsplit(' ').next().unwrap().parse().unwrap()
        };
        assert!(value("process_resident_memory_bytes ") > 100_000.0);
        assert!(value("process_virtual_memory_bytes ") >= value("process_resident_memory_bytes "));
        assert!(value("process_open_fds ") >= 3.0);
        assert!(value("process_max_fds ") >= value("process_open_fds "));
        assert!(value("process_threads ") >= 1.0);
        assert!(value("process_start_time_seconds ") > 1_600_000_000.0);
        assert!(value("process_cpu_seconds_total ") > 0.0);
    }
}
