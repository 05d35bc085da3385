//! One description of a table for all formats.
//!
//! A column says its name, its kind, the formats that print it, and how to get its value from a row. The
//! terminal, the page, Markdown and CSV print the same columns, so a new column is added in one place.

mod page;
mod value;

use std::fmt::{self, Write};
use std::iter::once;

use maud::Markup;

use super::cell::cell;

pub(crate) use page::Page;
pub(crate) use value::{Value, status};

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
/// For people and programs, except for the terminal.
pub(crate) const FILES: &[Form] = &[Form::Page, Form::Markdown, Form::Csv];
/// For people with a wide screen.
pub(crate) const WIDE: &[Form] = &[Form::Page, Form::Markdown];
/// For people.
pub(crate) const PEOPLE: &[Form] = &[Form::Terminal, Form::Page, Form::Markdown];
/// For tables without markup.
pub(crate) const TEXT: &[Form] = &[Form::Markdown, Form::Csv];
/// For the page alone.
pub(crate) const PAGE: &[Form] = &[Form::Page];
/// For programs.
pub(crate) const CSV: &[Form] = &[Form::Csv];

/// The title of the interval of a figure.
const INTERVAL: &str = "95 % interval";

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    /// One letter.
    Mark,
}

/// The order of columns for people; for programs, it is that of the description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Main,
    Detail,
    Last,
}

/// One column of a table with rows of the type `R`.
pub(crate) struct Column<'c, R> {
    /// The name for programs.
    name: String,
    /// The name for people, with the unit.
    title: String,
    /// The page capitalises the title.
    is_capitalised: bool,
    /// The page has more than the title.
    heading: Option<Markup>,
    /// The class of the title on the page.
    heading_class: Option<&'static str>,
    /// The title on the terminal, if it is shorter.
    short: Option<String>,
    kind: Kind,
    forms: &'static [Form],
    /// The number of characters on the terminal.
    width: usize,
    /// What the page shows below the title, and in each cell below the value.
    subtitle: Option<&'static str>,
    /// The values have intervals; these are the names of both ends for programs.
    ends: Option<[&'static str; 2]>,
    rank: Rank,
    /// On the page, the column names the row.
    is_header: bool,
    /// The class of the cells on the page.
    class: Option<&'static str>,
    value: Box<dyn Fn(&R) -> Value + 'c>,
}

impl<'c, R> Column<'c, R> {
    pub(crate) fn text(name: &str, value: impl Fn(&R) -> Value + 'c) -> Self {
        Self {
            name: name.to_owned(),
            title: name.to_owned(),
            is_capitalised: true,
            heading: None,
            heading_class: None,
            short: None,
            kind: Kind::Text,
            forms: EVERYWHERE,
            width: 0,
            subtitle: None,
            ends: None,
            rank: Rank::Main,
            is_header: false,
            class: None,
            value: Box::new(value),
        }
    }

    pub(crate) fn number(name: &str, value: impl Fn(&R) -> Value + 'c) -> Self {
        Self {
            kind: Kind::Number,
            ..Self::text(name, value)
        }
    }

    /// Creates a column of letters, one in a cell.
    pub(crate) fn mark(name: &str, value: impl Fn(&R) -> Value + 'c) -> Self {
        Self {
            kind: Kind::Mark,
            ..Self::text(name, value)
        }
    }

    /// Creates a column of figures with intervals. The page shows both in one cell, Markdown in two.
    pub(crate) fn interval(
        name: &str,
        ends: [&'static str; 2],
        value: impl Fn(&R) -> Value + 'c,
    ) -> Self {
        Self {
            subtitle: Some(INTERVAL),
            ends: Some(ends),
            ..Self::number(name, value)
        }
    }

    /// Sets the name for people.
    pub(crate) fn titled(self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    /// Sets the name for people, which the page shows as it is.
    pub(crate) fn named(self, title: impl Into<String>) -> Self {
        Self {
            is_capitalised: false,
            ..self.titled(title)
        }
    }

    /// Sets what the page shows as the title, and its class.
    pub(crate) fn headed(self, heading: Markup, class: Option<&'static str>) -> Self {
        Self {
            heading: Some(heading),
            heading_class: class,
            ..self
        }
    }

    /// Sets the title and the number of characters on the terminal.
    pub(crate) fn short(self, title: &str, width: usize) -> Self {
        Self {
            short: Some(title.to_owned()),
            ..self.wide(width)
        }
    }

    /// Sets what the page shows below the title, and in each cell below the value.
    pub(crate) fn subtitled(self, subtitle: &'static str) -> Self {
        Self {
            subtitle: Some(subtitle),
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

    /// Makes the column follow the others for people. The page omits it if no row has a value.
    pub(crate) fn detail(self) -> Self {
        Self {
            rank: Rank::Detail,
            ..self
        }
    }

    /// Makes a detail follow the other details.
    pub(crate) fn last(self) -> Self {
        Self {
            rank: Rank::Last,
            ..self
        }
    }

    /// Makes the column name the row on the page; otherwise it is the first one.
    pub(crate) fn header(self) -> Self {
        Self {
            is_header: true,
            ..self
        }
    }

    /// Sets the class of the cells on the page.
    pub(crate) fn class(self, class: &'static str) -> Self {
        Self {
            class: Some(class),
            ..self
        }
    }

    /// Returns the same column of rows that hold such a row, or none.
    pub(crate) fn of<'d, S>(self, held: impl Fn(&S) -> Option<R> + 'd) -> Column<'d, S>
    where
        'c: 'd,
        R: 'd,
    {
        let value = self.value;
        Column {
            name: self.name,
            title: self.title,
            is_capitalised: self.is_capitalised,
            heading: self.heading,
            heading_class: self.heading_class,
            short: self.short,
            kind: self.kind,
            forms: self.forms,
            width: self.width,
            subtitle: self.subtitle,
            ends: self.ends,
            rank: self.rank,
            is_header: self.is_header,
            class: self.class,
            value: Box::new(move |row| held(row).map_or_else(Value::none, |row| value(&row))),
        }
    }

    /// Returns the name for programs.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name for people.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Reports whether only these formats print the column.
    pub(crate) fn is_only_on(&self, forms: &[Form]) -> bool {
        self.forms == forms
    }

    /// Formats the title for the terminal, or another one in its place.
    pub(crate) fn terminal_head(&self, other: Option<&str>) -> String {
        let title = other.or(self.short.as_deref()).unwrap_or(&self.title);
        self.padded(&Value::text(title), false)
    }

    /// Formats the cell of a row for the terminal.
    pub(crate) fn terminal_cell(&self, row: &R) -> String {
        self.padded(&(self.value)(row), false)
    }

    /// Formats text in the place of a cell on the terminal.
    pub(crate) fn terminal_text(&self, text: &str) -> String {
        self.padded(&Value::text(text), false)
    }

    /// Returns the text of a cell on the terminal.
    pub(crate) fn brief(&self, row: &R) -> String {
        (self.value)(row).brief().to_owned()
    }

    /// Pads a value for the terminal. Text without a width is separated by one more space.
    fn padded(&self, value: &Value, is_first: bool) -> String {
        let (text, width, style) = (value.brief(), self.width, value.style);
        let (gap, text) = match self.kind {
            Kind::Number | Kind::Mark => ("", format!("{text:>width$}")),
            Kind::Text if is_first => ("", format!("{text:<width$}")),
            Kind::Text if width == 0 => ("  ", text.to_owned()),
            Kind::Text => (" ", format!("{text:<width$}")),
        };
        format!("{gap}{style}{text}{style:#}")
    }
}

/// Returns the columns of a format, for people with the details at the end.
fn printed<'t, 'c, R>(columns: &'t [Column<'c, R>], form: Form) -> Vec<&'t Column<'c, R>> {
    let mut columns: Vec<_> = columns.iter().filter(|c| c.forms.contains(&form)).collect();
    if form != Form::Csv {
        columns.sort_by_key(|column| column.rank);
    }
    columns
}

/// Returns the columns with these names, in this order, for a table of the page.
pub(crate) fn picked<'c, R>(mut columns: Vec<Column<'c, R>>, names: &[&str]) -> Vec<Column<'c, R>> {
    let mut take = |name: &&str| {
        let index = columns.iter().position(|column| column.name == *name)?;
        let column = columns.swap_remove(index).on(PAGE);
        Some(Column {
            rank: Rank::Main,
            ..column
        })
    };
    names.iter().filter_map(&mut take).collect()
}

/// Splits the columns of the terminal into the main ones and the details.
pub(crate) fn of_terminal<R>(
    columns: Vec<Column<'_, R>>,
) -> (Vec<Column<'_, R>>, Vec<Column<'_, R>>) {
    let columns = columns.into_iter();
    let printed = columns.filter(|column| column.forms.contains(&Form::Terminal));
    printed.partition(|column| column.rank == Rank::Main)
}

/// Returns the header and the lines of a CSV file.
pub(crate) fn csv<R>(columns: &[Column<'_, R>], rows: &[R]) -> (Vec<String>, Vec<Vec<String>>) {
    let columns = printed(columns, Form::Csv);
    let head = columns.iter().flat_map(|column| {
        let ends = column.ends.into_iter().flatten();
        once(column.name.clone()).chain(ends.map(str::to_owned))
    });
    let line = |row: &R| {
        let fields = columns.iter().flat_map(|column| {
            let value = (column.value)(row);
            let ends = column.ends.map(|_| value.ends());
            once(value.exact).chain(ends.into_iter().flatten())
        });
        fields.collect()
    };
    (head.collect(), rows.iter().map(line).collect())
}

/// Writes a Markdown table.
pub(crate) fn markdown<R>(columns: &[Column<'_, R>], rows: &[R], out: &mut String) -> fmt::Result {
    let columns = printed(columns, Form::Markdown);
    out.push('|');
    for column in &columns {
        write!(out, " {} |", cell(&column.title))?;
        if column.ends.is_some() {
            write!(out, " {INTERVAL} |")?;
        }
    }
    out.push_str("\n|");
    for column in &columns {
        out.push_str(match (column.kind, column.ends) {
            (Kind::Text, _) => "---|",
            (Kind::Mark, _) => ":-:|",
            (Kind::Number, None) => "--:|",
            (Kind::Number, Some(_)) => "--:|--:|",
        });
    }
    out.push('\n');
    for row in rows {
        out.push('|');
        for column in &columns {
            let value = (column.value)(row);
            let shown = cell(&value.shown);
            if value.emphasised {
                write!(out, " *{shown}* |")?
            } else {
                write!(out, " {shown} |")?
            }
            if column.ends.is_some() {
                write!(out, " {} |", cell(value.span()))?;
            }
        }
        out.push('\n');
    }
    Ok(())
}

/// Returns the header and the lines of the terminal, and whether each line is emphasised.
pub(crate) fn terminal<R>(columns: &[Column<'_, R>], rows: &[R]) -> (String, Vec<(String, bool)>) {
    let columns = printed(columns, Form::Terminal);
    let line = |cells: Vec<Value>| -> String {
        let cells = columns.iter().zip(&cells).enumerate();
        let padded = cells.map(|(index, (column, value))| column.padded(value, index == 0));
        padded.collect::<String>().trim_end().to_owned()
    };
    let title = |column: &&Column<'_, R>| {
        Value::text(column.short.as_ref().unwrap_or(&column.title).as_str())
    };
    let head = line(columns.iter().map(title).collect());
    let body = rows.iter().map(|row| {
        let values: Vec<Value> = columns.iter().map(|c| (c.value)(row)).collect();
        let emphasised = values.iter().any(|value| value.emphasised);
        (line(values), emphasised)
    });
    (head, body.collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use jeton_lab_model::units;

    fn columns() -> Vec<Column<'static, (&'static str, f64)>> {
        vec![
            Column::text("server", |row: &(&str, f64)| Value::text(row.0)).wide(8),
            Column::number("errors", |_: &(&str, f64)| Value::count(7))
                .wide(7)
                .detail(),
            Column::number("tokens_per_s", |row: &(&str, f64)| {
                Value::number(row.1, units::fixed(row.1, 0))
            })
            .titled("tokens/s")
            .wide(10),
            Column::interval("cpu", ["cpu_low", "cpu_high"], |row: &(&str, f64)| {
                Value::interval(row.1 / 2.0, [row.1 / 4.0, row.1], |v| units::fixed(v, 1))
            })
            .named("cpu µs")
            .on(FILES),
            Column::text("status", |_: &(&str, f64)| Value::text("=1")).on(CSV),
        ]
    }

    #[test]
    fn table_is_the_same_in_every_format() {
        let rows = [("a|b", 1234.5)];
        let (head, lines) = csv(&columns(), &rows);
        assert_eq!(
            head.join(" "),
            "server errors tokens_per_s cpu cpu_low cpu_high status"
        );
        assert_eq!(
            lines,
            [["a|b", "7", "1234.5", "617.25", "308.625", "1234.5", "'=1"]]
        );
        let mut text = String::new();
        markdown(&columns(), &rows, &mut text).unwrap();
        assert_eq!(
            text,
            "| server | tokens/s | cpu µs | 95 % interval | errors |\n|---|--:|--:|--:|--:|\n\
             | a\\|b | 1,234 | 617.2 | 308.6 – 1,234.5 | 7 |\n"
        );
        let (head, lines) = terminal(&columns(), &rows);
        assert_eq!(head, "server    tokens/s errors");
        assert_eq!(lines, [("a|b          1,234      7".to_owned(), false)]);
        let html = Page::new("a caption", "a label")
            .table(&columns(), &rows)
            .into_string();
        for words in [
            "<th class=\"number\" scope=\"col\">Tokens/s</th>",
            "<th class=\"number\" scope=\"col\">cpu µs <small>95 % interval</small></th>",
            "<th scope=\"row\">a|b</th>",
            "<td class=\"number\"><b>617.2</b> <small>308.6 – 1,234.5</small></td><td class=\"number\">7</td></tr>",
        ] {
            assert!(html.contains(words), "{words}: {html}");
        }
    }

    #[test]
    fn column_added_once_is_in_every_format() {
        let mut all = columns();
        all.push(
            Column::number("watts", |row: &(&str, f64)| {
                Value::number(row.1 * 2.0, units::fixed(row.1 * 2.0, 1))
            })
            .titled("power, W")
            .wide(10),
        );
        let rows = [("a", 1000.25)];
        let (head, lines) = csv(&all, &rows);
        let mut text = String::new();
        markdown(&all, &rows, &mut text).unwrap();
        let (titles, cells) = terminal(&all, &rows);
        let html = Page::new("", "").table(&all, &rows).into_string();
        assert!(head.contains(&"watts".to_owned()) && lines[0].contains(&"2000.5".to_owned()));
        for printed in [text, titles + &cells[0].0, html.to_lowercase()] {
            assert!(
                printed.contains("power, ") && printed.contains("2,000.5"),
                "{printed}"
            );
        }
    }

    #[test]
    fn page_omits_a_detail_without_values() {
        let known = |value: fn() -> Value| {
            let columns = [
                Column::text("name", |_: &()| Value::text("a")),
                Column::number("memory", move |_: &()| value()).detail(),
            ];
            let html = Page::new("", "").table(&columns, &[()]).into_string();
            html.contains("Memory")
        };
        assert!(known(|| Value::count(1)));
        assert!(!known(Value::unknown));
    }

    #[test]
    fn page_value_over_a_row_replaces_its_other_values() {
        let columns = [
            Column::text("name", |_: &()| Value::text("a")),
            Column::number("time", |_: &()| Value::none()),
            Column::text("verdict", |_: &()| Value::text("failed").over_row()),
        ];
        let page = Page::new("", "").figures().table(&columns, &[()]);
        assert!(
            page.into_string()
                .contains("<td class=\"text reason\" colspan=\"2\">failed</td></tr>")
        );
    }

    #[test]
    fn page_value_over_a_row_begins_at_the_first_missing_value() {
        let columns = [
            Column::text("token", |_: &()| Value::text("jwt")),
            Column::text("name", |_: &()| Value::text("a")).header(),
            Column::number("first", |_: &()| Value::none()),
            Column::number("second", |_: &()| Value::none()),
            Column::text("verdict", |_: &()| Value::text("failed").over_row()),
            Column::number("last", |_: &()| Value::count(1)),
        ];
        let page = Page::new("", "").table(&columns, &[()]).into_string();
        let row = "<tr><td>jwt</td><th scope=\"row\">a</th><td class=\"reason\" colspan=\"4\">failed</td></tr>";
        assert!(page.contains(row), "{page}");
    }

    #[test]
    fn mark_is_a_letter_in_every_format() {
        let columns = [
            Column::text("issuer", |_: &()| Value::text("a"))
                .short("", 4)
                .on(PEOPLE),
            Column::mark("1", |_: &()| {
                Value::text("rejected").on_terminal("R").class("bad")
            })
            .wide(3)
            .headed(maud::html! { abbr title="b" { "1" } }, Some("subject")),
        ];
        let mut text = String::new();
        markdown(&columns, &[()], &mut text).unwrap();
        assert_eq!(text, "| issuer | 1 |\n|---|:-:|\n| a | rejected |\n");
        let (head, lines) = terminal(&columns, &[()]);
        assert_eq!((head.as_str(), lines[0].0.as_str()), ("      1", "a     R"));
        let page = Page::new("", "").table(&columns, &[()]).into_string();
        for words in [
            "<th class=\"subject\" scope=\"col\"><abbr title=\"b\">1</abbr></th>",
            "<td class=\"bad\">rejected</td>",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }
}
