//! How the machine is set up, and what that costs a measurement.

use std::fs::read_to_string;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;

use super::{Cores, DisturbanceMonitor, describe};
use crate::result::{Disturbance, Environment};

/// How long other work is watched for.
const WATCHED: Duration = Duration::from_secs(1);

/// One fact about the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// What it is about.
    pub name: &'static str,
    /// What was found.
    pub found: String,
    /// Whether it is as a measurement wants it.
    pub state: State,
    /// What it costs, and what helps; `None` where it costs nothing.
    pub cost: Option<String>,
}

/// Whether a setting is as a measurement wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is.
    Good,
    /// It costs something.
    Costs,
    /// The machine does not say.
    Unknown,
}

/// Looks at the machine for a second: its cores, clocks, memory and instructions, and what other
/// work does meanwhile.
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
    let processor = environment.processor.as_ref();
    match processor.and_then(|p| p.family.as_ref()) {
        Some(_) => good(name, found),
        None => Setting {
            found,
            ..unknown(
                name,
                "`compare` and `gate` cannot tell this CPU from another one of the same name",
            )
        },
    }
}

/// The flags that matter for cryptography. What the absence of some costs is said with them.
fn flags(present: &[String]) -> Setting {
    let name = "CPU flags";
    match present {
        [] => unknown(name, "which instructions the CPU has is not seen"),
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
            "drivers share one core with the lab and are not pinned: more noise, and no threads; use two or more",
        )
    }
}

/// Whether a core shares its execution units with another that the system offers.
fn siblings(root: &Path) -> Setting {
    let name = "SMT siblings";
    let path = "sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
    match line(root, path) {
        None => unknown(
            name,
            "whatever runs on a sibling core slows the measured one, unseen",
        ),
        Some(list) if list.contains([',', '-']) => costs(
            name,
            format!("core 0 is one with {list}"),
            "whatever runs on the sibling slows the measured core; turn SMT off, or leave the sibling idle",
        ),
        Some(_) => good(name, "none".into()),
    }
}

fn governor(root: &Path) -> Setting {
    let name = "governor";
    match line(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").as_deref() {
        None => unknown(
            name,
            "a clock that follows the load is not seen; rounds in random order spread it over all subjects",
        ),
        Some("performance") => good(name, "performance".into()),
        Some(other) => costs(
            name,
            other.to_owned(),
            "the clock follows the load: wider intervals; `cpupower frequency-set -g performance`",
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
                "a clock that falls as the CPU gets warm is not seen; rounds in random order spread it",
            );
        }
    };
    if on {
        costs(
            name,
            "on".into(),
            "the clock falls as the CPU gets warm: wider intervals; turn it off to publish",
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
            "neighbours take caches and clock, and only stolen time is seen: a wider noise floor",
        ),
    }
}

/// What other work did in that second.
fn others(disturbance: &Disturbance) -> Vec<Setting> {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mut found = vec![
        match disturbance.steal {
            None => unknown("steal", "time that a hypervisor takes is not seen"),
            Some(share) if share > 0.01 => costs(
                "steal",
                percent(share),
                "a run would be marked as disturbed: measure when the host is quieter",
            ),
            Some(share) => good("steal", percent(share)),
        },
        match disturbance.load {
            None => unknown("other work", "what else runs is not seen"),
            Some(cores) if cores > 0.25 => costs(
                "other work",
                format!("{cores:.2} cores busy"),
                "a run would be marked as disturbed: end it, or measure later",
            ),
            Some(cores) => good("other work", format!("{cores:.2} cores busy")),
        },
    ];
    let blind = disturbance.unwatched.iter().map(|line| Setting {
        name: "unwatched",
        found: line.clone(),
        state: State::Unknown,
        cost: Some("a run cannot be marked as disturbed by it".into()),
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
            "memory that comes back from disk is timed with the work: free some, or `swapoff -a`",
        ),
        (Some(_), Some(_)) => good(name, "not in use".into()),
        _ => unknown(name, "memory on disk is not seen"),
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
            "nothing for the lab, which measures time alone; `perf stat` beside it needs `sysctl kernel.perf_event_paranoid=2`",
        ),
        _ => costs(
            name,
            "none".into(),
            "nothing for the lab, which measures time alone; `perf stat` beside it says nothing here",
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
            "SHA-256 is computed without them: HS256 takes several times as long, and its ratios are not those of machines that have them",
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
            "libraries that use AVX-512 for RSA and AES (AWS-LC, OpenSSL) are nearer to the others here than elsewhere",
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
        found: "not known".into(),
        state: State::Unknown,
        cost: Some(cost.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A machine that is nothing but these files.
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
    fn a_desktop_as_it_comes() {
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
    fn a_machine_made_ready() {
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
    fn a_machine_that_says_nothing() {
        let root = machine(&[]);
        let root = root.path();
        for setting in [siblings(root), governor(root), turbo(root), swap(root)] {
            assert_eq!(setting.state, State::Unknown, "{setting:?}");
        }
    }
}
