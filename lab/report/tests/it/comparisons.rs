//! What may be compared, and what a comparison reports.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::time::Duration;

use jeton_lab_harness::driver::{Driver, find, folder};
use jeton_lab_harness::runner::{FULL_BUDGET, Pace, QUICK_BUDGET};
use jeton_lab_harness::suite::{self, Choice, Comparison, Extent, Plan, Suite};
use jeton_lab_model::result::PublishedWork;
use jeton_lab_model::{Case, Format, KeyHandling, Operation};
use jeton_lab_published as published;

fn plan(drivers: &[Driver], choice: &Choice) -> Result<Plan, String> {
    let works = match choice.extent {
        Extent::Glance => published::deciding_works(choice.concurrency),
        _ => published::all_works(choice.concurrency),
    };
    suite::plan(drivers, choice, &works)
}

fn case(library: &str, format: Format, alg: Option<&str>) -> Case {
    Case {
        format,
        alg: alg.map(str::to_owned),
        operation: Operation::Verify,
        ..Case::new(&format!("go/{library}"), library, "1.0.0", "go")
    }
}

#[test]
fn comparison_of_different_operations_is_rejected() {
    let a = case("a", Format::Jwt, Some("HS256"));
    for other in [Operation::Sign, Operation::VerifySignature] {
        let mut b = case("b", Format::Jwt, Some("HS256"));
        b.operation = other;
        assert_eq!(
            Comparison::new("libraries", "HS256", a.clone(), vec![b]),
            Err(format!("verify and {other} are different operations"))
        );
    }
}

#[test]
fn comparison_with_a_reference_is_rejected() {
    let token = case("a", Format::Jwt, Some("HS256"));
    let bare = case("floor", Format::Bare, Some("HS256"));
    let refused = "go/floor:bare:HS256:prepared is a reference: it makes no token".to_owned();
    let beside = Comparison::new("libraries", "HS256", token.clone(), vec![bare.clone()]);
    assert_eq!(beside, Err(refused.clone()));
    let baseline = Comparison::new("libraries", "HS256", bare, vec![token]);
    assert_eq!(baseline, Err(refused));
}

#[test]
fn comparison_with_itself_is_rejected() {
    let a = case("a", Format::Jwt, Some("HS256"));
    let twice = Comparison::new("libraries", "HS256", a.clone(), vec![a]);
    assert!(twice.is_err_and(|why| why.ends_with("is duplicate")));
}

#[test]
fn factors_name_what_differs() {
    let jwt = case("a", Format::Jwt, Some("EdDSA"));
    let public = case("a", Format::V4Public, None);
    assert_eq!(
        Comparison::factors(&jwt, &public),
        ["format"],
        "both are Ed25519"
    );
    let other_library = case("b", Format::Jwt, Some("EdDSA"));
    assert_eq!(Comparison::factors(&jwt, &other_library), ["library"]);
    let es256 = case("a", Format::Jwt, Some("ES256"));
    assert_eq!(Comparison::factors(&jwt, &es256), ["algorithm"]);
    let mut parsed = jwt.clone();
    parsed.key_handling = KeyHandling::ParsedPerCall;
    assert_eq!(Comparison::factors(&jwt, &parsed), ["key handling"]);
    let local = case("a", Format::V4Local, None);
    assert_eq!(
        Comparison::factors(&public, &local),
        ["format", "algorithm"]
    );
}

#[test]
fn plan_has_confounded_pair_with_all_factors() {
    let drivers = find(&folder(None)).unwrap();
    let plan = plan(&drivers, &Choice::of(&[Suite::Formats], Extent::Glance)).unwrap();
    let pairs: Vec<_> = plan
        .comparisons
        .iter()
        .filter(|c| c.title().starts_with("report 1's pair"))
        .filter(|c| c.cases()[0].operation != Operation::LoadKey)
        .collect();
    assert!(pairs.len() > 20, "payloads, sizes and threads");
    for pair in pairs {
        let [jwt, paseto] = pair.cases() else {
            unreachable!("a pair")
        };
        assert_eq!(
            (jwt.library.as_str(), jwt.effective_alg().as_str()),
            ("golang-jwt", "ES256")
        );
        assert_eq!(
            (paseto.library.as_str(), paseto.format),
            ("go-paseto", Format::V4Public)
        );
        let factors = Comparison::factors(jwt, paseto);
        assert_eq!(factors, ["format", "algorithm", "library"]);
    }
}

#[test]
fn plan_other_comparisons_have_one_factor() {
    let drivers = find(&folder(None)).unwrap();
    let plan = plan(&drivers, &Choice::of(&Suite::ALL, Extent::Usual)).unwrap();
    assert!(plan.comparisons.len() > 15);
    for comparison in &plan.comparisons {
        // No PASETO uses A256GCM, and no JWE XChaCha20: the verdict says so.
        let confounded = ["report 1's pair", "JWE dir with A256GCM or v4.local"];
        if confounded.iter().any(|c| comparison.title().starts_with(c)) {
            continue;
        }
        let [baseline, others @ ..] = comparison.cases() else {
            unreachable!("a comparison has cases")
        };
        for other in others {
            assert_eq!(
                Comparison::factors(baseline, other).len(),
                1,
                "{}: {} and {}",
                comparison.title(),
                baseline.subject_id(),
                other.subject_id()
            );
        }
    }
}

#[test]
fn plan_measures_a_shared_case_once() {
    let drivers = find(&folder(None)).unwrap();
    let plan = plan(&drivers, &Choice::of(&Suite::ALL, Extent::Usual)).unwrap();
    for (i, (case, _)) in plan.cases.iter().enumerate() {
        let again = plan.cases[..i].iter().any(|(c, _)| c == case);
        assert!(!again, "{} {}", case.subject_id(), case.operation);
    }
}

/// Everything that the manifests of this checkout offer is measured within an hour.
#[test]
fn plan_full_run_ends_in_an_hour_quick_run_in_three_minutes() {
    let drivers = find(&folder(None)).unwrap();
    let takes = |pace: Pace, extent| {
        let plan = plan(&drivers, &Choice::of(&Suite::ALL, extent)).unwrap();
        let cases: Vec<Case> = plan.cases.into_iter().map(|(case, _)| case).collect();
        let takes = pace.estimate(&cases);
        println!("{extent:?}: {} cases, {takes:?}", cases.len());
        takes
    };
    let full = takes(Pace::FULL, Extent::Usual);
    assert!(full < FULL_BUDGET, "{full:?}");
    // The budget allows for a machine that is slower than estimated.
    assert!(full < Duration::from_secs(46 * 60), "{full:?}");
    // A slightly short budget removes a round or two, not half of them.
    let glance = takes(Pace::QUICK, Extent::Glance);
    assert!(glance < QUICK_BUDGET * 6 / 5, "{glance:?}");
}

#[test]
fn plan_quick_algorithms_have_every_published_row() {
    let drivers = find(&folder(None)).unwrap();
    let choice = Choice::of(&[Suite::Algorithms], Extent::Quick);
    let plan = plan(&drivers, &choice).unwrap();
    let has = |operation, format, alg: &str, enc: Option<&str>| {
        plan.cases.iter().any(|(c, _)| {
            c.library == "jeton"
                && (c.operation, c.format) == (operation, format)
                && c.alg.as_deref() == Some(alg)
                && c.enc.as_deref() == enc
        })
    };
    let wraps = [
        "RSA1_5",
        "RSA-OAEP",
        "RSA-OAEP-256",
        "dir",
        "A128KW",
        "A192KW",
        "A256KW",
    ];
    let encs = [
        "A128CBC-HS256",
        "A192CBC-HS384",
        "A256CBC-HS512",
        "A128GCM",
        "A192GCM",
        "A256GCM",
    ];
    for operation in [Operation::Encrypt, Operation::Decrypt] {
        for alg in wraps {
            for enc in encs {
                assert!(has(operation, Format::Jwe, alg, Some(enc)), "{alg} {enc}");
            }
        }
    }
    for operation in [Operation::Sign, Operation::Verify] {
        for alg in [
            "HS256", "HS384", "HS512", "RS256", "ES256", "ES384", "ES512",
        ] {
            assert!(has(operation, Format::Jwt, alg, None), "{alg}");
        }
    }
}

#[test]
fn plan_quick_run_has_only_listed_libraries() {
    let drivers = find(&folder(None)).unwrap();
    let plan = plan(&drivers, &Choice::of(&Suite::ALL, Extent::Glance)).unwrap();
    let mut ids: Vec<&str> = plan.cases.iter().map(|(c, _)| c.driver.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let listed = [
        "go/cristalhq-v5",
        "go/go-paseto",
        "go/golang-jwt",
        "go/pascaldekloe-v1.12",
        "node/fast-jwt",
        "rust/floor",
        "rust/jeton",
        "rust/jsonwebtoken",
        // Of the reports.
        "go/cristalhq",
        "go/cristalhq-v3.1",
        "go/crypto",
        "go/golang-jwt-v4",
        "go/pascaldekloe",
        "rust/reference",
    ];
    assert!(ids.iter().all(|id| listed.contains(id)), "{ids:?}");
    assert!(ids.len() >= 8, "{ids:?}");
}

#[test]
fn plan_older_version_only_for_published_reports() {
    let drivers = find(&folder(None)).unwrap();
    for extent in [Extent::Glance, Extent::Narrow, Extent::Quick, Extent::Usual] {
        let choice = Choice::of(&Suite::ALL, extent);
        let plan = plan(&drivers, &choice).unwrap();
        let works = published::all_works(choice.concurrency);
        let older = plan.cases.iter().filter(|(c, _)| c.superseded_by.is_some());
        let older: Vec<_> = older.map(|(case, _)| case).collect();
        let has_reports = matches!(extent, Extent::Glance | Extent::Usual);
        assert_eq!(!older.is_empty(), has_reports, "{extent:?}");
        for case in older {
            let is_of_case =
                |work: &PublishedWork| work.row.subject.split_once(':').unwrap().0 == case.driver;
            assert!(works.iter().any(is_of_case), "{}", case.subject_id());
            let subject = case.subject();
            let said = subject.older_version().unwrap();
            assert!(said.starts_with("older version, released 20"), "{said}");
        }
    }
    // A user can request one by name.
    let mut choice = Choice::of(&[Suite::Libraries], Extent::Quick);
    choice.subjects = vec!["golang-jwt-v4".into()];
    assert!(!plan(&drivers, &choice).unwrap().cases.is_empty());
}

#[test]
fn manifests_of_third_parties_have_a_release_date() {
    for driver in find(&folder(None)).unwrap() {
        let m = &driver.manifest;
        // This project's own, and what is part of a toolchain.
        if ["jeton", "reference", "crypto"].contains(&m.library.as_str()) {
            continue;
        }
        let day = m
            .released
            .as_deref()
            .unwrap_or_else(|| panic!("{}", driver.id));
        assert!(
            day.parse::<jiff::civil::Date>().is_ok(),
            "{}: {day}",
            driver.id
        );
        let newer = m.superseded_by.as_deref();
        let named = |id: &str| find(&folder(None)).unwrap().iter().any(|d| d.id == id);
        assert!(newer.is_none_or(named), "{}: {newer:?}", driver.id);
    }
}

#[test]
fn readme_counts_the_libraries_of_others() {
    // This project's own, primitives without a token, and second configurations of a library.
    let others = [
        "jeton",
        "reference",
        "crypto",
        "aws-lc-rs",
        "fast-jwt-cached",
        "nimbus-jose-jwt-accp",
    ];
    let drivers = find(&folder(None)).unwrap();
    let libraries: BTreeSet<(&str, &str)> = (drivers.iter())
        .map(|driver| (&*driver.manifest.language, &*driver.manifest.library))
        .filter(|(_, library)| !others.contains(library))
        .collect();
    let languages: BTreeSet<&str> = libraries.iter().map(|(language, _)| *language).collect();
    assert_eq!(languages.len(), 5);
    let readme = include_str!("../../../../README.md");
    let says = format!("{} libraries in five languages", libraries.len());
    assert!(readme.contains(&says), "{says}: {libraries:?}");
}

#[test]
fn plan_claims_and_threads_multiply_token_operations() {
    let drivers = find(&folder(None)).unwrap();
    let mut choice = Choice::of(&[Suite::Libraries], Extent::Usual);
    choice.subjects = vec!["rust/jeton:jwt:ES256".into()];
    let once = plan(&drivers, &choice).unwrap().cases.len();
    choice.claims = vec!["standard".into(), "report1-large".into()];
    choice.threads = vec![1, 2];
    let plan = plan(&drivers, &choice).unwrap();
    let keys = |c: &Case| matches!(c.operation, Operation::GenerateKey | Operation::LoadKey);
    let of_keys = plan.cases.iter().filter(|(c, _)| keys(c)).count();
    // Key operations do not depend on claims, only on the threads.
    assert_eq!(plan.cases.len(), (once - of_keys / 2) * 4 + of_keys);
    let titles: Vec<&str> = plan.comparisons.iter().map(Comparison::title).collect();
    let factors = "(claims report1-large, 2 threads)";
    assert!(titles.iter().any(|t| t.contains(factors)), "{titles:?}");
    for (i, title) in titles.iter().enumerate() {
        assert!(!titles[..i].contains(title), "duplicate title {title}");
    }
}

#[test]
fn comparison_of_different_claims_or_threads_is_rejected() {
    let one = case("a", Format::Jwt, Some("HS256"));
    let mut other = case("b", Format::Jwt, Some("HS256"));
    other.claims = "report2".into();
    let refused = Comparison::new("libraries", "x", one.clone(), vec![other]);
    let why = "the claims sets standard and report2 differ".to_owned();
    assert_eq!(refused, Err(why));
    let mut other = case("b", Format::Jwt, Some("HS256"));
    other.threads = 2;
    let refused = Comparison::new("libraries", "x", one.clone(), vec![other]);
    assert_eq!(refused, Err("the thread counts 1 and 2 differ".to_owned()));
    let mut other = case("b", Format::Jwt, Some("HS256"));
    other.caches = true;
    let refused = Comparison::new("libraries", "x", one, vec![other]);
    assert!(refused.is_err_and(|why| why.contains("answers from a cache")));
}

/// Every row of a published table has a case in the default run.
#[test]
fn plan_contains_every_published_row() {
    let drivers = find(&folder(None)).unwrap();
    let choice = Choice::of(&Suite::ALL, Extent::Usual);
    let plan = plan(&drivers, &choice).unwrap();
    for (report, least) in [(1, 50), (2, 100), (4, 50)] {
        let works = published::works(report, choice.concurrency);
        assert!(works.len() >= least, "report {report}: {}", works.len());
        for work in works {
            let planned = plan.cases.iter().any(|(c, _)| {
                c.subject_id() == work.subject
                    && c.operation.name() == work.operation
                    && c.claims == work.claims
                    && c.threads == work.threads
            });
            assert!(planned, "report {report}: {work:?}");
        }
    }
    let weak = plan.cases.iter().filter(|(c, _)| c.subject().is_weak());
    assert!(weak.clone().count() >= 4);
    assert!(
        weak.clone().all(|(c, _)| c.library != "jeton"),
        "jeton must not have such a key"
    );
}

/// Every row of report 2 is also measured in its language, with its claims and keys, beside jeton.
#[test]
fn plan_full_has_report_2_in_java() {
    let drivers = find(&folder(None)).unwrap();
    let full = plan(&drivers, &Choice::of(&[Suite::Algorithms], Extent::Full)).unwrap();
    let mut rows = 0;
    for work in published::works(2, 1) {
        let Some(row) = work.subject.strip_prefix("rust/jeton:") else {
            continue; // NONE has no security
        };
        rows += 1;
        for library in ["jeton", "json-web-token", "nimbus-jose-jwt"] {
            let subject = format!("java/{library}:{row}");
            let is_it = |c: &Case| {
                c.subject_id() == subject
                    && c.operation.name() == work.operation
                    && c.claims == work.claims
            };
            let comparison = full.comparisons.iter().find(|comparison| {
                let cases = comparison.cases();
                cases[0].subject_id() == work.subject && cases.iter().any(is_it)
            });
            let has_none = library == "jeton" && row.contains("RSA1_5");
            assert_eq!(
                comparison.is_none(),
                has_none,
                "{subject} {}",
                work.operation
            );
        }
    }
    assert_eq!(rows, 2 * (42 + 7));
    let usual = plan(&drivers, &Choice::of(&[Suite::Algorithms], Extent::Usual)).unwrap();
    let in_java = |c: &Comparison| c.title().starts_with("report 2 in Java");
    assert!(!usual.comparisons.iter().any(in_java), "it takes too long");
    let mut named = Choice::of(&[Suite::Algorithms], Extent::Usual);
    named.subjects = vec!["java/json-web-token".into()];
    let named = plan(&drivers, &named).unwrap();
    assert_eq!(named.cases.len(), rows);
}

#[test]
fn comparison_of_unequal_work_is_rejected() {
    let drivers = find(&folder(None)).unwrap();
    let plan = plan(&drivers, &Choice::of(&Suite::ALL, Extent::Full)).unwrap();
    let unequal = |c: &Case| c.operation == Operation::VerifyParsed;
    assert!(plan.cases.iter().any(|(c, _)| unequal(c)));
    let compared = plan.comparisons.iter().flat_map(Comparison::cases);
    assert!(!compared.clone().any(unequal));
    assert!(!compared.clone().any(Case::is_reference));
}

#[test]
fn plan_requested_claims_replace_those_of_reports() {
    let drivers = find(&folder(None)).unwrap();
    let mut choice = Choice::of(&Suite::ALL, Extent::Usual);
    choice.claims = vec!["report3".into()];
    let plan = plan(&drivers, &choice).unwrap();
    let key = |c: &Case| matches!(c.operation, Operation::GenerateKey | Operation::LoadKey);
    let other = plan
        .cases
        .iter()
        .find(|(c, _)| !key(c) && c.claims != "report3");
    assert!(other.is_none(), "{other:?}");
}
