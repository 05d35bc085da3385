//! Published tables without measured figures.

use super::source::Source;
use jeton_lab_model::result::{
    PublishedFigure, PublishedRow, PublishedTable, Quantity, RowId, Rows, ServerRow,
};
use jeton_lab_model::servers::Scenario;

/// A table of a report, with the matching work of the lab.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) source: Source,
    pub(super) title: String,
    pub(super) quantity: Quantity,
    pub(super) columns: Vec<&'static str>,
    pub(super) ratio_to: RatioTo,
    pub(super) notes: Vec<&'static str>,
    pub(super) lines: Vec<Line>,
}

/// A row: one figure for each column.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) figures: Vec<Figure>,
}

/// A published figure.
#[derive(Debug, Clone)]
pub(super) struct Figure {
    /// The value in the unit of the table's quantity; `None` if the report has none.
    pub(super) published: Option<f64>,
    /// The printed text.
    pub(super) text: String,
    pub(super) work: Work,
}

/// The work that matches a figure.
#[derive(Debug, Clone)]
pub(super) enum Work {
    /// A row of `lab run`.
    Timed(RowId),
    /// A server of `lab servers`, by its id, in a scenario.
    Served(&'static str, Scenario),
}

impl Work {
    fn is_in(&self, rows: &Rows) -> bool {
        match self {
            Self::Timed(work) => rows.measured.iter().any(|row| work.names(row)),
            Self::Served(server, scenario) => served(rows, server, *scenario).is_some(),
        }
    }
}

fn served<'r>(rows: &'r Rows, server: &str, scenario: Scenario) -> Option<&'r ServerRow> {
    let is_it = |row: &&ServerRow| {
        row.subject.id == server && row.rate.is_none() && row.of_scenario() == scenario
    };
    rows.servers.iter().find(is_it)
}

/// The reference of the ratios within each source.
#[derive(Debug, Clone, Copy)]
pub(super) enum RatioTo {
    /// The first column of the same row.
    FirstColumn,
    /// The row of that name, in the same column.
    Row(&'static str),
}

impl Draft {
    pub(super) fn report(&self) -> u8 {
        self.source.report
    }

    pub(super) fn works(&self) -> impl Iterator<Item = RowId> {
        let figures = self.lines.iter().flat_map(|line| &line.figures);
        figures.filter_map(|figure| match &figure.work {
            Work::Timed(work) => Some(work.clone()),
            Work::Served(..) => None,
        })
    }

    /// Reports whether any of these rows belongs to the table.
    pub(super) fn concerns(&self, rows: &Rows) -> bool {
        let mut figures = self.lines.iter().flat_map(|line| &line.figures);
        figures.any(|figure| figure.work.is_in(rows))
    }

    /// Adds the measured figures of these rows.
    pub(super) fn beside(&self, rows: &Rows) -> PublishedTable {
        let lines = self.lines.iter().map(|line| PublishedRow {
            name: line.name.clone(),
            figures: line.figures.iter().map(|f| self.figure(f, rows)).collect(),
        });
        let mut table = PublishedTable {
            report: self.source.report,
            title: format!("Report {}: {}", self.source.report, self.title),
            source: self.source.name.to_owned(),
            machine: self.source.machine.to_owned(),
            quantity: self.quantity,
            columns: self.columns.iter().map(|&c| c.to_owned()).collect(),
            ratio_to: match self.ratio_to {
                RatioTo::FirstColumn => "the first column".to_owned(),
                RatioTo::Row(name) => format!("the row {name}"),
            },
            notes: self.notes.iter().map(|&n| n.to_owned()).collect(),
            rows: lines.collect(),
        };
        self.set_ratios(&mut table);
        table
    }

    fn figure(&self, figure: &Figure, rows: &Rows) -> PublishedFigure {
        let (measured, work) = match &figure.work {
            Work::Timed(work) => (self.timed(work, rows), Some(work.clone())),
            Work::Served(server, scenario) => (served_figure(rows, server, *scenario), None),
        };
        let missing = measured.as_ref().err().cloned();
        PublishedFigure {
            published: figure.published,
            text: figure.text.clone(),
            measured: measured.ok(),
            work,
            missing,
            published_ratio: None,
            measured_ratio: None,
        }
    }

    /// Returns the figure of a row.
    ///
    /// # Errors
    /// What is missing.
    fn timed(&self, work: &RowId, rows: &Rows) -> Result<f64, String> {
        let row = rows.measured.iter().find(|row| work.names(row));
        let row = row.ok_or("not planned in this run")?;
        self.quantity.of(row).ok_or_else(|| {
            row.reason.as_ref().map_or_else(
                || "the runtime does not count it".to_owned(),
                |reason| format!("{}: {reason}", row.status.name()),
            )
        })
    }

    /// Ratios within one source: published to published, measured to measured.
    fn set_ratios(&self, table: &mut PublishedTable) {
        let base_row = match self.ratio_to {
            RatioTo::FirstColumn => None,
            RatioTo::Row(name) => table.rows.iter().find(|row| row.name == name).cloned(),
        };
        let over = |value: Option<f64>, base: Option<f64>| {
            let (value, base) = (value?, base?);
            (base > 0.0).then(|| value / base)
        };
        for row in &mut table.rows {
            let first = row.figures.first().cloned();
            for (column, figure) in row.figures.iter_mut().enumerate() {
                let base = match &base_row {
                    Some(base) if base.name == row.name => continue,
                    Some(base) => base.figures.get(column),
                    None if column == 0 => continue,
                    None => first.as_ref(),
                };
                if let Some(base) = base {
                    figure.published_ratio = over(figure.published, base.published);
                    figure.measured_ratio = over(figure.measured, base.measured);
                }
            }
        }
    }
}

/// Returns the calls per second of a server.
///
/// # Errors
/// What is missing.
fn served_figure(rows: &Rows, server: &str, scenario: Scenario) -> Result<f64, String> {
    let row = served(rows, server, scenario).ok_or("needs `jeton-lab servers`")?;
    if row.oversubscribed {
        return Err(format!(
            "server and loader need {} cores: use `jeton-lab servers` on such a machine",
            scenario.cores + 1
        ));
    }
    let load = row.load.as_ref().filter(|load| load.answers() > 0);
    load.map(|load| load.requests_per_s).ok_or_else(|| {
        row.reason
            .clone()
            .unwrap_or_else(|| "no answers".to_owned())
    })
}

#[cfg(test)]
impl Draft {
    pub(super) fn quantity(&self) -> Quantity {
        self.quantity
    }

    pub(super) fn height(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn figures(&self) -> impl Iterator<Item = f64> {
        let figures = self.lines.iter().flat_map(|line| &line.figures);
        figures.filter_map(|figure| figure.published)
    }
}

/// The lines of a file in `published/`, by column name.
pub(super) fn read(file: &str) -> Vec<Fields> {
    let mut reader = csv::Reader::from_reader(file.as_bytes());
    let names = reader.headers().cloned().unwrap_or_default();
    let records = reader.into_records();
    records
        .map(|record| Fields {
            names: names.clone(),
            record: record.expect("the published tables are compiled in and read by tests"),
        })
        .collect()
}

/// One line of a published file.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    names: csv::StringRecord,
    record: csv::StringRecord,
}

impl Fields {
    /// Returns the field of a column; empty if it is missing.
    pub(super) fn text(&self, column: &str) -> &str {
        let at = self.names.iter().position(|name| name == column);
        at.and_then(|at| self.record.get(at)).unwrap_or_default()
    }

    /// Returns the field as a number, if it is one.
    pub(super) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }
}
