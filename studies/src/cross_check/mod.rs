//! `cargo xtask agreement`: does the lab measure what each language's own tool measures?
//!
//! The same libraries do the same work under `go test -bench`, criterion and JMH, in programs that
//! share no line with the lab. A pair is one run of the lab and one of the tool, in turns first;
//! the ratios of ten pairs have an interval, and it has to lie inside the bound. The log is
//! docs/reference/cross-check.md.

mod figures;
mod tools;

use std::fmt::Write as _;

use jeton_lab_stats::interval::Ratio;
use jeton_lab_stats::median::median;
use xtask::command::{Error, Workspace};

use crate::verdict::{Verdict, ratio};
use crate::{origin, pairs};
use figures::{Case, Figures, lab};
use tools::Tool;

const LOG: &str = "docs/reference/cross-check.md";

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
    pub(crate) fn parse(options: &[String]) -> Result<Self, Error> {
        let mut plan = Self {
            tools: Vec::new(),
            pairs: pairs::DEFAULT,
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let value = options.next().map_or("", String::as_str);
            match option.as_str() {
                "--only" => plan.tools.push(Tool::named(value).ok_or_else(|| {
                    Error::Usage("--only needs a value: go, criterion or jmh".into())
                })?),
                "--pairs" => plan.pairs = pairs::number(value)?,
                other => {
                    return Err(Error::Usage(format!(
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
pub(crate) fn run(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    eprintln!("== agreement: building the lab and the tools' benchmarks");
    let built: Vec<tools::Built> = (plan.tools.iter())
        .map(|tool| tool.build(workspace))
        .collect::<Result<_, _>>()?;
    figures::build_lab(workspace)?;

    let mut lines = Vec::new();
    for tool in &built {
        lines.extend(compare(workspace, tool, plan.pairs)?);
    }
    let text = log(workspace, plan, &lines)?;
    std::fs::write(workspace.path(LOG), &text)
        .map_err(|error| Error::Usage(format!("{LOG}: {error}")))?;
    println!("{text}");
    eprintln!("== agreement: log in {LOG}");
    let verdicts: Vec<Verdict> = lines.iter().map(Line::verdict).collect();
    Verdict::all_agree(&verdicts)
}

/// One figure by both ways.
struct Line {
    tool: Tool,
    case: Case,
    lab_ns: f64,
    tool_ns: f64,
    ratio: Ratio,
    bound: f64,
}

impl Line {
    fn verdict(&self) -> Verdict {
        Verdict::of(&self.ratio, self.bound)
    }
}

fn compare(workspace: &Workspace, tool: &tools::Built, pairs: usize) -> Result<Vec<Line>, Error> {
    let cases = tool.tool().cases();
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
            by_lab.push(lab(workspace, &cases)?);
            by_tool.push(tool.run(workspace)?);
        } else {
            by_tool.push(tool.run(workspace)?);
            by_lab.push(lab(workspace, &cases)?);
        }
    }
    let floors: Vec<f64> = by_lab.iter().filter_map(Figures::noise_floor).collect();
    let floor = median(&floors).unwrap_or(0.0);
    let bound = tool.tool().bound().max(floor.min(WIDEST));
    (cases.iter())
        .map(|case| {
            let of = |runs: &[Figures]| -> Result<Vec<f64>, Error> {
                runs.iter().map(|figures| figures.of(case)).collect()
            };
            let (lab, own) = (of(&by_lab)?, of(&by_tool)?);
            Ok(Line {
                tool: tool.tool(),
                case: case.clone(),
                ratio: ratio(&lab, &own)?,
                lab_ns: median(&lab).unwrap_or(f64::NAN),
                tool_ns: median(&own).unwrap_or(f64::NAN),
                bound,
            })
        })
        .collect()
}

fn log(workspace: &Workspace, plan: &Plan, lines: &[Line]) -> Result<String, Error> {
    let mut text = format!(
        "# The lab against other benchmarks\n\n\
         `cargo xtask agreement --pairs {}`, {}, commit {}, {}.\n\n\
         The same libraries do the same work in the lab and in a benchmark that shares no code with it\n\
         (`lab/harness/tests/agreement`). Each is run {} times, alternately. The ratio is the lab's \
         figure over the tool's,\nwith its 95 % interval (Student's t over the pairs' log ratios). The lab \
         waits while its core is shared. A tool cannot, so\nits figure is the lower quartile of thirty \
         repetitions.\n\n\
         The bound is the larger of 5 % (JMH 10 %) and the noise floor of the lab's runs, up to 10 %. \
         Figures agree if the whole\ninterval is inside the bound, and are apart if all of it is outside.\n\n\
         | tool | library | algorithm | operation | lab, ns | tool, ns | ratio | bound | |\n\
         |---|---|---|---|---:|---:|---:|---:|---|\n",
        plan.pairs,
        origin::day(workspace)?,
        origin::commit(workspace)?,
        origin::cpu(),
        plan.pairs,
    );
    for line in lines {
        let [low, high] = line.ratio.interval();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.0} | {:.0} | {:.3} ({low:.3} to {high:.3}) | {:.1} % | {} |",
            line.tool.name(),
            line.case.library,
            line.case.alg,
            line.case.operation,
            line.lab_ns,
            line.tool_ns,
            line.ratio.ratio(),
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

    fn parse(options: &[&str]) -> Result<Plan, Error> {
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
            assert!(matches!(parse(wrong), Err(Error::Usage(_))), "{wrong:?}");
        }
    }
}
