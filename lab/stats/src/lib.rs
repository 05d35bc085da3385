//! Statistics of the lab: pure functions from rounds to verdicts, without clock and I/O.
//!
//! # Method
//!
//! The unit is the *round*: one visit to every subject, in random order. A subject's value in a round
//! is the lower quartile of a few batches ([`median::round_value`]). A disturbance of a round, for
//! example a throttled clock, affects the values of all subjects of that round. So subjects are
//! compared *within* rounds: an effect is the logarithm of subject over baseline, one per round
//! ([`interval::log_ratios`]). Their mean is the geometric-mean ratio, and Student's t gives its
//! interval ([`interval::table`]).
//!
//! * **Student's t instead of a bootstrap.** At 6 to 12 rounds a percentile bootstrap covers 87 to 91 %
//!   instead of 95 %, and a sign-flip test cannot get below p = 0.03 at 6 rounds.
//! * **Several comparisons.** A table of *m* comparisons gets *m* intervals that are simultaneously
//!   right in 95 % of runs. The correction is Bonferroni's, which holds for any dependence; comparisons
//!   that share a baseline are dependent. Šidák's would be narrower by less than 1 %.
//! * **Noise floor.** A/A pairs, measured together with the compared subjects, show how far identical
//!   subjects differ in this run ([`noise`]). No pair judges itself.
//! * **Band.** Differences inside ± max(2 %, noise floor) do not count. [`verdict`] defines the four
//!   verdicts from interval and band.
//! * **Groups** instead of ranks: [`groups`].
//! * **Two runs** share no rounds: [`unpaired`] compares one subject in both, with Welch's t.
//! * **For information only**: a distribution-free interval of each row's median ([`median`]), rounds
//!   beyond the outer fences ([`outliers`], counted, never dropped), and benchstat's Mann-Whitney p
//!   ([`mann_whitney`]), which ignores pairing.
//!
//! From rounds to a verdict:
//!
//! ```
//! use jeton_lab_model::result::VerdictKind;
//! use jeton_lab_stats::interval::table;
//! use jeton_lab_stats::noise::{IdenticalPair, floor};
//! use jeton_lab_stats::groups::groups;
//! use jeton_lab_stats::verdict::{Band, judge};
//!
//! let baseline = [100.0, 101.0, 99.0, 100.0, 102.0, 100.0, 99.0, 101.0];
//! let subject = [80.0, 81.0, 80.0, 79.0, 82.0, 80.0, 80.0, 81.0];
//! let again = [100.0, 100.0, 100.0, 101.0, 101.0, 100.0, 99.0, 101.0];
//!
//! let pairs = [IdenticalPair { first: &baseline, second: &again }; 4]; // in practice: four different pairs
//! let band = Band::new(floor(&pairs, &[])?);
//! let ratios = table(&baseline, &[&subject])?;
//! assert_eq!(judge(&ratios[0], band), VerdictKind::Faster);
//! assert_eq!(groups(&[&baseline, &subject], |_, _| band)?, [2, 1]);
//! # Ok::<(), jeton_lab_stats::StatsError>(())
//! ```
//!
//! # Simulations
//!
//! A table of 7 subjects, 6 of them against the baseline, with nine A/A pairs of one kind; 2,000
//! simulated runs per line. Noise is per visit: 2 % on both sides is 2.8 % on their ratio. `cargo test
//! -p jeton-lab-stats --test it stats_simulation -- --nocapture` prints these figures and fails if
//! they leave the promised ranges.
//!
//! **Identical subjects** (in %): how often one comparison's interval covers one; all six of the table
//! do; any of the six is faster or slower; a pair is equivalent by the floor of the others; and the
//! mean floor.
//!
//! | noise | rounds | one covers | all cover | called different | pair equivalent | floor |
//! |---|---|---|---|---|---|---|
//! | Gaussian 0.5 % | 8 / 12 / 30 | 96 / 95 / 95 | 96 / 96 / 96 | 0 / 0 / 0 | 100 / 100 / 100 | 1.2 / 0.9 / 0.5 |
//! | Gaussian 1 % | 8 / 12 / 30 | 96 / 95 / 95 | 96 / 96 / 96 | 0 / 0 / 0 | 96 / 99 / 100 | 2.5 / 1.8 / 1.1 |
//! | Gaussian 2 % | 8 / 12 / 30 | 96 / 95 / 95 | 96 / 96 / 96 | 0 / 0.1 / 0 | 96 / 96 / 96 | 5.0 / 3.7 / 2.2 |
//! | 2 %, scaled in each pair by its own factor, about e^±0.4 | 8 / 12 / 30 | 96 / 95 / 96 | 95 / 96 / 95 | 0 / 0 / 0 | 91 / 93 / 95 | 7.5 / 6.0 / 3.6 |
//! | drift of 30 % along the run, 5 % from round to round, and 2 % | 8 / 12 / 30 | 95 / 95 / 95 | 96 / 96 / 96 | 0 / 0.1 / 0 | 96 / 96 / 96 | 5.7 / 4.0 / 2.2 |
//! | spikes of 5 to 50 % on every tenth batch, and 2 % | 8 / 12 / 30 | 94 / 95 / 95 | 95 / 96 / 96 | 0 / 0 / 0.1 | 95 / 95 / 94 | 5.2 / 3.9 / 2.3 |
//! | the same, with the median of a round's batches | 8 / 12 / 30 | 96 / 97 / 97 | 97 / 98 / 98 | 0 / 0 / 0 | 83 / 90 / 96 | 15.4 / 11.7 / 6.0 |
//! | two modes 4 % apart, and 1 % | 8 / 12 / 30 | 95 / 95 / 95 | 96 / 96 / 96 | 0 / 0 / 0.1 | 98 / 97 / 96 | 5.6 / 4.2 / 2.4 |
//!
//! **Effects found** (in %), in the right direction, by size:
//!
//! | noise | rounds | 3 % | 5 % | 10 % |
//! |---|---|---|---|---|
//! | Gaussian 1 % | 8 / 12 / 30 | 83 / 99 / 100 | 100 / 100 / 100 | 100 / 100 / 100 |
//! | Gaussian 2 % | 8 / 12 / 30 | 4 / 20 / 93 | 48 / 92 / 100 | 100 / 100 / 100 |
//! | drift, and 2 % | 12 | 15 | 85 | 100 |
//! | spikes, and 2 % | 12 | 18 | 85 | 100 |
//! | two modes, and 1 % | 12 | 11 | 79 | 100 |
//!
//! With 2 % noise at 12 rounds, 5 % is found in 74 % of runs with two A/A pairs, in 88 % with four, in
//! 90 % with six (alone or with three of another kind), and in 92 % with nine.
//!
//! # Limits
//!
//! * **Effects that outlast a round are not in the spread of rounds.** If processes of the same program
//!   differ permanently by 1 % (with 1 % noise per visit), an interval covers one in 45 % of runs at 12
//!   rounds and 29 % at 30: it is an interval for *these processes*. A false faster or slower then
//!   occurs in 5 to 9 % of tables, and in 1 to 2 % of the pairs; without the noise floor, in 55 % of
//!   tables at 30 rounds. New processes for each third of the rounds help only a little (at 30 rounds,
//!   58 % coverage and a false verdict in 2 % of tables): three processes are three samples, not
//!   thirty. If processes restart, one value per process instead of one per round makes the intervals
//!   right; this needs at least six restarts.
//! * **At 8 rounds and 2 % noise, a 5 % effect is found in half of the runs.** Otherwise the verdict is
//!   undecided, and [`verdict::more_rounds`] estimates the required rounds: that number decides in 89
//!   to 99 % of runs.
//! * **Identical subjects in a table are less often equivalent than an A/A pair**, 68 % at 8 rounds and
//!   1 to 2 % noise, because their intervals correct for six comparisons. The rest is undecided, not a
//!   false difference.

pub mod error;
pub mod groups;
pub mod interval;
pub mod mann_whitney;
pub mod median;
pub mod noise;
pub mod outliers;
pub mod settle;
pub mod unpaired;
pub mod verdict;
pub mod verdicts;

pub use error::StatsError;
