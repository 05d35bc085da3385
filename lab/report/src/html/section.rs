//! Renders a section of a report for the page.

use maud::{Markup, html};

use super::{chart, table};
use crate::section::{Fold, Kind, Section, Sentence};
use crate::table::Form;

pub(super) fn shown(section: &Section) -> Markup {
    let id = &section.id;
    let heading = html! { h2 #{ (id) "-heading" } { (section.title) } };
    html! {
        section #(id) aria-labelledby={ (id) "-heading" } {
            @match section.fold {
                Fold::Never => { (heading) (body(section, 3)) }
                fold => details.part open[fold == Fold::Open] { summary { (heading) } (body(section, 3)) },
            }
        }
    }
}

pub(super) fn body(section: &Section, level: u8) -> Markup {
    let said: Vec<&Sentence> = section.said(Form::Page).collect();
    html! {
        @for group in said.chunk_by(|a, b| a.kind == Kind::Item && b.kind == Kind::Item) {
            @match group[0].kind {
                Kind::Item => ul { @for one in group { li { (one.shown()) } } },
                Kind::Plain => p { (group[0].shown()) },
                Kind::Block => (group[0].shown()),
                Kind::Note => p.note { (group[0].shown()) },
                Kind::Callout(class) => div.callout.(class) { (group[0].shown()) },
            }
        }
        @if let Some(drawn) = &section.chart { (chart::shown(drawn)) }
        @for one in section.tables_on(Form::Page) { (table::shown(one)) }
        @for part in section.parts_on(Form::Page) { (self::part(part, level)) }
    }
}

fn part(part: &Section, level: u8) -> Markup {
    let id = (!part.id.is_empty()).then_some(&part.id);
    let heading = html! {
        @match level {
            _ if part.title.is_empty() => "",
            3 => h3 id=[id] { (part.title) (beside(part)) },
            _ => h4 id=[id] { (part.title) (beside(part)) },
        }
    };
    let body = body(part, level + 1);
    let shown = html! {
        @match part.fold {
            Fold::Never => { (heading) (body) }
            fold => details.fold open[fold == Fold::Open] { summary { (heading) } (body) },
        }
    };
    if part.chart.is_some() {
        return html! { article.comparison { (shown) } };
    }
    shown
}

fn beside(part: &Section) -> Markup {
    let aside = part.aside.as_ref().filter(|aside| !aside.0.is_empty());
    html! { @if let Some(aside) = aside { " " (aside) } }
}
