//! The memory that is left for further processes.

use std::fs;

/// Below this, no further process of a driver is started, bytes. A process of the JVM takes up to 100 MB.
const LEFT_MIN: u64 = 1 << 30;

/// Returns why no further process may be started, if the machine lacks memory. Every case has its own process.
pub(crate) fn shortage() -> Option<String> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    shortage_in(&text)
}

fn shortage_in(meminfo: &str) -> Option<String> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    (kib < LEFT_MIN >> 10).then(|| {
        format!(
            "memory: {} MiB are left, and a further process needs {} MiB: measure fewer suites or subjects",
            kib >> 10,
            LEFT_MIN >> 20
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortage_names_what_is_left_and_needed() {
        let of = |kib: u64| shortage_in(&format!("MemTotal: 9 kB\nMemAvailable:  {kib} kB\n"));
        assert_eq!(of(1 << 20), None);
        let why = of((1 << 20) - 1).unwrap_or_default();
        assert!(
            why.contains("1023 MiB are left") && why.contains("1024 MiB"),
            "{why}"
        );
        assert_eq!(shortage_in(""), None);
    }
}
