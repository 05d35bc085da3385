//! Which core the drivers run on, and which the lab.
//!
//! A driver alone on its core shows what its work costs, its runtime's own housekeeping included;
//! the lab waits on another core and wakes nobody. Where a neighbour slows that core, the drivers can be
//! given another one, and the lab goes out of their way.

use std::fs::read_dir;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores' parts. Clones have the same: where the drivers are, is known to all of them.
#[derive(Debug, Clone)]
pub struct Cores {
    all: Option<CpuSet>,
    parts: Option<Arc<Parts>>,
}

/// Where a server runs and where its loader does.
#[derive(Debug, Clone)]
pub(crate) struct ServerCores {
    server: Option<CpuSet>,
    loader: Option<CpuSet>,
    /// The two share cores, or the server has fewer than were asked for.
    pub(crate) oversubscribed: bool,
}

impl ServerCores {
    /// Starts something on the server's cores: a child inherits where its parent's thread may run.
    pub(crate) fn for_server<T>(&self, start: impl FnOnce() -> T) -> T {
        on(self.server.as_ref(), start)
    }

    /// Starts something on the loader's core.
    pub(crate) fn for_loader<T>(&self, start: impl FnOnce() -> T) -> T {
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

/// Which of two cores the drivers have now. The lab has all that they have not.
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
    /// Leaves everything where the system puts it.
    #[must_use]
    pub fn unpinned() -> Self {
        let all = sched_getaffinity(None).ok();
        Self { all, parts: None }
    }

    /// Gives the last core that this process may use to the drivers, and the others to the lab.
    ///
    /// Stays unpinned where there is only one core, or where the system refuses.
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

    /// The cores that this process may use, in their order.
    fn allowed(&self) -> Vec<usize> {
        let all = self.all.iter();
        all.flat_map(|all| (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core)))
            .collect()
    }

    /// How many cores this process may use.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.as_ref().map_or_else(
            || std::thread::available_parallelism().map_or(1, usize::from),
            |all| all.count() as usize,
        )
    }

    /// The core that the drivers have for themselves now, if they do.
    #[must_use]
    pub fn driver_core(&self) -> Option<usize> {
        self.parts.as_ref().map(|parts| parts.driver_core())
    }

    /// From now on the drivers have the other of their two cores, and the lab is out of their way. Who was
    /// started before has to [follow](Self::follow).
    pub(crate) fn change(&self) {
        if let Some(parts) = &self.parts {
            parts.now.fetch_xor(1, Ordering::Relaxed);
            self.out_of_the_way();
        }
    }

    /// Brings all threads of a process to where the drivers are. Those that it starts meanwhile are where
    /// the thread is that starts them.
    pub(crate) fn follow(&self, process: u32) {
        let Some(core) = self.driver_core() else {
            return;
        };
        let threads = read_dir(format!("/proc/{process}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            let id = thread.file_name().to_str().and_then(|id| id.parse().ok());
            if let Some(id) = id.and_then(Pid::from_raw) {
                // One that is gone by now needs no core.
                let _ = sched_setaffinity(Some(id), &of([core]));
            }
        }
    }

    /// Starts something on the drivers' core: a child inherits where its parent's thread may run.
    /// One that works on several threads may use as many cores, the lab's among them if need be:
    /// the lab only waits meanwhile.
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

    /// Lets the calling thread run where the drivers are not.
    fn out_of_the_way(&self) -> bool {
        let core = self.driver_core();
        let others = self.allowed().into_iter().filter(|&c| Some(c) != core);
        sched_setaffinity(None, &of(others)).is_ok()
    }

    /// The parts of a load: the last `servers` cores for a server, and the others for who loads it.
    /// Where none would be left, a server has them all and the loader shares them.
    pub(crate) fn for_servers(&self, servers: u32) -> ServerCores {
        let allowed = self.allowed();
        let wanted = servers as usize;
        let set = |cores: &[usize]| of(cores.iter().copied());
        if wanted < allowed.len() {
            let (loader, server) = allowed.split_at(allowed.len() - wanted);
            // One is enough for the loader, and the one that is furthest from the server's.
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

    /// Lets the calling thread run anywhere again.
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

    /// Where the calling thread may run.
    fn here() -> Vec<usize> {
        Cores::unpinned().allowed()
    }

    #[test]
    fn the_lab_is_where_the_drivers_are_not() {
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
    fn a_process_follows_the_drivers() {
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
        // Nobody is left, and nothing is said of it.
        cores.follow(child.id());
    }
}
