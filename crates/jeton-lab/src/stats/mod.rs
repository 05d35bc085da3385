//! Statistics of the lab: pure functions from rounds to verdicts. No clock, no I/O.
//!
//! # What is claimed, and on what ground
//!
//! The unit is the *round*: one visit to every subject, in random order. A subject's value in a
//! round is the lower quartile of a few batches ([`median::round_value`]). Whatever a round does to
//! everybody (a clock that throttles, a neighbour that wakes up) is in every subject's value of
//! that round, so subjects are compared *within* rounds: an effect is the logarithm of subject
//! over baseline, one per round ([`interval::log_ratios`]). Their mean is the geometric-mean
//! ratio, and Student's t gives its interval ([`interval::table`]).
//!
//! * **Why t and not a bootstrap.** At 6 to 12 rounds a percentile bootstrap covers 87 to 91 %
//!   where it says 95 %, and a sign-flip test cannot get below p = 0.03 at 6 rounds.
//! * **Many comparisons.** A table of *m* comparisons gets *m* intervals that are right together
//!   in 95 % of runs: Bonferroni's bound, because it holds whatever the dependence, and
//!   comparisons that share a baseline are dependent. Šidák's would be narrower by less than 1 %.
//! * **Noise floor.** Identical subjects, measured under two names beside the compared ones,
//!   show what this run makes out of nothing ([`noise`]). No pair judges itself.
//! * **Band.** Differences inside ± max(2 %, noise floor) are of no interest, or not to be
//!   believed. [`verdict`] says how interval and band make one of four verdicts.
//! * **Groups**, never ranks inside the noise: [`groups`].
//! * **Two runs** share no rounds: [`unpaired`] compares one subject in both, with Welch's t.
//! * **For information only**: a distribution-free interval of each row's median ([`median`]),
//!   rounds beyond the outer fences ([`outliers`], counted, never dropped), and the
//!   Mann-Whitney p of benchstat ([`mann_whitney`]), which knows nothing of pairing.
//!
//! From rounds to a verdict:
//!
//! ```
//! use jeton_lab::result::VerdictKind;
//! use jeton_lab::stats::interval::table;
//! use jeton_lab::stats::noise::{IdenticalPair, floor};
//! use jeton_lab::stats::groups::groups;
//! use jeton_lab::stats::verdict::{Band, judge};
//!
//! let baseline = [100.0, 101.0, 99.0, 100.0, 102.0, 100.0, 99.0, 101.0];
//! let subject = [80.0, 81.0, 80.0, 79.0, 82.0, 80.0, 80.0, 81.0];
//! let again = [100.0, 100.0, 100.0, 101.0, 101.0, 100.0, 99.0, 101.0];
//!
//! let pairs = [IdenticalPair { first: &baseline, second: &again }; 4]; // in truth: four pairs
//! let band = Band::new(floor(&pairs, &[])?);
//! let ratios = table(&baseline, &[&subject])?;
//! assert_eq!(judge(&ratios[0], band), VerdictKind::Faster);
//! assert_eq!(groups(&[&baseline, &subject], |_, _| band)?, [2, 1]);
//! # Ok::<(), jeton_lab::stats::StatsError>(())
//! ```
//!
//! # What the simulations say
//!
//! A table of 7 subjects, 6 of them against the baseline, and nine identical pairs of one kind beside
//! it; 2,000 simulated runs a line. Noise is per visit: 2 % on both sides is 2.8 % on
//! their ratio. `cargo test -p jeton-lab --test stats_simulation -- --nocapture` prints these figures,
//! and fails when they leave the ranges promised.
//!
//! **Identical subjects** (in %): how often one comparison's interval covers one; all six of the
//! table do; any of the six is called faster or slower; a pair is called equivalent by the floor
//! of the others; and the mean floor.
//!
//! | noise | rounds | one covers | all cover | called different | pair equivalent | floor |
//! |---|---|---|---|---|---|---|
//! | Gaussian 0.5 % | 8 / 12 / 30 | 96 / 95 / 95 | 96 / 96 / 96 | 0 / 0 / 0 | 100 / 100 / 100 | 1.2 / 0.9 / 0.5 |
//! | Gaussian 1 % | 8 / 12 / 30 | 96 / 95 / 95 | 96 / 96 / 96 | 0 / 0 / 0 | 96 / 99 / 100 | 2.5 / 1.8 / 1.1 |
//! | Gaussian 2 % | 8 / 12 / 30 | 96 / 95 / 95 | 96 / 96 / 96 | 0 / 0.1 / 0 | 96 / 96 / 96 | 5.0 / 3.7 / 2.2 |
//! | 2 %, and in each pair that by a factor of its own, e^±0.4 about | 8 / 12 / 30 | 96 / 95 / 96 | 95 / 96 / 95 | 0 / 0 / 0 | 91 / 93 / 95 | 7.5 / 6.0 / 3.6 |
//! | drift of 30 % along the run, 5 % from round to round, and 2 % | 8 / 12 / 30 | 95 / 95 / 95 | 96 / 96 / 96 | 0 / 0.1 / 0 | 96 / 96 / 96 | 5.7 / 4.0 / 2.2 |
//! | spikes of 5 to 50 % on every tenth batch, and 2 % | 8 / 12 / 30 | 94 / 95 / 95 | 95 / 96 / 96 | 0 / 0 / 0.1 | 95 / 95 / 94 | 5.2 / 3.9 / 2.3 |
//! | the same, with the median of a round's batches | 8 / 12 / 30 | 96 / 97 / 97 | 97 / 98 / 98 | 0 / 0 / 0 | 83 / 90 / 96 | 15.4 / 11.7 / 6.0 |
//! | two modes 4 % apart, and 1 % | 8 / 12 / 30 | 95 / 95 / 95 | 96 / 96 / 96 | 0 / 0 / 0.1 | 98 / 97 / 96 | 5.6 / 4.2 / 2.4 |
//!
//! **Effects found** (in %), called in the right direction, by their size:
//!
//! | noise | rounds | 3 % | 5 % | 10 % |
//! |---|---|---|---|---|
//! | Gaussian 1 % | 8 / 12 / 30 | 83 / 99 / 100 | 100 / 100 / 100 | 100 / 100 / 100 |
//! | Gaussian 2 % | 8 / 12 / 30 | 4 / 20 / 93 | 48 / 92 / 100 | 100 / 100 / 100 |
//! | drift, and 2 % | 12 | 15 | 85 | 100 |
//! | spikes, and 2 % | 12 | 18 | 85 | 100 |
//! | two modes, and 1 % | 12 | 11 | 79 | 100 |
//!
//! With 2 % noise at 12 rounds, 5 % is found in 74 % of runs with two identical pairs, in 88 %
//! with four, in 90 % with six, alone or beside three of another kind, and in 92 % with nine.
//!
//! # What they do not promise
//!
//! * **What outlasts a round is not in the spread of rounds.** If processes of the same program
//!   differ by 1 % for good (and by 1 % a visit), an interval covers one in 45 % of runs at 12
//!   rounds and 29 % at 30: it is an interval for *these processes*. A false faster or slower is
//!   then in 5 to 9 % of tables, and in 1 to 2 % of the pairs; without the noise floor it would be in
//!   55 % of tables at 30 rounds.
//!   New processes for each third of the rounds help less than one may think (at 30 rounds, 58 %
//!   coverage and a false verdict in 2 % of tables): three lives of a process are three draws, not
//!   thirty. Where processes are restarted, one value for each life of a process in place of one
//!   for each round makes the intervals right, and it takes at least six lives to be of use.
//! * **At 8 rounds and 2 % noise a 5 % effect is a coin toss.** The verdict is then "cannot tell",
//!   and [`verdict::more_rounds`] says what would help: rounds asked for so decide in 89 to 99 %
//!   of runs.
//! * **Identical subjects in a table are called equivalent less often than a pair alone**, 68 % at
//!   8 rounds and 1 to 2 % noise, because their intervals allow for six comparisons. The rest is
//!   "cannot tell", not a false difference.

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

pub use error::StatsError;
