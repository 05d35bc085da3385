//! The charts of a report, as data. The page draws them, and every chart has a table with its figures.

use jeton_lab_model::units::{self, Unit};
use maud::{Markup, html};

/// The marks of series, which repeat after eight.
pub(crate) const SERIES: [&str; 8] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];

/// A chart: a row for each subject with its figure and marks, or a line for each subject over an amount.
#[derive(Default)]
pub(crate) struct Chart {
    pub(crate) label: String,
    pub(crate) table: String,
    pub(crate) axis: Axis,
    pub(crate) rows: Vec<Row>,
    /// The noise band behind the rows: its ends and its middle.
    pub(crate) band: Option<[f64; 3]>,
    /// Vertical lines behind the rows, each with its name at the top, and what follows it.
    pub(crate) references: Vec<(f64, String, String)>,
    pub(crate) series: Vec<(String, Vec<Point>)>,
    pub(crate) ticks: Vec<(f64, String)>,
    pub(crate) caption: String,
    /// Marks with their meaning, if the rows do not say it.
    pub(crate) legend: Vec<(&'static str, String)>,
    pub(crate) is_small: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) enum Axis {
    /// No ticks: each row has its figure.
    #[default]
    Plain,
    Time(Unit),
    Factor,
    Bytes,
    Rate,
}

impl Axis {
    pub(crate) fn tick(self, value: f64) -> String {
        match self {
            Self::Plain => String::new(),
            Self::Time(unit) => unit.tick(value),
            Self::Factor => format!("{} ×", units::times(value)),
            Self::Bytes => format!("{} B", units::fixed(value, 0)),
            Self::Rate if value >= 1e6 => format!("{}M/s", units::times(value / 1e6)),
            Self::Rate if value >= 1e3 => format!("{}k/s", units::times(value / 1e3)),
            Self::Rate => format!("{}/s", units::fixed(value, 0)),
        }
    }
}

#[derive(Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// What follows the name where there is room: on a wide screen, and on every screen.
    pub(crate) aside: [String; 2],
    pub(crate) value: String,
    /// What follows the value, and its direction, which only a wide screen shows.
    pub(crate) effect: [String; 2],
    pub(crate) points: Vec<Point>,
}

#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) mark: &'static str,
    pub(crate) at: f64,
    pub(crate) value: f64,
    pub(crate) interval: [f64; 2],
    pub(crate) words: String,
}

impl Point {
    pub(crate) fn new(mark: &'static str, value: f64, interval: [f64; 2]) -> Self {
        Self {
            mark,
            at: 0.0,
            value,
            interval: interval.map(|end| if end.is_finite() { end } else { value }),
            words: String::new(),
        }
    }
}

impl Chart {
    pub(crate) fn rows(label: String, table: String, axis: Axis, rows: Vec<Row>) -> Self {
        Self {
            label,
            table,
            axis,
            rows,
            ..Self::default()
        }
    }

    pub(crate) fn line_at(mut self, value: f64) -> Self {
        let no = String::new();
        self.references.push((value, no.clone(), no));
        self
    }
}

pub(crate) fn cut(label: &str, chars_max: usize) -> String {
    if label.chars().count() <= chars_max {
        return label.to_owned();
    }
    let kept = label.chars().take(chars_max.saturating_sub(1));
    kept.chain(['…']).collect()
}

pub(crate) fn icon(id: &str) -> Markup {
    html! { svg.icon viewBox="-12 -12 24 24" aria-hidden="true" { use href={ "#m-" (id) } {} } }
}
