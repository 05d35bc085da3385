//! Several results side by side on one page.

use jeton_lab_model::result::RunResult;
use jeton_lab_report::html::side_by_side;
use jeton_lab_report::multi_run::Named;

use crate::sample;

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

#[test]
fn side_by_side_same_machine_is_said() {
    let html = side_by_side(&[
        named("a.json", sample::result()),
        named("b.json", sample::result()),
    ]);
    assert!(html.contains("Runs 1 and 2 are of the same machine"));
}

#[test]
fn side_by_side_without_rows_renders() {
    let html = side_by_side(&[
        named("a.json", sample::empty()),
        named("b.json", sample::interop()),
    ]);
    assert!(html.contains("None of these runs has a verdict."));
}
