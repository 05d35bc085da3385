//! The machine as a witness: what else it did while the lab measured.

use std::fs::read_to_string;
use std::time::Instant;

use crate::result::Disturbance;

/// More of the CPU time than this taken by the hypervisor taints a run.
const STEAL_LIMIT: f64 = 0.01;
/// More cores than this kept busy by others, on average, taints a run.
const OTHERS_LIMIT_CORES: f64 = 0.25;
/// More of the time than this spent waiting for a core taints a run, where others did any work.
const PRESSURE_LIMIT: f64 = 0.10;
/// Fewer cores than this kept busy by others: who waited for a core waited for a thread of their own.
/// A runtime's collector and compiler share its one core with its work, and that is what it costs.
const NOBODY_ELSE_CORES: f64 = 0.05;
/// Clock ticks a second in `/proc`, fixed by the kernel's user interface.
pub(super) const TICKS_PER_SECOND: f64 = 100.0;

/// Watches from [`DisturbanceMonitor::begin`] to [`DisturbanceMonitor::finish`].
#[derive(Debug)]
pub struct DisturbanceMonitor {
    began: Instant,
    cpu: Option<CpuTimes>,
    own_ticks: u64,
    pressure_us: Option<u64>,
    throttled: Option<u64>,
}

impl DisturbanceMonitor {
    /// Begins to watch. `drivers` are the process ids whose work is the lab's own.
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

    /// What was seen since. `drivers` as in [`Self::begin`]; those that were started or ended in between
    /// need no naming.
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
                if steal > STEAL_LIMIT {
                    disturbance.reasons.push(format!(
                        "the hypervisor took {:.1} % of the CPU time (limit {:.0} %)",
                        steal * 100.0,
                        STEAL_LIMIT * 100.0
                    ));
                }
                let busy = now.busy.saturating_sub(before.busy);
                let own = own_ticks(drivers).saturating_sub(self.own_ticks);
                #[allow(clippy::cast_precision_loss, reason = "ticks are far below 2^53")]
                let others = busy.saturating_sub(own) as f64 / TICKS_PER_SECOND / seconds;
                disturbance.load = Some(others);
                if others > OTHERS_LIMIT_CORES {
                    disturbance.reasons.push(format!(
                        "other work kept {others:.2} cores busy on average (limit {OTHERS_LIMIT_CORES})"
                    ));
                }
            }
            _ => disturbance
                .unwatched
                .push("CPU steal and other work: /proc/stat cannot be read here".into()),
        }
        match (self.pressure_us, pressure_us()) {
            (Some(before), Some(now)) => {
                #[allow(clippy::cast_precision_loss, reason = "microseconds of a run")]
                let share = now.saturating_sub(before) as f64 / 1e6 / seconds;
                if share > PRESSURE_LIMIT
                    && disturbance
                        .load
                        .is_none_or(|cores| cores > NOBODY_ELSE_CORES)
                {
                    disturbance.reasons.push(format!(
                        "work waited for a free core {:.0} % of the time (limit {:.0} %)",
                        share * 100.0,
                        PRESSURE_LIMIT * 100.0
                    ));
                }
            }
            _ => disturbance
                .unwatched
                .push("CPU pressure: this kernel has no /proc/pressure/cpu".into()),
        }
        match (self.throttled, throttled()) {
            (Some(before), Some(now)) if now > before => disturbance.reasons.push(format!(
                "the CPU was throttled for heat {} times",
                now - before
            )),
            (Some(_), Some(_)) => {}
            _ => disturbance
                .unwatched
                .push("throttling: the CPU shows no counter here".into()),
        }
        if !pinned {
            disturbance.unwatched.push(
                "drivers were not pinned to a core: there is only one, or the system refuses"
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

    /// The fields are user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice;
    /// the guests' time is in user and nice already.
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

/// Of this process, of the drivers that live, and of all that have ended and were waited for: the kernel
/// adds these up to the nanosecond. Most processes of a run live for a few ticks, and each of them asked in
/// its last moment would lose half a tick and its end.
fn own_ticks(drivers: &[u32]) -> u64 {
    let of = |id: &str, ticks: fn(&str) -> Option<u64>| {
        let stat = read_to_string(format!("/proc/{id}/stat"));
        stat.ok().and_then(|stat| ticks(&stat)).unwrap_or(0)
    };
    let living: u64 = drivers.iter().map(|id| of(&id.to_string(), ticks_of)).sum();
    living + of("self", ticks_of) + of("self", ended_ticks_of)
}

/// User and system time of one process.
pub(super) fn ticks_of(stat: &str) -> Option<u64> {
    two_from(stat, 11)
}

/// The same of its children that have ended and that it has waited for, and of theirs.
fn ended_ticks_of(stat: &str) -> Option<u64> {
    two_from(stat, 13)
}

/// The sum of two fields. The name may hold spaces and brackets, so they are counted from the last
/// bracket.
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
    fn cpu_times_part_busy_from_stolen() {
        let times = CpuTimes::parse("cpu  100 1 20 500 4 3 2 70 0 0\ncpu0 1 1\n").unwrap();
        assert_eq!((times.busy, times.total, times.steal), (126, 700, 70));
        assert!(CpuTimes::parse("cpu 1 2 3\n").is_none());
    }

    #[test]
    fn a_process_name_with_brackets_does_not_shift_the_fields() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4 0 0 0 0 11 22 5 6 20 0";
        assert_eq!(ticks_of(stat), Some(33));
        assert_eq!(ended_ticks_of(stat), Some(11));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_short_lived_drivers_did_is_not_the_work_of_others() {
        let before = own_ticks(&[]);
        for _ in 0..10 {
            let mut driver = std::process::Command::new("sh");
            let driver = driver.args(["-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"]);
            assert!(driver.status().unwrap().success());
        }
        // Each needs 20 ms and more; nobody asked them while they lived.
        assert!(own_ticks(&[]) - before >= 10, "a tenth of a second");
    }
}
