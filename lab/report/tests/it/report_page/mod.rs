//! The report page from the outside: a result in, a valid page out.
#![allow(clippy::unwrap_used, clippy::panic)]

mod advice;
mod answers;
mod full_run;
mod kept_run;
mod language;
mod rounds;
mod servers;
mod side_by_side;

use crate::sample;
use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{Processor, RunResult, Status, Timing, Verdict, VerdictKind, read};
use jeton_lab_report::html::page;
use jeton_lab_report::recommendation::recommend;
use sha2::{Digest, Sha256};

const SECTIONS: [&str; 13] = [
    "answers",
    "language",
    "summary",
    "recommendation",
    "charts",
    "tradeoff",
    "sizes",
    "overhead",
    "gaps",
    "trust",
    "environment",
    "data",
    "glossary",
];

/// Checks what every page must have.
fn check(html: &str) {
    for section in SECTIONS {
        assert!(
            html.contains(&format!("<section id=\"{section}\"")),
            "no section {section}"
        );
    }
    assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\">"));
    // The packed result may contain any characters.
    let (before, after) = html.split_once("href=\"data:").unwrap_or((html, ""));
    for text in [before, after.split_once('"').map_or("", |(_, text)| text)] {
        assert!(!text.contains("NaN") && !text.contains(">inf"), "no number");
    }
    assert!(!html.contains(" style="), "the policy forbids these");
    assert_eq!(html.matches("<script").count(), 1, "the one script");
    assert!(
        !html.contains("http://") && !html.contains("https://"),
        "an outside address"
    );
    for chart in html.split("<svg class=\"chart").skip(1) {
        let chart = chart.split_once("</article>").unwrap().0;
        let id = between(chart, "aria-details=\"", "\"");
        let after = chart.split_once("</figure>").unwrap().1;
        let table = between(
            after,
            &format!("<table class=\"figures\" id=\"{id}\">"),
            "</table>",
        );
        assert!(
            table.contains("<tbody><tr") && table.contains("<caption>"),
            "an empty table {id}"
        );
    }
    let mut ids: Vec<&str> = html
        .split(" id=\"")
        .skip(1)
        .map(|s| s.split_once('"').unwrap().0)
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id is used twice");
    for link in html
        .split("href=\"#")
        .skip(1)
        .map(|s| s.split_once('"').unwrap().0)
    {
        assert!(
            ids.binary_search(&link).is_ok(),
            "a link to nowhere: #{link}"
        );
    }
}

/// Writes a page to the target folder, for a browser.
fn keep(name: &str, html: &str) {
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap();
    std::fs::write(target.join(name), html).unwrap();
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start}"))
        .1;
    rest.split_once(end).unwrap_or_else(|| panic!("no {end}")).0
}

/// Removes the links to the glossary, which may stand inside a sentence.
fn without_terms(html: &str) -> String {
    let mut parts = html.split("<a class=\"term\" href=\"#");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (link, rest) = part.split_once("</a>").unwrap();
        plain.push_str(link.split_once('>').unwrap().1);
        plain.push_str(rest);
    }
    plain
}

fn charts(html: &str) -> usize {
    html.matches("<svg class=\"chart\" role=\"img\"").count()
}

#[test]
fn page_sample_has_chart_and_table_per_comparison() {
    let result = sample::result();
    let html = page(&result);
    check(&html);
    let mut comparisons: Vec<&str> = result
        .verdicts
        .iter()
        .map(|v| v.comparison.as_str())
        .collect();
    comparisons.dedup();
    // One chart of sizes, because there is one claims set. One of usual kinds of token with their time. One of the
    // overhead above the bare primitive for each operation and kind of token.
    let overhead = between(&html, "<section id=\"overhead\"", "</section>");
    let others = [charts(overhead), 1, 1].iter().sum::<usize>();
    assert!(charts(overhead) > 2);
    assert_eq!(charts(&html), comparisons.len() + others);
    // The answers have small charts: the sample compares no formats.
    let mini = |html: &str| html.matches("<svg class=\"mini\" role=\"img\"").count();
    let answers = between(&html, "<section id=\"answers\"", "</section>");
    assert_eq!(mini(answers), 2);
    assert_eq!(
        html.matches("aria-details=").count(),
        charts(&html) + mini(&html)
    );
    assert!(html.len() < 400_000, "{} bytes", html.len());
    keep("report-sample.html", &html);
}

#[test]
fn page_policy_has_hashes_of_its_style_and_script() {
    let html = page(&sample::empty());
    let hash = |tag: &str| {
        let text = between(&html, &format!("<{tag}>"), &format!("</{tag}>"));
        base64_simd::STANDARD.encode_to_string(Sha256::digest(text))
    };
    let policy = between(
        &html,
        "http-equiv=\"Content-Security-Policy\" content=\"",
        "\"",
    );
    assert!(policy.contains("default-src 'none'"));
    for (source, tag) in [("style-src", "style"), ("script-src", "script")] {
        let allowed = format!("{source} 'sha256-{}'", hash(tag));
        assert!(policy.contains(&allowed), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[test]
fn page_verdicts_are_sentences() {
    let html = page(&sample::result());
    assert!(html.contains("Fastest: jeton."));
    assert!(
        html.contains("Against golang-jwt: jeton 4.4\u{a0}× faster (4.3 to 4.5), jsonwebtoken"),
        "the HS256 sentence"
    );
    assert!(!html.to_lowercase().contains("winner"));
}

#[test]
fn page_names_undecided_and_equivalent_subjects() {
    let mut result = sample::result();
    let ids: Vec<usize> = (0..2).collect();
    let [undecided, equal] = [ids[0], ids[1]];
    set(
        &mut result.verdicts[undecided],
        VerdictKind::Undecided,
        Some(5),
    );
    set(&mut result.verdicts[equal], VerdictKind::Equivalent, None);
    let html = page(&result);
    assert!(html.contains(
        "Undecided: jeton against golang-jwt; about 5 more rounds would probably decide."
    ));
    assert!(html.contains("Equivalent to golang-jwt: jsonwebtoken."));
}

fn set(verdict: &mut Verdict, kind: VerdictKind, more_rounds: Option<u32>) {
    verdict.verdict = kind;
    verdict.more_rounds = more_rounds;
}

#[test]
fn page_confounded_pair_names_factors_and_no_cause() {
    let html = without_terms(&page(&sample::result()));
    let sentence = "Confounded: format, algorithm and library differ together, so the ratio has no single cause.";
    // Twice per operation: beside the verdict and above the chart.
    assert_eq!(html.matches(sentence).count(), 4);
}

#[test]
fn page_shows_reasons_of_failed_rows() {
    let result = sample::result();
    let html = page(&result);
    let gaps = between(&html, "<section id=\"gaps\"", "</section>");
    for row in result
        .rows
        .measured
        .iter()
        .filter(|row| row.status != Status::Ok)
    {
        assert!(
            gaps.contains(row.reason.as_deref().unwrap()),
            "{:?}",
            row.reason
        );
        assert!(gaps.contains(&row.subject.library));
    }
    // A failed subject is also named in the table of its comparison.
    let charts = between(&html, "<section id=\"charts\"", "</section>");
    assert!(charts.contains("accepted a token whose signature had one bit flipped"));
    assert!(charts.contains("is not on PATH"));
    // The reason stands over the cells without a value.
    assert!(charts.contains("<td class=\"text reason\" colspan="));
}

#[test]
fn page_detail_without_values_is_omitted() {
    let mut result = sample::result();
    assert!(page(&result).contains("RSS, MiB"));
    for row in &mut result.rows.measured {
        row.peak_rss_bytes = None;
    }
    assert!(!page(&result).contains("RSS, MiB"));
}

#[test]
fn page_far_end_of_an_interval_does_not_stretch_the_axis() {
    let mut result = sample::result();
    let timing = result.rows.measured[0].ns_per_op.as_mut().unwrap();
    timing.interval[1] = 1e18;
    let html = page(&result);
    check(&html);
    for tick in ["000,000 ns</text>", "000,000 µs</text>"] {
        assert!(!html.contains(tick), "{tick}");
    }
}

#[test]
fn page_reference_is_drawn_and_has_no_group() {
    let html = page(&sample::result());
    assert!(html.contains("<line class=\"reference\""));
    assert!(!between(&html, "<section id=\"summary\"", "</section>").contains("AWS-LC"));
}

#[test]
fn page_of_empty_result_renders() {
    let html = page(&sample::empty());
    check(&html);
    assert_eq!(charts(&html), 0);
    assert!(html.contains("The result has no rows."));
    keep("report-sample-empty.html", &html);
}

#[test]
fn page_of_failed_rows_renders() {
    let mut result = sample::result();
    result.verdicts.clear();
    for row in &mut result.rows.measured {
        sample::fail(row, Status::Unavailable, "the toolchain is absent");
    }
    let html = page(&result);
    check(&html);
    assert_eq!(charts(&html), 0);
    assert!(html.contains("None of the 68 rows was measured."));
}

#[test]
fn page_single_subject_is_charted_without_comparison() {
    let mut result = sample::result();
    result.verdicts.clear();
    result.rows.measured.truncate(1);
    let html = page(&result);
    check(&html);
    assert_eq!(charts(&html), 2);
    assert!(html.contains("jeton measured without a comparison."));
}

#[test]
fn page_reports_disturbed_and_interrupted_run() {
    let mut result = sample::result();
    result.environment.complete = false;
    result.environment.rounds_finished = 3;
    result.environment.disturbance.disturbed = true;
    result.environment.disturbance.reasons = vec!["The hypervisor took 9 % of the CPU.".to_owned()];
    result.noise_floor = Default::default();
    let html = page(&result);
    check(&html);
    keep("report-sample-disturbed.html", &html);
    for words in [
        "3 of 8",
        "the run was disturbed and ended early.",
        "The run was disturbed.",
        "The hypervisor took 9 % of the CPU.",
        "No noise floor was measured.",
    ] {
        assert!(html.contains(words), "{words}");
    }
}

#[test]
fn page_with_missing_and_huge_numbers_renders() {
    for value in [
        f64::NAN,
        f64::INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        0.0,
        -5.0,
        1e18,
    ] {
        let mut result = sample::result();
        result.environment.elapsed_s = value;
        result.noise_floor.floor = Some(value);
        for verdict in &mut result.verdicts {
            (verdict.ratio, verdict.interval) = (value, [value, value]);
        }
        result.rows.measured[0].ns_per_op = Some(Timing {
            median: value,
            interval: [value, value],
            rounds: vec![value],
            outliers: 0,
            unsettled: false,
        });
        result.rows.measured[1].ns_per_op.as_mut().unwrap().interval = [value, value];
        result.rows.measured[0].token_bytes = Some(u64::MAX);
        result.rows.measured[0].bytes_per_op = Some(value);
        check(&page(&result));
    }
}

#[test]
fn page_first_screen_names_commit_and_machine() {
    let facts = |result: &RunResult| {
        let html = page(result);
        between(&html, "<p class=\"facts\">", "</p>").to_owned()
    };
    let mut result = sample::result();
    result.environment.disturbance.shared = Some(0.01);
    let shown = facts(&result);
    for fact in [
        "jeton 0.1.0",
        "commit 0123456789ab ",
        "AMD EPYC 9R14 (family 25, model 17)",
        "virtual, shared",
    ] {
        assert!(shown.contains(fact), "{fact}: {shown}");
    }
    result.environment.commit = None;
    assert!(!facts(&result).contains("commit"));
}

#[test]
fn page_environment_identifies_the_cpu() {
    let mut result = sample::result();
    let html = page(&result);
    let cpu = "AMD EPYC 9R14 (family 25, model 17, stepping 1, microcode 0xa101148)";
    assert!(html.contains(cpu));
    // A machine may report nothing more than the name.
    result.environment.processor = Processor::default();
    assert!(!page(&result).contains("AMD EPYC 9R14 ("));
}

#[test]
fn page_escapes_text_from_libraries() {
    const EVIL: &str =
        "</title></style></script><script>alert(1)</script><img src=x onerror='a'>\" onload=\"b";
    let mut result: RunResult = sample::result();
    result.command = EVIL.to_owned();
    result.environment.cpu = EVIL.to_owned();
    result.environment.processor.model = Some(EVIL.to_owned());
    result.environment.disturbance.unwatched = vec![EVIL.to_owned()];
    result
        .environment
        .runtimes
        .insert(EVIL.to_owned(), EVIL.to_owned());
    for verdict in &mut result.verdicts {
        verdict.comparison.push_str(EVIL);
        verdict.factors.push(EVIL.to_owned());
    }
    for row in &mut result.rows.measured {
        row.subject.library.push_str(EVIL);
        row.subject.version.push_str(EVIL);
        row.claims.name.push_str(EVIL);
        if row.status != Status::Ok {
            row.reason = Some(EVIL.to_owned());
        }
    }
    let html = page(&result);
    check(&html);
    for markup in ["<img", "<script>alert", "onload=\"b"] {
        assert!(!html.contains(markup), "{markup}");
    }
    assert_eq!(html.matches("</style>").count(), 1);
    keep("report-sample-hostile.html", &html);
}

#[test]
fn page_download_is_the_result() {
    let result = sample::result();
    let html = page(&result);
    let link = between(&html, "href=\"data:application/gzip;base64,", "\"");
    let packed = base64_simd::STANDARD.decode_to_vec(link).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json.gz");
    std::fs::write(&path, packed).unwrap();
    assert_eq!(read(&path).unwrap(), result);
}

#[test]
fn page_with_large_result_names_its_file() {
    let mut result = sample::result();
    // All different: repetition would compress to almost nothing.
    let mut round = 1234.5_f64;
    let mut rounds = || {
        round = (round * 1.000_1).sin().abs() * 1e3 + 1e3;
        round
    };
    for row in &mut result.rows.measured {
        if let Some(timing) = &mut row.ns_per_op {
            timing.rounds = (0..2_000).map(|_| rounds()).collect();
        }
    }
    let html = page(&result);
    assert!(html.len() < 400_000, "{} bytes", html.len());
    assert!(html.contains("too large for this page"));
}

/// The maximum size of a page that can be mailed and opened on a phone.
const FULL_PAGE_BYTES_MAX: usize = 1_800_000;

#[test]
fn page_of_full_run_stays_below_size_limit() {
    let result = full_run::result();
    let rows = result.rows.measured.len();
    assert!(rows >= 600, "{rows} rows are no full run");
    let html = page(&result);
    check(&html);
    keep("report-full.html", &html);
    for section in html.split("<section id=\"").skip(1) {
        let name = section.split_once('"').unwrap().0;
        println!("{:>9} {name}", section.len());
    }
    println!("{:>9} bytes, {rows} rows", html.len());
    assert!(html.len() <= FULL_PAGE_BYTES_MAX, "{} bytes", html.len());
}

/// Returns the recommendation section for these requirements.
fn advised(result: &mut RunResult, requirements: &str, allow_noisy: bool) -> String {
    let requirements = Requirements::parse(&[requirements]).unwrap();
    result.recommendation = Some(recommend(result, &requirements, allow_noisy));
    let html = page(result);
    check(&html);
    between(&html, "<section id=\"recommendation\"", "</section>").to_owned()
}

#[test]
fn page_recommendation_has_reasons_and_limits() {
    let mut result = sample::result();
    let section = advised(&mut result, "verify-by-third-parties,languages=go", false);
    for words in [
        "<h4>Because</h4>",
        "<h4>What would change it</h4>",
        "<h4>Not covered</h4>",
        "languages=go",
        "Attacks: not run.",
        "the verifier's secret can also create tokens",
    ] {
        assert!(section.contains(words), "{words}");
    }
    let advice = result.recommendation.unwrap();
    assert!(!advice.choices.is_empty());
    for pick in advice.choices.iter().flat_map(|c| &c.picks) {
        assert_eq!(pick.language, "go");
    }
}

#[test]
fn page_disturbed_run_needs_permission_to_recommend() {
    let mut result = sample::result();
    result.environment.disturbance.disturbed = true;
    result.environment.disturbance.reasons = vec!["The hypervisor took 9 % of the CPU.".to_owned()];
    let refused = advised(&mut result, "", false);
    assert!(refused.contains("There is no recommendation."));
    assert!(refused.contains("The hypervisor took 9 %"));
    let allowed = advised(&mut result, "", true);
    assert!(allowed.contains("From a disturbed run"));
    assert!(!allowed.contains("There is no recommendation."));
}

#[test]
fn page_unmet_requirements_name_the_blocking_one() {
    let mut result = sample::result();
    let section = advised(
        &mut result,
        "confidentiality,verify-by-third-parties",
        false,
    );
    assert!(section.contains("There is no recommendation."));
    assert!(section.contains("Without verify-by-third-parties: PASETO v4.local."));
}

#[test]
fn page_of_older_file_recommends_without_needs() {
    let result = sample::result();
    assert!(result.recommendation.is_none());
    let html = page(&result);
    assert!(html.contains("No requirements given"));
    assert!(html.contains("With verify-by-third-parties: "));
}

/// A bidirectional control would reverse the figures behind it.
#[test]
fn page_control_characters_are_visible() {
    let mut result = sample::result();
    result.environment.cpu = "AMD EPYC \u{202e}".to_owned();
    result.rows.measured[0].subject.library = "jeton\u{200b}\u{7}".to_owned();
    let html = jeton_lab_report::html::page(&result);
    for obeyed in ['\u{202e}', '\u{200b}', '\u{7}'] {
        assert!(!html.contains(obeyed), "{obeyed:?}");
    }
    assert!(html.contains("AMD EPYC [U+202E]"));
}
