//! Assigns cores to the drivers and to the lab.
//!
//! A driver alone on its core shows the full cost of its work, including its runtime's background work.
//! The lab waits on another core. If another virtual machine slows the drivers' core, the drivers can
//! move to another one.

use std::fs::read_dir;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The assignment of cores. Clones share it.
#[derive(Debug, Clone)]
pub struct Cores {
    all: Option<CpuSet>,
    parts: Option<Arc<Parts>>,
}

/// The cores of a server and of its loader.
#[derive(Debug, Clone)]
pub struct ServerCores {
    server: Option<CpuSet>,
    loader: Option<CpuSet>,
    /// True if server and loader share cores, or the server has fewer cores than requested.
    pub oversubscribed: bool,
}

impl ServerCores {
    /// Starts a process on the server's cores: a child inherits its parent thread's affinity.
    pub fn for_server<T>(&self, start: impl FnOnce() -> T) -> T {
        on(self.server.as_ref(), start)
    }

    /// Starts a process on the loader's core.
    pub fn for_loader<T>(&self, start: impl FnOnce() -> T) -> T {
        on(self.loader.as_ref(), start)
    }
}

fn on<T>(cores: Option<&CpuSet>, start: impl FnOnce() -> T) -> T {
    let before = sched_getaffinity(None).ok();
    let moved = cores.is_some_and(|cores| sched_setaffinity(None, cores).is_ok());
    let started = start();
    if let (true, Some(before)) = (moved, &before) {
        let _ = sched_setaffinity(None, before);
    }
    started
}

fn of(cores: impl IntoIterator<Item = usize>) -> CpuSet {
    let mut set = CpuSet::new();
    cores.into_iter().for_each(|core| set.set(core));
    set
}

/// The drivers' current core, of two. The lab has all others.
#[derive(Debug)]
struct Parts {
    drivers: [usize; 2],
    now: AtomicUsize,
}

impl Parts {
    fn driver_core(&self) -> usize {
        self.drivers[self.now.load(Ordering::Relaxed)]
    }
}

impl Cores {
    /// Assigns no cores.
    #[must_use]
    pub fn unpinned() -> Self {
        let all = sched_getaffinity(None).ok();
        Self { all, parts: None }
    }

    /// Assigns the last available core to the drivers, and the others to the lab.
    ///
    /// Assigns nothing if there is only one core, or if the system does not allow it.
    #[must_use]
    pub fn split() -> Self {
        let mut cores = Self::unpinned();
        let allowed = cores.allowed();
        if let [.., other, last] = allowed[..] {
            cores.parts = Some(Arc::new(Parts {
                drivers: [last, other],
                now: AtomicUsize::new(0),
            }));
            if !cores.out_of_the_way() {
                cores.parts = None;
            }
        }
        cores
    }

    /// Returns the cores that this process may use, in order.
    fn allowed(&self) -> Vec<usize> {
        let all = self.all.iter();
        all.flat_map(|all| (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core)))
            .collect()
    }

    /// Returns the number of cores that this process may use.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.as_ref().map_or_else(
            || std::thread::available_parallelism().map_or(1, usize::from),
            |all| all.count() as usize,
        )
    }

    /// Returns the drivers' own core, if they have one.
    #[must_use]
    pub fn driver_core(&self) -> Option<usize> {
        self.parts.as_ref().map(|parts| parts.driver_core())
    }

    /// Moves the drivers to the other of their two cores, and the lab away from it. Running processes
    /// must then [follow](Self::follow).
    pub(crate) fn change(&self) {
        if let Some(parts) = &self.parts {
            parts.now.fetch_xor(1, Ordering::Relaxed);
            self.out_of_the_way();
        }
    }

    /// Moves all threads of a process to the drivers' core. New threads inherit the core of their
    /// parent.
    pub(crate) fn follow(&self, process: u32) {
        let Some(core) = self.driver_core() else {
            return;
        };
        let threads = read_dir(format!("/proc/{process}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            let id = thread.file_name().to_str().and_then(|id| id.parse().ok());
            if let Some(id) = id.and_then(Pid::from_raw) {
                // A process that has exited needs no core.
                let _ = sched_setaffinity(Some(id), &of([core]));
            }
        }
    }

    /// Starts a process on the drivers' core: a child inherits its parent thread's affinity. A process
    /// with several threads may use as many cores, if needed also the lab's, which only waits.
    pub(crate) fn for_driver<T>(&self, threads: u32, start: impl FnOnce() -> T) -> T {
        let Some(core) = self.driver_core() else {
            return start();
        };
        let allowed = self.allowed();
        let others = allowed.iter().rev().copied().filter(|&c| c != core);
        let drivers = std::iter::once(core).chain(others);
        let moved = sched_setaffinity(None, &of(drivers.take(threads as usize))).is_ok();
        let started = start();
        if moved {
            self.out_of_the_way();
        }
        started
    }

    /// Moves the calling thread off the drivers' core.
    fn out_of_the_way(&self) -> bool {
        let core = self.driver_core();
        let others = self.allowed().into_iter().filter(|&c| Some(c) != core);
        sched_setaffinity(None, &of(others)).is_ok()
    }

    /// Splits the cores for a load: the last `servers` cores for the server, the others for the loader.
    /// If none would be left, both share all cores.
    #[must_use]
    pub fn for_servers(&self, servers: u32) -> ServerCores {
        let allowed = self.allowed();
        let wanted = servers as usize;
        let set = |cores: &[usize]| of(cores.iter().copied());
        if wanted < allowed.len() {
            let (loader, server) = allowed.split_at(allowed.len() - wanted);
            // The loader needs one core, the farthest from the server's.
            ServerCores {
                server: Some(set(server)),
                loader: Some(set(&loader[..1])),
                oversubscribed: false,
            }
        } else {
            let all = (!allowed.is_empty()).then(|| set(&allowed));
            ServerCores {
                server: all,
                loader: all,
                oversubscribed: true,
            }
        }
    }

    /// Lets the calling thread run on any core.
    pub fn release(&self) {
        if let (Some(_), Some(all)) = (&self.parts, &self.all) {
            let _ = sched_setaffinity(None, all);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs::read_to_string;
    use std::process::Command;

    use super::*;

    /// Returns the cores of the calling thread.
    fn here() -> Vec<usize> {
        Cores::unpinned().allowed()
    }

    #[test]
    fn cores_lab_avoids_drivers_core() {
        let cores = Cores::split();
        let Some(first) = cores.driver_core() else {
            return; // A machine with one core.
        };
        let all = cores.allowed();
        let without = |core| -> Vec<usize> { all.iter().copied().filter(|&c| c != core).collect() };
        assert_eq!(here(), without(first));
        let clone = cores.clone();
        clone.change();
        let second = cores.driver_core().unwrap();
        assert_ne!(second, first);
        assert_eq!(here(), without(second));
        assert_eq!(cores.for_driver(1, here), [second]);
        let mut both = [first, second];
        both.sort_unstable();
        assert_eq!(cores.for_driver(2, here)[..], both);
        assert_eq!(here(), without(second), "and again afterwards");
        clone.change();
        assert_eq!(cores.driver_core(), Some(first));
        cores.release();
        assert_eq!(here(), all);
    }

    #[test]
    fn cores_process_follows_drivers() {
        let cores = Cores::split();
        let Some(first) = cores.driver_core() else {
            return;
        };
        let mut command = Command::new("sleep");
        let mut child = cores.for_driver(1, || command.arg("60").spawn()).unwrap();
        let may_run = || -> String {
            let status = read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            let line = status
                .lines()
                .find_map(|l| l.strip_prefix("Cpus_allowed_list:"));
            line.unwrap().trim().to_owned()
        };
        assert_eq!(may_run(), first.to_string());
        cores.change();
        assert_eq!(may_run(), first.to_string());
        cores.follow(child.id());
        assert_eq!(may_run(), cores.driver_core().unwrap().to_string());
        cores.release();
        child.kill().unwrap();
        child.wait().unwrap();
        // A process that has exited is ignored.
        cores.follow(child.id());
    }
}
