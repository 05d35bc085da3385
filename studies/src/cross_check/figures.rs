//! What one run said, of the lab or of a tool: nanoseconds an operation for each case.

use std::collections::BTreeMap;

use serde::Deserialize;
use xtask::command::{Error, Workspace, output, run};

const OUT: &str = "target/lab-agreement";

/// One figure's place: which library does what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Case {
    pub(super) library: &'static str,
    pub(super) alg: &'static str,
    pub(super) operation: &'static str,
    /// The driver's folder.
    pub(super) driver: &'static str,
}

impl Case {
    fn subject(&self) -> String {
        format!("{}:jwt:{}:prepared", self.driver, self.alg)
    }
}

/// Nanoseconds by `library algorithm operation`.
#[derive(Debug, Default)]
pub(super) struct Figures {
    ns: BTreeMap<String, f64>,
    noise_floor: Option<f64>,
}

impl Figures {
    pub(super) fn add(&mut self, library: &str, alg: &str, operation: &str, ns: f64) {
        self.ns.insert(format!("{library} {alg} {operation}"), ns);
    }

    pub(super) fn of(&self, case: &Case) -> Result<f64, Error> {
        let name = format!("{} {} {}", case.library, case.alg, case.operation);
        (self.ns.get(&name).copied()).ok_or_else(|| Error::Failed(format!("no figure for {name}")))
    }

    pub(super) fn noise_floor(&self) -> Option<f64> {
        self.noise_floor
    }
}

/// Builds the lab, so that no pair waits for it.
pub(super) fn build_lab(workspace: &Workspace) -> Result<(), Error> {
    run(&mut workspace.cargo(&["build", "--profile", "dist", "--locked", "-p", "jeton-cli"]))
}

/// One run of the lab over the cases.
pub(super) fn lab(workspace: &Workspace, cases: &[Case]) -> Result<Figures, Error> {
    let mut command = workspace.command(workspace.target().join("dist/jeton"));
    command.args(["lab", "run", "libraries", "--rounds", "4", "--out", OUT]);
    command.args(["--operation", "sign", "--operation", "verify", "--json"]);
    let mut subjects: Vec<String> = cases.iter().map(Case::subject).collect();
    subjects.sort();
    subjects.dedup();
    for subject in &subjects {
        command.args(["--subject", subject]);
    }
    read(&output(&mut command)?, cases)
}

#[derive(Deserialize)]
struct Results {
    noise_floor: NoiseFloor,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct NoiseFloor {
    floor: Option<f64>,
    managed: Option<f64>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "contract")]
    operation: String,
    subject: Subject,
    ns_per_op: Option<Time>,
}

#[derive(Deserialize)]
struct Subject {
    id: String,
}

#[derive(Deserialize)]
struct Time {
    median: f64,
}

fn read(results: &str, cases: &[Case]) -> Result<Figures, Error> {
    let results: Results = serde_json::from_str(results)
        .map_err(|error| Error::Failed(format!("the lab's results cannot be read: {error}")))?;
    let mut figures = Figures {
        noise_floor: (results.noise_floor.managed).or(results.noise_floor.floor),
        ..Figures::default()
    };
    for case in cases {
        let row = (results.rows.iter())
            .find(|row| row.subject.id == case.subject() && row.operation == case.operation);
        if let Some(time) = row.and_then(|row| row.ns_per_op.as_ref()) {
            figures.add(case.library, case.alg, case.operation, time.median);
        }
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const CELL: Case = Case {
        library: "golang-jwt",
        alg: "HS256",
        operation: "sign",
        driver: "go/golang-jwt",
    };

    #[test]
    fn lab_row_is_found_by_its_subject() {
        let results = serde_json::json!({
            "noise_floor": { "floor": 0.03 },
            "rows": [
                { "contract": "verify", "subject": { "id": "go/golang-jwt:jwt:HS256:prepared" },
                  "ns_per_op": { "median": 6.0 } },
                { "contract": "sign", "subject": { "id": "go/golang-jwt:jwt:HS256:prepared" },
                  "ns_per_op": { "median": 3.0 } },
            ]
        });
        let figures = read(&results.to_string(), &[CELL]).unwrap();
        assert_eq!(figures.of(&CELL).unwrap().to_string(), "3");
        assert_eq!(figures.noise_floor(), Some(0.03));
    }

    #[test]
    fn row_without_a_figure_is_named() {
        let results = r#"{"noise_floor":{},"rows":[]}"#;
        let figures = read(results, &[CELL]).unwrap();
        let Err(Error::Failed(why)) = figures.of(&CELL) else {
            unreachable!("there is no row");
        };
        assert_eq!(why, "no figure for golang-jwt HS256 sign");
    }
}
