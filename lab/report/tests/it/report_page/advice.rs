//! The advice without requirements: three cases, on the page and on the terminal.

use jeton_lab_report::html::page;
use jeton_lab_report::recommendation::{cases, recommend};
use jeton_lab_report::terminal;

use crate::sample;
use jeton_lab_model::recommendation::Requirements;

#[test]
fn advice_without_requirements_has_three_cases() {
    let result = sample::result();
    let html = page(&result);
    super::check(&html);
    let section = super::between(&html, "<section id=\"recommendation\"", "</section>");
    let section = super::without_terms(section);
    for words in [
        "One party issues and verifies",
        "<p class=\"token\">JWT HS256, 313 bytes</p>",
        "Third parties verify",
        "Claims must stay hidden",
    ] {
        assert!(section.contains(words), "{words}: {section}");
    }
    let third = &cases(&result, false)[1];
    let (choice, _) = third.choice.as_ref().unwrap();
    assert!(choice.starts_with("PASETO v4.public"), "{choice}");
    // RS256 verifies and signs more slowly than v4.public, and its token is longer.
    assert!(third.dropped > 0);
    assert!(!third.trade_offs.iter().any(|line| line.contains("RS256")));
}

#[test]
fn advice_from_a_disturbed_run_needs_permission() {
    let mut result = sample::result();
    result.environment.disturbance.disturbed = true;
    assert!(cases(&result, false).is_empty());
    assert_eq!(cases(&result, true).len(), 3);
    result.recommendation = Some(recommend(&result, &Requirements::default(), true));
    let html = page(&result);
    assert!(html.contains("From a disturbed run"));
    assert!(html.contains("Third parties verify"));
}

#[test]
fn terminal_says_what_would_change_the_advice() {
    let mut result = sample::result();
    let said = terminal::show(&result, 100);
    for words in [
        "Recommended, by case",
        "Third parties verify: ",
        "What would change it",
        "  With verify-by-third-parties: ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let requirements = Requirements::parse(&["verify-by-third-parties"]).unwrap();
    result.recommendation = Some(recommend(&result, &requirements, false));
    let said = terminal::show(&result, 100);
    assert!(!said.contains("by case"), "the requirements decide: {said}");
    assert!(said.contains("What would change it"), "{said}");
}
