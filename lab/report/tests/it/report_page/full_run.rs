//! A synthetic result of the size of a full run: every row that `lab run` plans for the three
//! suites over all drivers of this checkout, with twelve rounds of noise and some failures.

use std::collections::BTreeMap;

use jeton_lab_harness::driver;
use jeton_lab_harness::suite;
use jeton_lab_harness::suite::{Choice, Comparison, Extent, Plan, Suite};
use jeton_lab_model::claims::ClaimsSets;
use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{
    AaPair, ClaimsSet, NoiseFloor, Row, Rows, RunResult, Status, Timing, Verdict,
};
use jeton_lab_model::{Case, Operation};
use jeton_lab_published as published;
use jeton_lab_report::recommendation::recommend;
use jeton_lab_stats::groups::groups;
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::mann_whitney::p_value;
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::noise::{IdenticalPair, floor, judge_each};
use jeton_lab_stats::outliers::beyond_outer_fences;
use jeton_lab_stats::verdict::{Band, judge, more_rounds};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const ROUNDS: usize = 12;

/// The number of A/A pairs in a full run.
const PAIRS: usize = 9;

/// Returns the whole run.
pub(crate) fn result() -> RunResult {
    let drivers = driver::find(&driver::folder(None)).unwrap();
    let choice = Choice {
        concurrency: 2,
        ..Choice::of(&Suite::ALL, Extent::Usual)
    };
    let plan = suite::plan(&drivers, &choice, &published::all_works(choice.concurrency)).unwrap();
    let mut noise = Noise(ChaCha8Rng::seed_from_u64(7));
    let sets = ClaimsSets::issued_at(1_790_000_000, None);
    let cases = plan.cases.iter();
    let mut rows: Vec<Row> = cases.map(|(c, s)| row(c, s, &sets, &mut noise)).collect();
    break_some(&mut rows);
    let mut result = crate::sample::empty();
    result.command = "jeton-lab run".to_owned();
    result.noise_floor = noise_floor(&rows, &mut noise);
    result.verdicts = verdicts(&plan, &rows, &result.noise_floor);
    let environment = &mut result.environment;
    environment.elapsed_s = 3_312.4;
    (environment.rounds_planned, environment.rounds_finished) = (ROUNDS as u32, ROUNDS as u32);
    environment.drivers = drivers
        .iter()
        .map(|d| (d.id.clone(), noise.hex(64)))
        .collect();
    environment.runtimes = BTreeMap::from(
        [
            ("go", "go1.26.8"),
            ("java", "17.0.16+8-Debian-1deb12u1"),
            ("node", "v20.20.2"),
            ("python", "3.11.2"),
            ("rust", "1.95.0"),
        ]
        .map(|(language, version)| (language.to_owned(), version.to_owned())),
    );
    result.rows = Rows::from(rows);
    published::complete(&mut result);
    let requirements = Requirements::parse(&["verify-by-third-parties,languages=go+node"]).unwrap();
    result.recommendation = Some(recommend(&result, &requirements, false));
    result
}

struct Noise(ChaCha8Rng);

impl Noise {
    /// Returns a uniform number between 0 and 1.
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns rounds around this time.
    fn rounds(&mut self, ns: f64) -> Vec<f64> {
        let one = |_| ns * (1.0 + 0.03 * (self.share() + self.share() - 1.0));
        (0..ROUNDS).map(one).collect()
    }

    fn hex(&mut self, digits: usize) -> String {
        let one = |_| char::from(b"0123456789abcdef"[self.0.next_u64() as usize % 16]);
        (0..digits).map(one).collect()
    }
}

fn row(case: &Case, suite: &str, sets: &ClaimsSets, noise: &mut Noise) -> Row {
    let bytes = sets
        .named(&case.claims)
        .map_or(0, |set| set.bytes(case.format));
    let mut row = crate::sample::row(suite, case.operation.name(), case.subject());
    row.reference = case.is_reference();
    row.claims = ClaimsSet {
        name: case.claims.clone(),
        bytes,
    };
    row.threads = case.threads;
    let about_keys = matches!(case.operation, Operation::GenerateKey | Operation::LoadKey);
    if !about_keys {
        row.token_bytes = Some(token_bytes(case, bytes));
    }
    row.ns_per_op = Some(timing(noise.rounds(time(case, bytes))));
    if matches!(case.language.as_str(), "rust" | "go" | "java") {
        row.bytes_per_op = Some((440.0 * slowness(case) + 2.5 * bytes as f64).round());
        row.allocs_per_op = Some((5.0 * slowness(case)).floor());
    }
    row.peak_rss_bytes = Some(9_000_000 + (noise.share() * 6e7) as u64);
    row
}

fn timing(rounds: Vec<f64>) -> Timing {
    let median = median_interval(&rounds).unwrap();
    Timing {
        median: median.median,
        interval: median.interval,
        outliers: beyond_outer_fences(&rounds),
        unsettled: false,
        rounds,
    }
}

/// The overhead of the library, as a multiple of that of a lean one.
fn slowness(case: &Case) -> f64 {
    let language = match case.language.as_str() {
        "rust" => 1.0,
        "go" => 4.0,
        "java" => 6.0,
        "node" => 9.0,
        _ => 30.0,
    };
    let own = case.driver.bytes().map(u64::from).sum::<u64>() % 17;
    if case.library == "jeton" {
        1.0
    } else {
        language * (1.0 + own as f64 / 12.0)
    }
}

fn time(case: &Case, bytes: u64) -> f64 {
    let alg = case.effective_alg();
    let primitive = match alg.as_str() {
        a if a.starts_with("RS") || a.starts_with("PS") => [300_000.0, 16_000.0],
        a if a.starts_with("RSA") => [18_000.0, 310_000.0],
        a if a.starts_with("ES") => [16_000.0, 49_000.0],
        a if a.starts_with("Ed") => [9_000.0, 37_000.0],
        a if a.starts_with("ECDH") => [60_000.0, 52_000.0],
        a if a.starts_with("PBES2") => [900_000.0, 900_000.0],
        _ => [330.0, 350.0],
    };
    let bits = f64::from(case.key_bits.unwrap_or(2048)) / 2048.0;
    let [make, open] = primitive.map(|ns| ns * bits);
    let primitive = match case.operation {
        Operation::Sign | Operation::Encrypt => make,
        Operation::RoundTrip => make + open,
        _ => open,
    };
    primitive + slowness(case) * (400.0 + 1.1 * bytes as f64)
}

fn token_bytes(case: &Case, claims: u64) -> u64 {
    let alg = case.effective_alg();
    let around = match alg.as_str() {
        a if a.starts_with("RS") || a.starts_with("PS") => 378,
        a if a.starts_with("HS512") || a.starts_with("ES") || a.starts_with("Ed") => 122,
        a if a.starts_with("HS") => 79,
        _ => 160,
    };
    let own = u64::from(case.language != "rust") * 7;
    claims * 4 / 3 + around + own
}

/// Makes about one row in fifty fail.
fn break_some(rows: &mut [Row]) {
    for (number, row) in rows.iter_mut().enumerate() {
        if number % 151 == 60 {
            let why = "accepted a token whose signature had one bit flipped";
            crate::sample::fail(row, Status::FailedPreflight, why);
        } else if row.subject.library == "paseto-ts" {
            let why = "`npm ci` ended with 1: the registry could not be reached, so the library of this driver is not there";
            crate::sample::fail(row, Status::Unavailable, why);
        }
    }
}

fn noise_floor(rows: &[Row], noise: &mut Noise) -> NoiseFloor {
    let every = rows.len() / PAIRS;
    let originals = rows.iter().filter(|r| r.ns_per_op.is_some());
    let measured: Vec<(&Row, [Vec<f64>; 2])> = originals
        .step_by(every)
        .take(PAIRS)
        .map(|row| {
            let timing = row.ns_per_op.as_ref().unwrap();
            (row, [timing.rounds.clone(), noise.rounds(timing.median)])
        })
        .collect();
    let pairs: Vec<IdenticalPair<'_>> = measured
        .iter()
        .map(|(_, [first, second])| IdenticalPair { first, second })
        .collect();
    let judged = judge_each(&pairs, &[]).unwrap();
    let floor = floor(&pairs, &[]).unwrap();
    let pairs = measured.iter().zip(judged);
    NoiseFloor {
        floor,
        managed: floor,
        threads: Vec::new(),
        pairs: pairs
            .map(|((row, rounds), (ratio, verdict))| AaPair {
                subject: row.subject.id.clone(),
                operation: row.operation.clone(),
                threads: row.threads,
                ratio: ratio.ratio(),
                interval: ratio.interval(),
                verdict,
                rounds: rounds.clone(),
            })
            .collect(),
    }
}

fn verdicts(plan: &Plan, rows: &[Row], noise: &NoiseFloor) -> Vec<Verdict> {
    let of = |case: &Case| {
        let id = case.subject_id();
        let rounds = rows.iter().find(|row| {
            row.subject.id == id
                && row.operation == case.operation.name()
                && row.claims.name == case.claims
                && row.threads == case.threads
        });
        rounds.and_then(|row| Some(row.ns_per_op.as_ref()?.rounds.as_slice()))
    };
    let planned = plan.comparisons.iter();
    let measured = planned.filter_map(|c| c.narrowed(|case| of(case).is_some()));
    let judged = measured.flat_map(|c| judged(&c, &of, Band::new(noise.floor)));
    judged.collect()
}

fn judged<'a>(
    comparison: &Comparison,
    of: &impl Fn(&Case) -> Option<&'a [f64]>,
    band: Band,
) -> Vec<Verdict> {
    let cases = comparison.cases();
    let rounds: Vec<&[f64]> = cases.iter().filter_map(of).collect();
    let groups = groups(&rounds, |_, _| band).unwrap();
    let one = |index: usize| {
        let ratio = estimate(rounds[index], rounds[0], cases.len() - 1).unwrap();
        let factors = Comparison::factors(&cases[0], &cases[index]);
        Verdict {
            suite: comparison.suite().to_owned(),
            operation: comparison.operation().name().to_owned(),
            claims: comparison.claims().to_owned(),
            threads: comparison.threads(),
            comparison: comparison.title().to_owned(),
            confounded: factors.len() > 1,
            factors: factors.into_iter().map(str::to_owned).collect(),
            baseline: cases[0].subject_id(),
            subject: cases[index].subject_id(),
            ratio: ratio.ratio(),
            interval: ratio.interval(),
            verdict: judge(&ratio, band),
            group: groups[index],
            baseline_group: Some(groups[0]),
            more_rounds: more_rounds(&ratio, band),
            p_value: p_value(rounds[index], rounds[0]),
        }
    };
    (1..cases.len()).map(one).collect()
}
