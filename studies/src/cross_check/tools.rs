//! The tools that each language measures with.
//!
//! The figure of a tool is the lower quartile of its repetitions, as that of a round in the lab. The lab waits
//! until other processes stop. A tool measures through them, and up to half of its repetitions may be
//! disturbed: the lower quartile of all is about the median of the others. On an undisturbed core it is 1 %
//! below the median.

use std::path::{Path, PathBuf};
use std::process::Command;

use jeton_lab_model::Operation;
use jeton_lab_model::units::capitalised;
use jeton_lab_stats::median::round_value;
use serde::Deserialize;
use xtask::command::{Error, Workspace, output, run};

use super::figures::{Case, Figures};

/// Repetitions that a tool makes of every benchmark, each of them short.
const REPETITIONS: &str = "30";
/// How long one of them is, about: a neighbour on the core stays for some tens of milliseconds.
const REPETITION: &str = "40ms";

const SOURCES: &str = "lab/harness/tests/agreement";
const MAVEN_COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// A tool of another language's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Go,
    Criterion,
    Jmh,
}

impl Tool {
    pub(super) const ALL: [Self; 3] = [Self::Go, Self::Criterion, Self::Jmh];

    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "go" => Some(Self::Go),
            "criterion" => Some(Self::Criterion),
            "jmh" => Some(Self::Jmh),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Go => "go test -bench",
            Self::Criterion => "criterion",
            Self::Jmh => "JMH",
        }
    }

    /// How far apart they may be. A JIT compiles each process differently.
    pub(super) fn bound(self) -> f64 {
        match self {
            Self::Go | Self::Criterion => 0.05,
            Self::Jmh => 0.10,
        }
    }

    pub(super) fn cases(self) -> Vec<Case> {
        let libraries: &[(&str, &str)] = match self {
            Self::Go => &[("golang-jwt", "go/golang-jwt")],
            Self::Criterion => &[
                ("jeton", "rust/jeton"),
                ("jsonwebtoken", "rust/jsonwebtoken"),
            ],
            Self::Jmh => &[("nimbus-jose-jwt", "java/nimbus-jose-jwt")],
        };
        let mut cases = Vec::new();
        for &(library, driver) in libraries {
            for alg in ["HS256", "ES256"] {
                for operation in [Operation::Sign, Operation::Verify] {
                    cases.push(Case {
                        library,
                        alg,
                        operation,
                        driver,
                    });
                }
            }
        }
        cases
    }

    /// Builds its benchmark, so that no pair waits for it.
    pub(super) fn build(self, workspace: &Workspace) -> Result<Built, Error> {
        let out = workspace.target().join("agreement");
        std::fs::create_dir_all(&out)
            .map_err(|error| Error::Usage(format!("{}: {error}", out.display())))?;
        match self {
            Self::Go => {
                let mut build = command(workspace, "go", "go");
                run(build.args(["test", "-c", "-o"]).arg(out.join("go.test")))?;
            }
            Self::Criterion => run(&mut criterion(workspace, &out, &["--no-run"]))?,
            Self::Jmh => {
                let jars = out.join("jmh-lib");
                let mut fetch = command(workspace, "java", "mvn");
                fetch.args(["-B", "-q", MAVEN_COPY]);
                run(fetch.arg(format!("-DoutputDirectory={}", jars.display())))?;
                let classes = out.join("jmh-classes");
                let mut compile = command(workspace, "java", "javac");
                compile.args(["--release", "17", "-d"]).arg(&classes);
                compile.arg("-cp").arg(all_in(&jars)).arg("Agreement.java");
                run(&mut compile)?;
            }
        }
        Ok(Built { tool: self, out })
    }
}

/// A tool with its benchmark ready to run.
pub(super) struct Built {
    tool: Tool,
    out: PathBuf,
}

impl Built {
    pub(super) fn tool(&self) -> Tool {
        self.tool
    }

    /// One run over all its cases, on the core that the lab gives its drivers.
    pub(super) fn run(&self, workspace: &Workspace) -> Result<Figures, Error> {
        match self.tool {
            Tool::Go => {
                let mut bench =
                    on_the_drivers_core(command(workspace, "go", self.out.join("go.test")));
                bench.args(["-test.run", "^$", "-test.bench", "."]);
                bench.args(["-test.count", REPETITIONS, "-test.benchtime", REPETITION]);
                go_figures(&output(&mut bench)?)
            }
            Tool::Criterion => {
                let times = ["--warm-up-time", "0.5", "--measurement-time", "1.2"];
                let mut options = vec!["--", "--noplot", "--sample-size", REPETITIONS];
                options.extend(times);
                let bench = criterion(workspace, &self.out, &options);
                output(&mut on_the_drivers_core(bench))?;
                criterion_figures(&self.out.join("criterion"))
            }
            Tool::Jmh => {
                let path = format!(
                    "{}:{}",
                    self.out.join("jmh-classes").display(),
                    all_in(&self.out.join("jmh-lib"))
                );
                let report = self.out.join("jmh.json");
                let mut bench = on_the_drivers_core(command(workspace, "java", "java"));
                bench.args(["-cp", &path, "org.openjdk.jmh.Main"]);
                bench.args(["-f", "1", "-wi", "3", "-w", "1"]);
                bench.args(["-i", REPETITIONS, "-r", REPETITION]);
                bench.args(["-rf", "json", "-rff"]).arg(&report);
                output(&mut bench)?;
                let text = std::fs::read_to_string(&report)
                    .map_err(|error| Error::Failed(format!("{}: {error}", report.display())))?;
                jmh_figures(&text)
            }
        }
    }
}

fn command(workspace: &Workspace, language: &str, program: impl AsRef<Path>) -> Command {
    let mut command = workspace.command(program.as_ref());
    command.current_dir(workspace.path(SOURCES).join(language));
    command
}

fn criterion(workspace: &Workspace, out: &Path, options: &[&str]) -> Command {
    let mut command = workspace.cargo(&["bench", "--locked", "--quiet"]);
    command.current_dir(workspace.path(SOURCES).join("rust"));
    command.env("CARGO_TARGET_DIR", out.join("rust"));
    command.env("CRITERION_HOME", out.join("criterion"));
    command.args(options);
    command
}

fn all_in(jars: &Path) -> String {
    format!("{}/*", jars.display())
}

/// The lab's drivers have the last core for themselves; so has the tool.
fn on_the_drivers_core(command: Command) -> Command {
    let last = std::thread::available_parallelism().map_or(1, usize::from) - 1;
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", &last.to_string()]);
    pinned.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        pinned.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => pinned.env(name, value),
            None => pinned.env_remove(name),
        };
    }
    pinned
}

/// `BenchmarkSign/HS256-1   123456   3100 ns/op`, a line for each repetition.
fn go_figures(text: &str) -> Result<Figures, Error> {
    let mut figures = Figures::default();
    for case in Tool::Go.cases() {
        let name = format!(
            "Benchmark{}/{}",
            capitalised(case.operation.name()),
            case.alg
        );
        let repetitions: Vec<f64> = (text.lines())
            .filter(|line| {
                let first = line.split_whitespace().next().unwrap_or_default();
                first.split('-').next() == Some(&name)
            })
            .filter_map(|line| line.split_once(" ns/op")?.0.split_whitespace().last())
            .filter_map(|number| number.parse().ok())
            .collect();
        let time = round_value(&repetitions)
            .ok_or_else(|| Error::Failed(format!("go test says nothing of {name}")))?;
        figures.add(case.library, case.alg, case.operation.name(), time);
    }
    Ok(figures)
}

/// The samples of one benchmark: how often it was done in each, and in what time.
#[derive(Deserialize)]
struct Samples {
    iters: Vec<f64>,
    times: Vec<f64>,
}

impl Samples {
    fn ns(&self) -> Vec<f64> {
        let samples = self.times.iter().zip(&self.iters);
        samples
            .map(|(time, iterations)| time / iterations)
            .collect()
    }
}

/// `jeton HS256 sign/new/sample.json`
fn criterion_figures(home: &Path) -> Result<Figures, Error> {
    let mut figures = Figures::default();
    for case in Tool::Criterion.cases() {
        let name = format!("{} {} {}", case.library, case.alg, case.operation);
        let path = home.join(&name).join("new/sample.json");
        let failed = |why: String| Error::Failed(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let samples: Samples =
            serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        let ns = round_value(&samples.ns()).ok_or_else(|| failed("has no sample".into()))?;
        figures.add(case.library, case.alg, case.operation.name(), ns);
    }
    Ok(figures)
}

#[derive(Deserialize)]
struct JmhRow {
    benchmark: String,
    params: JmhParams,
    #[serde(rename = "primaryMetric")]
    metric: JmhMetric,
}

#[derive(Deserialize)]
struct JmhParams {
    alg: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JmhMetric {
    score_unit: String,
    raw_data: Vec<Vec<f64>>,
}

fn jmh_figures(text: &str) -> Result<Figures, Error> {
    let rows: Vec<JmhRow> = serde_json::from_str(text)
        .map_err(|error| Error::Failed(format!("JMH's report cannot be read: {error}")))?;
    let mut figures = Figures::default();
    for row in rows {
        let operation = row.benchmark.rsplit('.').next().unwrap_or_default();
        let time = round_value(&row.metric.raw_data.concat());
        let (Some(ns), "ns/op") = (time, row.metric.score_unit.as_str()) else {
            return Err(Error::Failed(format!(
                "JMH has no ns/op of {}",
                row.benchmark
            )));
        };
        figures.add("nimbus-jose-jwt", &row.params.alg, operation, ns);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn figure(figures: &Figures, case: &Case) -> String {
        figures.of(case).unwrap().to_string()
    }

    #[test]
    fn of_gos_repetitions_the_undisturbed_count() {
        let mut text = String::from("goos: linux\n");
        for name in ["Sign/HS256", "Sign/ES256", "Verify/HS256", "Verify/ES256"] {
            for ns in ["3100", "3000", "9000.5", "8000", "7000"] {
                text += &format!("Benchmark{name}-1   \t 100\t {ns} ns/op\n");
            }
        }
        let figures = go_figures(&text).unwrap();
        for case in Tool::Go.cases() {
            assert_eq!(figure(&figures, &case), "3100");
        }
        assert!(go_figures("PASS").is_err());
    }

    #[test]
    fn sample_is_time_divided_by_iterations() {
        let samples = Samples {
            iters: vec![1.0, 2.0],
            times: vec![10.0, 30.0],
        };
        assert_eq!(format!("{:?}", samples.ns()), "[10.0, 15.0]");
    }

    #[test]
    fn jmhs_report_is_read_by_method_and_parameter() {
        let text = r#"[{"benchmark":"Agreement.sign","params":{"alg":"HS256"},
            "primaryMetric":{"scoreUnit":"ns/op","rawData":[[5.0,4.0,6.0,9.0],[7.0]]}}]"#;
        let figures = jmh_figures(text).unwrap();
        let case = &Tool::Jmh.cases()[0];
        assert_eq!(figure(&figures, case), "5");
        let other = text.replace("ns/op", "ops/s");
        assert!(jmh_figures(&other).is_err());
    }
}
