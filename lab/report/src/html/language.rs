//! Answers by language: a control at the top of the page chooses one. Without the script, each language has its part.

use maud::{Markup, html};

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{RunResult, Subject};
use jeton_lab_model::units::{self, Unit};

use super::cards::{self, Card};
use crate::grouped::distinct_by;
use crate::install::install;
use crate::recommendation::CASES;
use crate::recommendation::answers::{answers, by_language};
use crate::recommendation::library::{Against, Library, languages, ranking, verbs};
use crate::section::{Fold, Kind, Section};
use crate::table::{Table, Value, columns};

/// The prefix of ids of the cards of all languages.
const PREFIX: &str = "answer";

/// The three cards of all languages; none if the run measured no times.
pub(super) fn all(result: &RunResult) -> Vec<Card> {
    let answers = answers(result).into_iter();
    answers.map(|answer| Card::of(answer, PREFIX)).collect()
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
    let is_whole = (answer.measured.as_ref()).is_none_or(|m| m.bars.len() >= 2 * LANGUAGES.len());
    let missing = format!(
        "`{}` measures jeton in every language whose toolchain is installed.",
        answer.command
    );
    let cards = [Card::of(answer, PREFIX)];
    let mut section = Section::new("By language")
        .id("language")
        .markup(Kind::Block, cards::side_by_side(&cards));
    if !is_whole {
        section = section.note(missing);
    }
    let languages = languages(result).into_iter();
    section
        .markup(Kind::Block, cards::tables(&cards, "Figures of this chart"))
        .parts(languages.map(|language| part(result, language)))
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
            ..Section::new(format!("{named}: {}", case.title.to_lowercase()))
        };
        // Readers start with tokens that third parties verify.
        let part = part.fold(Fold::open_if(case.id == "public"));
        (!is_empty).then(|| part.id(format!("{language}-{}", case.id)))
    });
    Section::new(format!("{named}: which library, algorithm and token"))
        .id(format!("language-{language}"))
        .fold(Fold::Closed)
        .markup(Kind::Block, cards::side_by_side(&cards))
        .markup(Kind::Block, cards::tables(&cards, cards::FIGURES))
        .table(installed(result, language))
        .parts(cases)
}

/// The line that installs each library of a language.
fn installed(result: &RunResult, language: &str) -> Table {
    let tokens = CASES.iter().flat_map(|case| case.tokens);
    let all = tokens.flat_map(|token| ranking(result, language, token));
    let subjects = all.map(|one| one.cost.subject);
    let subjects = distinct_by(subjects, |one| one.driver().to_owned());
    let columns = columns![&Subject:
        text("library") |subject| Value::with(&subject.library, &subject.version);
        text("install") |subject| Value::code(&install(subject));
    ];
    let named = names::language_of(language);
    let caption = format!("{named}: how to install each library");
    Table::named(caption, &columns, &subjects)
}

/// All libraries of a language for one kind of token.
fn libraries(language: &str, token: &str, all: &[Library<'_>]) -> Table {
    let unit = Unit::for_times(all.iter().map(|one| one.cost.median));
    let [make, open] = verbs(token);
    type Line<'a> = (usize, &'a Library<'a>);
    let columns = columns![Line<'_>:
        text("library") |(rank, one)| Value::text(&one.name).on_page(html! {
            (rank) ". " (one.name) " " small { (one.cost.subject.version) }
            @if one.has_findings { " " span.tag.bad { "an attack succeeds" } }
        });
        range(format!("{make} and {open}, {}", unit.name)) |(_, one)| Value::interval(one.cost.median, one.cost.interval, |ns| unit.figure(ns));
        number(format!("{make}, {}", unit.name)) |(_, one)| Value::text(unit.figure(one.cost.sign.median));
        number(format!("{open}, {}", unit.name)) |(_, one)| Value::text(unit.figure(one.cost.verify.median));
        number("times the first") |(_, one)| match &one.against_first {
            Some(Against { ratio, .. }) => Value::interval(ratio.ratio(), ratio.interval(), units::ratio),
            None => Value::text("1"),
        };
        text("verdict") |(_, one)| match &one.against_first {
            Some(against) => Value::verdict(against.verdict),
            None => Value::marked("baseline", "the first"),
        };
    ];
    let lines: Vec<Line<'_>> = (1..).zip(all).collect();
    let caption = format!("{language}, {token}: all measured libraries, the fastest first");
    Table::named(caption, &columns, &lines).figures()
}
