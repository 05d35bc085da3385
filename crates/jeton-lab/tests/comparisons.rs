//! What may stand side by side, and what is said of it.

#![allow(clippy::unwrap_used)]

use jeton_lab::driver::{find, folder};
use jeton_lab::suite::{
    Cell, Comparison, Contract, Extent, Format, Incomparable, KeyHandling, Suite, plan,
};

fn cell(library: &str, format: Format, alg: Option<&str>) -> Cell {
    Cell {
        format,
        alg: alg.map(str::to_owned),
        contract: Contract::Verify,
        ..Cell::new(&format!("go/{library}"), library, "1.0.0", "go")
    }
}

#[test]
fn different_contracts_are_never_in_one_comparison() {
    let a = cell("a", Format::Jwt, Some("HS256"));
    for other in [Contract::Sign, Contract::VerifySignature] {
        let mut b = cell("b", Format::Jwt, Some("HS256"));
        b.contract = other;
        assert_eq!(
            Comparison::new("libraries", "HS256", a.clone(), vec![b]),
            Err(Incomparable::Contracts(Contract::Verify, other))
        );
    }
}

#[test]
fn a_reference_line_is_never_in_a_comparison() {
    let token = cell("a", Format::Jwt, Some("HS256"));
    let bare = cell("floor", Format::Bare, Some("HS256"));
    let refused = Incomparable::Reference("go/floor:bare:HS256:prepared".into());
    let beside = Comparison::new("libraries", "HS256", token.clone(), vec![bare.clone()]);
    assert_eq!(beside, Err(refused.clone()));
    let baseline = Comparison::new("libraries", "HS256", bare, vec![token]);
    assert_eq!(baseline, Err(refused));
}

#[test]
fn nothing_is_compared_with_itself() {
    let a = cell("a", Format::Jwt, Some("HS256"));
    let twice = Comparison::new("libraries", "HS256", a.clone(), vec![a]);
    assert!(matches!(twice, Err(Incomparable::Twice(_))));
}

#[test]
fn one_factor_is_named() {
    let jwt = cell("a", Format::Jwt, Some("EdDSA"));
    let public = cell("a", Format::V4Public, None);
    assert_eq!(
        Comparison::factors(&jwt, &public),
        ["format"],
        "both are Ed25519"
    );
    let other_library = cell("b", Format::Jwt, Some("EdDSA"));
    assert_eq!(Comparison::factors(&jwt, &other_library), ["library"]);
    let es256 = cell("a", Format::Jwt, Some("ES256"));
    assert_eq!(Comparison::factors(&jwt, &es256), ["algorithm"]);
    let mut parsed = jwt.clone();
    parsed.key_handling = KeyHandling::ParsedPerCall;
    assert_eq!(Comparison::factors(&jwt, &parsed), ["key handling"]);
    let local = cell("a", Format::V4Local, None);
    assert_eq!(
        Comparison::factors(&public, &local),
        ["format", "algorithm"]
    );
}

#[test]
fn the_confounded_pair_of_report_1_is_planned_and_names_all_its_factors() {
    let drivers = find(&folder(None)).unwrap();
    let plan = plan(&drivers, &[Suite::Formats], Extent::Glance, &[]).unwrap();
    let pairs: Vec<_> = plan
        .comparisons
        .iter()
        .filter(|c| c.title().starts_with("report 1's pair"))
        .collect();
    assert_eq!(pairs.len(), 2, "sign and verify");
    for pair in pairs {
        let [jwt, paseto] = pair.cells() else {
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
fn every_other_planned_comparison_has_one_factor() {
    let drivers = find(&folder(None)).unwrap();
    let plan = plan(&drivers, &Suite::ALL, Extent::Usual, &[]).unwrap();
    assert!(plan.comparisons.len() > 15);
    for comparison in &plan.comparisons {
        // A256GCM is in no PASETO, and XChaCha20 in no JWE: said in the verdict, not hidden.
        let confounded = ["report 1's pair", "JWE dir with A256GCM or v4.local"];
        if confounded.iter().any(|c| comparison.title().starts_with(c)) {
            continue;
        }
        let [baseline, others @ ..] = comparison.cells() else {
            unreachable!("a comparison has cells")
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
fn a_cell_that_two_suites_ask_for_is_measured_once() {
    let drivers = find(&folder(None)).unwrap();
    let plan = plan(&drivers, &Suite::ALL, Extent::Usual, &[]).unwrap();
    for (i, (cell, _)) in plan.cells.iter().enumerate() {
        let again = plan.cells[..i].iter().any(|(c, _)| c == cell);
        assert!(!again, "{} {}", cell.subject_id(), cell.contract);
    }
}
