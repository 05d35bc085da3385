//! One part of a report, for all formats. The terminal, Markdown and the page print the same sections.

use maud::{Markup, html};

use crate::chart::Chart;
use crate::table::{Form, PEOPLE, Table};

/// A part of a report: what it says, a chart, tables, and smaller parts.
#[derive(Default)]
pub(crate) struct Section {
    /// The id on the page; empty if nothing links to it.
    pub(crate) id: String,
    pub(crate) title: String,
    /// What the page has beside the title.
    pub(crate) aside: Option<Markup>,
    /// The title on the terminal, if it differs, and what stands beside it.
    pub(crate) on_terminal: (Option<String>, String),
    pub(crate) fold: Fold,
    pub(crate) sentences: Vec<Sentence>,
    pub(crate) chart: Option<Chart>,
    pub(crate) tables: Vec<Table>,
    pub(crate) parts: Vec<Section>,
    /// The formats that print the section; none are all.
    pub(crate) forms: Option<&'static [Form]>,
}

/// Whether the page folds a section.
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

/// How a sentence stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// About the figures, not from them.
    Note,
    /// One of a list.
    Item,
    /// Of the page alone, with elements of its own.
    Block,
    /// In a frame of this class.
    Callout(&'static str),
}

/// A sentence, or several that belong together.
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

    pub(crate) fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets what the page has beside the title.
    pub(crate) fn beside(mut self, aside: Markup) -> Self {
        self.aside = Some(aside);
        self
    }

    pub(crate) fn fold(mut self, fold: Fold) -> Self {
        self.fold = fold;
        self
    }

    pub(crate) fn on(mut self, forms: &'static [Form]) -> Self {
        self.forms = Some(forms);
        self
    }

    pub(crate) fn say(self, text: impl Into<String>) -> Self {
        self.with(Sentence::new(Kind::Plain, text))
    }

    pub(crate) fn note(self, text: impl Into<String>) -> Self {
        self.with(Sentence::new(Kind::Note, text))
    }

    /// Adds a sentence of the page that has more than text.
    pub(crate) fn markup(self, kind: Kind, markup: Markup) -> Self {
        self.with(
            Sentence::new(kind, "")
                .markup(markup)
                .on(crate::table::PAGE),
        )
    }

    pub(crate) fn items<T: Into<String>>(self, items: impl IntoIterator<Item = T>) -> Self {
        let items = items.into_iter();
        items.fold(self, |section, item| {
            section.with(Sentence::new(Kind::Item, item))
        })
    }

    pub(crate) fn with(mut self, sentence: Sentence) -> Self {
        self.sentences.push(sentence);
        self
    }

    pub(crate) fn chart(mut self, chart: Chart) -> Self {
        self.chart = Some(chart);
        self
    }

    pub(crate) fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    pub(crate) fn parts(mut self, parts: impl IntoIterator<Item = Section>) -> Self {
        self.parts.extend(parts);
        self
    }

    /// Reports whether a format prints the section.
    pub(crate) fn is_on(&self, form: Form) -> bool {
        self.forms.is_none_or(|forms| forms.contains(&form))
    }

    /// Returns the sentences of a format.
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

    /// Sets what the page shows.
    pub(crate) fn markup(mut self, markup: Markup) -> Self {
        self.markup = Some(markup);
        self
    }

    /// Sets the formats that print it.
    pub(crate) fn on(mut self, forms: &'static [Form]) -> Self {
        self.forms = forms;
        self
    }

    /// Renders the sentence for the page.
    pub(crate) fn shown(&self) -> Markup {
        match &self.markup {
            Some(markup) => markup.clone(),
            None => coded(&self.text),
        }
    }
}

/// Renders text between backticks as code.
pub(crate) fn coded(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
