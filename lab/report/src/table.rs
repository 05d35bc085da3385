//! One description of a table for all formats.
//!
//! A column says its name, its kind, the formats that print it, and how to get its value from a row. The
//! terminal, the page, Markdown and CSV print the same columns, so a new column is added in one place.

mod value;

use std::fmt::{self, Write};
use std::iter::once;

use maud::{Markup, html};

use super::visible::cell;
use jeton_lab_model::names;
use jeton_lab_model::result::Subject;

pub(crate) use value::{Value, status};

/// A format that prints tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Terminal,
    Page,
    Markdown,
    Csv,
}

pub(crate) const EVERYWHERE: &[Form] = &[Form::Terminal, Form::Page, Form::Markdown, Form::Csv];
pub(crate) const FILES: &[Form] = &[Form::Page, Form::Markdown, Form::Csv];
/// For people with a wide screen.
pub(crate) const WIDE: &[Form] = &[Form::Page, Form::Markdown];
pub(crate) const PEOPLE: &[Form] = &[Form::Terminal, Form::Page, Form::Markdown];
pub(crate) const PLAIN: &[Form] = &[Form::Terminal, Form::Markdown];
pub(crate) const TEXT: &[Form] = &[Form::Markdown, Form::Csv];
pub(crate) const PAGE: &[Form] = &[Form::Page];
pub(crate) const TERMINAL: &[Form] = &[Form::Terminal];
pub(crate) const MARKDOWN: &[Form] = &[Form::Markdown];
pub(crate) const CSV: &[Form] = &[Form::Csv];

/// Methods that set something of a value and return it.
macro_rules! setters {
    ($self:ident; $($(#[$about:meta])* $name:ident($($argument:ident: $kind:ty),*) { $set:expr })+) => {
        $($(#[$about])* pub(crate) fn $name(mut $self, $($argument: $kind),*) -> Self { $set; $self })+
    };
}
pub(crate) use setters;

/// The columns of a table with rows of one type: for each its kind, its name, its value, and what differs from the usual.
macro_rules! columns {
    ($row:ty: $($kind:ident($name:expr) |$line:pat_param| $value:expr $(, .$set:ident($($argument:expr),*))*;)+) => {
        vec![$($crate::table::Column::$kind(&$name, |$line: &$row| $value)$(.$set($($argument),*))*),+]
    };
}
pub(crate) use columns;

const INTERVAL: &str = "95 % interval";

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Text,
    Number,
    Mark,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    #[default]
    Main,
    Detail,
    Last,
}

#[derive(Default, Clone)]
pub(crate) struct Head {
    name: String,
    pub(crate) title: String,
    /// The page capitalises the title.
    pub(crate) is_capitalised: bool,
    /// The page has more than the title.
    pub(crate) heading: Option<Markup>,
    /// The class of the title on the page.
    pub(crate) heading_class: Option<&'static str>,
    /// The title on the terminal, if it is shorter.
    short: Option<String>,
    pub(crate) kind: Kind,
    forms: &'static [Form],
    width: usize,
    /// What the page shows below the title, and in each cell below the value.
    pub(crate) subtitle: Option<&'static str>,
    /// The values have intervals; these are the names of both ends for programs.
    ends: Option<[&'static str; 2]>,
    pub(crate) rank: Rank,
    /// On the page, the column names the row.
    pub(crate) is_header: bool,
    pub(crate) class: Option<&'static str>,
}

pub(crate) struct Column<'c, R> {
    head: Head,
    value: Box<dyn Fn(&R) -> Value + 'c>,
}

impl<'c, R> Column<'c, R> {
    fn new(kind: Kind, name: &str, value: impl Fn(&R) -> Value + 'c) -> Self {
        let head = Head {
            name: name.to_owned(),
            title: name.to_owned(),
            is_capitalised: true,
            kind,
            forms: EVERYWHERE,
            ..Head::default()
        };
        let value = Box::new(value);
        Self { head, value }
    }

    pub(crate) fn text(name: &str, value: impl Fn(&R) -> Value + 'c) -> Self {
        Self::new(Kind::Text, name, value)
    }

    pub(crate) fn number(name: &str, value: impl Fn(&R) -> Value + 'c) -> Self {
        Self::new(Kind::Number, name, value)
    }

    pub(crate) fn mark(name: &str, value: impl Fn(&R) -> Value + 'c) -> Self {
        Self::new(Kind::Mark, name, value)
    }

    /// Creates a column of figures with intervals. The page shows both in one cell, Markdown in two.
    pub(crate) fn interval(
        name: &str,
        ends: [&'static str; 2],
        value: impl Fn(&R) -> Value + 'c,
    ) -> Self {
        let mut column = Self::new(Kind::Number, name, value).subtitled(INTERVAL);
        column.head.ends = Some(ends);
        column
    }

    /// Creates such a column of the page alone.
    pub(crate) fn range(name: &str, value: impl Fn(&R) -> Value + 'c) -> Self {
        Self::interval(name, ["low", "high"], value)
    }

    setters! { self;
        titled(title: impl Into<String>) { self.head.title = title.into() }
        /// Sets the name for people, which the page shows as it is.
        named(title: impl Into<String>) { (self.head.is_capitalised, self.head.title) = (false, title.into()) }
        headed(heading: Markup, class: Option<&'static str>) { (self.head.heading, self.head.heading_class) = (Some(heading), class) }
        short(title: &str, width: usize) { (self.head.short, self.head.width) = (Some(title.to_owned()), width) }
        subtitled(subtitle: &'static str) { self.head.subtitle = Some(subtitle) }
        on(forms: &'static [Form]) { self.head.forms = forms }
        wide(width: usize) { self.head.width = width }
        /// Makes the column follow the others for people. The page omits it if no row has a value.
        detail() { self.head.rank = Rank::Detail }
        /// Makes a detail follow the other details.
        last() { self.head.rank = Rank::Last }
        /// Makes the column name the row on the page; otherwise it is the first one.
        header() { self.head.is_header = true }
        class(class: &'static str) { self.head.class = Some(class) }
    }

    /// Returns the same column of rows that hold such a row, or none.
    pub(crate) fn of<'d, S>(self, held: impl Fn(&S) -> Option<R> + 'd) -> Column<'d, S>
    where
        'c: 'd,
        R: 'd,
    {
        let value = self.value;
        let value = move |row: &S| held(row).map_or_else(Value::none, |row| value(&row));
        Column {
            head: self.head,
            value: Box::new(value),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.head.name
    }

    pub(crate) fn title(&self) -> &str {
        &self.head.title
    }

    /// Reports whether only these formats print the column.
    pub(crate) fn is_only_on(&self, forms: &[Form]) -> bool {
        self.head.forms == forms
    }
}

impl Head {
    fn short(&self) -> &str {
        self.short.as_deref().unwrap_or(&self.title)
    }

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

pub(crate) fn picked<'c, R>(mut columns: Vec<Column<'c, R>>, names: &[&str]) -> Vec<Column<'c, R>> {
    let mut take = |name: &&str| {
        let index = columns.iter().position(|column| column.name() == *name)?;
        let mut column = columns.swap_remove(index).on(PAGE);
        column.head.rank = Rank::Main;
        Some(column)
    };
    names.iter().filter_map(&mut take).collect()
}

pub(crate) fn of_terminal<R>(mut columns: Vec<Column<'_, R>>) -> Vec<Column<'_, R>> {
    let is_main = |head: &Head| head.rank == Rank::Main && head.forms.contains(&Form::Terminal);
    columns.retain(|column| is_main(&column.head));
    columns
}

/// A table with its values. The page has more than the other formats: a caption, and what names it.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) caption: String,
    /// The label of the part of the page that scrolls, or the id of the heading that is its label.
    pub(crate) label: Option<String>,
    pub(crate) labelled_by: Option<String>,
    pub(crate) class: Option<&'static str>,
    pub(crate) id: Option<String>,
    /// Cells are figures, except where they are text; in other tables, it is the reverse.
    pub(crate) is_figures: bool,
    /// The page folds the table behind these words.
    pub(crate) fold: Option<String>,
    pub(crate) forms: Option<&'static [Form]>,
    /// What the terminal prints below each row, or in its place.
    pub(crate) below: Vec<Result<Vec<String>, String>>,
    heads: Vec<Head>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// Creates a table with a caption. The label names it for screen readers.
    pub(crate) fn new<R>(
        caption: impl Into<String>,
        label: impl Into<String>,
        columns: &[Column<'_, R>],
        rows: &[R],
    ) -> Self {
        let of_row = |row: &R| columns.iter().map(|column| (column.value)(row)).collect();
        Self {
            caption: caption.into(),
            label: Some(label.into()),
            heads: columns.iter().map(|column| column.head.clone()).collect(),
            rows: rows.iter().map(of_row).collect(),
            ..Self::default()
        }
    }

    /// Creates a table that its caption names.
    pub(crate) fn named<R>(
        caption: impl Into<String>,
        columns: &[Column<'_, R>],
        rows: &[R],
    ) -> Self {
        let caption = caption.into();
        let label = format!("{caption}, table");
        Self::new(caption, label, columns, rows)
    }

    setters! { self;
        labelled_by(id: &str) { (self.label, self.labelled_by) = (None, Some(id.to_owned())) }
        /// Makes it a table of figures.
        figures() { (self.is_figures, self.class) = (true, Some("figures")) }
        class(class: &'static str) { self.class = Some(class) }
        id(id: impl Into<String>) { self.id = Some(id.into()) }
        folded(words: &str) { self.fold = Some(words.to_owned()) }
        on(forms: &'static [Form]) { self.forms = Some(forms) }
    }

    pub(crate) fn is_on(&self, form: Form) -> bool {
        self.forms.is_none_or(|forms| forms.contains(&form))
    }

    pub(crate) fn printed(&self, form: Form) -> Vec<(usize, &Head)> {
        let of_form = |(_, head): &(usize, &Head)| head.forms.contains(&form);
        let mut heads: Vec<_> = self.heads.iter().enumerate().filter(of_form).collect();
        if form != Form::Csv {
            heads.sort_by_key(|(_, head)| head.rank);
        }
        heads
    }

    pub(crate) fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }

    /// Returns the header and the lines of the terminal, and whether each line is emphasised. If columns of letters do
    /// not fit, several blocks have some of them each.
    pub(crate) fn terminal(&self, columns: usize) -> Vec<(String, Vec<(String, bool)>)> {
        let heads = self.printed(Form::Terminal);
        let (marks, others): (Vec<_>, Vec<_>) =
            (heads.iter().copied()).partition(|(_, head)| head.kind == Kind::Mark);
        let Some((_, mark)) = marks.first() else {
            return vec![self.block(&heads)];
        };
        let room = columns.saturating_sub(others.iter().map(|(_, head)| head.width).sum());
        let fitting = marks.chunks((room / mark.width.max(1)).max(1));
        let block = |marks: &[(usize, &Head)]| self.block(&[others.as_slice(), marks].concat());
        fitting.map(block).collect()
    }

    fn block(&self, heads: &[(usize, &Head)]) -> (String, Vec<(String, bool)>) {
        let titles: Vec<Value> = heads.iter().map(|(_, h)| Value::text(h.short())).collect();
        let line = |values: Vec<&Value>| {
            let cells = heads.iter().zip(values).enumerate();
            let padded = cells.map(|(index, ((_, head), value))| head.padded(value, index == 0));
            padded.collect::<String>().trim_end().to_owned()
        };
        let body = self.rows.iter().map(|row| {
            let values: Vec<&Value> = heads.iter().map(|(place, _)| &row[*place]).collect();
            let emphasised = values.iter().any(|value| value.emphasised);
            (line(values), emphasised)
        });
        (line(titles.iter().collect()), body.collect())
    }

    pub(crate) fn markdown(&self, out: &mut String) -> fmt::Result {
        let heads = self.printed(Form::Markdown);
        out.push('|');
        for (_, head) in &heads {
            write!(out, " {} |", cell(&head.title))?;
            if head.ends.is_some() {
                write!(out, " {INTERVAL} |")?;
            }
        }
        out.push_str("\n|");
        for (_, head) in &heads {
            out.push_str(match (head.kind, head.ends) {
                (Kind::Text, _) => "---|",
                (Kind::Mark, _) => ":-:|",
                (Kind::Number, None) => "--:|",
                (Kind::Number, Some(_)) => "--:|--:|",
            });
        }
        out.push('\n');
        for row in &self.rows {
            out.push('|');
            for (place, head) in &heads {
                let mark = if row[*place].emphasised { "*" } else { "" };
                write!(out, " {mark}{}{mark} |", cell(&row[*place].shown))?;
                if head.ends.is_some() {
                    write!(out, " {} |", cell(row[*place].span()))?;
                }
            }
            out.push('\n');
        }
        Ok(())
    }

    pub(crate) fn csv(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let heads = self.printed(Form::Csv);
        let head = heads.iter().flat_map(|(_, head)| {
            let ends = head.ends.into_iter().flatten();
            once(head.name.clone()).chain(ends.map(str::to_owned))
        });
        let line = |row: &Vec<Value>| {
            let fields = heads.iter().flat_map(|(place, head)| {
                let value = &row[*place];
                let ends = head.ends.map(|_| value.ends());
                once(value.exact.clone()).chain(ends.into_iter().flatten())
            });
            fields.collect()
        };
        (head.collect(), self.rows.iter().map(line).collect())
    }
}

/// Values that are words or a figure, with more on the page.
impl Value {
    pub(crate) fn bold(text: impl Into<String>) -> Self {
        let text = text.into();
        let markup = html! { b { (text) } };
        Self::text(text).on_page(markup)
    }

    pub(crate) fn code(text: &str) -> Self {
        Self::text(text).on_page(html! { code { (text) } })
    }

    pub(crate) fn with(name: &str, more: &str) -> Self {
        Self::text(name).on_page(html! { (name) " " small { (more) } })
    }

    pub(crate) fn library(name: &str, subject: &Subject) -> Self {
        Self::text(name)
            .on_page(html! { (name) " " span.muted { "· " (names::language(subject)) } })
    }
}
