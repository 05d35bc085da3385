//! `cargo xtask agreement`: does the lab measure what each language's own tool measures?
//!
//! The same libraries do the same work under `go test -bench`, criterion and JMH, in programs that
//! share no line with the lab. A pair is one run of the lab and one of the tool, in turns first;
//! the ratios of ten pairs have an interval, and it has to lie inside the bound. The log is
//! docs/agreement.md.

mod figures;
mod tools;

use std::fmt::Write as _;

use crate::command::{House, Stop, output};
use crate::interval::{Ratio, Verdict, median};
use crate::pairs;
use figures::{Cell, Figures, lab};
use tools::Tool;

const LOG: &str = "docs/agreement.md";

/// The widest bound: whatever the noise floor is, "the same within 70 %" is no agreement.
const WIDEST: f64 = 0.10;

/// Which tools, and how many pairs of runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    tools: Vec<Tool>,
    pairs: usize,
}

impl Plan {
    /// Reads `--only TOOL` and `--pairs N`.
    pub(crate) fn parse(options: &[String]) -> Result<Self, Stop> {
        let mut plan = Self {
            tools: Vec::new(),
            pairs: pairs::DEFAULT,
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let value = options.next().map_or("", String::as_str);
            match option.as_str() {
                "--only" => plan.tools.push(Tool::named(value).ok_or_else(|| {
                    Stop::Misused("--only wants go, criterion or jmh after it".into())
                })?),
                "--pairs" => plan.pairs = pairs::number(value)?,
                other => {
                    return Err(Stop::Misused(format!(
                        "`agreement` knows --only TOOL and --pairs N, not `{other}`"
                    )));
                }
            }
        }
        if plan.tools.is_empty() {
            plan.tools = Tool::ALL.to_vec();
        }
        Ok(plan)
    }
}

/// Measures the pairs and writes the log, also where they disagree.
pub(crate) fn run(house: &House, plan: &Plan) -> Result<(), Stop> {
    eprintln!("== agreement: building the lab and the tools' benchmarks");
    let built: Vec<tools::Built> = (plan.tools.iter())
        .map(|tool| tool.build(house))
        .collect::<Result<_, _>>()?;
    figures::build_lab(house)?;

    let mut lines = Vec::new();
    for tool in &built {
        lines.extend(compare(house, tool, plan.pairs)?);
    }
    let text = log(house, plan, &lines)?;
    std::fs::write(house.path(LOG), &text)
        .map_err(|error| Stop::Misused(format!("{LOG}: {error}")))?;
    println!("{text}");
    eprintln!("== agreement: log in {LOG}");
    let verdicts: Vec<Verdict> = lines.iter().map(Line::verdict).collect();
    Verdict::all_agree(&verdicts)
}

/// One figure by both ways.
struct Line {
    tool: Tool,
    cell: Cell,
    lab_ns: f64,
    tool_ns: f64,
    ratio: Ratio,
    bound: f64,
}

impl Line {
    fn verdict(&self) -> Verdict {
        self.ratio.against(self.bound)
    }
}

fn compare(house: &House, tool: &tools::Built, pairs: usize) -> Result<Vec<Line>, Stop> {
    let cells = tool.tool().cells();
    let mut by_lab: Vec<Figures> = Vec::new();
    let mut by_tool: Vec<Figures> = Vec::new();
    for pair in 0..pairs {
        eprintln!(
            "== agreement: {}, pair {} of {pairs}",
            tool.tool().name(),
            pair + 1
        );
        // In turns first: what drifts with time falls on both alike.
        if pair % 2 == 0 {
            by_lab.push(lab(house, &cells)?);
            by_tool.push(tool.run(house)?);
        } else {
            by_tool.push(tool.run(house)?);
            by_lab.push(lab(house, &cells)?);
        }
    }
    let floor = median(by_lab.iter().filter_map(Figures::noise_floor).collect());
    let bound = tool.tool().bound().max(floor.unwrap_or(0.0).min(WIDEST));
    (cells.iter())
        .map(|cell| {
            let of = |runs: &[Figures]| -> Result<Vec<f64>, Stop> {
                runs.iter().map(|figures| figures.of(cell)).collect()
            };
            let (lab, own) = (of(&by_lab)?, of(&by_tool)?);
            let logs = lab.iter().zip(&own).map(|(a, b)| (a / b).ln()).collect();
            Ok(Line {
                tool: tool.tool(),
                cell: cell.clone(),
                ratio: Ratio::of(logs),
                lab_ns: median(lab).unwrap_or(f64::NAN),
                tool_ns: median(own).unwrap_or(f64::NAN),
                bound,
            })
        })
        .collect()
}

fn log(house: &House, plan: &Plan, lines: &[Line]) -> Result<String, Stop> {
    let day = output(house.command("date").args(["-u", "+%F"]))?;
    let commit = output(house.command("git").args(["rev-parse", "--short", "HEAD"]))?;
    let mut text = format!(
        "# The lab against each language's own tool\n\n\
         `cargo xtask agreement --pairs {}`, {}, commit {}, {}.\n\n\
         The same libraries do the same work under the lab and under a benchmark that shares no \
         line with it\n(`lab/harness/tests/agreement`), {} times each, in turns. The ratio is \
         the lab's figure over the\ntool's, with its 95 % interval (Student's t over the pairs' log \
         ratios). The lab waits while\na neighbour has a part of the core; of a tool's thirty \
         repetitions, which cannot, the lower quartile stands. They\nagree where the whole interval lies inside the bound, and are apart where all of \
         it is outside: the larger of 5 % (JMH 10 %)\nand the noise floor of the lab's runs, up to 10 %.\n\n\
         | tool | library | algorithm | contract | lab, ns | tool, ns | ratio | bound | |\n\
         |---|---|---|---|---:|---:|---:|---:|---|\n",
        plan.pairs,
        day.trim(),
        commit.trim(),
        crate::soak::cpu(),
        plan.pairs,
    );
    for line in lines {
        let [low, high] = line.ratio.interval();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.0} | {:.0} | {:.3} ({low:.3} to {high:.3}) | {:.1} % | {} |",
            line.tool.name(),
            line.cell.library,
            line.cell.alg,
            line.cell.contract,
            line.lab_ns,
            line.tool_ns,
            line.ratio.middle(),
            line.bound * 100.0,
            line.verdict().cell(),
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn parse(options: &[&str]) -> Result<Plan, Stop> {
        let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
        Plan::parse(&options)
    }

    #[test]
    fn all_tools_and_ten_pairs_unless_told_otherwise() {
        let plan = parse(&[]).unwrap();
        assert_eq!((plan.tools.as_slice(), plan.pairs), (&Tool::ALL[..], 10));
        let plan = parse(&["--only", "jmh", "--pairs", "3"]).unwrap();
        assert_eq!((plan.tools, plan.pairs), (vec![Tool::Jmh], 3));
    }

    #[test]
    fn wrong_options_are_wrong_calls() {
        for wrong in [
            &["--only"][..],
            &["--only", "hyperfine"],
            &["--pairs", "2"],
            &["--pairs", "many"],
            &["--runs", "3"],
        ] {
            assert!(matches!(parse(wrong), Err(Stop::Misused(_))), "{wrong:?}");
        }
    }
}
