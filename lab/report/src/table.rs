//! One description of a table for all formats.
//!
//! A column says its name, its kind, the formats that print it, and how to get its value from a row. The
//! terminal, the page, Markdown and CSV print the same columns, so a new column is added in one place.

use std::fmt::{self, Write};

use maud::{Markup, html};

use super::cell::cell;
use super::csv::plain;
use jeton_lab_model::units;

/// A format that prints tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Terminal,
    Page,
    Markdown,
    Csv,
}

/// For people and programs.
pub(crate) const EVERYWHERE: &[Form] = &[Form::Terminal, Form::Page, Form::Markdown, Form::Csv];
/// For people with a wide screen.
pub(crate) const WIDE: &[Form] = &[Form::Page, Form::Markdown];
/// For programs.
pub(crate) const CSV: &[Form] = &[Form::Csv];

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
}

/// One column of a table with rows of the type `R`.
pub(crate) struct Column<R> {
    /// The name for programs.
    name: String,
    /// The name for people, with the unit; the page capitalises it.
    title: String,
    kind: Kind,
    forms: &'static [Form],
    /// The number of characters on the terminal.
    width: usize,
    value: Box<dyn Fn(&R) -> Value>,
}

/// The value of a cell.
#[derive(Debug, Default)]
pub(crate) struct Value {
    /// For programs, in full.
    exact: String,
    /// For people, rounded.
    shown: String,
    /// The page has more than the text.
    markup: Option<Markup>,
    emphasised: bool,
}

impl<R> Column<R> {
    pub(crate) fn text(name: &str, value: impl Fn(&R) -> Value + 'static) -> Self {
        Self {
            name: name.to_owned(),
            title: name.to_owned(),
            kind: Kind::Text,
            forms: EVERYWHERE,
            width: 0,
            value: Box::new(value),
        }
    }

    pub(crate) fn number(name: &str, value: impl Fn(&R) -> Value + 'static) -> Self {
        Self {
            kind: Kind::Number,
            ..Self::text(name, value)
        }
    }

    /// Sets the name for people.
    pub(crate) fn titled(self, title: &str) -> Self {
        Self {
            title: title.to_owned(),
            ..self
        }
    }

    /// Sets the formats that print the column.
    pub(crate) fn on(self, forms: &'static [Form]) -> Self {
        Self { forms, ..self }
    }

    /// Sets the number of characters on the terminal.
    pub(crate) fn wide(self, width: usize) -> Self {
        Self { width, ..self }
    }
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

    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Creates a value that is empty for programs and `n/a` for people.
    pub(crate) fn unknown() -> Self {
        Self::number("", "n/a".to_owned())
    }

    /// Marks a value of another source than the run.
    pub(crate) fn emphasised(self) -> Self {
        Self {
            emphasised: true,
            ..self
        }
    }

    /// Sets what the page shows.
    pub(crate) fn on_page(self, markup: Markup) -> Self {
        Self {
            markup: Some(markup),
            ..self
        }
    }
}

fn printed<R>(columns: &[Column<R>], form: Form) -> Vec<&Column<R>> {
    columns.iter().filter(|c| c.forms.contains(&form)).collect()
}

/// Returns the header and the lines of a CSV file.
pub(crate) fn csv<R>(columns: &[Column<R>], rows: &[R]) -> (Vec<String>, Vec<Vec<String>>) {
    let columns = printed(columns, Form::Csv);
    let head = columns.iter().map(|column| column.name.clone()).collect();
    let line = |row: &R| columns.iter().map(|c| (c.value)(row).exact).collect();
    (head, rows.iter().map(line).collect())
}

/// Writes a Markdown table.
pub(crate) fn markdown<R>(columns: &[Column<R>], rows: &[R], out: &mut String) -> fmt::Result {
    let columns = printed(columns, Form::Markdown);
    let head: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
    writeln!(out, "| {} |", head.join(" | "))?;
    let rule = columns.iter().map(|column| match column.kind {
        Kind::Text => "---|",
        Kind::Number => "--:|",
    });
    writeln!(out, "|{}", rule.collect::<String>())?;
    for row in rows {
        out.push('|');
        for column in &columns {
            let value = (column.value)(row);
            let shown = cell(&value.shown);
            match value.emphasised {
                true => write!(out, " *{shown}* |")?,
                false => write!(out, " {shown} |")?,
            }
        }
        out.push('\n');
    }
    Ok(())
}

/// Renders a table of the page; the first column names the row.
pub(crate) fn page<R>(columns: &[Column<R>], rows: &[R], caption: &str) -> Markup {
    let columns = printed(columns, Form::Page);
    html! {
        table {
            caption { (caption) }
            thead { tr {
                @for column in &columns {
                    th.number[column.kind == Kind::Number] scope="col" { (heading(&column.title)) }
                }
            } }
            tbody {
                @for row in rows {
                    tr {
                        @for (index, column) in columns.iter().enumerate() {
                            @let shown = shown((column.value)(row));
                            @if index == 0 { th scope="row" { (shown) } }
                            @else { td.number[column.kind == Kind::Number] { (shown) } }
                        }
                    }
                }
            }
        }
    }
}

fn shown(value: Value) -> Markup {
    match value.markup {
        Some(markup) => markup,
        None if value.emphasised => html! { em { (value.shown) } },
        None => html! { (value.shown) },
    }
}

/// Capitalises a title; `p50` stays.
fn heading(title: &str) -> String {
    match title.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) {
        true => title.to_owned(),
        false => units::capitalised(title),
    }
}

/// Returns the header and the lines of the terminal, and whether each line is emphasised.
pub(crate) fn terminal<R>(columns: &[Column<R>], rows: &[R]) -> (String, Vec<(String, bool)>) {
    let columns = printed(columns, Form::Terminal);
    let line = |cells: Vec<String>| -> String {
        let cells = columns.iter().zip(cells).enumerate();
        let padded = cells.map(|(index, (column, text))| match column.kind {
            Kind::Number => format!("{text:>0$}", column.width),
            Kind::Text if index == 0 => format!("{text:<0$}", column.width),
            Kind::Text => format!("  {text}"),
        });
        padded.collect::<String>().trim_end().to_owned()
    };
    let head = line(columns.iter().map(|column| column.title.clone()).collect());
    let body = rows.iter().map(|row| {
        let values: Vec<Value> = columns.iter().map(|c| (c.value)(row)).collect();
        let emphasised = values.iter().any(|value| value.emphasised);
        (
            line(values.into_iter().map(|v| v.shown).collect()),
            emphasised,
        )
    });
    (head, body.collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn columns() -> Vec<Column<(&'static str, f64)>> {
        vec![
            Column::text("server", |row: &(&str, f64)| Value::text(row.0)).wide(8),
            Column::number("tokens_per_s", |row: &(&str, f64)| {
                Value::number(row.1, units::fixed(row.1, 0))
            })
            .titled("tokens/s")
            .wide(10),
            Column::text("status", |_: &(&str, f64)| Value::text("=1")).on(CSV),
        ]
    }

    #[test]
    fn table_is_the_same_in_every_format() {
        let rows = [("a|b", 1234.5)];
        let (head, lines) = csv(&columns(), &rows);
        assert_eq!(head, ["server", "tokens_per_s", "status"]);
        assert_eq!(lines, [["a|b", "1234.5", "'=1"]]);
        let mut text = String::new();
        markdown(&columns(), &rows, &mut text).unwrap();
        assert_eq!(
            text,
            "| server | tokens/s |\n|---|--:|\n| a\\|b | 1,234 |\n"
        );
        let (head, lines) = terminal(&columns(), &rows);
        assert_eq!(head, "server    tokens/s");
        assert_eq!(lines, [("a|b          1,234".to_owned(), false)]);
        let html = page(&columns(), &rows, "a caption").into_string();
        assert!(
            html.contains("<th class=\"number\" scope=\"col\">Tokens/s</th>"),
            "{html}"
        );
        assert!(html.contains("<th scope=\"row\">a|b</th>"), "{html}");
    }
}
