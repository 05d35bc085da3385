//! The value of a cell, with its form for programs and for people.

use anstyle::Style;
use maud::{Markup, html};

use super::setters;
use crate::words::colour;
use jeton_lab_model::result::{Status, VerdictKind};
use jeton_lab_model::units;

#[derive(Debug, Default)]
pub(crate) struct Value {
    /// For programs, in full.
    pub(super) exact: String,
    /// For people, rounded.
    pub(super) shown: String,
    /// The terminal has less than the text.
    brief: Option<String>,
    pub(super) style: Style,
    /// The page has more than the text.
    markup: Option<Markup>,
    interval: Option<Interval>,
    pub(super) emphasised: bool,
    pub(crate) class: Option<&'static str>,
    /// The page shows the value in the place of the others of the row, from the first one that is missing.
    pub(crate) is_over_row: bool,
    pub(crate) row_class: Option<&'static str>,
}

#[derive(Debug)]
struct Interval {
    exact: [String; 2],
    shown: String,
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let shown = text.into();
        Self {
            exact: plain(&shown),
            shown,
            ..Self::default()
        }
    }

    /// Creates a number that is rounded for people.
    pub(crate) fn number(exact: impl ToString, shown: String) -> Self {
        Self {
            exact: exact.to_string(),
            shown,
            ..Self::default()
        }
    }

    pub(crate) fn count(count: u64) -> Self {
        Self::number(count, units::whole(count))
    }

    pub(crate) fn interval(
        value: f64,
        [low, high]: [f64; 2],
        shown: impl Fn(f64) -> String,
    ) -> Self {
        Self {
            interval: Some(Interval {
                exact: [low.to_string(), high.to_string()],
                shown: format!("{} – {}", shown(low), shown(high)),
            }),
            ..Self::number(value, shown(value))
        }
    }

    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Creates a value that is empty for programs and `n/a` for people.
    pub(crate) fn unknown() -> Self {
        Self::number("", "n/a".to_owned())
    }

    /// Creates a verdict: a word whose colour only repeats it.
    pub(crate) fn verdict(kind: VerdictKind) -> Self {
        Self {
            style: colour(kind),
            ..Self::marked(kind.label(), kind.label())
        }
    }

    pub(crate) fn marked(class: &str, word: &str) -> Self {
        Self::text(word).on_page(html! { span.verdict.(class) { (word) } })
    }

    setters! { self;
        /// Marks a value of another source than the run.
        emphasised() { self.emphasised = true }
        exactly(text: &str) { self.exact = plain(text) }
        on_page(markup: Markup) { self.markup = Some(markup) }
        shown(text: String) { self.shown = text }
        on_terminal(text: impl Into<String>) { self.brief = Some(text.into()) }
        coloured(style: Style) { self.style = style }
        class(class: &'static str) { self.class = Some(class) }
        /// Makes the page show the value in the place of the others of the row, from the first one that is missing.
        over_row() { self.is_over_row = true }
        row_class(class: &'static str) { self.row_class = Some(class) }
    }

    pub(crate) fn and_on_page(self, more: Markup) -> Self {
        let shown = self.markup();
        self.on_page(html! { (shown) (more) })
    }

    /// Removes the value for people; the terminal keeps it.
    pub(crate) fn only_exact(self) -> Self {
        let shown = String::new();
        Self {
            brief: Some(self.brief().to_owned()),
            exact: self.exact,
            style: self.style,
            interval: self.interval.map(|interval| Interval { shown, ..interval }),
            ..Self::default()
        }
    }

    pub(crate) fn as_shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn brief(&self) -> &str {
        self.brief.as_deref().unwrap_or(&self.shown)
    }

    pub(super) fn ends(&self) -> [String; 2] {
        let interval = self.interval.as_ref();
        interval.map_or_else(Default::default, |interval| interval.exact.clone())
    }

    pub(super) fn span(&self) -> &str {
        self.interval
            .as_ref()
            .map_or("", |interval| &interval.shown)
    }

    pub(crate) fn is_known(&self) -> bool {
        !self.exact.is_empty() && !self.shown.is_empty()
    }

    pub(crate) fn markup(&self) -> Markup {
        match &self.markup {
            Some(markup) => markup.clone(),
            None if self.emphasised => html! { em { (self.shown) } },
            None if !self.span().is_empty() => {
                html! { b { (self.shown) } " " small { (self.span()) } }
            }
            None => html! { (self.shown) },
        }
    }
}

pub(crate) fn status(status: Status) -> Markup {
    let (class, word) = match status {
        Status::Ok => ("good", "measured"),
        Status::Unavailable => ("plain", "unavailable"),
        Status::FailedPreflight => ("bad", "failed preflight"),
        Status::Crashed => ("bad", "crashed"),
        Status::TimedOut => ("bad", "timed out"),
        Status::Disturbed => ("warn", "disturbed"),
    };
    html! { span.tag.(class) { (word) } }
}

/// Prevents that a spreadsheet reads text as a formula.
pub(crate) fn plain(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}
