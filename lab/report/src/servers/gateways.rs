//! What the check of a gateway adds to the same gateway without it, paired by repetition.

use jeton_lab_model::result::{Repetition, ServerLoad, ServerRow};
use jeton_lab_model::servers::Call;
use jeton_lab_model::units;
use jeton_lab_stats::interval::difference;

use super::{ScenarioTable, figure, ms};

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

    pub(super) fn verdict_on_gateway(&self, row: &ServerRow) -> String {
        if row.subject.bare.is_none() {
            return "without a check".to_owned();
        }
        self.added(row, |one| one.cpu_us_per_request).map_or_else(
            || "not compared".to_owned(),
            |(us, interval)| format!("{} µs more ({})", figure(us), ends(interval, figure)),
        )
    }

    /// Says what each check adds, who rejects a revoked token, and how far two processes of one gateway differ.
    pub(super) fn gateway_sentences(&self) -> Vec<String> {
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
