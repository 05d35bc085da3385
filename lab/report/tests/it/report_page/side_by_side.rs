//! Several results side by side on one page.

use jeton_lab_model::result::{Processor, RunResult};
use jeton_lab_report::html::side_by_side;
use jeton_lab_report::multi_run::Named;

use crate::{sample, stored};

fn named(name: &str, result: RunResult) -> Named {
    Named {
        name: name.to_owned(),
        result,
    }
}

#[test]
fn side_by_side_keeps_every_run_apart() {
    let mut other = sample::result();
    other.environment.cpu = "Another CPU".to_owned();
    other.noise_floor.floor = Some(0.123);
    let html = side_by_side(&[named("a.json", sample::result()), named("<b>.json", other)]);
    super::keep("report-side-by-side.html", &html);
    assert!(html.contains("2 runs side by side"));
    assert!(html.contains("2: Another CPU"));
    assert!(html.contains("12.3\u{a0}%"), "its own noise floor");
    assert!(html.contains("&lt;b&gt;.json"), "names are escaped");
    assert!(!html.contains("of the same machine"));
    for id in ["run-1-library", "run-2-library", "run-2-algorithm"] {
        assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        assert!(html.contains(&format!("aria-details=\"{id}\"")), "{id}");
    }
}

/// The sample, as another run of the same plan.
fn another() -> RunResult {
    let mut result = sample::result();
    result.seed += 1;
    result.environment.started = "2026-11-21T09:00:00Z".to_owned();
    result
}

fn of(results: [RunResult; 2]) -> String {
    let [a, b] = results;
    side_by_side(&[named("a.json", a), named("b.json", b)])
}

const JOINS: &str = "joins them";

#[test]
fn side_by_side_same_machine_is_said() {
    let html = of([sample::result(), another()]);
    assert!(html.contains("Runs 1 and 2 are of the same machine."));
    assert!(html.contains(JOINS));
}

/// A file without family and model may be of any machine with this name.
#[test]
fn side_by_side_unknown_processor_is_no_same_machine() {
    let mut old = another();
    old.environment.processor = Processor::default();
    let html = of([sample::result(), old]);
    assert!(!html.contains("of the same machine"));
    assert!(html.contains("The files of runs 1 and 2 name no difference of their machines."));
    let mut rebooted = another();
    rebooted.environment.kernel = "Linux 7".to_owned();
    let html = of([sample::result(), rebooted]);
    assert!(html.contains("apart from settings (kernel: Linux 6.12.8 / Linux 7)"));
    assert!(!html.contains(JOINS), "a merge refuses another kernel");
}

#[test]
fn side_by_side_same_run_is_said() {
    let html = of([sample::result(), sample::result()]);
    assert!(html.contains("Runs 1 and 2 are the same run."));
    assert!(!html.contains(JOINS));
}

#[test]
fn side_by_side_merge_is_named_only_if_it_joins() {
    let (sdks, servers) = (stored::run("sdks"), stored::run("servers"));
    let full = || {
        let mut full = stored::run("full");
        full.environment.processor = sdks.environment.processor.clone();
        full.environment.flags = sdks.environment.flags.clone();
        full.environment.kernel = sdks.environment.kernel.clone();
        full
    };
    let html = of([full(), sdks.clone()]);
    assert!(html.contains("are of the same machine"));
    assert!(html.contains("jeton-lab compare") && !html.contains(JOINS));
    let html = of([full(), servers]);
    assert!(html.contains("are of the same machine"));
    assert!(!html.contains("jeton-lab compare</code> judges") && !html.contains(JOINS));
}

#[test]
fn side_by_side_servers_have_their_figures() {
    let mut again = stored::run("servers");
    again.seed += 1;
    let html = of([stored::run("servers"), again]);
    assert!(html.contains("Servers of each run") && html.contains("1 core, 1×50, HS256"));
    assert!(html.contains("tokens per second") && html.contains("rust/jeton"));
    let html = of([stored::run("sdks"), stored::run("servers")]);
    assert!(html.contains("Servers of each run") && html.contains("not measured"));
    assert!(!of([sample::result(), another()]).contains("Servers of each run"));
}

#[test]
fn side_by_side_headings_differ() {
    let mut other = another();
    other.environment.processor.model = Some("1".to_owned());
    let html = of([sample::result(), other]);
    for heading in [
        "1: AMD EPYC 9R14, family 25, model 17",
        "2: AMD EPYC 9R14, family 25, model 1",
    ] {
        assert!(html.contains(heading), "{heading}");
    }
    let html = of([sample::result(), another()]);
    assert!(html.contains("1: AMD EPYC 9R14, a.json") && html.contains("2: AMD EPYC 9R14, b.json"));
}

/// A bidirectional control would reverse the figures behind it.
#[test]
fn side_by_side_control_characters_are_visible() {
    let mut result = another();
    result.environment.cpu = "AMD \u{202e}".to_owned();
    let html = side_by_side(&[named("a\u{202e}.json", result), named("b.json", another())]);
    assert!(!html.contains('\u{202e}') && html.contains("[U+202E]"));
}

#[test]
fn side_by_side_without_rows_renders() {
    let html = side_by_side(&[
        named("a.json", sample::empty()),
        named("b.json", sample::interop()),
    ]);
    assert!(html.contains("None of these runs has a verdict."));
}
