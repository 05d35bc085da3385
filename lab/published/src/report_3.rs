//! Report 3, gRPC servers on Node.js and Go: eight scenarios, which `jeton-lab servers` repeats.

use super::draft::{Draft, Figure, Line, RatioTo, Work, read};
use super::servers::scenario;
use super::source::REPORT_3;
use jeton_lab_model::result::Quantity;

const RUNS: &str = include_str!("../data/report3-runs.csv");

pub(super) fn tables() -> Vec<Draft> {
    let mut lines: Vec<Line> = Vec::new();
    for run in read(RUNS) {
        let Some(scenario) = scenario(&run) else {
            continue;
        };
        let server = match run.text("server") {
            "Go" => "go/published",
            _ => "node/published",
        };
        let cores = match run.text("cores") {
            "1" => "1 core".to_owned(),
            cores => format!("{cores} cores"),
        };
        let name = format!(
            "{cores}, {}×{}, {}",
            run.text("connections"),
            run.text("calls_per_connection"),
            run.text("alg")
        );
        let figure = Figure {
            published: run.number("requests_per_s"),
            text: run.text("requests_per_s").to_owned(),
            work: Work::Served(server, scenario),
        };
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.figures.push(figure),
            None => lines.push(Line {
                name,
                figures: vec![figure],
            }),
        }
    }
    vec![Draft {
        source: REPORT_3,
        title: "requests per second".to_owned(),
        quantity: Quantity::RequestsPerSecond,
        columns: vec!["Node.js", "Go"],
        ratio_to: RatioTo::FirstColumn,
        notes: vec![
            "The Go server signs with an empty key and gives every token the same subject, so the two \
             servers do different work.",
            "Client and server shared the machine's cores. In this run they have cores of their own.",
        ],
        lines,
    }]
}
