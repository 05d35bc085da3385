//! Answers by language: a control at the top of the page chooses one. Without the script, each language has its part.

use maud::{Markup, html};

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{RunResult, Subject};
use jeton_lab_model::units::{self, Unit};

use super::cards::{self, Card};
use crate::languages::{CASES, Library, install, languages, ranking};
use crate::recommendation::answers::{answers, by_language};
use crate::section::{Fold, Kind, Section};
use crate::table::{Column, Table, Value};

/// The prefix of ids of the cards of all languages.
const PREFIX: &str = "answer";
/// The kinds of token that the card of all languages compares libraries by; the first measured counts.
const USUAL: [&str; 4] = ["JWT ES256", "JWT EdDSA", "JWT RS256", "JWT HS256"];

/// The three cards of all languages; none if the run measured no times.
pub(super) fn all(result: &RunResult) -> Vec<Card> {
    let answers = answers(result);
    let mut cards: Vec<Card> = answers
        .iter()
        .map(|answer| Card::of(answer, PREFIX))
        .collect();
    let is_measured = |index: usize| {
        answers
            .get(index)
            .is_some_and(|answer| answer.measured.is_some())
    };
    let languages = languages(result);
    let has = |token: &&&str| {
        languages
            .iter()
            .map(|l| ranking(result, l, token).len())
            .sum::<usize>()
            > 1
    };
    if let Some(token) = USUAL.iter().find(has).filter(|_| is_measured(0)) {
        cards::with_next(&mut cards[0], result, token);
    }
    if is_measured(1) {
        cards::with_signatures(&mut cards[1], result, &languages);
    }
    cards
}

/// Renders the control; the script shows it, because it does nothing without.
pub(super) fn control(result: &RunResult) -> Markup {
    let languages = languages(result);
    html! {
        @if languages.len() > 1 {
            div.choose #choose hidden {
                label { "My language " select #my-language {
                    option value="" { "all" }
                    @for language in &languages { option value=(language) { (names::language_of(language)) } }
                } }
                label { "Who verifies " select #who-verifies {
                    option value="public" { "third parties" }
                    option value="shared" { "the issuer alone" }
                } }
                label { input type="checkbox" #hidden-claims; " Hidden claims" }
            }
        }
    }
}

/// The section: jeton against the other libraries, then each language.
pub(super) fn section(result: &RunResult) -> Section {
    let answer = by_language(result);
    let cards = [Card::of(&answer, PREFIX)];
    let mut section = Section::new("By language")
        .id("language")
        .markup(Kind::Block, cards::side_by_side(&cards));
    if answer
        .measured
        .as_ref()
        .is_some_and(|m| m.bars.len() < 2 * LANGUAGES.len())
    {
        section = section.note(format!(
            "`{}` measures jeton in every language whose toolchain is installed.",
            answer.command
        ));
    }
    section
        .markup(Kind::Block, cards::tables(&cards, "Figures of this chart"))
        .parts(
            languages(result)
                .into_iter()
                .map(|language| part(result, language)),
        )
}

/// One language: its cards, and all its libraries with the line that installs each.
fn part(result: &RunResult, language: &str) -> Section {
    let named = names::language_of(language);
    let cards = cards::of_language(result, language);
    let cases = CASES.into_iter().filter_map(|case| {
        let tables = case.tokens.iter().filter_map(|token| {
            let all = ranking(result, language, token);
            (!all.is_empty()).then(|| libraries(named, token, &all))
        });
        let tables: Vec<Table> = tables.collect();
        let is_empty = tables.is_empty();
        let part = Section {
            tables,
            ..Section::new(format!("{named}: {}", lower(case.title)))
        };
        // Readers start with tokens that third parties verify.
        let part = part.fold(Fold::open_if(case.id == "public"));
        (!is_empty).then(|| part.id(format!("{language}-{}", case.id)))
    });
    Section::new(format!("{named}: which library, algorithm and token"))
        .id(format!("language-{language}"))
        .fold(Fold::Closed)
        .markup(Kind::Block, cards::side_by_side(&cards))
        .markup(
            Kind::Block,
            cards::tables(&cards, "Figures of these charts"),
        )
        .table(installed(result, language))
        .parts(cases)
}

/// The line that installs each library of a language.
fn installed(result: &RunResult, language: &str) -> Table {
    let mut subjects: Vec<&Subject> = Vec::new();
    for token in CASES.iter().flat_map(|case| case.tokens) {
        for one in ranking(result, language, token) {
            let is_known = |known: &&Subject| known.driver() == one.subject.driver();
            if !subjects.iter().any(is_known) {
                subjects.push(one.subject);
            }
        }
    }
    let columns = [
        Column::text("library", |subject: &&Subject| {
            let (library, version) = (&subject.library, &subject.version);
            Value::text(library).on_page(html! { (library) " " small { (version) } })
        }),
        Column::text("install", |subject: &&Subject| {
            let line = install(subject);
            Value::text(&line).on_page(html! { code { (line) } })
        }),
    ];
    let caption = format!(
        "{}: how to install each library",
        names::language_of(language)
    );
    let label = format!("{caption}, table");
    Table::new(caption, label, &columns, &subjects)
}

fn lower(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().collect::<String>() + letters.as_str()
    })
}

/// All libraries of a language for one kind of token.
fn libraries(language: &str, token: &str, all: &[Library<'_>]) -> Table {
    let unit = Unit::for_times(all.iter().map(|one| one.median));
    let is_encrypted = token.starts_with("JWE") || token.ends_with(".local");
    let [make, open] = if is_encrypted {
        ["encrypt", "decrypt"]
    } else {
        ["sign", "verify"]
    };
    type Line<'a> = (usize, &'a Library<'a>);
    let columns = [
        Column::text("library", |(rank, one): &Line<'_>| {
            Value::text(&one.name).on_page(html! {
                (rank) ". " (one.name) " " small { (one.subject.version) }
                @if one.has_findings { " " span.tag.bad { "an attack succeeds" } }
            })
        }),
        Column::interval("both", ["low", "high"], |(_, one): &Line<'_>| {
            Value::interval(one.median, one.interval, |ns| unit.figure(ns))
        })
        .titled(format!("{make} and {open}, {}", unit.name)),
        Column::number("make", |(_, one): &Line<'_>| {
            Value::text(unit.figure(one.make.median))
        })
        .titled(format!("{make}, {}", unit.name)),
        Column::number("open", |(_, one): &Line<'_>| {
            Value::text(unit.figure(one.open.median))
        })
        .titled(format!("{open}, {}", unit.name)),
        Column::number("ratio", |(_, one): &Line<'_>| match &one.against_first {
            Some((ratio, _)) => Value::interval(ratio.ratio(), ratio.interval(), units::ratio),
            None => Value::text("1"),
        })
        .titled("times the first"),
        Column::text("verdict", |(_, one): &Line<'_>| match &one.against_first {
            Some((_, verdict)) => Value::verdict(*verdict),
            None => Value::marked("baseline", "the first"),
        }),
    ];
    let lines: Vec<Line<'_>> = all
        .iter()
        .enumerate()
        .map(|(index, one)| (index + 1, one))
        .collect();
    let caption = format!("{language}, {token}: all measured libraries, the fastest first");
    Table::new(
        caption,
        format!("{language}, {token}, libraries, table"),
        &columns,
        &lines,
    )
    .figures()
}
