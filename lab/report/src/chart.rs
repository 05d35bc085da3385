//! The charts of a report, as data. The page draws them, and every chart has a table with its figures.

use jeton_lab_model::units::{self, Unit};

/// A chart.
pub(crate) struct Chart {
    /// The text for screen readers.
    pub(crate) label: String,
    /// The id of the table with its figures.
    pub(crate) table: String,
    pub(crate) axis: Axis,
    pub(crate) drawing: Drawing,
    /// What stands below the chart.
    pub(crate) caption: String,
    /// Marks with their meaning, if the rows do not say it.
    pub(crate) legend: Vec<(&'static str, String)>,
    /// It is part of a card.
    pub(crate) is_small: bool,
}

/// What the logarithmic axis of the figures shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Axis {
    /// No ticks: each row has its figure.
    Plain,
    Time(Unit),
    Factor,
    Bytes,
    Rate,
}

impl Axis {
    /// Formats the label of a tick.
    pub(crate) fn tick(self, value: f64) -> String {
        match self {
            Self::Plain => String::new(),
            Self::Time(unit) => unit.tick(value),
            Self::Factor => format!("{} ×", units::times(value)),
            Self::Bytes => format!("{} B", units::fixed(value, 0)),
            Self::Rate => format!("{}/s", short(value)),
        }
    }
}

/// Formats a rate: 1.2M, 340k, 12.
fn short(rate: f64) -> String {
    match rate {
        r if r >= 1e6 => format!("{}M", units::times(r / 1e6)),
        r if r >= 1e3 => format!("{}k", units::times(r / 1e3)),
        r => units::fixed(r, 0),
    }
}

/// The two kinds of chart.
pub(crate) enum Drawing {
    /// A line for each subject: its name and figure, and below them its marks.
    Rows(Rows),
    /// Figures by an amount, with a line for each subject.
    Lines {
        series: Vec<(String, Vec<Point>)>,
        /// The ticks of the horizontal axis.
        ticks: Vec<(f64, String)>,
    },
}

/// The rows of a chart, and what is behind them.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
    /// The noise band: its ends and its middle.
    pub(crate) band: Option<[f64; 3]>,
    /// Vertical lines, each with its name at the top, and what follows it.
    pub(crate) references: Vec<(f64, String, String)>,
}

/// One row.
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

/// A figure of a chart.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    /// The id of its mark.
    pub(crate) mark: &'static str,
    /// The amount, in a chart of lines.
    pub(crate) at: f64,
    pub(crate) value: f64,
    pub(crate) interval: [f64; 2],
    /// The words of a tooltip.
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
        let rows = Rows {
            rows,
            ..Rows::default()
        };
        Self::new(label, table, axis, Drawing::Rows(rows))
    }

    pub(crate) fn new(label: String, table: String, axis: Axis, drawing: Drawing) -> Self {
        Self {
            label,
            table,
            axis,
            drawing,
            caption: String::new(),
            legend: Vec::new(),
            is_small: false,
        }
    }
}
