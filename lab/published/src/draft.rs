//! Published tables without measured figures.

use super::source::Source;
use jeton_lab_model::result::{
    PublishedFigure, PublishedRow, PublishedTable, Quantity, Row, RowId,
};

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
    /// The matching work; or the reason why there is none.
    pub(super) work: Result<RowId, &'static str>,
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
        figures.filter_map(|figure| figure.work.clone().ok())
    }

    /// Reports whether any of these rows belongs to the table.
    pub(super) fn concerns(&self, rows: &[Row]) -> bool {
        self.works().any(|work| rows.iter().any(|r| work.names(r)))
    }

    /// Adds the measured figures of these rows.
    pub(super) fn beside(&self, rows: &[Row]) -> PublishedTable {
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

    fn figure(&self, figure: &Figure, rows: &[Row]) -> PublishedFigure {
        let found = figure
            .work
            .as_ref()
            .map(|work| rows.iter().find(|r| work.names(r)));
        let measured = found.ok().flatten().and_then(|row| self.quantity.of(row));
        let missing = match (measured, found) {
            (Some(_), _) => None,
            (None, Ok(Some(row))) => Some(row.reason.as_ref().map_or_else(
                || "the runtime does not count it".to_owned(),
                |reason| format!("{}: {reason}", row.status.name()),
            )),
            (None, Ok(None)) => Some("not planned in this run".to_owned()),
            (None, Err(why)) => Some((*why).to_owned()),
        };
        PublishedFigure {
            published: figure.published,
            text: figure.text.clone(),
            measured,
            work: figure.work.clone().ok(),
            missing,
            published_ratio: None,
            measured_ratio: None,
        }
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
