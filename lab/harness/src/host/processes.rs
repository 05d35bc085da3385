//! Resource use of processes, as the kernel counts it.

use std::fs::{read_dir, read_to_string};
use std::time::Duration;

use super::disturbance::{TICKS_PER_SECOND, ticks_of};

/// A set of processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processes(Vec<u32>);

impl Processes {
    /// Returns this process.
    #[must_use]
    pub fn this() -> Self {
        Self(vec![std::process::id()])
    }

    /// Returns the current processes of the group of `leader`.
    #[must_use]
    pub fn of_group(leader: u32) -> Self {
        let ids = read_dir("/proc").into_iter().flatten().flatten();
        let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self(ids.filter(|id| group(*id) == Some(leader)).collect())
    }

    /// Returns the process ids.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.0
    }

    /// Returns the CPU time of all threads until now, to a hundredth of a second, including ended
    /// threads. `None` if a process has exited, or if unknown.
    #[must_use]
    pub fn cpu_time(&self) -> Option<Duration> {
        let ticks: Option<Vec<u64>> = self.0.iter().map(|id| ticks_of(&stat(*id)?)).collect();
        let ticks: u64 = ticks.filter(|ticks| !ticks.is_empty())?.iter().sum();
        #[allow(clippy::cast_precision_loss, reason = "ticks are far below 2^53")]
        Some(Duration::from_secs_f64(ticks as f64 / TICKS_PER_SECOND))
    }

    /// Returns the resident memory of all processes in bytes; shared pages count for each. `None` if a
    /// process has exited, or if unknown.
    #[must_use]
    pub fn resident_bytes(&self) -> Option<u64> {
        let resident: Option<Vec<u64>> = self.0.iter().map(|id| resident(*id)).collect();
        Some(resident.filter(|all| !all.is_empty())?.iter().sum())
    }
}

fn stat(id: u32) -> Option<String> {
    read_to_string(format!("/proc/{id}/stat")).ok()
}

/// The fields after the name are state, parent, group.
fn group(id: u32) -> Option<u32> {
    let stat = stat(id)?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(2)?.parse().ok()
}

fn resident(id: u32) -> Option<u64> {
    let status = read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn processes_of_self_use_memory_and_time() {
        let this = Processes::this();
        assert!(this.resident_bytes().unwrap() > 100_000);
        let before = this.cpu_time().unwrap();
        let began = std::time::Instant::now();
        while this.cpu_time().unwrap() <= before {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "the time stands still"
            );
        }
    }

    #[test]
    fn processes_of_group_include_children() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 120 & sleep 120"]).process_group(0);
        let mut leader = shell.spawn().unwrap();
        let began = std::time::Instant::now();
        while Processes::of_group(leader.id()).ids().len() < 3 {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "two children sleep"
            );
        }
        let id = rustix::process::Pid::from_child(&leader);
        rustix::process::kill_process_group(id, rustix::process::Signal::KILL).unwrap();
        leader.wait().unwrap();
        assert_eq!(Processes(vec![leader.id()]).cpu_time(), None);
        assert_eq!(Processes(Vec::new()).resident_bytes(), None);
    }
}
