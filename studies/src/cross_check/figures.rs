//! What one run said, of the lab or of a tool: nanoseconds an operation for each case.

use std::collections::BTreeMap;
use std::path::Path;

use jeton_lab_model::result::{self, RunResult};
use jeton_lab_model::{Case as LabCase, Operation};
use xtask::command::{Error, Workspace, output, run};

const OUT: &str = "target/lab-agreement";

/// One figure's place: which library does what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Case {
    pub(super) library: &'static str,
    pub(super) alg: &'static str,
    pub(super) operation: Operation,
    /// The driver's folder.
    pub(super) driver: &'static str,
}

impl Case {
    /// The id of the lab's subject.
    fn subject(&self) -> String {
        self.in_the_lab().subject_id()
    }

    fn in_the_lab(&self) -> LabCase {
        LabCase {
            alg: Some(self.alg.to_owned()),
            ..LabCase::new(self.driver, self.library, "", "")
        }
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
    run(&mut workspace.cargo(&["build", "--profile", "dist", "--locked", "-p", "jeton-lab"]))
}

/// One run of the lab over the cases.
pub(super) fn lab(workspace: &Workspace, cases: &[Case]) -> Result<Figures, Error> {
    let mut command = workspace.command(workspace.target().join("dist/jeton-lab"));
    command.args(["run", "libraries", "--rounds", "4", "--out", OUT]);
    command.args(["--operation", "sign", "--operation", "verify", "--json"]);
    let mut subjects: Vec<String> = cases.iter().map(Case::subject).collect();
    subjects.sort();
    subjects.dedup();
    for subject in &subjects {
        command.args(["--subject", subject]);
    }
    let json = output(&mut command)?;
    let results = result::read_from(Path::new("lab run --json"), json.as_bytes())
        .map_err(|error| Error::Failed(error.to_string()))?;
    Ok(read(&results, cases))
}

fn read(results: &RunResult, cases: &[Case]) -> Figures {
    let floor = &results.noise_floor;
    let mut figures = Figures {
        noise_floor: floor.managed.or(floor.floor),
        ..Figures::default()
    };
    for case in cases {
        let row = (results.rows.measured.iter())
            .find(|row| row.subject.id == case.subject() && row.operation == case.operation.name());
        if let Some(time) = row.and_then(|row| row.ns_per_op.as_ref()) {
            figures.add(case.library, case.alg, case.operation.name(), time.median);
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton_lab_model::result::{ClaimsSet, Environment, Row, Status, Timing};

    use super::*;

    const CASE: Case = Case {
        library: "golang-jwt",
        alg: "HS256",
        operation: Operation::Sign,
        driver: "go/golang-jwt",
    };

    fn row(operation: Operation, ns: f64) -> Row {
        Row {
            suite: "libraries".into(),
            operation: operation.name().into(),
            status: Status::Ok,
            reason: None,
            subject: CASE.in_the_lab().subject(),
            reference: false,
            claims: ClaimsSet {
                name: "standard".into(),
                bytes: 1,
            },
            token_bytes: None,
            threads: 1,
            ns_per_op: Some(Timing {
                median: ns,
                interval: [ns, ns],
                rounds: vec![ns],
                outliers: 0,
                unsettled: false,
            }),
            bytes_per_op: None,
            allocs_per_op: None,
            peak_rss_bytes: None,
            loads_wrong_keys: Vec::new(),
        }
    }

    fn results(rows: Vec<Row>) -> RunResult {
        RunResult::without_verdicts("x".into(), 1, Environment::default(), rows.into())
    }

    #[test]
    fn lab_row_is_found_by_its_subject() {
        let mut results = results(vec![row(Operation::Verify, 6.0), row(Operation::Sign, 3.0)]);
        results.noise_floor.floor = Some(0.03);
        let figures = read(&results, &[CASE]);
        assert_eq!(CASE.subject(), "go/golang-jwt:jwt:HS256:prepared");
        assert_eq!(figures.of(&CASE).unwrap().to_string(), "3");
        assert_eq!(figures.noise_floor(), Some(0.03));
    }

    #[test]
    fn row_without_a_figure_is_named() {
        let figures = read(&results(Vec::new()), &[CASE]);
        let Err(Error::Failed(why)) = figures.of(&CASE) else {
            unreachable!("there is no row");
        };
        assert_eq!(why, "no figure for golang-jwt HS256 sign");
    }
}
