//! `jeton-lab report`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use jeton_lab_model::result::RunResult;
use jeton_lab_report::csv::{self, Kind};
use jeton_lab_report::multi_run::Named;
use jeton_lab_report::terminal;
use jeton_lab_report::{benchstat, html, markdown};

use super::advice::Advice;
use super::destination::Destination;
use super::results;
use crate::{output, width};

/// Show a result file: on the terminal, as HTML, or as text for other tools
///
/// Reads only the file and measures nothing. The same file always gives the same output.
///
/// Several files are shown side by side on one page, for example runs of different CPUs. Nothing is merged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab report jeton-lab/results.json
  jeton-lab report jeton-lab/results.json --html -o report.html
  jeton-lab report intel/results.json amd/results.json --html -o both.html
  jeton-lab report jeton-lab/results.json --need verify-by-third-parties,languages=go+node
  jeton-lab report jeton-lab/results.json --md >> $GITHUB_STEP_SUMMARY
  jeton-lab report jeton-lab/results.json --bench -o results.txt
  benchstat -col /lib -row .name,/format,/alg -ignore /lang results.txt
  jeton-lab report jeton-lab/results.json --csv -o results.csv
  jeton-lab report jeton-lab/results.json --csv --table answers
  jeton-lab merge run/results.json attack/results.json | jeton-lab report - --csv --table attacks

An incomplete or contradictory file, or one of another schema version, is an error (exit 2); the \
message names the faulty member. The file's schema is docs/result.schema.json.")]
pub(super) struct Report {
    /// Result files (results.json) of lab commands, or - for standard input; several need --html
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    form: Form,

    /// Table to write as CSV: rows (the rows that the command measured), attacks, interop, published or
    /// answers
    #[arg(
        long,
        value_name = "TABLE",
        default_value = "rows",
        hide_possible_values = true,
        requires = "csv"
    )]
    table: Table,

    #[command(flatten)]
    destination: Destination,

    #[command(flatten)]
    advice: Advice,
}

/// A table that `--csv` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// The rows that the command measured
    Rows,
    /// Attacks
    Attacks,
    /// Interoperability
    Interop,
    /// Published figures and the measured ones
    Published,
    /// Published conclusions and their answers
    Answers,
}

/// The output format; at most one option is accepted.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct Form {
    /// Write an HTML page that opens offline; on a terminal without -o, to report.html
    #[arg(long)]
    html: bool,

    /// Write Markdown tables
    #[arg(long)]
    md: bool,

    /// Write Go benchmark text for benchstat, one line per round
    #[arg(long)]
    bench: bool,

    /// Write comma-separated values, one line per row with every round; choose the table with --table
    #[arg(long)]
    csv: bool,
}

impl Report {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let asked = self.advice.read()?;
        let sources: Vec<&PathBuf> = self.files.iter().collect();
        if let [_, _, ..] = sources.as_slice() {
            return self.side_by_side(&sources);
        }
        let mut result = results::read(&self.files[0])?;
        asked.advise_again(&mut result);
        let form = &self.form;
        if let Some(left_out) = self.left_out(&result) {
            output::note(left_out);
        }
        let text = if form.html {
            html::page(&result)
        } else if form.md {
            markdown::text(&result)
        } else if form.bench {
            benchstat::text(&result)
        } else if form.csv {
            match self.table {
                Table::Rows => csv::text(&result),
                Table::Attacks => csv::rows(&result, Kind::Attack),
                Table::Interop => csv::rows(&result, Kind::Interop),
                Table::Published => csv::published(&result),
                Table::Answers => csv::answers(&result),
            }
        } else {
            let shown = terminal::show(&result, width::columns());
            return self.destination.styled(&shown, &sources);
        };
        if form.html {
            return self.destination.page(&text, &sources);
        }
        self.destination.text(&text, &sources)
    }

    /// Shows several results on one page; nothing is computed across them.
    fn side_by_side(&self, sources: &[&PathBuf]) -> Result<ExitCode, String> {
        if !self.form.html {
            return Err(format!(
                "{} files: several files can be shown only with --html",
                sources.len()
            ));
        }
        let read = |path: &&PathBuf| {
            let name = path.display().to_string();
            results::read(path).map(|result| Named { name, result })
        };
        let runs: Vec<Named> = sources.iter().map(read).collect::<Result<_, _>>()?;
        self.destination.page(&html::side_by_side(&runs), sources)
    }

    /// Returns a note about rows that the chosen format does not show, with the option that does.
    fn left_out(&self, result: &RunResult) -> Option<String> {
        let form = &self.form;
        let shown = match (form.bench, form.csv, self.table) {
            (true, ..) => Kind::Measured,
            (_, true, Table::Rows) => Kind::of(result),
            _ => return None,
        };
        let others = Kind::ALL.into_iter().filter(|kind| *kind != shown);
        let others: Vec<String> = others
            .filter(|kind| kind.count(result) > 0)
            .map(|kind| {
                let (rows, table) = match kind {
                    Kind::Measured | Kind::Servers => ("timed rows", "rows"),
                    Kind::Interop => ("interop rows", "interop"),
                    Kind::Attack => ("attack rows", "attacks"),
                };
                format!("{rows}: {} (--csv --table {table})", kind.count(result))
            })
            .collect();
        (!others.is_empty()).then(|| format!("not shown: {}", others.join(", ")))
    }
}
