//! What the rules exclude, and which tokens and libraries are recommended of the rest.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use jeton_lab_harness::driver;
use jeton_lab_model::recommendation::{Recommendation, Requirements, Rule};
use jeton_lab_model::result::{
    AttackOutcome, AttackRow, NoiseFloor, Practice, Row, RunResult, Status,
};
use jeton_lab_report::recommendation::{Case, cases, recommend};

use crate::sample;

/// A timed row whose token has 300 bytes; the algorithm `-` means none.
pub(crate) fn row(id: [&str; 4], operation: &str, ns: f64) -> Row {
    let [language, library, format, alg] = id;
    let subject = sample::subject(
        language,
        library,
        "1",
        format,
        Some(alg).filter(|alg| *alg != "-"),
    );
    let mut timing = sample::timing(ns, 0.001);
    let noise = [0.999, 1.001, 1.0, 1.0, 1.001, 0.999, 1.0, 1.0];
    timing.rounds = noise.iter().map(|noise| noise * ns).collect();
    Row {
        token_bytes: Some(300),
        ns_per_op: Some(timing),
        ..sample::row("libraries", operation, subject)
    }
}

/// Sign and verify of one subject.
pub(crate) fn both(id: [&str; 4], [sign, verify]: [f64; 2], bytes: u64) -> [Row; 2] {
    [("sign", sign), ("verify", verify)].map(|(operation, ns)| Row {
        token_bytes: Some(bytes),
        ..row(id, operation, ns)
    })
}

/// A complete, undisturbed result of these rows, with this noise floor.
pub(crate) fn result(rows: &[Row], floor: f64) -> RunResult {
    let mut result = sample::empty();
    result.noise_floor = NoiseFloor {
        floor: Some(floor),
        ..NoiseFloor::default()
    };
    result.rows.measured = rows.to_vec();
    result
}

fn attacked(
    driver: &str,
    attack: &str,
    practice: Practice,
    outcome: Option<AttackOutcome>,
) -> AttackRow {
    let mut row = sample::attack().rows.attack.swap_remove(0);
    (row.attack, row.practice, row.outcome) = (attack.to_owned(), practice, outcome);
    row.subject.driver = driver.to_owned();
    row
}

fn advice(result: &RunResult, requirements: &str) -> Recommendation {
    recommend(
        result,
        &Requirements::parse(&[requirements]).unwrap(),
        false,
    )
}

fn rule(rows: &[Row], requirements: &str) -> Option<Rule> {
    let out = advice(&result(rows, 0.0), requirements).out;
    out.first().map(|out| out.rule)
}

#[test]
fn rules_of_kinds_and_requirements() {
    let around = [
        "Authorization: Bearer ",
        "__Host-token=; Path=/; Secure; HttpOnly; SameSite=Lax",
    ];
    let exact = around.map(|around| around.len() + 300);
    let within = format!("header-budget={},cookie-budget={}", exact[0], exact[1]);
    let header = format!("header-budget={}", exact[0] - 1);
    let cookie = format!("cookie-budget={}", exact[1] - 1);
    let third = "verify-by-third-parties";
    for (format, alg, requirements, expected) in [
        ("v2.public", "-", "", Some(Rule::Questionable)),
        ("jwe", "RSA1_5", "", Some(Rule::Questionable)),
        ("jwt", "XX256", "", Some(Rule::Questionable)),
        ("v4.public", "-", "", None),
        (
            "jwt",
            "ES256",
            "confidentiality",
            Some(Rule::Confidentiality),
        ),
        (
            "v3.public",
            "-",
            "confidentiality",
            Some(Rule::Confidentiality),
        ),
        (
            "v4.public",
            "-",
            "confidentiality",
            Some(Rule::Confidentiality),
        ),
        ("v3.local", "-", "confidentiality", None),
        ("v4.local", "-", "confidentiality", None),
        ("jwe", "dir", "confidentiality", None),
        ("jwt", "HS256", third, Some(Rule::ThirdParties)),
        ("jwt", "HS512", third, Some(Rule::ThirdParties)),
        ("jwe", "dir", third, Some(Rule::ThirdParties)),
        ("jwe", "ECDH-ES", third, Some(Rule::ThirdParties)),
        ("jwt", "ES256", third, None),
        ("jwt", "ML-DSA-65", third, None),
        ("v4.local", "-", "fips", Some(Rule::Fips)),
        ("jwt", "ES256K", "fips", Some(Rule::Fips)),
        ("v3.local", "-", "fips", None),
        ("v3.public", "-", "fips", None),
        ("v4.public", "-", "fips", None),
        ("jwt", "ES256", "post-quantum", Some(Rule::PostQuantum)),
        ("jwt", "ML-DSA-44", "post-quantum", None),
        ("jwt", "ES256", &within, None),
        ("jwt", "ES256", &header, Some(Rule::HeaderBudget)),
        ("jwt", "ES256", &cookie, Some(Rule::CookieBudget)),
        ("jwt", "ES256", "languages=node", Some(Rule::Languages)),
        ("jwt", "ES256", "languages=go", None),
    ] {
        let rows = both(["go", "a", format, alg], [1000.0; 2], 300);
        let broken = rule(&rows, requirements);
        assert_eq!(broken, expected, "{format} {alg} {requirements}");
    }
}

#[test]
fn rules_of_what_a_run_measured() {
    let mut rows = ["verify", "sign"].map(|verb| row(["go", "a", "jwt", "ES256"], verb, 1.0));
    for (weight, expected) in [
        ("weight=sign", Some(Rule::NotMeasured)),
        ("weight=round-trip", Some(Rule::NotMeasured)),
        ("weight=verify", None),
        ("weight=size", None),
    ] {
        assert_eq!(rule(&rows[..1], weight), expected, "{weight}");
    }
    sample::fail(&mut rows[1], Status::FailedPreflight, "what it did");
    assert_eq!(rule(&rows, "weight=verify"), Some(Rule::Checks));
    sample::fail(&mut rows[1], Status::Unavailable, "what it did");
    assert_eq!(rule(&rows, "weight=verify"), None);
    rows[0].token_bytes = None;
    assert_eq!(
        rule(&rows[..1], "header-budget=9999"),
        Some(Rule::HeaderBudget)
    );
    rows[0].subject.key_bits = Some(1024);
    assert_eq!(rule(&rows[..1], ""), Some(Rule::Questionable));
}

#[test]
fn rules_cache_is_that_of_the_manifests() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drivers");
    for driver in driver::find(Path::new(folder)).unwrap() {
        let (language, library) = driver.id.split_once('/').unwrap();
        let rows = both([language, library, "jwt", "ES256"], [1.0; 2], 300);
        let expected = driver.manifest.caches_tokens.then_some(Rule::Cache);
        assert_eq!(rule(&rows, ""), expected, "{}", driver.id);
    }
}

/// Only what a party without a key can do excludes a library, and then with every algorithm.
#[test]
fn rules_attacks_without_a_key_exclude() {
    use AttackOutcome::{Accepted, Crashed, Hung, NotOffered, OverLimit, Refused, Withheld};
    use Practice::{Defaults, Documented};
    let rows = both(["go", "a", "jwt", "ES256"], [1.0; 2], 300);
    for (attack, practice, outcome, falls) in [
        ("alg-none", Documented, Accepted, true),
        ("expired", Documented, Accepted, true),
        ("alg-none", Documented, Refused, false),
        ("alg-none", Documented, NotOffered, false),
        ("alg-none", Documented, OverLimit, false),
        ("alg-none", Documented, Withheld, true),
        ("crit-unknown", Documented, Withheld, false),
        ("alg-none", Defaults, Accepted, false),
        // Variants of a valid token.
        ("base64-padding", Documented, Accepted, false),
        ("eddsa-malleable", Documented, Accepted, false),
        ("outer-blank", Documented, Accepted, false),
        // Attacks that need the key.
        ("crit-unknown", Documented, Accepted, false),
        ("crit-unknown", Documented, Crashed, false),
        ("exp-text", Documented, Accepted, false),
        ("secret-empty", Documented, Crashed, false),
        ("curve-unbound", Documented, Accepted, false),
        ("deep-claims", Documented, Hung, false),
        ("dots", Documented, Crashed, true),
        ("dots", Documented, Hung, true),
        ("alg-none", Documented, Crashed, true),
    ] {
        let mut result = result(&rows, 0.0);
        result.rows.attack = vec![attacked("go/a", attack, practice, Some(outcome))];
        let out = advice(&result, "").out;
        let is_out = out.first().is_some_and(|out| out.rule == Rule::Attack);
        assert_eq!(is_out, falls, "{attack} {outcome:?}");
    }
}

#[test]
fn rules_attack_failure_holds_on_every_runtime() {
    let mut rows = [["java", "a"], ["java", "b"], ["go", "a"]]
        .map(|[language, library]| both([language, library, "jwt", "ES256"], [1.0; 2], 300))
        .concat();
    for row in rows.iter_mut().filter(|row| row.subject.language == "java") {
        row.subject.id = row.subject.id.replacen(':', "@25.0.3:", 1);
    }
    let mut result = result(&rows, 0.0);
    let accepted = Some(AttackOutcome::Accepted);
    // A void row gives no information.
    result.rows.attack = vec![
        attacked("java/a", "alg-none", Practice::Documented, accepted),
        attacked("go/a", "alg-none", Practice::Documented, None),
    ];
    let advice = advice(&result, "");
    let [out] = advice.out.as_slice() else {
        unreachable!("one library is excluded: {:?}", advice.out)
    };
    assert_eq!(out.subject, "java/a@25.0.3:jwt:ES256:prepared");
    assert_eq!(
        out.why,
        "accepts a token from a party without a key: alg-none (`alg` is `none`, without a signature), as documented, with jwt"
    );
    let unknown = "Attacks: not run on go/a and java/b@25.0.3.";
    assert!(
        advice.not_covered.contains(&unknown.to_owned()),
        "{:?}",
        advice.not_covered
    );
}

/// HS256 and v4.local in two languages each, ES256 in one, with the time to verify.
const ROWS: [([&str; 4], f64); 4] = [
    (["go", "golang-jwt", "jwt", "HS256"], 6000.0),
    (["node", "fast-jwt", "jwt", "HS256"], 6100.0),
    (["go", "go-paseto", "v4.local", "-"], 1000.0),
    (["rust", "jeton", "jwt", "ES256"], 50_000.0),
];

/// The choice among these verified tokens.
fn chosen(rows: &[([&str; 4], f64)], requirements: &str) -> Recommendation {
    let rows: Vec<Row> = rows
        .iter()
        .map(|(id, ns)| row(*id, "verify", *ns))
        .collect();
    advice(&result(&rows, 0.0), &format!("weight=verify{requirements}"))
}

fn tokens(advice: &Recommendation) -> Vec<&str> {
    advice.choices.iter().map(|c| c.token.as_str()).collect()
}

#[test]
fn choice_requires_a_library_in_every_language() {
    let any = chosen(&ROWS, "");
    assert_eq!(tokens(&any), ["PASETO v4.local"]);
    assert!(any.because[0].contains("the remaining 3 kinds of token"));
    let both = chosen(&ROWS, ",languages=go+node");
    assert_eq!(tokens(&both), ["JWT HS256"]);
    let picks = both.choices[0].picks.iter().map(|p| p.library.as_str());
    assert_eq!(picks.collect::<Vec<_>>(), ["golang-jwt", "fast-jwt"]);
    let paseto = both.out.iter().find(|o| o.subject.contains("go-paseto"));
    assert_eq!(paseto.map(|o| o.rule), Some(Rule::Languages));
}

#[test]
fn choice_adds_the_times_of_languages() {
    // Each is fast in one language, and the sum decides.
    let rows = [
        (["go", "a", "jwt", "HS256"], 1000.0),
        (["node", "a", "jwt", "HS256"], 9000.0),
        (["go", "a", "jwt", "ES256"], 4000.0),
        (["node", "a", "jwt", "ES256"], 4000.0),
    ];
    assert_eq!(tokens(&chosen(&rows, ",languages=go+node")), ["JWT ES256"]);
    assert_eq!(tokens(&chosen(&rows, "")), ["JWT HS256"]);
}

#[test]
fn choice_indistinguishable_tokens_are_together() {
    let rows = [
        (["go", "a", "jwt", "HS256"], 1000.0),
        (["go", "b", "jwt", "HS256"], 1004.0),
        (["go", "c", "jwt", "HS256"], 1500.0),
        (["go", "a", "jwt", "HS512"], 1002.0),
    ];
    let found = chosen(&rows, "");
    assert_eq!(tokens(&found), ["JWT HS256", "JWT HS512"]);
    assert_eq!(found.choices[0].picks.len(), 2);
}

#[test]
fn choice_of_nothing_is_empty() {
    assert!(chosen(&[], "").choices.is_empty());
    let found = chosen(&ROWS, ",confidentiality,verify-by-third-parties");
    assert_eq!((found.choices.len(), found.out.len()), (0, 4));
}

fn found(rows: &[[Row; 2]], floor: f64) -> Vec<Case> {
    cases(&result(&rows.concat(), floor), false)
}

/// Sign and verify of one kind of token of jeton, with its size.
fn token(format: &str, alg: &str, times: [f64; 2], bytes: u64) -> [Row; 2] {
    both(["rust", "jeton", format, alg], times, bytes)
}

#[test]
fn cases_slow_signing_is_no_headline_but_a_trade_off() {
    let rows = [
        token("jwt", "HS256", [400.0, 700.0], 295),
        token("jwt", "EdDSA", [9_500.0, 37_000.0], 338),
        token("jwt", "ES256", [16_000.0, 50_000.0], 338),
        token("jwt", "RS256", [238_000.0, 16_000.0], 594),
        token("v4.local", "-", [2_000.0, 1_900.0], 337),
    ];
    let cases = found(&rows, 0.0);
    let choices = cases.iter().map(|c| c.choice.as_ref().unwrap().0.as_str());
    let expected = [
        "JWT HS256, 295 bytes",
        "JWT EdDSA, 338 bytes",
        "PASETO v4.local, 337 bytes",
    ];
    assert_eq!(choices.collect::<Vec<_>>(), expected);
    let slow =
        "JWT RS256 verifies 2.3\u{a0}× faster, but signs 25\u{a0}× slower and has 256 bytes more.";
    assert_eq!(cases[1].trade_offs, [slow]);
    assert_eq!(cases[1].dropped, 1, "ES256 is dominated by EdDSA");
}

#[test]
fn cases_undecided_token_does_not_cost_the_same() {
    let rows = [
        token("jwt", "EdDSA", [10_000.0, 37_000.0], 338),
        token("jwt", "ES256", [16_000.0, 50_000.0], 338),
    ];
    let third = &found(&rows, 1.1)[1];
    let open = "JWT ES256 has the same size. The time to verify and sign is undecided.";
    assert_eq!(third.trade_offs, [open]);
    assert_eq!(third.dropped, 0);
}

#[test]
fn cases_tied_library_is_named_and_another_library_too() {
    // RS256 of another library is faster and not larger here, so it comes first.
    let rows = [
        token("jwt", "EdDSA", [10_000.0, 37_000.0], 338),
        both(["rust", "b", "jwt", "EdDSA"], [10_010.0, 37_037.0], 338),
        both(["rust", "c", "jwt", "RS256"], [5_000.0, 18_500.0], 338),
    ];
    let third = &found(&rows, 0.0)[1];
    assert_eq!(third.choice.as_ref().unwrap().0, "JWT RS256, 338 bytes");
    let third = &found(&rows[..2], 0.0)[1];
    let tied = "by jeton 1 (Rust); as fast or undecided: b (Rust)";
    assert!(third.choice.as_ref().unwrap().1.ends_with(tied));
}

#[test]
fn cases_unmeasured_kind_has_no_choice() {
    let cases = found(&[token("jwt", "HS256", [400.0, 700.0], 295)], 0.0);
    assert_eq!((cases.len(), &cases[1].choice), (3, &None));
    assert!(found(&[], 0.0).is_empty());
}
