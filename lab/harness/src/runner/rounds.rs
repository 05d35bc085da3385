//! Rounds in random order: each round measures every subject equally often, and the subjects of one
//! comparison directly after each other.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::case_run::{CaseRun, Stopped};
use super::pace::{LEAD, OWN_LEAD, Pace, REHEARSALS, restarts_each_visit};
use super::shared_core::{EXTRA_PASSES, Sharing, Slice, Slices, Watch};
use crate::host::ConcurrentReadings;
use crate::suite::Comparison;
use jeton_lab_model::protocol::Work;
use jeton_lab_model::result::Status;

/// The order of all rounds, from one seed.
///
/// A disturbance, for example memory traffic of another virtual machine, lasts from tenths of a second
/// to minutes and is not reported. So compared subjects are measured within the same half second, in
/// random order, and so are the comparisons.
#[derive(Debug)]
pub(super) struct Order {
    random: ChaCha8Rng,
    blocks: Vec<Vec<usize>>,
}

impl Order {
    /// A case belongs to the first comparison that contains it, or to none; the second process of an
    /// A/A pair belongs to the first one's.
    pub(super) fn seeded(seed: u64, case_runs: &[CaseRun], tables: &[Comparison]) -> Self {
        let mut blocks: Vec<Vec<usize>> = vec![Vec::new(); tables.len()];
        for (i, case_run) in case_runs.iter().enumerate() {
            let of_it = |table: &Comparison| table.cases().contains(&case_run.case);
            match tables.iter().position(of_it) {
                Some(table) => blocks[table].push(i),
                None => blocks.push(vec![i]),
            }
        }
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            blocks,
        }
    }

    /// Returns the cases that `chosen` accepts, in the order of the next pass.
    fn next(&mut self, chosen: impl Fn(usize) -> bool) -> Vec<usize> {
        self.blocks.shuffle(&mut self.random);
        for block in &mut self.blocks {
            block.shuffle(&mut self.random);
        }
        let all = self.blocks.iter().flatten().copied();
        all.filter(|&i| chosen(i)).collect()
    }
}

/// Runs one round: one pass over every subject per batch of a value, each in a new order. The batches
/// of a value are seconds apart, so a single stall of the machine affects each value at most once, and
/// the lower quartile excludes it. Every slice of a batch waits for an unshared core; a subject with
/// too few slices is measured again: see [`super::shared_core`].
///
/// The watch's maximum wait limits the time beyond the round's work. `renew` replaces the process of a
/// case that restarts each visit. `after_visit` receives the visits done and their total. A stopped
/// round is discarded.
pub(super) fn round(
    case_runs: &mut [CaseRun],
    order: &mut Order,
    pace: &Pace,
    watch: &mut Watch<'_>,
    mut renew: impl FnMut(&mut CaseRun) -> Result<(), Stopped>,
    mut after_visit: impl FnMut(usize, usize),
) -> Result<Sharing, Stopped> {
    let all: Vec<usize> = (0..case_runs.len())
        .filter(|&i| case_runs[i].live())
        .collect();
    let mut slices = Slices::of(case_runs.len());
    let mut done = 0;
    for pass in 0..pace.batches + EXTRA_PASSES {
        let again = pass >= pace.batches;
        let lone = slices.unshared();
        let visits = order.next(|i| {
            let enough = watch.enough(pace.batches, pace.slices_of(&case_runs[i].case));
            case_runs[i].live() && (!again || lone[i] < enough)
        });
        for i in visits {
            let (began, max_wait) = (Instant::now(), watch.max_wait());
            if again && max_wait.is_zero() {
                break;
            }
            let case_run = &mut case_runs[i];
            if restarts_each_visit(&case_run.case) {
                renew(case_run)?;
            }
            if let Some(batch) = visit(case_run, pace, watch)? {
                slices.add(i, batch);
            }
            if again {
                watch.set_max_wait(max_wait.saturating_sub(began.elapsed()));
            }
            done += 1;
            after_visit(done, done.max(all.len() * pace.batches as usize));
        }
    }
    let (values, sharing) = slices.values();
    for i in all {
        // A case that failed during the round keeps no rounds.
        if case_runs[i].live() {
            case_runs[i].rounds.extend(values[i]);
        }
    }
    Ok(sharing)
}

/// Returns the estimated duration of one round, with the calibrated batches.
pub(super) fn takes(case_runs: &[CaseRun], pace: &Pace) -> Duration {
    let live = case_runs.iter().filter(|case_run| case_run.live());
    live.map(|case_run| pace.visits(&case_run.case, case_run.batch_takes()))
        .sum()
}

/// Runs uncounted passes. A process that was warmed up early has waited for all others, and its first
/// values would be those of an idle process: two in five outlying rounds were first rounds.
pub(super) fn rehearse(
    case_runs: &mut [CaseRun],
    order: &mut Order,
    pace: &Pace,
    watch: &mut Watch<'_>,
) -> Result<(), Stopped> {
    for _ in 0..REHEARSALS {
        for i in order.next(|i| case_runs[i].live() && !restarts_each_visit(&case_runs[i].case)) {
            visit(&mut case_runs[i], pace, watch)?;
        }
    }
    Ok(())
}

/// Runs one batch slice by slice, with untimed operations first whenever the process changes its core.
/// A batch of one slice and one thread is observed concurrently: the time of a reading is then time
/// that the thread did not have.
fn visit(
    case_run: &mut CaseRun,
    pace: &Pace,
    watch: &mut Watch<'_>,
) -> Result<Option<Vec<Slice>>, Stopped> {
    let slices = watch.slices(pace.slices_of(&case_run.case));
    let expected = pace.batch_of(&case_run.case);
    let lead = if case_run.has_own_lead() {
        case_run.lead(OWN_LEAD)
    } else {
        0
    };
    let operations = case_run.iterations.div_ceil(slices);
    let mut batch = Vec::new();
    let mut left = case_run.iterations;
    let mut arrives = true;
    while left > 0 {
        let operations = operations.min(left);
        left -= operations;
        let before = watch.wait_for_free_core();
        arrives |= watch.bring(case_run);
        if std::mem::take(&mut arrives) && !case_run.has_own_lead() {
            case_run.batch(Work::of(case_run.lead(LEAD)), LEAD)?;
        }
        let watched = slices == 1 && case_run.case.threads == 1;
        let work = Work::of(operations).behind(lead);
        let mut time = || case_run.batch(work, expected);
        let (slice, during) = if watched {
            watch.during(time)
        } else {
            (time(), ConcurrentReadings::default())
        };
        let Some(slice) = slice? else {
            return Ok(None);
        };
        let seen = during.in_the_last(slice.elapsed);
        let ns_per_op = slice.ns_per_op_without(seen.took);
        if ns_per_op <= 0.0 {
            case_run.fail(Status::Crashed, "the driver reports a duration of zero");
            return Ok(None);
        }
        batch.push(Slice {
            operations,
            ns_per_op,
            reading: before.max(seen.longest).max(watch.look()),
        });
    }
    Ok(Some(batch))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;
    use jeton_lab_model::{Case, Format};

    fn case(library: &str, alg: &str) -> Case {
        Case {
            format: Format::Jwt,
            alg: Some(alg.to_owned()),
            ..Case::new(&format!("go/{library}"), library, "1.0.0", "go")
        }
    }

    #[test]
    fn order_keeps_compared_subjects_adjacent() {
        let libraries = ["a", "b", "c", "d"];
        let of = |alg| libraries.map(|library| case(library, alg));
        let mut cases = [of("HS256"), of("ES256")].concat();
        cases.push(case("a", "ES512"));
        let table = |title, cases: &[Case]| {
            Comparison::new("suite", title, cases[0].clone(), cases[1..].to_vec()).unwrap()
        };
        let tables = [
            table("HS256", &cases[..4]),
            table("ES256", &cases[4..8]),
            // Two of them are in a comparison already, and the third is in no other.
            table("a", &[0, 4, 8].map(|i: usize| cases[i].clone())),
        ];
        // Next, a case that is not compared, and the second process of c.
        let lone = case("e", "ES512");
        let all = cases.iter().chain([&lone, &cases[2]]);
        let case_runs: Vec<CaseRun> = all.map(|c| CaseRun::new(c.clone(), "suite")).collect();

        let mut order = Order::seeded(1, &case_runs, &tables);
        let mut again = Order::seeded(1, &case_runs, &tables);
        let mut passes = BTreeSet::new();
        for _ in 0..50 {
            let pass = order.next(|_| true);
            assert_eq!(pass, again.next(|_| true), "one seed, one order");
            let place = |i: &usize| pass.iter().position(|at| at == i).unwrap();
            for block in [&[0, 1, 2, 3, 10][..], &[4, 5, 6, 7], &[8], &[9]] {
                let first = block.iter().map(place).min().unwrap();
                let last = block.iter().map(place).max().unwrap();
                assert_eq!(last - first + 1, block.len(), "{block:?} in {pass:?}");
            }
            assert_eq!(pass.len(), case_runs.len());
            passes.insert(pass);
        }
        assert_eq!(passes.len(), 50, "all orders differ");
        let mut some = order.next(|i| i % 2 == 0);
        some.sort_unstable();
        assert_eq!(some, [0, 2, 4, 6, 8, 10]);
    }
}
