//! A row during the measurement.

use std::time::Duration;

use super::gateway::PASSES_REVOKED;
use super::loader::Loaded;
use super::manifest::Server;
use super::pacing::{Peak, Planned};
use super::preflight::Checked;
use jeton_lab_harness::host::ServerCores;
use jeton_lab_model::result::{
    Repetition, ServerLoad, ServerRow, ServerSubject, Status, latency_ms,
};
use jeton_lab_model::servers::Call;
use jeton_lab_stats::median::median as middle;

/// One server under one load, so far.
#[derive(Debug)]
pub(super) struct RowDraft {
    planned: Planned,
    subject: ServerSubject,
    oversubscribed: bool,
    status: Status,
    reasons: Vec<String>,
    loads: Vec<(Loaded, Option<Duration>)>,
    /// Tokens per second of a second process of the server, for each repetition, and its CPU time for each token.
    seconds: Vec<(f64, Option<f64>)>,
    base: Option<u64>,
    peak: Option<u64>,
}

impl RowDraft {
    pub(super) fn new(
        server: &Server,
        planned: Planned,
        server_cores: &ServerCores,
        absent: Option<&str>,
        seen: &Checked,
    ) -> Self {
        let manifest = &server.manifest;
        let call = planned.scenario.call;
        let passes_revoked = seen.passes_revoked && call == Call::PassRevoked;
        let absent = if server.offers(call) {
            absent.or(passes_revoked.then_some(PASSES_REVOKED))
        } else {
            Some("does not offer this call")
        };
        let (status, reasons) = match absent {
            Some(reason) => (Status::Unavailable, vec![reason.to_owned()]),
            None if seen.findings.is_empty() => (Status::Ok, Vec::new()),
            None => (Status::FailedPreflight, seen.findings.clone()),
        };
        Self {
            planned,
            subject: ServerSubject {
                id: server.id.clone(),
                name: manifest.name.clone(),
                language: manifest.language.clone(),
                libraries: server.libraries(),
                as_published: manifest.as_published,
                bare: manifest.bare.clone(),
            },
            oversubscribed: server_cores.oversubscribed,
            status,
            reasons,
            loads: Vec::new(),
            seconds: Vec::new(),
            base: None,
            peak: None,
        }
    }

    pub(super) fn add(
        &mut self,
        loaded: Loaded,
        cpu: Option<Duration>,
        peak: Option<u64>,
        base: Option<u64>,
    ) {
        if let Some(what) = &loaded.wrong_token {
            self.status = Status::FailedPreflight;
            self.reasons
                .push(format!("a token does not verify under load: {what}"));
        }
        self.peak = self.peak.max(peak);
        self.base = base;
        self.loads.push((loaded, cpu));
    }

    /// Adds a load of the second process of the server.
    pub(super) fn add_second(&mut self, loaded: &Loaded, cpu: Option<Duration>) {
        let cpu = cpu.and_then(|cpu| for_each(cpu.as_secs_f64(), loaded));
        self.seconds.push((loaded.per_second(), cpu));
    }

    /// The load failed for a reason that is not known to be the server's.
    pub(super) fn fail(&mut self, why: String) {
        self.status = Status::TimedOut;
        self.reasons.push(why);
    }

    /// The server's process has ended.
    pub(super) fn die(&mut self, how: &str) {
        self.status = Status::Crashed;
        self.reasons.push(format!("{how} under this load"));
    }

    pub(super) fn planned(&self) -> Planned {
        self.planned
    }

    /// Returns the median of its repetitions, if it answered with tokens.
    pub(super) fn peak(&self) -> Option<Peak> {
        let rates: Vec<f64> = self.loads.iter().map(|(l, _)| l.per_second()).collect();
        let tokens = f64::from(self.planned.scenario.call.tokens());
        let calls_per_s = middle(&rates).filter(|rate| *rate > 0.0)? / tokens;
        Some(Peak {
            calls_per_s,
            is_sound: self.status == Status::Ok,
        })
    }

    pub(super) fn row(self) -> ServerRow {
        let load = self.load();
        let Planned { scenario: of, rate } = self.planned;
        let (mut status, mut reasons) = (self.status, self.reasons);
        if load.is_none() && status == Status::Ok {
            status = Status::Unavailable;
            reasons.push("not loaded: the server had ended, or the run was stopped".to_owned());
        }
        if let Some(load) = load.as_ref().filter(|load| load.answers() == 0)
            && status == Status::Ok
        {
            let (is, why) = if load.statuses.is_empty() {
                (Status::TimedOut, "no answer during the measurement")
            } else {
                (Status::Crashed, "every answer was an error")
            };
            status = is;
            reasons.push(why.to_owned());
        }
        reasons.dedup();
        ServerRow {
            status,
            reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
            scenario: of.load(),
            cores: of.cores,
            connections: of.connections,
            in_flight: of.in_flight,
            call: of.call,
            alg: of.alg,
            subject: self.subject,
            rate,
            oversubscribed: self.oversubscribed,
            loader: None,
            load,
        }
    }

    fn load(&self) -> Option<ServerLoad> {
        let (first, rest) = self.loads.split_first()?;
        let mut all = first.0.clone();
        for (loaded, _) in rest {
            for (status, times) in &loaded.statuses {
                *all.statuses.entry(status.clone()).or_default() += times;
            }
            all.latencies.add(&loaded.latencies);
            all.verified += loaded.verified;
        }
        let repetitions: Vec<Repetition> = self
            .loads
            .iter()
            .enumerate()
            .map(|(number, (loaded, cpu))| {
                // After a failed load of either process it is not known which belong together.
                let are_pairs = self.seconds.len() == self.loads.len();
                let second = self.seconds.get(number).filter(|_| are_pairs);
                Repetition {
                    seconds: loaded.seconds,
                    requests_per_s: loaded.per_second(),
                    cpu_us_per_request: cpu.and_then(|cpu| for_each(cpu.as_secs_f64(), loaded)),
                    p50_ms: loaded.latencies.percentile_ms(50.0),
                    second_requests_per_s: second.map(|(rate, _)| *rate),
                    second_cpu_us_per_request: second.and_then(|(_, cpu)| *cpu),
                }
            })
            .collect();
        let clients: Option<Vec<f64>> = self
            .loads
            .iter()
            .map(|(loaded, _)| for_each(loaded.cpu_s?, loaded))
            .collect();
        let servers: Option<Vec<f64>> = repetitions.iter().map(|r| r.cpu_us_per_request).collect();
        let rates: Vec<f64> = repetitions.iter().map(|r| r.requests_per_s).collect();
        let bound: Option<Vec<bool>> = self.loads.iter().map(|(l, _)| l.client_bound).collect();
        Some(ServerLoad {
            requests_per_s: middle(&rates)?,
            cpu_us_per_request: servers.and_then(|all| middle(&all)),
            client_cpu_us_per_request: clients.and_then(|all| middle(&all)),
            repetitions,
            latency_ms: latency_ms(&all.latencies),
            latencies: all.latencies,
            statuses: all.statuses,
            verified: all.verified,
            client_bound: bound.map(|all| all.contains(&true)),
            base_rss_bytes: self.base,
            peak_rss_bytes: self.peak,
        })
    }
}

/// Returns microseconds per token.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn for_each(seconds: f64, loaded: &Loaded) -> Option<f64> {
    (loaded.tokens() > 0).then(|| seconds * 1e6 / loaded.tokens() as f64)
}
