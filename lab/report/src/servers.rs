//! Server rows by scenario, ordered by the compared quantity, with the figures that the gRPC report
//! published.

mod columns;
mod findings;
mod section;

pub(crate) use columns::{Line, columns};
pub use findings::findings;
pub(crate) use section::section;

use columns::name;

use jeton_lab_model::result::{ServerLoad, ServerRow};
use jeton_lab_model::servers::Scenario;
use jeton_lab_model::units;
use jeton_lab_published::servers::{PublishedRun, runs};

/// The verdict on a server whose repetitions overlap with those of the best one.
const UNDECIDED: &str = "undecided";
const UNDECIDED_MARK: &str = " (undecided)";

/// A server that used less than this share of its cores was probably not limited by them.
const BUSY: f64 = 0.85;

/// The number of steps of the report's histograms.
const STEPS: u32 = 10;

/// The rows of one scenario.
#[derive(Debug)]
pub struct ScenarioTable<'a> {
    /// The title, for example `1 core, 5×50, HS256`, with the rate of an open loop.
    pub title: String,
    /// True if server and loader share cores: only CPU time is compared.
    pub oversubscribed: bool,
    /// Calls per second of an open loop.
    pub rate: Option<f64>,
    /// Measured rows, the best first.
    pub measured: Vec<(&'a ServerRow, &'a ServerLoad)>,
    /// Unmeasured rows, each with its reason.
    pub missing: Vec<&'a ServerRow>,
    /// The report's figures, which are from closed loops.
    pub published: Vec<PublishedRun>,
}

/// Returns every scenario of a result, in the order of its rows.
#[must_use]
pub fn scenarios(rows: &[ServerRow]) -> Vec<ScenarioTable<'_>> {
    let published = runs();
    let mut keys: Vec<(Scenario, Option<u64>)> = Vec::new();
    for row in rows {
        let key = (row.of_scenario(), row.rate.map(f64::to_bits));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter()
        .map(|(scenario, rate)| {
            let of = |row: &&ServerRow| {
                row.of_scenario() == scenario && row.rate.map(f64::to_bits) == rate
            };
            let of: Vec<&ServerRow> = rows.iter().filter(of).collect();
            table(scenario, &of, &published)
        })
        .collect()
}

fn table<'a>(
    scenario: Scenario,
    of: &[&'a ServerRow],
    published: &[PublishedRun],
) -> ScenarioTable<'a> {
    let oversubscribed = of.iter().any(|row| row.oversubscribed);
    let rate = of.first().and_then(|row| row.rate);
    let compared = Compared::of(oversubscribed, rate);
    let measured = of.iter().filter_map(|row| Some((*row, row.load.as_ref()?)));
    let mut measured: Vec<(&ServerRow, &ServerLoad)> = measured.collect();
    measured.sort_by(|(_, a), (_, b)| compared.worth(b).total_cmp(&compared.worth(a)));
    ScenarioTable {
        title: rate.map_or(scenario.name(), |rate| {
            format!(
                "{}, {} calls per second",
                scenario.name(),
                units::fixed(rate, 0)
            )
        }),
        oversubscribed,
        rate,
        measured,
        missing: of
            .iter()
            .copied()
            .filter(|row| row.load.is_none())
            .collect(),
        published: published
            .iter()
            .filter(|run| run.scenario == scenario && rate.is_none())
            .cloned()
            .collect(),
    }
}

/// The quantity that rows of a table are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compared {
    /// Tokens per second.
    Tokens,
    /// Tokens per second of the server's CPU time.
    CpuTime,
    /// The p99 latency: at a fixed rate, all servers issue the same number of tokens.
    Latency,
}

impl Compared {
    /// Names the quantity in a list of findings.
    fn name(self) -> &'static str {
        match self {
            Self::Tokens => "by tokens per second",
            Self::CpuTime => "on shared cores, by CPU time",
            Self::Latency => "at a fixed rate, by p99 latency",
        }
    }

    fn of(oversubscribed: bool, rate: Option<f64>) -> Self {
        match (oversubscribed, rate) {
            (true, _) => Self::CpuTime,
            (false, None) => Self::Tokens,
            (false, Some(_)) => Self::Latency,
        }
    }

    /// Returns a score; more is better, and 0 means none.
    fn worth(self, load: &ServerLoad) -> f64 {
        match self {
            Self::Tokens => load.requests_per_s,
            Self::CpuTime => load.cpu_us_per_request.map_or(0.0, f64::recip),
            // Errors are unanswered calls: with one percent of them, p99 does not exist.
            Self::Latency if load.errors() * 100 >= load.errors() + load.answers() => 0.0,
            Self::Latency => load.latency_ms.get("p99").map_or(0.0, |ms| ms.recip()),
        }
    }

    /// Returns the figure of a row, with the lowest and highest repetition; `None` if it was not measured.
    fn figure(self, load: &ServerLoad) -> Option<(f64, [f64; 2])> {
        let ends = |values: Vec<f64>, middle: f64| {
            let low = values.iter().copied().fold(middle, f64::min);
            [low, values.into_iter().fold(middle, f64::max)]
        };
        let repetitions = load.repetitions.iter();
        match self {
            Self::Tokens => {
                let rates = repetitions.map(|one| one.requests_per_s).collect();
                Some((load.requests_per_s, ends(rates, load.requests_per_s)))
            }
            Self::CpuTime => {
                let middle = load.cpu_us_per_request?;
                let times = repetitions
                    .filter_map(|one| one.cpu_us_per_request)
                    .collect();
                Some((middle, ends(times, middle)))
            }
            Self::Latency => {
                let p99 = load.latency_ms.get("p99").copied()?;
                Some((p99, [p99, p99]))
            }
        }
        .filter(|(value, _)| *value > 0.0)
    }

    /// Compares the best server with each of the others.
    fn sentence(self, best: &str, over: &[(String, f64)]) -> String {
        let over = over.iter().map(|(id, ratio)| {
            let ratio = units::times(*ratio);
            match self {
                Self::Tokens | Self::CpuTime => format!("{ratio} × {id}"),
                Self::Latency => format!("{id}'s {ratio} ×"),
            }
        });
        let over = units::list(&over.collect::<Vec<_>>());
        match self {
            Self::Tokens => format!("Most tokens per second: {best}, {over}."),
            Self::CpuTime => format!("Most tokens per CPU time: {best}, {over}."),
            Self::Latency => format!("Shortest p99: {best}; {over} as long."),
        }
    }
}

impl ScenarioTable<'_> {
    fn compared(&self) -> Compared {
        Compared::of(self.oversubscribed, self.rate)
    }

    /// Summarises the table: the best server without a problem against the others, and the published ratio
    /// of the report's two servers with the measured one.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let compared = self.compared();
        let mut sound = (self.measured.iter())
            .filter(|(row, load)| row.reason.is_none() && load.answers() > 0)
            .filter(|(_, load)| compared.worth(load) > 0.0);
        let mut said = Vec::new();
        let best = sound.next();
        let against_best = |(row, load): &(&ServerRow, &ServerLoad)| {
            let most = best.map_or(0.0, |(_, load)| compared.worth(load));
            let mut name = row.subject.id.clone();
            if self.is_undecided(row, load) {
                name.push_str(UNDECIDED_MARK);
            }
            (name, most / compared.worth(load))
        };
        let over: Vec<(String, f64)> = sound.map(against_best).collect();
        if let Some((row, _)) = best.filter(|_| !over.is_empty()) {
            said.push(compared.sentence(&row.subject.id, &over));
        }
        said.extend(self.idle());
        said.extend(self.published_ratio());
        said
    }

    /// Names the servers whose cores were not busy: tokens per second do not show what they can do, so the
    /// CPU time of all servers without a problem is compared too.
    fn idle(&self) -> Vec<String> {
        if self.compared() != Compared::Tokens {
            return Vec::new();
        }
        let sound = || {
            let all = self.measured.iter();
            all.filter(|(row, load)| row.reason.is_none() && load.answers() > 0)
        };
        let idle = sound().filter_map(|(row, load)| {
            let seconds = load.cpu_us_per_request? * load.requests_per_s / 1e6;
            let used = seconds / f64::from(row.cores.max(1));
            let words = || format!("{} ({} used)", row.subject.id, units::percent(used));
            (used < BUSY).then(words)
        });
        let idle: Vec<String> = idle.collect();
        if idle.is_empty() {
            return Vec::new();
        }
        let mut said = vec![format!(
            "Cores not fully used, so more load may give more tokens per second: {}.",
            units::list(&idle)
        )];
        let times = sound().filter_map(|(row, load)| {
            let (us, ends) = Compared::CpuTime.figure(load)?;
            Some((row.subject.id.as_str(), us, ends))
        });
        let mut times: Vec<(&str, f64, [f64; 2])> = times.collect();
        times.sort_by(|a, b| a.1.total_cmp(&b.1));
        if let [(best, least, [low, high]), others @ ..] = times.as_slice()
            && !others.is_empty()
        {
            let against = |(id, us, [own_low, own_high]): &(&str, f64, [f64; 2])| {
                let overlaps = own_low <= high && low <= own_high;
                let mark = if overlaps { UNDECIDED_MARK } else { "" };
                (format!("{id}{mark}"), us / least)
            };
            let over: Vec<_> = others.iter().map(against).collect();
            said.push(Compared::CpuTime.sentence(best, &over));
        }
        said
    }

    /// Returns the best row without a problem.
    fn best(&self) -> Option<(&ServerRow, &ServerLoad)> {
        let compared = self.compared();
        let mut sound = self.measured.iter().filter(|(row, load)| {
            row.reason.is_none() && load.answers() > 0 && compared.worth(load) > 0.0
        });
        sound.next().copied()
    }

    /// Returns the best server, and those that cannot be told apart from it, by name.
    fn leaders(&self) -> Vec<&str> {
        let best = self.best().map(|(row, _)| row.subject.id.as_str());
        let others = self.measured.iter();
        let others = others.filter(|(row, load)| self.is_undecided(row, load));
        let others = others.map(|(row, _)| row.subject.id.as_str());
        let mut leaders: Vec<&str> = best.into_iter().chain(others).collect();
        leaders.sort_unstable();
        leaders
    }

    /// Names the compared quantity, with its unit.
    #[must_use]
    pub fn quantity(&self) -> &'static str {
        match self.compared() {
            Compared::Tokens => "tokens per second",
            Compared::CpuTime => "CPU time per token, in microseconds",
            Compared::Latency => "p99 latency, in milliseconds",
        }
    }

    /// Returns the compared figure of a row, with the lowest and highest repetition; `None` if it was not
    /// measured.
    #[must_use]
    pub fn figure(&self, load: &ServerLoad) -> Option<(f64, [f64; 2])> {
        self.compared().figure(load)
    }

    /// Reports whether the repetitions of another server than the best overlap with those of the best.
    fn is_undecided(&self, row: &ServerRow, load: &ServerLoad) -> bool {
        let overlaps = || {
            let (best, best_load) = self.best()?;
            let (_, [low, high]) = self.figure(best_load)?;
            let (_, [own_low, own_high]) = self.figure(load)?;
            Some(best.subject.id != row.subject.id && own_low <= high && low <= own_high)
        };
        row.reason.is_none()
            && self.compared() != Compared::Latency
            && overlaps().unwrap_or_default()
    }

    /// Returns the verdict on a row: its ratio to the best server without a problem. If repetitions of others
    /// overlap with those of the best, it is undecided which of them is best.
    #[must_use]
    pub fn verdict(&self, row: &ServerRow, load: &ServerLoad) -> String {
        let compared = self.compared();
        if row.reason.is_some() {
            return "faulty".to_owned();
        }
        let Some((best, best_load)) = self.best().filter(|_| self.figure(load).is_some()) else {
            return "not measured".to_owned();
        };
        if best.subject.id == row.subject.id {
            let is_alone = self.leaders().len() == 1;
            return if is_alone { "best" } else { UNDECIDED }.to_owned();
        }
        if self.is_undecided(row, load) {
            return UNDECIDED.to_owned();
        }
        let ratio = compared.worth(best_load) / compared.worth(load);
        let ratio = match compared {
            Compared::Tokens => ratio.recip(),
            Compared::CpuTime | Compared::Latency => ratio,
        };
        format!("{}\u{a0}×", units::times(ratio))
    }

    fn published_ratio(&self) -> Option<String> {
        let published = self.published.iter().find_map(|run| run.over_node)?;
        let of = |id: &str| {
            let (_, load) = self.measured.iter().find(|(row, _)| row.subject.id == id)?;
            Some(self.compared().worth(load)).filter(|worth| *worth > 0.0)
        };
        let pair = |kind: &str| Some(of(&format!("go/{kind}"))? / of(&format!("node/{kind}"))?);
        let measured: Vec<String> = ["published", "fixed"]
            .into_iter()
            .filter_map(|kind| {
                Some(format!(
                    "{} with the {kind} servers",
                    units::times(pair(kind)?)
                ))
            })
            .collect();
        if measured.is_empty() {
            return None;
        }
        let by = if self.oversubscribed {
            ", by CPU time"
        } else {
            ""
        };
        Some(format!(
            "Ratio of Go to Node.js: {} in the report; in this run {}{by}.",
            units::times(published),
            units::list(&measured)
        ))
    }
}

/// Returns the smallest and largest tokens per second of the repetitions.
#[must_use]
pub fn spread(load: &ServerLoad) -> (f64, f64) {
    let rates = || load.repetitions.iter().map(|r| r.requests_per_s);
    let low = rates().fold(f64::INFINITY, f64::min);
    (low, rates().fold(0.0, f64::max))
}

/// Returns the marks of a row that affect how to read its figures.
#[must_use]
pub fn marks(row: &ServerRow, load: &ServerLoad) -> Vec<&'static str> {
    let mut marks = Vec::new();
    if row.loader.is_some() {
        marks.push("imported");
    }
    if row.subject.as_published {
        marks.push("as published");
    }
    if row.reason.is_some() {
        marks.push("faulty");
    }
    if load.client_bound == Some(true) && !row.oversubscribed {
        marks.push("client-bound");
    }
    marks
}

/// Returns the histogram of a row in the form of the published report.
#[must_use]
pub fn histogram(load: &ServerLoad) -> Vec<(f64, u64)> {
    load.latencies.steps(STEPS)
}

/// Formats the statuses of calls: `OK 12,034, Unavailable 3`.
#[must_use]
pub fn statuses(load: &ServerLoad) -> String {
    let ended = load.statuses.iter();
    let ended: Vec<String> = ended
        .map(|(status, times)| format!("{status} {}", units::whole(*times)))
        .collect();
    ended.join(", ")
}

/// Formats milliseconds with three digits.
#[must_use]
pub fn ms(value: Option<f64>) -> String {
    value.map_or_else(String::new, |ms| {
        let decimals = match ms {
            ms if ms < 1.0 => 3,
            ms if ms < 10.0 => 2,
            ms if ms < 100.0 => 1,
            _ => 0,
        };
        units::fixed(ms, decimals)
    })
}

/// Formats bytes as mebibytes.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| {
        units::fixed(bytes as f64 / f64::from(1 << 20), 0)
    })
}
