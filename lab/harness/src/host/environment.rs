//! Describes the machine.

use std::fs::read_to_string;
use std::path::Path;
use std::process::Command;

use super::Cores;
use super::processor::cpu;
use crate::workspace::workspace;
use jeton_lab_model::result::Environment;

/// Describes the machine. Unknown values are empty.
#[must_use]
pub fn describe(cores: &Cores) -> Environment {
    let cpuinfo = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu(&cpuinfo);
    Environment {
        cpu: (cpu.name).unwrap_or_else(|| format!("unknown ({})", std::env::consts::ARCH)),
        cores: cores.count(),
        flags: cpu.flags,
        processor: cpu.processor,
        kernel: kernel(),
        hypervisor: hypervisor(cpu.is_virtual),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        jeton: env!("CARGO_PKG_VERSION").to_owned(),
        commit: commit(&workspace()),
        ..Environment::default()
    }
}

/// Asks git for the commit of a folder; a package without git has none.
fn commit(folder: &Path) -> Option<String> {
    let mut git = Command::new("git");
    git.args([
        "describe",
        "--always",
        "--abbrev=40",
        "--dirty",
        "--exclude=*",
    ]);
    let output = git
        .current_dir(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .output();
    let output = output.ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let commit = text.trim();
    (!commit.is_empty()).then(|| commit.to_owned())
}

fn kernel() -> String {
    let name = line("/proc/sys/kernel/ostype").unwrap_or_else(|| std::env::consts::OS.to_owned());
    match line("/proc/sys/kernel/osrelease") {
        Some(release) => format!("{name} {release}"),
        None => name,
    }
}

fn hypervisor(flagged: bool) -> Option<String> {
    let vendor = line("/sys/class/dmi/id/sys_vendor");
    let product = line("/sys/class/dmi/id/product_name");
    let named: Vec<String> = [vendor, product].into_iter().flatten().collect();
    match (flagged, named.is_empty()) {
        (false, _) => None,
        (true, true) => Some("yes, of unknown kind".into()),
        (true, false) => Some(named.join(" ")),
    }
}

fn line(path: &str) -> Option<String> {
    let text = read_to_string(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}
