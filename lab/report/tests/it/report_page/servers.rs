//! The page of a run of servers: findings, a chart, six columns, and the rest folded.

use jeton_lab_report::html::page;
use jeton_lab_report::markdown;

use crate::{sample, stored};

#[test]
fn servers_page_begins_with_the_findings() {
    let html = page(&sample::servers());
    let section = super::between(&html, "<section id=\"servers\"", "</section>");
    for words in [
        "<strong>go/published</strong>: <span class=\"reason\">signs HS256 with an empty key</span>.",
        "<strong>java/absent (not measured)</strong>: <span class=\"reason\">needs <code>java</code>, which is not on PATH</span>.",
        "java/absent (unavailable): <span class=\"reason\">needs <code>java</code>, which is not on PATH</span>",
        ">go/published, faulty</text>",
    ] {
        assert!(section.contains(words), "{words}: {section}");
    }
    let [findings, table] = ["<ul class=\"findings\">", "<table id=\"servers-0\">"]
        .map(|part| section.find(part).unwrap());
    assert!(findings < table);
}

/// A reader asks first which server; faults of the published servers come after.
#[test]
fn servers_page_of_kept_run_names_the_best_server_first() {
    let html = page(&stored::run("servers"));
    super::keep("report-servers.html", &html);
    let findings = super::between(&html, "<ul class=\"findings\">", "</ul>");
    let findings: Vec<&str> = findings.split("<li>").skip(1).collect();
    assert!(
        findings[0].starts_with(
            "<strong>rust/jeton</strong>: <span class=\"reason\">alone the best in 2 of 4 loads by tokens per second; in 4 of 4 loads on shared cores, by CPU time"
        ),
        "{findings:#?}"
    );
    let last = findings.last().unwrap();
    assert!(
        last.contains("algorithm <code>none</code>"),
        "{findings:#?}"
    );
    // The word is a claim here, and the glossary has another meaning.
    assert!(
        findings[3].contains("every token has the same subject;"),
        "{findings:#?}"
    );
    // Where another server is better, the page says so too.
    assert!(
        findings[2].contains(
            "shortest p99: rust/jeton in 3 and rust/tonic in 1 of 4 loads; least memory: rust/tonic in 8 of 8 loads"
        ),
        "{findings:#?}"
    );
    let limits = super::between(&html, "<p class=\"callout bad limits\">", "</p>");
    assert!(
        limits.contains("tokens per second of 4 loads, because server and loader shared 2 cores"),
        "{limits}"
    );
    // The first load of each algorithm is open.
    assert_eq!(html.matches("<details class=\"fold\" open").count(), 2);
}

/// With one connection, two servers waited for calls: their tokens per second are not what they can do.
#[test]
fn servers_whose_cores_were_not_busy_are_named() {
    let result = stored::run("servers");
    let text = jeton_lab_report::markdown::text(&result);
    let said = |title: &str| {
        let part = super::between(&text, &format!("\n### {title}\n"), "\n### ");
        let items = part
            .lines()
            .filter(|line| line.starts_with("- ") && !line.starts_with("- `"));
        items.map(str::to_owned).collect::<Vec<_>>()
    };
    let [_, idle, by_time, _] = said("1 core, 1×50, HS256").try_into().unwrap();
    assert_eq!(
        idle,
        "- Cores not fully used, so more load may give more tokens per second: rust/jeton (62.0 % used) and rust/tonic (69.7 % used)."
    );
    assert_eq!(
        by_time,
        "- Most tokens per CPU time: rust/jeton, 1.3 × rust/tonic (undecided), 2 × java/fixed, 2.8 × go/fixed and 5.8 × node/fixed."
    );
    let busy = said("1 core, 5×50, HS256");
    assert_eq!(busy.len(), 2, "{busy:#?}");
}

#[test]
fn servers_page_has_six_columns_and_folds_the_rest() {
    let html = page(&sample::servers());
    let table = super::between(&html, "<table id=\"servers-0\">", "</table>");
    let head = super::between(table, "<thead>", "</thead>");
    assert_eq!(
        head.matches("<th ").count(),
        7,
        "the server and six columns"
    );
    assert!(table.contains("faulty"), "{table}");
    let folded = super::between(
        &html,
        "All figures, with those of the public report",
        "</table>",
    );
    assert!(folded.contains("p99.99") && folded.contains("Repetitions"));
}

#[test]
fn servers_page_has_answers() {
    let html = page(&stored::run("servers"));
    let answers = super::between(&html, "<section id=\"answers\"", "</section>");
    for words in [
        "Which server issues most tokens?",
        "Which server needs least CPU time?",
        "CPU time per token, in microseconds of rust/jeton",
    ] {
        assert!(answers.contains(words), "{words}: {answers}");
    }
}

/// A cost is the mean of the differences of each repetition, and has an interval from two repetitions on.
#[test]
fn gateway_cost_needs_both_figures_of_every_repetition() {
    let of = |more: &[Option<f64>], less: &[Option<f64>]| {
        let mut result = stored::run("gateways");
        let mut rows = std::mem::take(&mut result.rows.servers);
        let check = rows.iter().find(|row| row.subject.bare.is_some()).unwrap();
        let (own, bare) = (check.clone(), check.subject.bare.clone().unwrap());
        rows.retain(|row| row.of_scenario() == own.of_scenario() && row.rate == own.rate);
        rows.retain(|row| [&own.subject.id, &bare].contains(&&row.subject.id));
        for row in &mut rows {
            let figures = if row.subject.id == bare { less } else { more };
            let repetitions = &mut row.load.as_mut().unwrap().repetitions;
            repetitions.truncate(figures.len());
            for (one, figure) in repetitions.iter_mut().zip(figures) {
                (one.cpu_us_per_request, one.second_cpu_us_per_request) = (*figure, None);
            }
        }
        result.rows.servers = rows;
        markdown::text(&result)
    };
    let more = [31.0, 43.0, 35.0].map(Some);
    let less = [20.0, 30.0, 23.0].map(Some);
    // t(2, 0.975) = 4.302653, and the differences 11, 13 and 12 have the deviation 1.
    let text = of(&more, &less);
    assert!(text.contains("adds 12.0 µs of CPU time"), "{text}");
    assert!(text.contains("(9.5 to 14.5)"), "{text}");
    let text = of(&more[..1], &less[..1]);
    assert!(text.contains("adds 11.0 µs of CPU time"), "{text}");
    assert!(text.contains("(one repetition: no interval)"), "{text}");
    for text in [of(&more, &less[..2]), of(&more, &[None, less[1], less[2]])] {
        assert!(!text.contains("µs of CPU time"), "{text}");
    }
}
