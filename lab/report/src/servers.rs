//! Server rows by scenario, ordered by the compared quantity, with the figures that the gRPC report
//! published.

mod columns;
mod findings;
mod gateways;
mod section;

pub(crate) use columns::{Line, columns};
pub(crate) use section::{figure, section};

use columns::name;
use findings::findings;

use crate::grouped::grouped;
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
pub(crate) struct ScenarioTable<'a> {
    /// The title, for example `1 core, 5×50, HS256`, with the rate of an open loop.
    pub(crate) title: String,
    /// True if server and loader share cores: only CPU time is compared.
    pub(crate) oversubscribed: bool,
    /// Calls per second of an open loop.
    pub(crate) rate: Option<f64>,
    /// Measured rows, the best first.
    pub(crate) measured: Vec<(&'a ServerRow, &'a ServerLoad)>,
    /// Unmeasured rows, each with its reason.
    pub(crate) missing: Vec<&'a ServerRow>,
    /// The report's figures, which are from closed loops.
    pub(crate) published: Vec<PublishedRun>,
}

/// Returns every scenario of a result, in the order of its rows.
pub(crate) fn scenarios(rows: &[ServerRow]) -> Vec<ScenarioTable<'_>> {
    let published = runs();
    let rows = rows.iter();
    let keyed = rows.map(|row| ((row.of_scenario(), row.rate.map(f64::to_bits)), row));
    let tables = grouped(keyed).into_iter();
    tables
        .map(|((scenario, _), of)| table(scenario, &of, &published))
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
    let title = rate.map_or_else(String::new, |rate| {
        format!(", {} calls per second", units::fixed(rate, 0))
    });
    let missing = of.iter().filter(|row| row.load.is_none());
    let own = |run: &&PublishedRun| run.scenario == scenario && rate.is_none();
    ScenarioTable {
        title: format!("{}{title}", scenario.name()),
        oversubscribed,
        rate,
        measured,
        missing: missing.copied().collect(),
        published: published.iter().filter(own).cloned().collect(),
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
    const ALL: [Self; 3] = [Self::Tokens, Self::CpuTime, Self::Latency];

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
        let all = load.repetitions.iter();
        let (middle, of_each): (f64, Vec<f64>) = match self {
            Self::Tokens => (
                load.requests_per_s,
                all.map(|one| one.requests_per_s).collect(),
            ),
            Self::CpuTime => {
                let of_each = all.filter_map(|one| one.cpu_us_per_request);
                (load.cpu_us_per_request?, of_each.collect())
            }
            Self::Latency => (load.latency_ms.get("p99").copied()?, Vec::new()),
        };
        let low = of_each.iter().copied().fold(middle, f64::min);
        let high = of_each.into_iter().fold(middle, f64::max);
        (middle > 0.0).then_some((middle, [low, high]))
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
    pub(crate) fn sentences(&self) -> Vec<String> {
        if self.is_of_gateways() {
            return self.gateway_sentences();
        }
        let compared = self.compared();
        let mut sound = self.worthy();
        let mut said = Vec::new();
        if let Some((row, best)) = sound.next() {
            let over: Vec<(String, f64)> = sound
                .map(|(row, load)| {
                    let mark = if self.is_undecided(row, load) {
                        UNDECIDED_MARK
                    } else {
                        ""
                    };
                    let name = format!("{}{mark}", row.subject.id);
                    (name, compared.worth(best) / compared.worth(load))
                })
                .collect();
            if !over.is_empty() {
                said.push(compared.sentence(&row.subject.id, &over));
            }
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
        let idle = self.sound().filter_map(|(row, load)| {
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
        let times = self.sound().filter_map(|(row, load)| {
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

    /// Returns the measured rows, then the others.
    fn all(&self) -> impl Iterator<Item = &ServerRow> {
        let measured = self.measured.iter().map(|(row, _)| *row);
        measured.chain(self.missing.iter().copied())
    }

    /// Returns the rows without a problem.
    fn sound(&self) -> impl Iterator<Item = (&ServerRow, &ServerLoad)> {
        let all = self.measured.iter().copied();
        all.filter(|(row, load)| row.reason.is_none() && load.answers() > 0)
    }

    /// Returns those with the compared quantity, the best first.
    fn worthy(&self) -> impl Iterator<Item = (&ServerRow, &ServerLoad)> {
        let compared = self.compared();
        self.sound()
            .filter(move |(_, load)| compared.worth(load) > 0.0)
    }

    /// Returns the best server, and those that cannot be told apart from it, by name.
    fn leaders(&self) -> Vec<&str> {
        let best = self.worthy().next().map(|(row, _)| row.subject.id.as_str());
        let others = self.measured.iter();
        let others = others.filter(|(row, load)| self.is_undecided(row, load));
        let others = others.map(|(row, _)| row.subject.id.as_str());
        let mut leaders: Vec<&str> = best.into_iter().chain(others).collect();
        leaders.sort_unstable();
        leaders
    }

    /// Names the compared quantity, with its unit.
    pub(crate) fn quantity(&self) -> &'static str {
        match self.compared() {
            Compared::Tokens => "tokens per second",
            Compared::CpuTime => "CPU time per token, in microseconds",
            Compared::Latency => "p99 latency, in milliseconds",
        }
    }

    /// Returns the compared figure of a row, with the lowest and highest repetition; `None` if it was not
    /// measured.
    pub(crate) fn figure(&self, load: &ServerLoad) -> Option<(f64, [f64; 2])> {
        self.compared().figure(load)
    }

    /// Reports whether the repetitions of another server than the best overlap with those of the best.
    fn is_undecided(&self, row: &ServerRow, load: &ServerLoad) -> bool {
        let overlaps = || {
            let (best, best_load) = self.worthy().next()?;
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
    pub(crate) fn verdict(&self, row: &ServerRow, load: &ServerLoad) -> String {
        let compared = self.compared();
        if row.reason.is_some() {
            return "faulty".to_owned();
        }
        if self.is_of_gateways() {
            return self.verdict_on_gateway(row);
        }
        let best = self.worthy().next();
        let Some((best, best_load)) = best.filter(|_| self.figure(load).is_some()) else {
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
        let measured = ["published", "fixed"].into_iter().filter_map(|kind| {
            Some(format!(
                "{} with the {kind} servers",
                units::times(pair(kind)?)
            ))
        });
        let measured: Vec<String> = measured.collect();
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
pub(crate) fn spread(load: &ServerLoad) -> (f64, f64) {
    let rates = || load.repetitions.iter().map(|r| r.requests_per_s);
    let low = rates().fold(f64::INFINITY, f64::min);
    (low, rates().fold(0.0, f64::max))
}

/// Returns the marks of a row that affect how to read its figures.
pub(crate) fn marks(row: &ServerRow, load: &ServerLoad) -> Vec<&'static str> {
    let is_client_bound = load.client_bound == Some(true) && !row.oversubscribed;
    let marks = [
        ("imported", row.loader.is_some()),
        ("as published", row.subject.as_published),
        ("faulty", row.reason.is_some()),
        ("client-bound", is_client_bound),
    ];
    let own = marks.into_iter().filter(|(_, is_so)| *is_so);
    own.map(|(mark, _)| mark).collect()
}

/// Returns the histogram of a row in the form of the published report.
pub(crate) fn histogram(load: &ServerLoad) -> Vec<(f64, u64)> {
    load.latencies.steps(STEPS)
}

/// Formats the statuses of calls: `OK 12,034, Unavailable 3`.
pub(crate) fn statuses(load: &ServerLoad) -> String {
    let ended = load.statuses.iter();
    let ended = ended.map(|(status, times)| format!("{status} {}", units::whole(*times)));
    ended.collect::<Vec<_>>().join(", ")
}

/// Formats milliseconds with three digits.
pub(crate) fn ms(value: Option<f64>) -> String {
    value.map_or_else(String::new, |ms| {
        let limits = [1.0, 10.0, 100.0].into_iter();
        units::fixed(ms, limits.filter(|limit| ms < *limit).count())
    })
}

/// Formats bytes as mebibytes.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
pub(crate) fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| {
        units::fixed(bytes as f64 / f64::from(1 << 20), 0)
    })
}
