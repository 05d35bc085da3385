//! Support dates of runtimes.

use super::version::Version;

/// The last day of support of each release line, by language; for Go the month in which the second
/// newer release is due.
///
/// Sources, read on 2026-11-26: go.dev/doc/devel/release (a release is supported until there are two
/// newer ones, which come each February and August), github.com/nodejs/Release (schedule.json),
/// adoptium.net/support (Eclipse Temurin; other distributions may differ), and
/// devguide.python.org/versions. endoflife.date has the same days.
const LINES: [(&str, &[u32], &str); 29] = [
    ("go", &[1, 22], "2025-02-11"),
    ("go", &[1, 23], "2025-08-12"),
    ("go", &[1, 24], "2026-02-10"),
    ("go", &[1, 25], "2026-08-19"),
    ("go", &[1, 26], "2027-02"),
    ("go", &[1, 27], "2027-08"),
    ("node", &[18], "2025-04-30"),
    ("node", &[19], "2023-06-01"),
    ("node", &[20], "2026-04-30"),
    ("node", &[21], "2024-06-01"),
    ("node", &[22], "2027-04-30"),
    ("node", &[23], "2025-06-01"),
    ("node", &[24], "2028-04-30"),
    ("node", &[25], "2026-06-01"),
    ("node", &[26], "2029-04-30"),
    ("java", &[11], "2027-10-31"),
    ("java", &[17], "2027-10-31"),
    ("java", &[21], "2029-12-31"),
    ("java", &[22], "2024-09-17"),
    ("java", &[23], "2025-03-18"),
    ("java", &[24], "2025-09-16"),
    ("java", &[25], "2031-09-30"),
    ("java", &[26], "2026-09-15"),
    ("python", &[3, 9], "2025-10-31"),
    ("python", &[3, 10], "2026-10-31"),
    ("python", &[3, 11], "2027-10-31"),
    ("python", &[3, 12], "2028-10-31"),
    ("python", &[3, 13], "2029-10-31"),
    ("python", &[3, 14], "2030-10-31"),
];

/// The support state of a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Support {
    /// Out of support since this day.
    Ended(Option<&'static str>),
    /// Unknown: newer than the table, or a language without a table.
    Unknown,
    /// Supported until this day, or until this month if the day is not known.
    Until(&'static str),
}

/// Returns the support state of a version on a day, in RFC 3339 form: `2026-11-26`.
#[must_use]
pub fn support(language: &str, version: &Version, today: &str) -> Support {
    let lines = || LINES.iter().filter(|(l, ..)| *l == language);
    let same = |line: &[u32]| version.numbers.starts_with(line);
    if let Some((.., end)) = lines().find(|(_, line, _)| same(line)) {
        let is_month = end.len() == "2027-02".len();
        let over = today.get(..end.len()).is_some_and(|today| today > *end);
        return match (over, is_month) {
            (false, _) => Support::Until(end),
            (true, false) => Support::Ended(Some(end)),
            // The expected month has passed, and the table was not updated.
            (true, true) => Support::Unknown,
        };
    }
    let oldest = lines().map(|(_, line, _)| *line).min();
    match oldest {
        Some(oldest) if version.numbers.as_slice() < oldest => Support::Ended(None),
        _ => Support::Unknown,
    }
}
