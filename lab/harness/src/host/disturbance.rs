//! Detects disturbances: what else the machine did during the measurement.

use std::fs::read_to_string;
use std::time::Instant;

use jeton_lab_model::result::Disturbance;

/// The largest accepted share of CPU time taken by the hypervisor.
const STEAL_LIMIT: f64 = 0.01;
/// The largest accepted average number of cores used by other processes.
const OTHERS_LIMIT_CORES: f64 = 0.25;
/// The largest accepted share of time spent waiting for a core, if other processes ran at all.
const PRESSURE_LIMIT: f64 = 0.10;
/// With less use by other processes than this, work waited for its own threads: a runtime's garbage
/// collector and compiler share its core, which is part of its cost.
const OTHERS_NEGLIGIBLE_CORES: f64 = 0.05;
/// The beginnings of the reasons that name the load of the machine.
const LOAD_REASONS: [&str; 2] = ["other processes used", "work waited for a free core"];
/// The largest accepted share of the measured time on a shared core: above it, too few slices are left.
const SHARED_LIMIT: f64 = 0.5;
/// The beginning of the reason that names a shared core.
const SHARED_REASON: &str = "another virtual machine shared the drivers' core";
/// The beginning of the reason that names the heat of the CPU.
const THROTTLED_REASON: &str = "the CPU was throttled";
/// The beginning of the reason that names the hypervisor.
const STEAL_REASON: &str = "the hypervisor took";
/// Clock ticks a second in `/proc`, fixed by the kernel's user interface.
pub(super) const TICKS_PER_SECOND: f64 = 100.0;

/// Observes from [`DisturbanceMonitor::begin`] to [`DisturbanceMonitor::finish`].
#[derive(Debug)]
pub struct DisturbanceMonitor {
    began: Instant,
    cpu: Option<CpuTimes>,
    own_ticks: u64,
    pressure_us: Option<u64>,
    throttled: Option<u64>,
}

/// Returns whether this reason names the load of the machine, not its hypervisor or its temperature.
#[must_use]
pub fn names_load(reason: &str) -> bool {
    LOAD_REASONS.iter().any(|load| reason.starts_with(load))
}

/// Returns the reasons that follow from the figures of a disturbance: steal, load, a shared core, pressure and
/// throttling.
#[must_use]
pub fn reasons_of_figures(disturbance: &Disturbance) -> Vec<String> {
    let steal = disturbance.steal.filter(|steal| *steal > STEAL_LIMIT);
    let steal = steal.map(|steal| {
        format!(
            "{STEAL_REASON} {:.1} % of the CPU time (limit {:.0} %)",
            steal * 100.0,
            STEAL_LIMIT * 100.0
        )
    });
    let load = disturbance.load.filter(|load| *load > OTHERS_LIMIT_CORES);
    let load = load.map(|others| {
        format!(
            "{} {others:.2} cores on average (limit {OTHERS_LIMIT_CORES})",
            LOAD_REASONS[0]
        )
    });
    let shared = disturbance.shared.filter(|share| *share > SHARED_LIMIT);
    let shared = shared.map(|share| {
        format!(
            "{SHARED_REASON} during {:.0} % of the measured time (limit {:.0} %)",
            share * 100.0,
            SHARED_LIMIT * 100.0
        )
    });
    let others = disturbance.load;
    let pressure = disturbance.pressure.filter(|share| {
        *share > PRESSURE_LIMIT && others.is_none_or(|cores| cores > OTHERS_NEGLIGIBLE_CORES)
    });
    let pressure = pressure.map(|share| {
        format!(
            "{} {:.0} % of the time (limit {:.0} %)",
            LOAD_REASONS[1],
            share * 100.0,
            PRESSURE_LIMIT * 100.0
        )
    });
    let throttled = disturbance.throttled.filter(|times| *times > 0);
    let throttled =
        throttled.map(|times| format!("{THROTTLED_REASON} {times} times because of heat"));
    let all = [steal, load, shared, pressure, throttled];
    all.into_iter().flatten().collect()
}

/// Returns whether this reason follows from the figures of a disturbance.
#[must_use]
pub fn is_of_figures(reason: &str) -> bool {
    let [load, pressure] = LOAD_REASONS;
    let of_figures = [
        STEAL_REASON,
        load,
        SHARED_REASON,
        pressure,
        THROTTLED_REASON,
    ];
    of_figures.iter().any(|start| reason.starts_with(start))
}

impl DisturbanceMonitor {
    /// Starts to observe. `drivers` are process ids whose work is not a disturbance.
    #[must_use]
    pub fn begin(drivers: &[u32]) -> Self {
        Self {
            began: Instant::now(),
            cpu: CpuTimes::now(),
            own_ticks: own_ticks(drivers),
            pressure_us: pressure_us(),
            throttled: throttled(),
        }
    }

    /// Returns the observation. `drivers` as in [`Self::begin`]; processes that started and ended in
    /// between are covered.
    #[must_use]
    pub fn finish(&self, drivers: &[u32], pinned: bool) -> Disturbance {
        let seconds = self.began.elapsed().as_secs_f64().max(0.001);
        let mut disturbance = Disturbance::default();
        match (&self.cpu, CpuTimes::now()) {
            (Some(before), Some(now)) => {
                let all = now.total.saturating_sub(before.total).max(1);
                let stolen = now.steal.saturating_sub(before.steal);
                #[allow(clippy::cast_precision_loss, reason = "ticks are far below 2^53")]
                let steal = stolen as f64 / all as f64;
                disturbance.steal = Some(steal);
                let busy = now.busy.saturating_sub(before.busy);
                let own = own_ticks(drivers).saturating_sub(self.own_ticks);
                #[allow(clippy::cast_precision_loss, reason = "ticks are far below 2^53")]
                let others = busy.saturating_sub(own) as f64 / TICKS_PER_SECOND / seconds;
                disturbance.load = Some(others);
            }
            _ => disturbance
                .unwatched
                .push("CPU steal and other processes: /proc/stat is not readable".into()),
        }
        match (self.pressure_us, pressure_us()) {
            (Some(before), Some(now)) => {
                #[allow(clippy::cast_precision_loss, reason = "microseconds of a run")]
                let share = now.saturating_sub(before) as f64 / 1e6 / seconds;
                disturbance.pressure = Some(share);
            }
            _ => disturbance
                .unwatched
                .push("CPU pressure: this kernel has no /proc/pressure/cpu".into()),
        }
        match (self.throttled, throttled()) {
            (Some(before), Some(now)) => disturbance.throttled = Some(now.saturating_sub(before)),
            _ => disturbance
                .unwatched
                .push("throttling: the CPU has no counter".into()),
        }
        disturbance.reasons = reasons_of_figures(&disturbance);
        if !pinned {
            disturbance.unwatched.push(
                "drivers were not pinned to a core: there is only one core, or the system does not allow it"
                    .into(),
            );
        }
        disturbance.disturbed = !disturbance.reasons.is_empty();
        disturbance
    }
}

#[derive(Debug)]
struct CpuTimes {
    total: u64,
    busy: u64,
    steal: u64,
}

impl CpuTimes {
    fn now() -> Option<Self> {
        Self::parse(&read_to_string("/proc/stat").ok()?)
    }

    /// The fields are user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice; user
    /// and nice include the guest times.
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find(|l| l.starts_with("cpu "))?;
        let ticks: Vec<u64> = line
            .split_whitespace()
            .skip(1)
            .take(8)
            .map_while(|f| f.parse().ok())
            .collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks[..] else {
            return None;
        };
        let busy = user + nice + system + irq + softirq;
        Some(Self {
            total: busy + idle + iowait + steal,
            busy,
            steal,
        })
    }
}

/// Returns the ticks of this process, of the running drivers, and of all children that have ended: the
/// kernel adds these exactly. Reading each process in its last moment would lose half a tick and its
/// exit.
fn own_ticks(drivers: &[u32]) -> u64 {
    let of = |id: &str, ticks: fn(&str) -> Option<u64>| {
        let stat = read_to_string(format!("/proc/{id}/stat"));
        stat.ok().and_then(|stat| ticks(&stat)).unwrap_or(0)
    };
    let living: u64 = drivers.iter().map(|id| of(&id.to_string(), ticks_of)).sum();
    living + of("self", ticks_of) + of("self", ended_ticks_of)
}

/// Returns user and system time of one process.
pub(super) fn ticks_of(stat: &str) -> Option<u64> {
    two_from(stat, 11)
}

/// Returns user and system time of the ended children of a process.
fn ended_ticks_of(stat: &str) -> Option<u64> {
    two_from(stat, 13)
}

/// Returns the sum of two fields, counted after the last bracket because the name may contain spaces
/// and brackets.
fn two_from(stat: &str, field: usize) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(field);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

fn pressure_us() -> Option<u64> {
    let text = read_to_string("/proc/pressure/cpu").ok()?;
    let line = text.lines().find(|l| l.starts_with("some "))?;
    line.rsplit_once("total=")?.1.trim().parse().ok()
}

fn throttled() -> Option<u64> {
    let path = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
    read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reasons_follow_from_each_figure() {
        let own = |edit: fn(&mut Disturbance)| {
            let mut disturbance = Disturbance::default();
            edit(&mut disturbance);
            reasons_of_figures(&disturbance)
        };
        assert!(own(|d| (d.pressure, d.throttled) = (Some(0.1), Some(0))).is_empty());
        assert_eq!(
            own(|d| d.pressure = Some(0.12)),
            ["work waited for a free core 12 % of the time (limit 10 %)"]
        );
        // The threads of the drivers themselves waited.
        assert!(own(|d| (d.pressure, d.load) = (Some(0.5), Some(0.04))).is_empty());
        assert_eq!(
            own(|d| d.throttled = Some(3)),
            ["the CPU was throttled 3 times because of heat"]
        );
    }

    #[test]
    fn reason_of_a_figure_is_recognised() {
        assert!(is_of_figures("work waited for a free core 12 %"));
        assert!(is_of_figures("the hypervisor took 9 %"));
        assert!(!is_of_figures("the clock of the machine was set"));
    }

    #[test]
    fn cpu_times_separate_busy_and_stolen() {
        let times = CpuTimes::parse("cpu  100 1 20 500 4 3 2 70 0 0\ncpu0 1 1\n").unwrap();
        assert_eq!((times.busy, times.total, times.steal), (126, 700, 70));
        assert!(CpuTimes::parse("cpu 1 2 3\n").is_none());
    }

    #[test]
    fn ticks_name_with_brackets_does_not_shift_fields() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4 0 0 0 0 11 22 5 6 20 0";
        assert_eq!(ticks_of(stat), Some(33));
        assert_eq!(ended_ticks_of(stat), Some(11));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn own_ticks_include_short_lived_drivers() {
        let before = own_ticks(&[]);
        for _ in 0..10 {
            let mut driver = std::process::Command::new("sh");
            let driver = driver.args(["-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"]);
            assert!(driver.status().unwrap().success());
        }
        // Each takes at least 20 ms; none is read while it runs.
        assert!(own_ticks(&[]) - before >= 10, "a tenth of a second");
    }
}
