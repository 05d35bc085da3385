//! The result in Markdown, for a wiki, an issue or a pull request.

use std::fmt::{self, Write};

use super::comparison::comparisons;
use super::section::{Kind, Section};
use super::table::Form;
use super::visible::{self, cell};
use super::{attack, interop, published_comparison, run, servers};
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units;

/// Formats the whole result as GitHub Markdown: the measurement quality, a table and a summary for each
/// comparison, and the rows without figures.
#[must_use]
pub fn text(result: &RunResult) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(result, &mut out);
    out
}

fn write(result: &RunResult, out: &mut String) -> fmt::Result {
    writeln!(out, "# jeton-lab\n\n`{}`", code(&result.command))?;
    let rows = &result.rows;
    // Results of commands without timings skip the timed sections.
    let is_timed = !rows.measured.is_empty() || rows.is_empty();
    let mut sections = Vec::new();
    if is_timed {
        sections.extend([run::quality(result), run::environment(result)]);
        let comparisons = comparisons(result);
        let suites = comparisons.chunk_by(|a, b| a.suite == b.suite);
        sections.extend(suites.map(|suite| {
            let parts = suite
                .iter()
                .map(|one| one.section(&result.noise_floor, false));
            Section::new(units::capitalised(suite[0].suite)).parts(parts)
        }));
        sections.push(run::gaps(result));
    }
    let others = [
        servers::section(result),
        interop::section(result),
        attack::section(result),
        published_comparison::section(result),
    ];
    sections.extend(others.into_iter().flatten());
    sections.iter().try_for_each(|one| section(one, 2, out))
}

/// Writes a section with a title of this level, and its parts. Sentences are above the tables, and lists below them.
fn section(section: &Section, level: usize, out: &mut String) -> fmt::Result {
    if !section.title.is_empty() {
        writeln!(out, "\n{} {}", "#".repeat(level), cell(&section.title))?;
    }
    let said = section.said(Form::Markdown);
    let (items, sentences): (Vec<_>, Vec<_>) = said.partition(|one| one.kind == Kind::Item);
    for sentence in sentences {
        writeln!(out, "\n{}", coded(&sentence.text))?;
    }
    for table in section.tables_on(Form::Markdown) {
        writeln!(out)?;
        table.markdown(out)?;
    }
    for (index, item) in items.iter().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        writeln!(out, "{gap}- {}", coded(&item.text))?;
    }
    let mut parts = section.parts_on(Form::Markdown);
    parts.try_for_each(|part| self::section(part, level + 1, out))
}

/// Escapes foreign text, and keeps strong text and code.
fn coded(text: &str) -> String {
    let space = |is_one: bool| if is_one { " " } else { "" };
    let plain = |part: &str| {
        let (before, after) = (part.starts_with(' '), part.len() > 1 && part.ends_with(' '));
        format!("{}{}{}", space(before), cell(part), space(after))
    };
    let part = |(index, part): (usize, &str)| match index % 2 {
        0 => part.split("**").map(plain).collect::<Vec<_>>().join("**"),
        _ => format!("`{}`", code(part)),
    };
    text.split('`').enumerate().map(part).collect()
}

/// Escapes foreign text for use between backticks.
fn code(text: &str) -> String {
    visible::text(text).replace('`', "'")
}
