//! A table of the page.

use maud::{Markup, html};

use super::{Column, Form, Kind, Rank, Value, printed};
use jeton_lab_model::units;

/// A table of the page, without its columns and rows.
pub(crate) struct Page {
    caption: String,
    label: Option<String>,
    labelled_by: Option<String>,
    class: Option<&'static str>,
    id: Option<String>,
    /// Cells are figures, except where they are text; in other tables, it is the reverse.
    is_figures: bool,
}

impl Page {
    /// Creates a table with a caption, and a label for the part of the page that scrolls.
    pub(crate) fn new(caption: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            caption: caption.into(),
            label: Some(label.into()),
            labelled_by: None,
            class: None,
            id: None,
            is_figures: false,
        }
    }

    /// Takes the label from the heading with this id.
    pub(crate) fn labelled_by(self, id: &str) -> Self {
        Self {
            label: None,
            labelled_by: Some(id.to_owned()),
            ..self
        }
    }

    /// Makes it a table of figures.
    pub(crate) fn figures(self) -> Self {
        Self {
            is_figures: true,
            ..self.class("figures")
        }
    }

    /// Sets the class of the table.
    pub(crate) fn class(self, class: &'static str) -> Self {
        Self {
            class: Some(class),
            ..self
        }
    }

    /// Sets the id of the table.
    pub(crate) fn id(self, id: impl Into<String>) -> Self {
        Self {
            id: Some(id.into()),
            ..self
        }
    }

    /// Renders the table. Details without a value in any row are omitted.
    pub(crate) fn table<R>(&self, columns: &[Column<'_, R>], rows: &[R]) -> Markup {
        let mut columns = printed(columns, Form::Page);
        columns.retain(|column| {
            column.rank == Rank::Main || rows.iter().any(|row| (column.value)(row).is_known())
        });
        html! {
            div.scroll tabindex="0" role="region" aria-label=[&self.label] aria-labelledby=[&self.labelled_by] {
                table class=[self.class] id=[&self.id] {
                    caption { (self.caption) }
                    thead { tr {
                        @for column in &columns {
                            th class=[column.heading_class.or(self.kind(column))] scope="col" {
                                @match &column.heading {
                                    Some(heading) => { (heading) }
                                    None => { (heading(column)) }
                                }
                                @if let Some(subtitle) = column.subtitle { " " small { (subtitle) } }
                            }
                        }
                    } }
                    tbody { @for row in rows { (self.row(&columns, row)) } }
                }
            }
        }
    }

    fn row<R>(&self, columns: &[&Column<'_, R>], row: &R) -> Markup {
        let header = columns.iter().position(|column| column.is_header);
        let header = header.unwrap_or_default();
        let values: Vec<Value> = columns.iter().map(|column| (column.value)(row)).collect();
        let class = values.iter().find_map(|value| value.row_class);
        // A value over the row begins at the first cell without a value.
        let over = values.iter().find(|value| value.is_over_row);
        let is_free = |(index, value): (usize, &Value)| {
            index != header && (value.is_over_row || !value.is_known())
        };
        let first = over.and_then(|_| values.iter().enumerate().position(is_free));
        let end = first.unwrap_or(values.len());
        html! {
            tr class=[class] {
                @for (index, (column, value)) in columns.iter().zip(&values).enumerate() {
                    @if index == header {
                        th class=[column.class] scope="row" { (value.markup()) }
                    } @else if index < end {
                        td class=[self.classes(column, value)] { (value.markup()) }
                    }
                }
                @if let Some(value) = over {
                    td class=(if self.is_figures { "text reason" } else { "reason" })
                        colspan=(values.len() - end - usize::from(header >= end)) { (value.markup()) }
                }
            }
        }
    }

    /// Returns the class of a column that is not of the table's usual kind.
    fn kind<R>(&self, column: &Column<'_, R>) -> Option<&'static str> {
        match (self.is_figures, column.kind) {
            (true, Kind::Text) => Some("text"),
            (false, Kind::Number) => Some("number"),
            (true, Kind::Number) | (false, Kind::Text) | (_, Kind::Mark) => None,
        }
    }

    fn classes<R>(&self, column: &Column<'_, R>, value: &Value) -> Option<String> {
        let all = [self.kind(column), column.class, value.class];
        let all: Vec<&str> = all.into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(" "))
    }
}

/// Returns the title of a column; `p50` is not capitalised.
fn heading<R>(column: &Column<'_, R>) -> String {
    let second = column.title.chars().nth(1);
    if column.is_capitalised && !second.is_some_and(|c| c.is_ascii_digit()) {
        units::capitalised(&column.title)
    } else {
        column.title.clone()
    }
}
