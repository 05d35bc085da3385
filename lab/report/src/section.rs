//! One part of a report, for all formats. The terminal, Markdown and the page print the same sections.

use maud::{Markup, html};

use crate::chart::Chart;
use crate::table::{Form, PAGE, PEOPLE, Table, setters};

#[derive(Default)]
pub(crate) struct Section {
    /// The id on the page; empty if nothing links to it.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) aside: Option<Markup>,
    /// The title on the terminal, if it differs, and what stands beside it.
    pub(crate) on_terminal: (Option<String>, String),
    pub(crate) fold: Fold,
    pub(crate) sentences: Vec<Sentence>,
    pub(crate) chart: Option<Chart>,
    pub(crate) tables: Vec<Table>,
    pub(crate) parts: Vec<Section>,
    pub(crate) forms: Option<&'static [Form]>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    #[default]
    Never,
    Open,
    Closed,
}

impl Fold {
    /// Folds a section that the page opens with only if that is so.
    pub(crate) fn open_if(is_open: bool) -> Self {
        if is_open { Self::Open } else { Self::Closed }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// About the figures, not from them.
    Note,
    Item,
    /// Of the page alone, with elements of its own.
    Block,
    Callout(&'static str),
}

pub(crate) struct Sentence {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// The page has more than the text.
    pub(crate) markup: Option<Markup>,
    pub(crate) forms: &'static [Form],
}

impl Section {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    setters! { self;
        id(id: impl Into<String>) { self.id = id.into() }
        beside(aside: Markup) { self.aside = Some(aside) }
        fold(fold: Fold) { self.fold = fold }
        on(forms: &'static [Form]) { self.forms = Some(forms) }
        say(text: impl Into<String>) { self.sentences.push(Sentence::new(Kind::Plain, text)) }
        note(text: impl Into<String>) { self.sentences.push(Sentence::new(Kind::Note, text)) }
        with(sentence: Sentence) { self.sentences.push(sentence) }
        say_on(forms: &'static [Form], text: impl Into<String>) { self.sentences.push(Sentence::new(Kind::Plain, text).on(forms)) }
        note_on(forms: &'static [Form], text: impl Into<String>) { self.sentences.push(Sentence::new(Kind::Note, text).on(forms)) }
        item_on(forms: &'static [Form], text: impl Into<String>) { self.sentences.push(Sentence::new(Kind::Item, text).on(forms)) }
        shown(kind: Kind, text: impl Into<String>, markup: Markup) { self.sentences.push(Sentence::new(kind, text).markup(markup)) }
        callout(class: &'static str, text: impl Into<String>) { self.sentences.push(Sentence::new(Kind::Callout(class), text)) }
        markup(kind: Kind, markup: Markup) { self.sentences.push(Sentence::new(kind, "").markup(markup).on(PAGE)) }
        items(items: impl IntoIterator<Item = impl Into<String>>) {
            self.sentences.extend(items.into_iter().map(|item| Sentence::new(Kind::Item, item)))
        }
        chart(chart: Chart) { self.chart = Some(chart) }
        table(table: Table) { self.tables.push(table) }
        parts(parts: impl IntoIterator<Item = Section>) { self.parts.extend(parts) }
    }

    pub(crate) fn charted(self, chart: Chart, table: Table) -> Self {
        let table = table.figures().id(&chart.table);
        self.chart(chart).table(table)
    }

    pub(crate) fn parts_on(&self, form: Form) -> impl Iterator<Item = &Section> {
        let is_on = move |part: &&Section| part.forms.is_none_or(|forms| forms.contains(&form));
        self.parts.iter().filter(is_on)
    }

    pub(crate) fn tables_on(&self, form: Form) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(move |table| table.is_on(form))
    }

    pub(crate) fn said(&self, form: Form) -> impl Iterator<Item = &Sentence> {
        let own = self.sentences.iter();
        own.filter(move |sentence| sentence.forms.contains(&form))
    }
}

impl Sentence {
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            markup: None,
            forms: PEOPLE,
        }
    }

    setters! { self;
        markup(markup: Markup) { self.markup = Some(markup) }
        on(forms: &'static [Form]) { self.forms = forms }
    }

    pub(crate) fn shown(&self) -> Markup {
        match &self.markup {
            Some(markup) => markup.clone(),
            None => coded(&self.text),
        }
    }
}

/// Renders text between `**` as strong, and between backticks as code.
pub(crate) fn coded(text: &str) -> Markup {
    let code = |text: &str| {
        html! {
            @for (index, part) in text.split('`').enumerate() {
                @if index % 2 == 1 { code { (part) } } @else { (part) }
            }
        }
    };
    html! {
        @for (index, part) in text.split("**").enumerate() {
            @if index % 2 == 1 { strong { (code(part)) } } @else { (code(part)) }
        }
    }
}
