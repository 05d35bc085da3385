//! Settings of the machine, and their effect on measurements.

use std::fs::read_to_string;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;

use super::{Cores, DisturbanceMonitor, describe};
use jeton_lab_model::result::{Disturbance, Environment};

/// The observation time for other processes.
const WATCHED: Duration = Duration::from_secs(1);

/// A setting of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub found: String,
    /// The assessment.
    pub state: State,
    /// The effect and the remedy; `None` if there is no effect.
    pub cost: Option<String>,
}

/// The assessment of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Suitable for measuring.
    Good,
    /// Affects measurements.
    Costs,
    /// Unknown on this machine.
    Unknown,
}

/// Checks the machine for one second: cores, clocks, memory, instructions and other processes.
#[must_use]
pub fn settings() -> Vec<Setting> {
    let cores = Cores::unpinned();
    let disturbance_monitor = DisturbanceMonitor::begin(&[]);
    sleep(WATCHED);
    let disturbance = disturbance_monitor.finish(&[], true);
    let environment = describe(&cores);
    let root = Path::new("/");
    let mut found = vec![
        cpu(&environment),
        flags(&environment.flags),
        count(cores.count()),
        siblings(root),
        governor(root),
        turbo(root),
        hypervisor(environment.hypervisor),
    ];
    found.extend(others(&disturbance));
    found.extend([
        swap(root),
        counters(root),
        sha(&environment.flags),
        wide(&environment.flags),
    ]);
    found
}

fn cpu(environment: &Environment) -> Setting {
    let (name, found) = ("CPU", environment.cpu_in_full());
    match &environment.processor.family {
        Some(_) => good(name, found),
        None => Setting {
            found,
            ..unknown(
                name,
                "`compare` and `gate` cannot distinguish this CPU from others with the same name",
            )
        },
    }
}

/// Checks the flags that matter for cryptography, and the effect of missing ones.
fn flags(present: &[String]) -> Setting {
    let name = "CPU flags";
    match present {
        [] => unknown(name, "the instructions of the CPU are unknown"),
        present => good(name, present.join(" ")),
    }
}

fn count(cores: usize) -> Setting {
    if cores > 1 {
        good("cores", cores.to_string())
    } else {
        costs(
            "cores",
            cores.to_string(),
            "drivers and lab share one core without pinning: more noise and no thread measurements; use at least two cores",
        )
    }
}

/// Checks whether a core shares its execution units with a sibling core.
fn siblings(root: &Path) -> Setting {
    let name = "SMT siblings";
    let path = "sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
    match line(root, path) {
        None => unknown(
            name,
            "work on a sibling core slows the measured core without being detected",
        ),
        Some(list) if list.contains([',', '-']) => costs(
            name,
            format!("core 0 shares its units with {list}"),
            "work on the sibling slows the measured core; disable SMT, or keep the sibling idle",
        ),
        Some(_) => good(name, "none".into()),
    }
}

fn governor(root: &Path) -> Setting {
    let name = "governor";
    match line(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").as_deref() {
        None => unknown(
            name,
            "changes of the clock are not detected; rounds in random order spread their effect over all subjects",
        ),
        Some("performance") => good(name, "performance".into()),
        Some(other) => costs(
            name,
            other.to_owned(),
            "the clock follows the load, which widens intervals; run `cpupower frequency-set -g performance`",
        ),
    }
}

fn turbo(root: &Path) -> Setting {
    let name = "turbo";
    let intel = line(root, "sys/devices/system/cpu/intel_pstate/no_turbo");
    let boost = line(root, "sys/devices/system/cpu/cpufreq/boost");
    let on = match (intel.as_deref(), boost.as_deref()) {
        (Some("0"), _) | (None, Some("1")) => true,
        (Some(_), _) | (None, Some(_)) => false,
        (None, None) => {
            return unknown(
                name,
                "changes of the clock with temperature are not detected; rounds in random order spread their effect",
            );
        }
    };
    if on {
        costs(
            name,
            "on".into(),
            "the clock falls as the CPU gets warm, which widens intervals; disable it for published runs",
        )
    } else {
        good(name, "off".into())
    }
}

fn hypervisor(found: Option<String>) -> Setting {
    match found {
        None => good("hypervisor", "none reported".into()),
        Some(which) => costs(
            "hypervisor",
            which,
            "other virtual machines use caches and clock, and only stolen time is detected: a higher noise floor",
        ),
    }
}

/// Reports the use by other processes during that second.
fn others(disturbance: &Disturbance) -> Vec<Setting> {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mut found = vec![
        match disturbance.steal {
            None => unknown("steal", "time taken by a hypervisor is not detected"),
            Some(share) if share > 0.01 => costs(
                "steal",
                percent(share),
                "a run would be marked as disturbed; measure when the host is quieter",
            ),
            Some(share) => good("steal", percent(share)),
        },
        match disturbance.load {
            None => unknown("other processes", "other processes are not detected"),
            Some(cores) if cores > 0.25 => costs(
                "other processes",
                format!("{cores:.2} cores in use"),
                "a run would be marked as disturbed; end the other processes, or measure later",
            ),
            Some(cores) => good("other processes", format!("{cores:.2} cores in use")),
        },
    ];
    let blind = disturbance.unwatched.iter().map(|line| Setting {
        name: "unwatched",
        found: line.clone(),
        state: State::Unknown,
        cost: Some("the lab cannot mark a run as disturbed by it".into()),
    });
    found.extend(blind);
    found
}

fn swap(root: &Path) -> Setting {
    let name = "swap";
    let text = read_to_string(root.join("proc/meminfo")).unwrap_or_default();
    let kilobytes = |member: &str| -> Option<u64> {
        let line = text.lines().find(|l| l.starts_with(member))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    match (kilobytes("SwapTotal:"), kilobytes("SwapFree:")) {
        (Some(total), Some(free)) if total > free => costs(
            name,
            format!("{} MB in use", (total - free) / 1024),
            "reading swapped memory adds to measured times; free memory, or run `swapoff -a`",
        ),
        (Some(_), Some(_)) => good(name, "not in use".into()),
        _ => unknown(name, "swapped memory is not detected"),
    }
}

fn counters(root: &Path) -> Setting {
    let name = "performance counters";
    let there = root.join("sys/bus/event_source/devices/cpu").exists();
    let paranoid = line(root, "proc/sys/kernel/perf_event_paranoid");
    match paranoid.and_then(|p| p.parse::<i32>().ok()) {
        Some(level) if there && level <= 2 => good(name, format!("there, level {level}")),
        Some(level) if there => costs(
            name,
            format!("forbidden, level {level}"),
            "no effect on the lab, which measures only time; `perf stat` requires `sysctl kernel.perf_event_paranoid=2`",
        ),
        _ => costs(
            name,
            "none".into(),
            "no effect on the lab, which measures only time; `perf stat` has no counters here",
        ),
    }
}

fn sha(flags: &[String]) -> Setting {
    let name = "SHA instructions";
    let has = |flag: &str| flags.iter().any(|f| f == flag);
    if has("sha_ni") || has("sha2") {
        good(name, "there".into())
    } else {
        costs(
            name,
            "none".into(),
            "SHA-256 runs without them: HS256 takes several times as long, and its ratios differ from machines that have them",
        )
    }
}

fn wide(flags: &[String]) -> Setting {
    let name = "wide vectors";
    const WIDE: [&str; 6] = ["avx512f", "avx512ifma", "vaes", "vpclmulqdq", "sve", "sve2"];
    let there: Vec<&str> = WIDE
        .into_iter()
        .filter(|w| flags.iter().any(|f| f == w))
        .collect();
    if there.len() > 1 || there == ["sve"] {
        good(name, there.join(", "))
    } else {
        costs(
            name,
            if there.is_empty() {
                "none".into()
            } else {
                format!("{} alone", there.join(", "))
            },
            "libraries that use AVX-512 for RSA and AES (AWS-LC, OpenSSL) have a smaller advantage here",
        )
    }
}

fn line(root: &Path, path: &str) -> Option<String> {
    let text = read_to_string(root.join(path)).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}

fn good(name: &'static str, found: String) -> Setting {
    Setting {
        name,
        found,
        state: State::Good,
        cost: None,
    }
}

fn costs(name: &'static str, found: String, cost: &str) -> Setting {
    Setting {
        name,
        found,
        state: State::Costs,
        cost: Some(cost.to_owned()),
    }
}

fn unknown(name: &'static str, cost: &str) -> Setting {
    Setting {
        name,
        found: "unknown".into(),
        state: State::Unknown,
        cost: Some(cost.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A machine that consists of these files.
    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        root
    }

    const CPU: &str = "sys/devices/system/cpu";

    #[test]
    fn settings_of_default_desktop() {
        let root = machine(&[
            (
                &format!("{CPU}/cpu0/topology/thread_siblings_list"),
                "0,8\n",
            ),
            (
                &format!("{CPU}/cpu0/cpufreq/scaling_governor"),
                "powersave\n",
            ),
            (&format!("{CPU}/intel_pstate/no_turbo"), "0\n"),
            ("proc/meminfo", "SwapTotal: 4096 kB\nSwapFree: 1024 kB\n"),
            ("proc/sys/kernel/perf_event_paranoid", "4\n"),
            ("sys/bus/event_source/devices/cpu/type", "4\n"),
        ]);
        let root = root.path();
        for setting in [
            siblings(root),
            governor(root),
            turbo(root),
            swap(root),
            counters(root),
        ] {
            assert_eq!(setting.state, State::Costs, "{setting:?}");
            assert!(setting.cost.is_some());
        }
        assert_eq!(swap(root).found, "3 MB in use");
    }

    #[test]
    fn settings_of_prepared_machine() {
        let root = machine(&[
            (&format!("{CPU}/cpu0/topology/thread_siblings_list"), "0\n"),
            (
                &format!("{CPU}/cpu0/cpufreq/scaling_governor"),
                "performance\n",
            ),
            (&format!("{CPU}/cpufreq/boost"), "0\n"),
            ("proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n"),
            ("proc/sys/kernel/perf_event_paranoid", "1\n"),
            ("sys/bus/event_source/devices/cpu/type", "4\n"),
        ]);
        let root = root.path();
        for setting in [
            siblings(root),
            governor(root),
            turbo(root),
            swap(root),
            counters(root),
        ] {
            assert_eq!(setting.state, State::Good, "{setting:?}");
        }
    }

    #[test]
    fn settings_of_machine_without_information() {
        let root = machine(&[]);
        let root = root.path();
        for setting in [siblings(root), governor(root), turbo(root), swap(root)] {
            assert_eq!(setting.state, State::Unknown, "{setting:?}");
        }
    }
}
