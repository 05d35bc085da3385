//! What one run said, of the lab or of a tool: nanoseconds an operation for each cell.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::command::{House, Stop, output, run};

const OUT: &str = "target/lab-agreement";

/// One figure's place: which library does what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) library: &'static str,
    pub(super) alg: &'static str,
    pub(super) contract: &'static str,
    /// The driver's folder.
    pub(super) driver: &'static str,
}

impl Cell {
    fn subject(&self) -> String {
        format!("{}:jwt:{}:prepared", self.driver, self.alg)
    }
}

/// Nanoseconds by `library alg contract`.
#[derive(Debug, Default)]
pub(super) struct Figures {
    ns: BTreeMap<String, f64>,
    noise_floor: Option<f64>,
}

impl Figures {
    pub(super) fn add(&mut self, library: &str, alg: &str, contract: &str, ns: f64) {
        self.ns.insert(format!("{library} {alg} {contract}"), ns);
    }

    pub(super) fn of(&self, cell: &Cell) -> Result<f64, Stop> {
        let name = format!("{} {} {}", cell.library, cell.alg, cell.contract);
        (self.ns.get(&name).copied()).ok_or_else(|| Stop::Failed(format!("no figure for {name}")))
    }

    pub(super) fn noise_floor(&self) -> Option<f64> {
        self.noise_floor
    }
}

/// Builds the lab, so that no pair waits for it.
pub(super) fn build_lab(house: &House) -> Result<(), Stop> {
    run(&mut house.cargo(&["build", "--release", "--locked", "-p", "jeton-cli"]))
}

/// One run of the lab over the cells.
pub(super) fn lab(house: &House, cells: &[Cell]) -> Result<Figures, Stop> {
    let mut command = house.command(house.target().join("release/jeton"));
    command.args(["lab", "run", "libraries", "--rounds", "4", "--out", OUT]);
    command.args(["--operation", "sign", "--operation", "verify", "--json"]);
    let mut subjects: Vec<String> = cells.iter().map(Cell::subject).collect();
    subjects.sort();
    subjects.dedup();
    for subject in &subjects {
        command.args(["--subject", subject]);
    }
    read(&output(&mut command)?, cells)
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
    contract: String,
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

fn read(results: &str, cells: &[Cell]) -> Result<Figures, Stop> {
    let results: Results = serde_json::from_str(results)
        .map_err(|error| Stop::Failed(format!("the lab's results cannot be read: {error}")))?;
    let mut figures = Figures {
        noise_floor: (results.noise_floor.managed).or(results.noise_floor.floor),
        ..Figures::default()
    };
    for cell in cells {
        let row = (results.rows.iter())
            .find(|row| row.subject.id == cell.subject() && row.contract == cell.contract);
        if let Some(time) = row.and_then(|row| row.ns_per_op.as_ref()) {
            figures.add(cell.library, cell.alg, cell.contract, time.median);
        }
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const CELL: Cell = Cell {
        library: "golang-jwt",
        alg: "HS256",
        contract: "sign",
        driver: "go/golang-jwt",
    };

    #[test]
    fn the_labs_rows_are_found_by_their_subject() {
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
    fn a_row_without_a_figure_is_named() {
        let results = r#"{"noise_floor":{},"rows":[]}"#;
        let figures = read(results, &[CELL]).unwrap();
        let Err(Stop::Failed(why)) = figures.of(&CELL) else {
            unreachable!("there is no row");
        };
        assert_eq!(why, "no figure for golang-jwt HS256 sign");
    }
}
