//! Server rows by scenario, ordered by the compared quantity, with the figures that the gRPC report
//! published. Gateways are compared with the same gateway without a check, paired by repetition.

mod columns;
mod section;

pub(crate) use columns::{Line, columns};
pub(crate) use section::{figure, section};

use itertools::Itertools as _;

use crate::grouped::grouped;
use jeton_lab_model::result::{Repetition, ServerLoad, ServerRow};
use jeton_lab_model::servers::{Call, Scenario};
use jeton_lab_model::units;
use jeton_lab_published::servers::{PublishedRun, runs};
use jeton_lab_stats::interval::difference;

/// The verdict on a server whose repetitions overlap with those of the best one.
const UNDECIDED: &str = "undecided";

/// A server that used less than this share of its cores was probably not limited by them.
const BUSY: f64 = 0.85;

pub(crate) type Loaded<'a> = (&'a ServerRow, &'a ServerLoad);

pub(crate) struct ScenarioTable<'a> {
    /// The title, for example `1 core, 5×50, HS256`, with the rate of an open loop.
    pub(crate) title: String,
    /// True if server and loader share cores: only CPU time is compared.
    pub(crate) oversubscribed: bool,
    pub(crate) rate: Option<f64>,
    pub(crate) compared: Compared,
    /// Measured rows, the best first.
    pub(crate) measured: Vec<Loaded<'a>>,
    missing: Vec<&'a ServerRow>,
    published: Vec<PublishedRun>,
}

pub(crate) fn scenarios(rows: &[ServerRow]) -> Vec<ScenarioTable<'_>> {
    let published = runs();
    let rows = rows.iter();
    let keyed = rows.map(|row| ((row.of_scenario(), row.rate.map(f64::to_bits)), row));
    let tables = grouped(keyed).into_iter();
    tables
        .map(|((scenario, _), of)| ScenarioTable::of(scenario, &of, &published))
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    Tokens,
    /// Tokens per second of the server's CPU time.
    CpuTime,
    /// The p99 latency: at a fixed rate, all servers issue the same number of tokens.
    Latency,
}

impl Compared {
    pub(crate) fn quantity(self) -> &'static str {
        match self {
            Self::Tokens => "tokens per second",
            Self::CpuTime => "CPU time per token, in microseconds",
            Self::Latency => "p99 latency, in milliseconds",
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
    pub(crate) fn figure(self, load: &ServerLoad) -> Option<(f64, [f64; 2])> {
        let (middle, of_each): (f64, fn(&Repetition) -> Option<f64>) = match self {
            Self::Tokens => (load.requests_per_s, |one| Some(one.requests_per_s)),
            Self::CpuTime => (load.cpu_us_per_request?, |one| one.cpu_us_per_request),
            Self::Latency => (*load.latency_ms.get("p99")?, |_| None),
        };
        let all = || load.repetitions.iter().filter_map(of_each);
        let (low, high) = (all().fold(middle, f64::min), all().fold(middle, f64::max));
        (middle > 0.0).then_some((middle, [low, high]))
    }

    fn overlap(self, one: &ServerLoad, other: &ServerLoad) -> bool {
        let both = self.figure(one).zip(self.figure(other));
        self != Self::Latency
            && both
                .is_some_and(|((_, [low, high]), (_, [least, most]))| least <= high && low <= most)
    }

    fn sentence(self, best: &str, over: impl Iterator<Item = (String, f64)>) -> String {
        let over = units::list(over.map(|(id, ratio)| {
            let ratio = units::times(ratio);
            match self {
                Self::Tokens | Self::CpuTime => format!("{ratio} × {id}"),
                Self::Latency => format!("{id}'s {ratio} ×"),
            }
        }));
        match self {
            Self::Tokens => format!("Most tokens per second: {best}, {over}."),
            Self::CpuTime => format!("Most tokens per CPU time: {best}, {over}."),
            Self::Latency => format!("Shortest p99: {best}; {over} as long."),
        }
    }
}

impl<'a> ScenarioTable<'a> {
    fn of(scenario: Scenario, of: &[&'a ServerRow], published: &[PublishedRun]) -> Self {
        let oversubscribed = of.iter().any(|row| row.oversubscribed);
        let rate = of.first().and_then(|row| row.rate);
        let compared = match (oversubscribed, rate) {
            (true, _) => Compared::CpuTime,
            (false, None) => Compared::Tokens,
            (false, Some(_)) => Compared::Latency,
        };
        let measured = of.iter().filter_map(|row| Some((*row, row.load.as_ref()?)));
        let mut measured: Vec<Loaded<'a>> = measured.collect();
        measured.sort_by(|(_, a), (_, b)| compared.worth(b).total_cmp(&compared.worth(a)));
        let at_rate = rate.map_or_else(String::new, |rate| {
            format!(", {} calls per second", units::fixed(rate, 0))
        });
        let missing = of.iter().filter(|row| row.load.is_none());
        let own = |run: &&PublishedRun| run.scenario == scenario && rate.is_none();
        Self {
            title: format!("{}{at_rate}", scenario.name()),
            oversubscribed,
            rate,
            compared,
            measured,
            missing: missing.copied().collect(),
            published: published.iter().filter(own).cloned().collect(),
        }
    }

    /// Summarises the table: the best server without a problem against the others, and the published ratio
    /// of the report's two servers with the measured one.
    pub(crate) fn sentences(&self) -> Vec<String> {
        if self.is_of_gateways() {
            return self.gateway_sentences();
        }
        let best = self.against(self.compared);
        let all = best.into_iter().chain(self.idle());
        all.chain(self.published_ratio()).collect()
    }

    fn against(&self, compared: Compared) -> Option<String> {
        let ranked = self.ranked(compared);
        let ((row, best), others) = ranked.split_first()?;
        let over = others.iter().map(|(row, load)| {
            let is_open = compared.overlap(best, load);
            let mark = if is_open { " (undecided)" } else { "" };
            let ratio = compared.worth(best) / compared.worth(load);
            (format!("{}{mark}", row.subject.id), ratio)
        });
        (!others.is_empty()).then(|| compared.sentence(&row.subject.id, over))
    }

    /// Names the servers whose cores were not busy: tokens per second do not show what they can do, so the
    /// CPU time of all servers without a problem is compared too.
    fn idle(&self) -> Vec<String> {
        let idle = self.sound().filter_map(|(row, load)| {
            let seconds = load.cpu_us_per_request? * load.requests_per_s / 1e6;
            let used = seconds / f64::from(row.cores.max(1));
            let words = || format!("{} ({} used)", row.subject.id, units::percent(used));
            (used < BUSY).then(words)
        });
        let idle = units::list(idle);
        if idle.is_empty() || self.compared != Compared::Tokens {
            return Vec::new();
        }
        let idle =
            format!("Cores not fully used, so more load may give more tokens per second: {idle}.");
        let times = self.against(Compared::CpuTime);
        [idle].into_iter().chain(times).collect()
    }

    fn all(&self) -> impl Iterator<Item = &ServerRow> {
        let measured = self.measured.iter().map(|(row, _)| *row);
        measured.chain(self.missing.iter().copied())
    }

    fn sound(&self) -> impl Iterator<Item = Loaded<'a>> {
        let all = self.measured.iter().copied();
        all.filter(|(row, load)| row.reason.is_none() && load.answers() > 0)
    }

    fn ranked(&self, compared: Compared) -> Vec<Loaded<'a>> {
        let known = self.sound();
        let known = known.filter(|(_, load)| compared.worth(load) > 0.0);
        known
            .sorted_by(|(_, a), (_, b)| compared.worth(b).total_cmp(&compared.worth(a)))
            .collect()
    }

    /// Returns the best server, and those that cannot be told apart from it, by name.
    fn leaders(&self) -> Vec<&'a str> {
        let ranked = self.ranked(self.compared);
        let is_leader = |(index, (_, load)): &(usize, &Loaded<'a>)| {
            *index == 0 || self.compared.overlap(ranked[0].1, load)
        };
        let leaders = ranked.iter().enumerate().filter(is_leader);
        let names = leaders.map(|(_, (row, _))| row.subject.id.as_str());
        names.sorted_unstable().collect()
    }

    /// Returns the verdict on a row: its ratio to the best server without a problem. If repetitions of others
    /// overlap with those of the best, it is undecided which of them is best.
    pub(crate) fn verdict(&self, row: &ServerRow, load: &ServerLoad) -> String {
        let compared = self.compared;
        let ranked = self.ranked(compared);
        let best = ranked.first().filter(|_| compared.figure(load).is_some());
        let (id, leaders) = (row.subject.id.as_str(), self.leaders());
        match best {
            _ if row.reason.is_some() => "faulty".to_owned(),
            _ if self.is_of_gateways() => self.verdict_on_gateway(row),
            None => "not measured".to_owned(),
            Some((best, _)) if best.subject.id == id && leaders.len() == 1 => "best".to_owned(),
            Some(_) if leaders.contains(&id) => UNDECIDED.to_owned(),
            Some((_, best)) => {
                let ratio = compared.worth(best) / compared.worth(load);
                let is_rate = compared == Compared::Tokens;
                let ratio = if is_rate { ratio.recip() } else { ratio };
                format!("{}\u{a0}×", units::times(ratio))
            }
        }
    }

    fn published_ratio(&self) -> Option<String> {
        let published = units::times(self.published.iter().find_map(|run| run.over_node)?);
        let of = |id: &str| {
            let (_, load) = self.measured.iter().find(|(row, _)| row.subject.id == id)?;
            Some(self.compared.worth(load)).filter(|worth| *worth > 0.0)
        };
        let measured = ["published", "fixed"].into_iter().filter_map(|kind| {
            let ratio = of(&format!("go/{kind}"))? / of(&format!("node/{kind}"))?;
            Some(format!("{} with the {kind} servers", units::times(ratio)))
        });
        let measured = units::list(measured);
        let by = if self.oversubscribed {
            ", by CPU time"
        } else {
            ""
        };
        (!measured.is_empty()).then(|| {
            format!(
                "Ratio of Go to Node.js: {published} in the report; in this run {measured}{by}."
            )
        })
    }
}

pub(crate) fn name(row: &ServerRow) -> String {
    let faulty = if row.reason.is_some() { ", faulty" } else { "" };
    format!("{}{faulty}", row.subject.id)
}

fn marks(row: &ServerRow, load: &ServerLoad) -> Vec<&'static str> {
    let is_client_bound = load.client_bound == Some(true) && !row.oversubscribed;
    let marks = [
        row.loader.is_some().then_some("imported"),
        row.subject.as_published.then_some("as published"),
        row.reason.is_some().then_some("faulty"),
        is_client_bound.then_some("client-bound"),
    ];
    marks.into_iter().flatten().collect()
}

/// Formats the statuses of calls: `OK 12,034, Unavailable 3`.
fn statuses(load: &ServerLoad) -> String {
    let ended = load.statuses.iter();
    let mut ended = ended.map(|(status, times)| format!("{status} {}", units::whole(*times)));
    ended.join(", ")
}

fn ms(ms: f64) -> String {
    let limits = [1.0, 10.0, 100.0].into_iter();
    units::fixed(ms, limits.filter(|limit| ms < *limit).count())
}

/// What a check adds, with its interval from two repetitions on.
type Added = (f64, Option<[f64; 2]>);

/// Returns the differences of two loads of the same rounds; `None` if it is not known which belong together.
fn added(more: &[Option<f64>], less: &[Option<f64>], comparisons: usize) -> Option<Added> {
    let known = |all: &[Option<f64>]| all.iter().copied().collect::<Option<Vec<f64>>>();
    let (more, less) = (known(more)?, known(less)?);
    match (difference(&more, &less, comparisons), &more[..], &less[..]) {
        (Ok(found), ..) => Some((found.mean, Some(found.interval))),
        (Err(_), [more], [less]) => Some((more - less, None)),
        (Err(_), ..) => None,
    }
}

fn each(load: &ServerLoad, of: fn(&Repetition) -> Option<f64>) -> Vec<Option<f64>> {
    load.repetitions.iter().map(of).collect()
}

fn ends(interval: Option<[f64; 2]>, form: impl Fn(f64) -> String) -> String {
    interval.map_or_else(
        || "one repetition: no interval".to_owned(),
        |[low, high]| format!("{} to {}", form(low), form(high)),
    )
}

impl ScenarioTable<'_> {
    /// Whether its rows are gateways, which are compared with themselves without the check.
    pub(crate) fn is_of_gateways(&self) -> bool {
        self.all().any(|row| row.call.is_of_a_gateway())
    }

    /// Returns what the check of a row adds to each repetition of the gateway without it.
    fn added(&self, row: &ServerRow, of: fn(&Repetition) -> Option<f64>) -> Option<Added> {
        let id = row.subject.bare.as_deref()?;
        let load = |id: &str| self.sound().find(|(row, _)| row.subject.id == id);
        let ((_, own), (_, bare)) = (load(&row.subject.id)?, load(id)?);
        let checks = self.sound().filter(|(row, _)| row.subject.bare.is_some());
        added(&each(own, of), &each(bare, of), checks.count())
    }

    fn verdict_on_gateway(&self, row: &ServerRow) -> String {
        if row.subject.bare.is_none() {
            return "without a check".to_owned();
        }
        self.added(row, |one| one.cpu_us_per_request).map_or_else(
            || "not compared".to_owned(),
            |(us, interval)| format!("{} µs more ({})", figure(us), ends(interval, figure)),
        )
    }

    /// Says what each check adds, who rejects a revoked token, and how far two processes of one gateway differ.
    fn gateway_sentences(&self) -> Vec<String> {
        let mut said = Vec::new();
        let mut checks: Vec<(&ServerRow, Added)> = self
            .sound()
            .filter_map(|(row, _)| Some((row, self.added(row, |one| one.cpu_us_per_request)?)))
            .collect();
        checks.sort_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b));
        for (row, (us, interval)) in &checks {
            let (id, bare) = (&row.subject.id, row.subject.bare.as_deref());
            let latency = self.added(row, |one| one.p50_ms).map(|(added, interval)| {
                let ends = ends(interval, ms);
                format!(", and {} ms to the median latency ({ends})", ms(added))
            });
            said.push(format!(
                "{id} adds {} µs of CPU time for each request to {} ({}){}.",
                figure(*us),
                bare.unwrap_or_default(),
                ends(*interval, figure),
                latency.unwrap_or_default()
            ));
        }
        let is_revoked = self.all().any(|row| row.call == Call::PassRevoked);
        let rejecting = self.sound().filter(|(row, _)| row.subject.bare.is_some());
        let rejecting: Vec<&str> = rejecting.map(|(row, _)| row.subject.id.as_str()).collect();
        if is_revoked && !rejecting.is_empty() {
            said.push(format!(
                "The revoked token is rejected by {}.",
                units::list(rejecting)
            ));
        }
        let pairs = self.sound().filter_map(|(row, load)| {
            let second = each(load, |one| one.second_cpu_us_per_request);
            let first = each(load, |one| one.cpu_us_per_request);
            let (us, interval) = added(&second, &first, 1)?;
            Some(format!(
                "Two processes of {} differ by {} µs of CPU time ({}). Smaller costs are undecided.",
                row.subject.id,
                figure(us),
                ends(interval, figure)
            ))
        });
        said.extend(pairs);
        said
    }
}
