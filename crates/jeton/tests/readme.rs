//! Compiles and runs the example of the README, which is repeated below.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use jeton::key::SigAlg;
use jeton::{Claims, Policy, Verified, jwt};
use serde::{Deserialize, Serialize};

const README: &str = include_str!("../../../README.md");
const THIS_FILE: &str = include_str!("readme.rs");

#[derive(Serialize, Deserialize)]
struct Visit {
    page: String,
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_mins(minutes)
}

#[test]
#[rustfmt::skip]
fn readme_example_runs() -> jeton::Result<()> {
    let visit = Visit { page: "/".into() };

    let key = jwt::SigningKey::generate(SigAlg::ES256)?;
    let token = key.issue(&Claims::new(visit).issuer("https://id.example").audience("api").expires_in(minutes(15)))?;

    let verifier = jwt::Verifier::new(key.verifying_key(), Policy::new("https://id.example", "api"));
    let visit: Verified<Visit> = verifier.verify(&token)?;         // only a verifier creates a Verified

    assert_eq!(visit.page, "/");
    Ok(())
}

#[test]
fn readme_example_matches_the_readme() {
    let example = README.split("```rust\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    let lines = example.lines().filter(|line| !line.trim().is_empty());
    let mut count = 0;
    for line in lines {
        assert!(THIS_FILE.contains(line.trim()), "not in this file: {line}");
        count += 1;
    }
    assert!(count >= 4, "the example has only {count} lines");
}
