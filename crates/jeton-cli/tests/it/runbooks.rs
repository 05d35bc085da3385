//! Runs the runbook of each alert in deploy/prometheus/alerts.yml.
//!
//! A fault is made on a real server. Prometheus' own rule engine says that the alert fires. Then what docs/operating.md
//! says is done, and the alert does not fire any more. `cargo xtask test --only etcd` runs these tests, with promtool.
//! Those on an etcd are in `serve::etcd::alerts`.

#[cfg(feature = "pkcs11")]
mod hsm;
mod one_machine;
mod rules;
mod tls_machine;
#[cfg(feature = "otel")]
mod traces;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::operating::manual;
use rules::Fires;

/// The tests, and the alerts whose faults they make. A new alert needs a place here.
const TESTS: [(&str, &[&str]); 6] = [
    (
        "tls_machine",
        &[
            "JetonDown",
            "JetonStoreNotWritable",
            "JetonStoreWriteFailures",
            "JetonServerErrors",
            "JetonCertificateEndsSoon",
            "JetonCertificateEnds",
            "JetonClientFails",
            "JetonRevocationsRefused",
            "JetonTlsHandshakesFail",
        ],
    ),
    (
        "one_machine",
        &[
            "JetonRequestsBlocked",
            "JetonManyRejections",
            "JetonWorkersLate",
            "JetonSlowCalls",
            "JetonOverloaded",
            "JetonConnectionsRejected",
            "JetonFileDescriptors",
            "JetonRestarts",
            "JetonAuditLogLarge",
        ],
    ),
    (
        "etcd",
        &[
            "JetonNotReady",
            "JetonStoreContactLost",
            "JetonStaleResponses",
            "JetonStoreNotCompared",
            "JetonClockWarning",
            "JetonClockDifference",
            "JetonStoreWentBack",
            "JetonHistoryLost",
        ],
    ),
    (
        "hsm",
        &[
            "JetonHsmUnavailable",
            "JetonHsmOverloaded",
            "JetonKeyRotationOverdue",
            "JetonKeyWithoutSuccessor",
        ],
    ),
    (
        "traces",
        &["JetonTraceSpansDropped", "JetonTraceParentsLimited"],
    ),
    // Their faults cannot be made here. A difference is a fault of jeton, of the etcd or of the memory, and a test has
    // one version of the program. Samples of a real server are changed instead.
    (
        "changed_samples",
        &["JetonStoreDifference", "JetonVersionsDiffer"],
    ),
];

/// The alerts of a test.
fn alerts_of(test: &str) -> BTreeSet<&'static str> {
    let row = TESTS.iter().find(|(name, _)| *name == test);
    row.unwrap().1.iter().copied().collect()
}

pub(super) fn rules_of_the_project() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join("deploy/prometheus/alerts.yml")).unwrap()
}

#[test]
fn every_alert_has_a_test_of_its_runbook() {
    let rules = rules_of_the_project();
    let names = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    let all: BTreeSet<&str> = names.collect();
    assert!(all.len() > 30, "{}", all.len());
    let tested: Vec<&str> = TESTS
        .iter()
        .flat_map(|(_, alerts)| *alerts)
        .copied()
        .collect();
    let unique: BTreeSet<&str> = tested.iter().copied().collect();
    assert_eq!(unique.len(), tested.len(), "an alert is in the table twice");
    assert_eq!(
        all, unique,
        "alerts.yml, and the table of crates/jeton-cli/tests/it/runbooks"
    );
}

/// The samples that Prometheus takes at one time, by series.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scrape(BTreeMap<String, f64>);

impl Scrape {
    /// Those of a server, with the labels that Prometheus adds. `None`: it did not answer.
    pub(crate) fn of(instance: &str, text: Option<&str>) -> Scrape {
        let labels = format!("instance=\"{instance}\",job=\"jeton\"");
        let mut samples = BTreeMap::new();
        samples.insert(
            format!("up{{{labels}}}"),
            f64::from(u8::from(text.is_some())),
        );
        let lines = text.unwrap_or_default().lines();
        for line in lines.filter(|line| !line.starts_with('#')) {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let series = match series.split_once('{') {
                Some((name, rest)) => format!("{name}{{{labels},{rest}"),
                None => format!("{series}{{{labels}}}"),
            };
            samples.insert(series, value.parse().unwrap());
        }
        Scrape(samples)
    }

    /// With the samples of another server.
    fn and(mut self, other: Scrape) -> Scrape {
        self.0.extend(other.0);
        self
    }

    /// The sum of the series of a metric whose labels contain these texts.
    pub(crate) fn sum(&self, metric: &str, labels: &[&str]) -> f64 {
        let of_metric = |series: &&String| series.split('{').next() == Some(metric);
        let has = |series: &&String| labels.iter().all(|label| series.contains(label));
        let series = self.0.keys().filter(of_metric).filter(has);
        let values: Vec<f64> = series.map(|series| self.0[series]).collect();
        assert!(!values.is_empty(), "there is no {metric} with {labels:?}");
        values.iter().sum()
    }
}

/// A fault and its end, as Prometheus sees them.
pub(crate) struct Drill {
    alerts: &'static [&'static str],
    /// What the runbook names and the test has done.
    done: &'static [&'static str],
    /// A smaller threshold, because the real one takes too long to reach: the text of the rule, and the new one.
    smaller: Option<(&'static str, &'static str)>,
    before: Vec<Scrape>,
    during: Vec<Scrape>,
    after: Vec<Scrape>,
}

/// The drills of a test.
pub(crate) struct Drills {
    test: &'static str,
    all: Vec<Drill>,
}

impl Drills {
    pub(crate) fn of(test: &'static str) -> Drills {
        Drills {
            test,
            all: Vec::new(),
        }
    }

    /// Each of the three has at least two scrapes: what happened between the last two is what goes on.
    pub(crate) fn add(
        &mut self,
        alerts: &'static [&'static str],
        done: &'static [&'static str],
        [before, during, after]: [&[Scrape]; 3],
    ) -> &mut Drill {
        self.all.push(Drill {
            alerts,
            done,
            smaller: None,
            before: before.to_vec(),
            during: during.to_vec(),
            after: after.to_vec(),
        });
        self.all.last_mut().unwrap()
    }

    /// Asks the rule engine about every drill.
    pub(crate) fn judge(self) {
        let drilled: BTreeSet<&str> = self
            .all
            .iter()
            .flat_map(|drill| drill.alerts)
            .copied()
            .collect();
        assert_eq!(drilled, alerts_of(self.test));
        let manual = manual();
        let mut questions = rules::Questions::new();
        for drill in &self.all {
            for alert in drill.alerts {
                let runbook = runbook(&manual, alert);
                for words in drill.done {
                    assert!(
                        runbook.contains(words),
                        "{alert}: no {words:?} in {runbook}"
                    );
                }
                questions.add(
                    alert,
                    drill,
                    [Fires::Never, Fires::AtAnyTime, Fires::NotAtTheEnd],
                );
            }
        }
        questions.ask().unwrap_or_else(|wrong| panic!("{wrong}"));
        eprintln!(
            "{}: {} drills, {} alerts",
            self.test,
            self.all.len(),
            drilled.len()
        );
    }
}

/// What to do by the table of alerts.
fn runbook<'m>(manual: &'m str, alert: &str) -> &'m str {
    let is_row = |line: &&str| {
        let first = line
            .strip_prefix("| ")
            .and_then(|rest| rest.split(" | ").next());
        first.is_some_and(|names| names.split(", ").any(|name| name == alert))
    };
    let row = manual.lines().find(is_row);
    row.unwrap_or_else(|| panic!("{alert} has no row in docs/operating.md"))
}

/// The rule engine contradicts a drill whose fault did not happen, and one whose fault did not end.
#[test]
#[ignore = "needs promtool: cargo xtask test --only etcd"]
fn engine_contradicts_what_did_not_happen() {
    let ready = |ready: &str| vec![Scrape::of("one", Some(ready)); 2];
    let (yes, no) = (ready("jeton_ready 1"), ready("jeton_ready 0"));
    for (during, after, contradicted) in [(&no, &yes, false), (&yes, &yes, true), (&no, &no, true)]
    {
        let mut drills = Drills::of("etcd");
        drills.add(&["JetonNotReady"], &[], [&yes, during, after]);
        let mut questions = rules::Questions::new();
        let expected = [Fires::Never, Fires::AtAnyTime, Fires::NotAtTheEnd];
        questions.add("JetonNotReady", &drills.all[0], expected);
        let answer = questions.ask();
        assert_eq!(answer.is_err(), contradicted, "{answer:?}");
    }
}

/// The rules of faults that cannot be made are evaluated on changed samples of a real server.
#[test]
#[ignore = "needs promtool: cargo xtask test --only etcd"]
fn runbooks_of_changed_samples() {
    let folder = tempfile::tempdir().unwrap();
    let server = crate::serving::Serving::any_port(folder.path(), &[]);
    let url = format!("{}/metrics", server.admin_address());
    let text = || {
        let output = std::process::Command::new("curl")
            .args(["-sSf", &url])
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let scrape = |change: &dyn Fn(String) -> String| {
        let one = Scrape::of("one", Some(&text()));
        one.and(Scrape::of("two", Some(&change(text()))))
    };
    let same = vec![scrape(&|text| text), scrape(&|text| text)];
    let mut drills = Drills::of("changed_samples");
    let differs = |text: String| {
        let (from, to) = ("differences_total 0\n", "differences_total 1\n");
        assert!(text.contains(from));
        text.replace(from, to)
    };
    let differs = vec![scrape(&differs), scrape(&differs)];
    // The server loads everything again, so the number stays.
    drills.add(
        &["JetonStoreDifference"],
        &["loaded everything again"],
        [&same, &differs, &differs],
    );
    let is_older = |text: String| {
        let own = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(&own));
        text.replace(&own, "version=\"0.0.9\"")
    };
    let older = vec![scrape(&is_older), scrape(&is_older)];
    drills.add(
        &["JetonVersionsDiffer"],
        &["finish the upgrade"],
        [&same, &older, &same],
    );
    drills.judge();
}
