//! Randomised complete blocks: in each round every subject runs equally often, in random order.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::bench::{Bench, Stopped};
use super::pace::{LEAD, OWN_LEAD, Pace, REHEARSALS, lives_for_a_visit};
use super::shared_core::{EXTRA_PASSES, Sharing, Slice, Slices, Watch};
use crate::host::Beside;
use crate::result::Status;
use crate::wire::Work;

/// The order of all rounds, from one seed.
#[derive(Debug)]
pub(super) struct Order(ChaCha8Rng);

impl Order {
    pub(super) fn seeded(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn shuffle(&mut self, order: &mut [usize]) {
        order.shuffle(&mut self.0);
    }
}

/// One round: as many passes over every subject as there are batches to a value, each pass in its
/// own random order. The batches of a value lie seconds apart, so that one stall of the machine,
/// however many subjects it meets, meets each of them once, and the lower quartile leaves it out. Every
/// slice of a batch waits for a core of its own, and whoever lacks slices all the same is visited again:
/// see [`super::shared_core`].
///
/// The watch's patience is what the round may take beyond its work: what is waited and who is visited again
/// comes out of it. `renew` puts a new process in the place of one that lives for a visit. `after_visit`
/// hears how many visits are done, and of how many. Nothing of a round that was stopped is kept: a round is
/// complete or it is not.
pub(super) fn round(
    benches: &mut [Bench],
    order: &mut Order,
    pace: &Pace,
    watch: &mut Watch<'_>,
    mut renew: impl FnMut(&mut Bench) -> Result<(), Stopped>,
    mut after_visit: impl FnMut(usize, usize),
) -> Result<Sharing, Stopped> {
    let mut visits = live(benches);
    let mut slices = Slices::of(benches.len());
    let mut done = 0;
    let all = visits.clone();
    for pass in 0..pace.batches + EXTRA_PASSES {
        let again = pass >= pace.batches;
        if again {
            let lone = slices.lone();
            visits.clone_from(&all);
            visits.retain(|&i| {
                let enough = watch.enough(pace.batches, pace.slices_of(&benches[i].cell));
                benches[i].live() && lone[i] < enough
            });
        }
        order.shuffle(&mut visits);
        for &i in &visits {
            let (began, patience) = (Instant::now(), watch.patience());
            if again && patience.is_zero() {
                break;
            }
            let bench = &mut benches[i];
            if lives_for_a_visit(&bench.cell) {
                renew(bench)?;
            }
            if let Some(batch) = visit(bench, pace, watch)? {
                slices.add(i, batch);
            }
            if again {
                watch.be_patient(patience.saturating_sub(began.elapsed()));
            }
            done += 1;
            after_visit(done, done.max(all.len() * pace.batches as usize));
        }
    }
    let (values, sharing) = slices.values();
    for i in all {
        // Who failed on the way keeps no rounds at all.
        if benches[i].live() {
            benches[i].rounds.extend(values[i]);
        }
    }
    Ok(sharing)
}

/// How long one round takes, about, with the batches that came out of the warm-up.
pub(super) fn takes(benches: &[Bench], pace: &Pace) -> Duration {
    let live = benches.iter().filter(|bench| bench.live());
    live.map(|bench| pace.visits(&bench.cell, bench.batch_takes()))
        .sum()
}

fn live(benches: &[Bench]) -> Vec<usize> {
    (0..benches.len()).filter(|&i| benches[i].live()).collect()
}

/// Passes that nobody counts. Who was warmed up first has waited for all the others, and its first
/// values would be those of a process that has just been woken: of all rounds that were far off, two
/// in five were the first.
pub(super) fn rehearse(
    benches: &mut [Bench],
    order: &mut Order,
    pace: &Pace,
    watch: &mut Watch<'_>,
) -> Result<(), Stopped> {
    let mut visits = live(benches);
    visits.retain(|&i| !lives_for_a_visit(&benches[i].cell));
    for _ in 0..REHEARSALS {
        order.shuffle(&mut visits);
        for &i in &visits {
            visit(&mut benches[i], pace, watch)?;
        }
    }
    Ok(())
}

/// One batch, slice by slice; watched from beside where it is one slice, and one thread's: then the time of a
/// look is time of the core that the thread had not.
fn visit(
    bench: &mut Bench,
    pace: &Pace,
    watch: &mut Watch<'_>,
) -> Result<Option<Vec<Slice>>, Stopped> {
    let slices = watch.slices(pace.slices_of(&bench.cell));
    let expected = pace.batch_of(&bench.cell);
    let lead = match bench.leads_itself() {
        true => bench.lead(OWN_LEAD),
        false => 0,
    };
    let operations = bench.iterations.div_ceil(slices);
    let mut batch = Vec::new();
    let mut left = bench.iterations;
    let mut arrives = true;
    while left > 0 {
        let operations = operations.min(left);
        left -= operations;
        let before = watch.await_lone_core();
        arrives |= watch.bring(bench);
        if std::mem::take(&mut arrives) && !bench.leads_itself() {
            bench.batch(Work::of(bench.lead(LEAD)), LEAD)?;
        }
        let watched = slices == 1 && bench.cell.threads == 1;
        let work = Work::of(operations).behind(lead);
        let mut time = || bench.batch(work, expected);
        let (slice, beside) = match watched {
            true => watch.beside(time),
            false => (time(), Beside::default()),
        };
        let Some(slice) = slice? else {
            return Ok(None);
        };
        let seen = beside.in_the_last(slice.elapsed);
        let ns_per_op = slice.ns_per_op_without(seen.took);
        if ns_per_op <= 0.0 {
            bench.fail(Status::Crashed, "says that its work took no time");
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
