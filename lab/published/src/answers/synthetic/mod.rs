//! Answers to synthetic results.

#![allow(clippy::unwrap_used)]

mod attacked;
mod report_1;
mod report_2;
mod report_4;

use report_4::r4;

use super::answers;
use super::planned::blank;
use jeton_lab_model::result::{
    Answer, AttackRow, ClaimAnswered, NoiseFloor, Row, RowId, Rows, Status, Timing,
};

/// A synthetic result: a row for each work with figures.
#[derive(Clone)]
struct Run {
    rows: Vec<Row>,
    attacks: Vec<AttackRow>,
    noise: NoiseFloor,
}

impl Default for Run {
    /// Nothing was measured yet, without noise.
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            attacks: Vec::new(),
            noise: NoiseFloor {
                floor: Some(0.0),
                ..NoiseFloor::default()
            },
        }
    }
}

impl Run {
    /// Adds a work with this time in nanoseconds.
    fn time(mut self, work: &RowId, ns: f64) -> Self {
        let rounds: Vec<f64> = (0..12)
            .map(|i| ns * (1.0 + 0.001 * f64::from(i % 3)))
            .collect();
        self.row(work).ns_per_op = Some(Timing {
            median: ns,
            interval: [ns, ns],
            rounds,
            outliers: 0,
            unsettled: false,
        });
        self
    }

    fn size(mut self, work: &RowId, bytes: u64) -> Self {
        self.row(work).token_bytes = Some(bytes);
        self
    }

    fn memory(mut self, work: &RowId, bytes: f64, allocs: f64) -> Self {
        let row = self.row(work);
        (row.bytes_per_op, row.allocs_per_op) = (Some(bytes), Some(allocs));
        self
    }

    fn fails(mut self, work: &RowId, status: Status, reason: &str) -> Self {
        let row = self.row(work);
        (row.status, row.reason) = (status, Some(reason.to_owned()));
        row.ns_per_op = None;
        self
    }

    fn row(&mut self, work: &RowId) -> &mut Row {
        let at = self.rows.iter().position(|row| work.names(row));
        let at = at.unwrap_or_else(|| {
            self.rows.push(blank(work));
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    /// Returns the answer to a conclusion.
    fn says(&self, id: &str) -> ClaimAnswered {
        let mut rows = Rows::from(self.rows.clone());
        rows.attack.clone_from(&self.attacks);
        let all = answers(&rows, &self.noise);
        all.into_iter().find(|claim| claim.id == id).unwrap()
    }

    fn answer(&self, id: &str) -> Answer {
        self.says(id).answer
    }
}

#[test]
fn answer_difference_within_noise_is_open() {
    let noisy = |work: &RowId, ns: f64, run: Run| {
        let mut run = run.time(work, ns);
        let rounds = &mut run.row(work).ns_per_op.as_mut().unwrap().rounds;
        rounds
            .iter_mut()
            .enumerate()
            .for_each(|(i, r)| *r *= [0.8, 1.3, 1.0][i % 3]);
        run
    };
    let mut run = Run::default();
    for alg in ["HS256", "HS384", "HS512"] {
        run = run.time(&r4("pascaldekloe", alg, "sign"), 2_000.0);
        run = noisy(&r4("cristalhq", alg, "sign"), 1_990.0, run);
    }
    let said = run.says("4.1");
    assert_eq!(said.answer, Answer::Undecided);
    assert!(
        said.measured.contains("95 % interval") && said.why.contains("more rounds"),
        "{}",
        said.measured
    );
}
