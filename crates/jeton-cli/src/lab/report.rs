//! `jeton lab report`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use jeton_lab::report::csv::{self, Kind};
use jeton_lab::report::{benchstat, html, markdown};
use jeton_lab::result::RunResult;

use super::advice::Advice;
use super::destination::Destination;
use super::{results, terminal};
use crate::output;

/// Show a result file again: on the terminal, as a page, as text for other tools
///
/// Everything is a function of the file: nothing is measured, and the same file gives the same text.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab report jeton-lab/results.json
  jeton lab report jeton-lab/results.json --html -o report.html
  jeton lab report jeton-lab/results.json --need verify-by-third-parties,languages=go+node
  jeton lab report jeton-lab/results.json --md >> $GITHUB_STEP_SUMMARY
  jeton lab report jeton-lab/results.json --bench -o results.txt
  benchstat -col /lib -row .name,/format,/alg -ignore /lang results.txt
  jeton lab report jeton-lab/results.json --csv -o results.csv
  jeton lab report jeton-lab/results.json --csv --table answers
  jeton lab merge run/results.json attack/results.json | jeton lab report - --csv --table attacks

A file that is cut short, edited by hand or of another schema is refused with what is wrong and
where (exit 2). The file's schema is docs/result.schema.json.")]
pub(super) struct Report {
    /// A results.json that a verb of the lab wrote, or - for standard input
    file: PathBuf,

    #[command(flatten)]
    form: Form,

    /// Which table as comma-separated values: rows (those that the result is about), attacks, interop,
    /// published or answers
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

/// What comma-separated values are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// The rows that the result is about
    Rows,
    /// What must be refused
    Attacks,
    /// Whose tokens whom verifies
    Interop,
    /// The four reports' figures beside the measured ones
    Published,
    /// The four reports' conclusions and their answers
    Answers,
}

/// At most one.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct Form {
    /// The page: one HTML file that opens offline
    #[arg(long)]
    html: bool,

    /// Tables in Markdown
    #[arg(long)]
    md: bool,

    /// Go's benchmark text, a line for each round, for benchstat
    #[arg(long)]
    bench: bool,

    /// Comma-separated values: a line for each row, with every round, or another --table
    #[arg(long)]
    csv: bool,
}

impl Report {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let asked = self.advice.read()?;
        let mut result = results::read(&self.file)?;
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
            let shown = terminal::show(&result, terminal::columns());
            return self.destination.styled(&shown, &[&self.file]);
        };
        self.destination.text(&text, &[&self.file])
    }

    /// What the result has and the chosen form does not, with how it is had.
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
                    Kind::Measured | Kind::Servers => ("rows with times", "rows"),
                    Kind::Interop => ("rows of interop", "interop"),
                    Kind::Attack => ("rows of attacks", "attacks"),
                };
                format!("{rows}: {} (--csv --table {table})", kind.count(result))
            })
            .collect();
        (!others.is_empty()).then(|| format!("left out: {}", others.join(", ")))
    }
}
