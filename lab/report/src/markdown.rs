//! The result in Markdown, for a wiki, an issue or a pull request.

use std::fmt::{self, Write};

use super::cell::cell;
use super::comparison::{comparisons, reason};
use super::section::{Kind, Section};
use super::table::Form;
use super::{attack, interop, published_comparison, sentences, servers, visible};
use jeton_lab_model::result::{Row, RunResult};
use jeton_lab_model::{names, units};
use jeton_lab_stats::verdict::UNMEASURED_FLOOR;

/// Formats the whole result as GitHub Markdown: the measurement quality, a table and a summary for each
/// comparison, and the rows without figures.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab_model::result::RunResult) -> std::io::Result<()> {
/// std::fs::write("report.md", jeton_lab_report::markdown::text(result))?;
/// # Ok(()) }
/// ```
#[must_use]
pub fn text(result: &RunResult) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(result, &mut out);
    out
}

fn write(result: &RunResult, out: &mut String) -> fmt::Result {
    writeln!(out, "# jeton-lab\n")?;
    let rows = &result.rows;
    // Results of commands without timings skip the timed sections.
    let is_timed = !rows.measured.is_empty() || rows.is_empty();
    if is_timed {
        timed(result, out)?;
    } else {
        writeln!(out, "`{}`", code(&result.command))?;
    }
    let parts = [
        servers::section(result),
        interop::section(result),
        attack::section(result),
    ];
    for part in parts.into_iter().flatten() {
        section(&part, 2, out)?;
    }
    if is_timed {
        published_comparison::write(result, out)
    } else {
        Ok(())
    }
}

/// Writes the measurement quality, the comparisons, and the rows without figures.
fn timed(result: &RunResult, out: &mut String) -> fmt::Result {
    head(result, out)?;
    let comparisons = comparisons(result);
    for suite in comparisons.chunk_by(|a, b| a.suite == b.suite) {
        let parts = suite
            .iter()
            .map(|one| one.section(&result.noise_floor, false));
        section(
            &Section::new(units::capitalised(suite[0].suite)).parts(parts),
            2,
            out,
        )?;
    }
    gaps(&result.rows.measured, out)
}

fn head(result: &RunResult, out: &mut String) -> fmt::Result {
    let e = &result.environment;
    writeln!(out, "`{}`\n", code(&result.command))?;
    match result.noise_floor.floor {
        Some(floor) => {
            let managed = result
                .noise_floor
                .wider_managed()
                .map_or_else(String::new, |m| {
                    format!(" ({} for managed runtimes)", units::percent(m))
                });
            writeln!(
                out,
                "**Noise floor {}**{managed}{}: identical subjects can differ by this much in this run; \
                 differences do not count below {}.",
                units::percent(floor),
                sentences::floors_of_threads(&result.noise_floor, units::percent),
                sentences::bands_in_words(&result.noise_floor, units::percent)
            )?;
        }
        None => writeln!(
            out,
            "**Noise floor not measured**: no A/A pair finished, so less than {}× the time is \
             undecided.",
            units::times(1.0 + UNMEASURED_FLOOR)
        )?,
    }
    if e.disturbance.disturbed {
        let reasons: Vec<String> = e.disturbance.reasons.iter().map(|r| cell(r)).collect();
        writeln!(
            out,
            "\n**Disturbed run**: {}. The figures include this disturbance.",
            reasons.join("; ")
        )?;
    }
    if !e.complete {
        writeln!(
            out,
            "\n**Ended early**: {} of {} rounds finished.",
            e.rounds_finished, e.rounds_planned
        )?;
    }
    if e.is_cut_by_budget() {
        writeln!(
            out,
            "\n**{} of {} rounds**: time limit reached.",
            e.rounds_finished, e.rounds_planned
        )?;
    }
    if let Some(ended) = e.out_of_support() {
        writeln!(
            out,
            "\n**Out of support**: {}. A newer runtime may give other figures.",
            cell(&ended)
        )?;
    }
    if !e.runtimes_used.is_empty() {
        let used: Vec<String> = e
            .runtimes_used
            .iter()
            .map(|r| cell(&r.in_words()))
            .collect();
        writeln!(out, "\nRuntimes: {}.", used.join(", "))?;
    }
    writeln!(
        out,
        "\n{}, {}, {}{}; {}; {}, seed {}; jeton {}.",
        cell(&e.cpu_in_full()),
        units::count(e.cores, "core", "cores"),
        cell(&e.kernel),
        if e.hypervisor.is_some() {
            ", on a hypervisor"
        } else {
            ""
        },
        cell(&e.started),
        units::count(e.rounds_finished as usize, "round", "rounds"),
        result.seed,
        cell(&e.jeton)
    )
}

/// Writes a section with a title of this level, and its parts. Sentences are above the tables, and lists below them.
fn section(section: &Section, level: usize, out: &mut String) -> fmt::Result {
    if !section.title.is_empty() {
        writeln!(out, "\n{} {}", "#".repeat(level), cell(&section.title))?;
    }
    let (items, sentences): (Vec<_>, Vec<_>) = section
        .said(Form::Markdown)
        .partition(|sentence| sentence.kind == Kind::Item);
    for sentence in sentences {
        writeln!(out, "\n{}", coded(&sentence.text))?;
    }
    for table in section
        .tables
        .iter()
        .filter(|table| table.is_on(Form::Markdown))
    {
        writeln!(out)?;
        table.markdown(out)?;
    }
    for (index, item) in items.iter().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        writeln!(out, "{gap}- {}", coded(&item.text))?;
    }
    let parts = section
        .parts
        .iter()
        .filter(|part| part.is_on(Form::Markdown));
    for part in parts {
        self::section(part, level + 1, out)?;
    }
    Ok(())
}

/// Escapes foreign text, and keeps code between backticks.
fn coded(text: &str) -> String {
    let space = |is_one: bool| if is_one { " " } else { "" };
    let part = |(index, part): (usize, &str)| match index % 2 {
        0 => {
            let (before, after) = (part.starts_with(' '), part.len() > 1 && part.ends_with(' '));
            format!("{}{}{}", space(before), cell(part), space(after))
        }
        _ => format!("`{}`", code(part)),
    };
    text.split('`').enumerate().map(part).collect()
}

/// Writes the rows without a figure, one line for each reason.
fn gaps(rows: &[Row], out: &mut String) -> fmt::Result {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for row in rows.iter().filter(|r| r.ns_per_op.is_none()) {
        let subject = &row.subject;
        let line = format!(
            "{} {} ({}), {}: {}",
            cell(&subject.library),
            cell(&subject.version),
            cell(names::language(subject)),
            row.status.name(),
            cell(reason(row))
        );
        match reasons.iter_mut().find(|(l, _)| *l == line) {
            Some((_, count)) => *count += 1,
            None => reasons.push((line, 1)),
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Not measured\n")?;
    for (line, count) in reasons {
        writeln!(out, "- {line} ({})", units::count(count, "row", "rows"))?;
    }
    Ok(())
}

/// Escapes foreign text for use between backticks.
fn code(text: &str) -> String {
    visible::text(text).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_library_text_is_escaped() {
        assert_eq!(
            cell("a|b <img src=x> [l](u)\nnext"),
            "a\\|b &lt;img src=x&gt; \\[l\\](u) next"
        );
        assert_eq!(cell("a\u{1b}[2Jb"), "a\\[U+001B\\]\\[2Jb");
        assert_eq!(code("run `x` \u{1b}[2J"), "run 'x' [U+001B][2J");
    }
}
