//! Which core the drivers run on, and which the lab.
//!
//! A driver alone on its core shows what its work costs, its runtime's own housekeeping included;
//! the lab waits on another core and wakes nobody.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores' parts. Clones share nothing: the parts are decided once.
#[derive(Debug, Clone)]
pub struct Cores {
    all: Option<CpuSet>,
    parts: Option<Parts>,
}

/// Where a server runs and where its loader does.
#[derive(Debug, Clone)]
pub(crate) struct Bench {
    server: Option<CpuSet>,
    loader: Option<CpuSet>,
    /// The two share cores, or the server has fewer than were asked for.
    pub(crate) oversubscribed: bool,
}

impl Bench {
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

#[derive(Debug, Clone)]
struct Parts {
    lab: CpuSet,
    driver: CpuSet,
    driver_core: usize,
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
        let Some(all) = &cores.all else { return cores };
        let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&c| all.is_set(c)).collect();
        let [rest @ .., driver_core] = allowed.as_slice() else {
            return cores;
        };
        if rest.is_empty() {
            return cores;
        }
        let (mut lab, mut driver) = (CpuSet::new(), CpuSet::new());
        rest.iter().for_each(|&c| lab.set(c));
        driver.set(*driver_core);
        let driver_core = *driver_core;
        if sched_setaffinity(None, &lab).is_ok() {
            cores.parts = Some(Parts {
                lab,
                driver,
                driver_core,
            });
        }
        cores
    }

    /// How many cores this process may use.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.as_ref().map_or_else(
            || std::thread::available_parallelism().map_or(1, usize::from),
            |all| all.count() as usize,
        )
    }

    /// The core that the drivers have for themselves, if they do.
    #[must_use]
    pub fn driver_core(&self) -> Option<usize> {
        self.parts.as_ref().map(|p| p.driver_core)
    }

    /// Starts something on the drivers' core: a child inherits where its parent's thread may run.
    /// One that works on several threads may use as many cores, the lab's among them if need be:
    /// the lab only waits meanwhile.
    pub(crate) fn for_driver<T>(&self, threads: u32, start: impl FnOnce() -> T) -> T {
        let Some(parts) = &self.parts else {
            return start();
        };
        let moved = sched_setaffinity(None, &self.for_threads(parts, threads)).is_ok();
        let started = start();
        if moved {
            let _ = sched_setaffinity(None, &parts.lab);
        }
        started
    }

    /// The last cores, as many as there are threads.
    fn for_threads(&self, parts: &Parts, threads: u32) -> CpuSet {
        let mut set = parts.driver;
        if let Some(all) = &self.all {
            let allowed = (0..CpuSet::MAX_CPU).rev().filter(|&c| all.is_set(c));
            allowed.take(threads as usize).for_each(|c| set.set(c));
        }
        set
    }

    /// The parts of a load: the last `servers` cores for a server, and the others for who loads it.
    /// Where none would be left, a server has them all and the loader shares them.
    pub(crate) fn for_servers(&self, servers: u32) -> Bench {
        let allowed: Vec<usize> = self.all.as_ref().map_or_else(Vec::new, |all| {
            (0..CpuSet::MAX_CPU).filter(|&c| all.is_set(c)).collect()
        });
        let wanted = servers as usize;
        let set = |cores: &[usize]| {
            let mut set = CpuSet::new();
            cores.iter().for_each(|&c| set.set(c));
            set
        };
        if wanted < allowed.len() {
            let (loader, server) = allowed.split_at(allowed.len() - wanted);
            // One is enough for the loader, and the one that is furthest from the server's.
            Bench {
                server: Some(set(server)),
                loader: Some(set(&loader[..1])),
                oversubscribed: false,
            }
        } else {
            let all = (!allowed.is_empty()).then(|| set(&allowed));
            Bench {
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
