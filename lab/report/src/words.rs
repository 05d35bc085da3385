//! Formatting of figures, verdicts and names for people.

use anstyle::{AnsiColor, Style};
use jeton_lab_model::result::{Subject, VerdictKind};

pub(crate) const BOLD: Style = Style::new().bold();

pub(crate) fn colour(verdict: VerdictKind) -> Style {
    match verdict {
        VerdictKind::Faster => AnsiColor::Green.on_default(),
        VerdictKind::Slower => AnsiColor::Yellow.on_default(),
        VerdictKind::Equivalent => Style::new(),
        VerdictKind::Undecided => Style::new().dimmed(),
    }
}

/// Formats 0.012 as `1.2 %`.
pub(crate) fn percent(share: f64) -> String {
    let hundredths = share * 100.0;
    if hundredths < 9.95 {
        format!("{hundredths:.1} %")
    } else {
        format!("{hundredths:.0} %")
    }
}

/// Formats nanoseconds as microseconds with three significant digits.
pub(crate) fn microseconds(ns: f64) -> String {
    significant(ns / 1000.0)
}

/// Formats a ratio as `2.20`, `12.3` or `140`.
pub(crate) fn significant(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

pub(crate) fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

/// Names a library with its version, and with its runtime if several were measured.
pub(crate) fn library(subject: &Subject) -> String {
    with_version(&subject.library, subject)
}

pub(crate) fn with_version(name: &str, subject: &Subject) -> String {
    let named = format!("{name} {}", subject.version);
    match subject.own_runtime() {
        Some(runtime) => format!("{named} ({runtime})"),
        None => named,
    }
}
