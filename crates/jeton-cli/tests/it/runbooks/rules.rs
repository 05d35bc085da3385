//! Asks `promtool test rules` what the rules of alerts.yml make of scraped samples.
//!
//! promtool takes minutes of samples, and a test scrapes for moments. So the scrapes of a phase come one after the
//! other, each a step later. Then the phase goes on as it was at its end: a gauge keeps its value, and a counter grows
//! by what it grew between the last two scrapes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Drill, Scrape, rules_of_the_project};
use crate::operating::PROMTOOL;

/// When an alert fires in a phase.
#[derive(Clone, Copy)]
pub(super) enum Fires {
    Never,
    AtAnyTime,
    NotAtTheEnd,
}

/// The questions of a test.
pub(super) struct Questions {
    folder: tempfile::TempDir,
    files: Vec<String>,
}

/// The rule of an alert.
struct Rule {
    expression: String,
    /// How long a phase must last to show what the rule says of it, minutes.
    minutes: usize,
}

impl Rule {
    fn of(rules: &str, alert: &str) -> Rule {
        let (_, rest) = rules.split_once(&format!("- alert: {alert}\n")).unwrap();
        let rule = rest.split("- alert: ").next().unwrap();
        let field = |name: &str| {
            let mut lines = rule.lines();
            lines.find_map(|line| line.trim().strip_prefix(name).map(str::to_owned))
        };
        let expression = field("expr: ").unwrap();
        let ranges = expression.split('[').skip(1);
        let ranges = ranges.map(|rest| minutes(rest.split(']').next().unwrap()));
        let lasts = field("for: ").map_or(0, |lasts| minutes(&lasts));
        Rule {
            minutes: ranges.max().unwrap_or(0) + lasts + 5,
            expression,
        }
    }
}

/// A duration of Prometheus, rounded up.
fn minutes(duration: &str) -> usize {
    let (number, unit) = duration.split_at(duration.len() - 1);
    let number: usize = number.parse().unwrap();
    match unit {
        "s" => number.div_ceil(60),
        "m" => number,
        "h" => number * 60,
        other => panic!("{other}"),
    }
}

impl Questions {
    pub(super) fn new() -> Questions {
        Questions {
            folder: tempfile::tempdir().unwrap(),
            files: Vec::new(),
        }
    }

    /// Whether an alert fires in the three phases of a drill.
    pub(super) fn add(&mut self, alert: &str, drill: &Drill, expected: [Fires; 3]) {
        let mut rules = rules_of_the_project();
        if let Some((from, to)) = drill.smaller {
            assert_eq!(rules.matches(from).count(), 1, "{from}");
            rules = rules.replace(from, to);
        }
        let rule = Rule::of(&rules, alert);
        // An hour of small steps is too much for nothing.
        let step = if rule.minutes > 60 { 60 } else { 15 };
        let steps = rule.minutes * 60 / step;
        let phases = [&*drill.before, &*drill.during, &*drill.after];
        let scrapes = phases.iter().copied().flatten();
        let all: BTreeSet<&String> = scrapes.flat_map(|scrape| scrape.0.keys()).collect();
        let is_used = |series: &&&String| {
            let name = series.split('{').next().unwrap();
            let mut words = rule
                .expression
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            words.any(|word| word == name)
        };
        let series: Vec<Value> = all
            .iter()
            .filter(is_used)
            .map(|series| json!({"series": series, "values": values(series, &phases, steps).join(" ")}))
            .collect();
        assert!(
            !series.is_empty(),
            "{alert}: no sample of {}",
            rule.expression
        );
        let firing = format!("ALERTS{{alertname=\"{alert}\",alertstate=\"firing\"}}");
        let whole = format!(
            "count(max_over_time({firing}[{}s])) > bool 0",
            (steps - 1) * step
        );
        let at_the_end = format!("count({firing}) > bool 0");
        let tests = expected.into_iter().enumerate().map(|(phase, fires)| {
            let end = ((phase + 1) * steps - 1) * step;
            let (expression, is_firing) = match fires {
                Fires::Never => (&whole, false),
                Fires::AtAnyTime => (&whole, true),
                Fires::NotAtTheEnd => (&at_the_end, false),
            };
            let sample = json!({"labels": "{}", "value": 1});
            let samples: Vec<Value> = is_firing.then_some(sample).into_iter().collect();
            json!({"expr": expression, "eval_time": format!("{end}s"), "exp_samples": samples})
        });
        let number = self.files.len();
        let (rules_file, file) = (
            format!("{number}-rules.yml"),
            format!("{number}-{alert}.yml"),
        );
        let question = json!({
            "rule_files": [rules_file],
            "evaluation_interval": "1m",
            "tests": [{
                "interval": format!("{step}s"),
                "input_series": series,
                "promql_expr_test": tests.collect::<Vec<_>>(),
            }],
        });
        // JSON is YAML.
        self.write(&file, &question.to_string());
        self.write(&rules_file, &rules);
        self.files.push(file);
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Returns what the engine contradicts.
    pub(super) fn ask(self) -> Result<(), String> {
        let program = std::env::var_os(PROMTOOL).expect("the path of promtool");
        let output = Command::new(Path::new(&program))
            .args(["test", "rules"])
            .args(&self.files)
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        let kept = self.folder.keep();
        let said = String::from_utf8_lossy(&said);
        Err(format!("{said}\nthe samples are in {}", kept.display()))
    }
}

/// The values of a series at all steps of the three phases.
fn values(series: &str, phases: &[&[Scrape]; 3], steps: usize) -> Vec<String> {
    let name = series.split('{').next().unwrap();
    let is_counter = ["_total", "_bucket", "_sum", "_count"]
        .iter()
        .any(|end| name.ends_with(end));
    let mut values = Vec::new();
    // What the counter has grown in steps that were not scraped.
    let (mut more, mut last) = (0.0, None);
    for scrapes in phases {
        let seen: Vec<Option<f64>> = scrapes
            .iter()
            .map(|scrape| scrape.0.get(series).copied())
            .collect();
        let growth = match seen[..] {
            [.., Some(one), Some(two)] if is_counter => (two - one).max(0.0),
            _ => 0.0,
        };
        for step in 0..steps {
            let Some(value) = seen[step.min(seen.len() - 1)] else {
                values.push("stale".to_owned());
                (more, last) = (0.0, None);
                continue;
            };
            if step >= seen.len() {
                more += growth;
            } else if last.is_some_and(|last| value < last) {
                // The server was started again.
                more = 0.0;
            }
            last = Some(value);
            values.push((value + more).to_string());
        }
    }
    values
}

#[test]
fn phase_goes_on_as_it_ended() {
    let phase = |values: &[f64]| -> Vec<Scrape> {
        let scrape = |value: &f64| Scrape::of("i", Some(&format!("c_total {value}\ng {value}")));
        values.iter().map(scrape).collect()
    };
    let (before, during, after) = (phase(&[1.0, 1.0]), phase(&[1.0, 3.0]), phase(&[2.0, 2.0]));
    let phases: [&[Scrape]; 3] = [&before, &during, &after];
    let labels = "{instance=\"i\",job=\"jeton\"}";
    let all = |name: &str| values(&format!("{name}{labels}"), &phases, 4).join(" ");
    assert_eq!(all("c_total"), "1 1 1 1 1 3 5 7 2 2 2 2");
    assert_eq!(all("g"), "1 1 1 1 1 3 3 3 2 2 2 2");
    let gone: [&[Scrape]; 3] = [&before, &[Scrape::of("i", None)], &after];
    let stale = values(&format!("g{labels}"), &gone, 2);
    assert_eq!(stale.join(" "), "1 1 stale stale 2 2");
}
