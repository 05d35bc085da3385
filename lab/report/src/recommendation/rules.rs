//! The rules that exclude candidates; the first matching rule is reported.
//!
//! A library failed an attack if, called as documented, it accepts a token from a party without a key, or such a
//! party can stop it. Findings that require the key, a wrong key at the verifier, or unsafe defaults
//! are reported but do not exclude a library.

use std::collections::BTreeMap;

use jeton_lab_conformance::attack::{Attack, WithoutKey};
use jeton_lab_model::recommendation::{Out, Requirements, Rule};
use jeton_lab_model::result::{AttackOutcome, AttackRow, Practice, Row, Status};
use jeton_lab_model::units;

use super::candidate::{Candidate, Cost, candidates};
use super::properties::{facts, is_cache};

pub(super) fn refusal(
    candidate: &Candidate<'_>,
    requirements: &Requirements,
    attacks: &Attacks,
) -> Option<Out> {
    let subject = candidate.subject;
    let out = |(rule, why): (Rule, String)| Out {
        rule,
        token: candidate.token.clone(),
        subject: subject.id.clone(),
        why,
    };
    // A library that fails an attack is excluded with every algorithm: callers cannot choose the
    // attacks they face.
    if let Some(fell_to) = attacks.fell_to(subject.driver()) {
        return Some(out((Rule::Attack, fell_to.to_owned())));
    }
    if let Some(row) = candidate.failed {
        let what = match row.status {
            Status::FailedPreflight => "failed a preflight check",
            Status::Crashed => "crashed",
            _ => "did not answer in time",
        };
        let why = row.reason.as_ref();
        let why = why.map_or_else(|| what.to_owned(), |reason| format!("{what}: {reason}"));
        return Some(out((Rule::Checks, why)));
    }
    if is_cache(subject.driver()) {
        let why = "caches verified tokens, so its times are not those of verification";
        return Some(out((Rule::Cache, why.to_owned())));
    }
    let weight = requirements.weight;
    let not_measured = || {
        let why = format!("the {} was not measured", weight.label());
        (Rule::NotMeasured, why)
    };
    let languages = &requirements.languages;
    let is_unwanted = !languages.is_empty() && !languages.contains(&subject.language);
    let unwanted = || (Rule::Languages, "the language was not requested".to_owned());
    kind(candidate, requirements)
        .map(|(rule, why)| (rule, why.to_owned()))
        .or_else(|| budgets(candidate, requirements))
        .or_else(|| candidate.scored(weight).is_none().then(not_measured))
        .or_else(|| is_unwanted.then(unwanted))
        .map(out)
}

pub(super) fn costs<'a>(
    rows: &'a [Row],
    requirements: &Requirements,
    attacks: &Attacks,
) -> Vec<Cost<'a>> {
    let usable = candidates(rows, |_| true).into_iter();
    let usable = usable.filter(|c| refusal(c, requirements, attacks).is_none());
    usable.filter_map(Cost::of).collect()
}

#[rustfmt::skip]
fn kind(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, &'static str)> {
    let subject = candidate.subject;
    let Some(facts) = facts(&subject.format, subject.alg.as_deref()) else {
        return Some((Rule::Questionable, "unknown to jeton's table of algorithms"));
    };
    let weak = "the key is smaller than today's minimum; measured only for a published report";
    if let Some(why) = subject.is_weak().then_some(weak).or(facts.questionable) {
        return Some((Rule::Questionable, why));
    }
    let no_proof = if facts.confidential {
        "an encrypted token does not prove its issuer to a third party"
    } else {
        "the verifier's secret can also create tokens"
    };
    let asked = requirements;
    let demands = [
        (asked.confidentiality, facts.confidential, Rule::Confidentiality, "the claims are readable without a key"),
        (asked.third_parties, facts.third_parties, Rule::ThirdParties, no_proof),
        (asked.fips, facts.fips, Rule::Fips, "not all of its algorithms are approved by FIPS"),
        (asked.post_quantum, facts.post_quantum, Rule::PostQuantum, "quantum computers break RSA and elliptic curves"),
    ];
    let mut unmet = demands.into_iter().filter(|(is_asked, is_met, ..)| *is_asked && !is_met);
    unmet.next().map(|(_, _, rule, why)| (rule, why))
}

fn budgets(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, String)> {
    let budgets = [
        (
            requirements.header_budget,
            Carrier::Header,
            Rule::HeaderBudget,
        ),
        (
            requirements.cookie_budget,
            Carrier::Cookie,
            Rule::CookieBudget,
        ),
    ];
    budgets.into_iter().find_map(|(budget, carrier, rule)| {
        let (budget, what) = (budget?, carrier.name());
        let Some(token) = candidate.token_bytes else {
            let why =
                format!("the size was not measured, so it is unknown whether it fits the {what}");
            return Some((rule, why));
        };
        let whole = carrier.with(token);
        let [has, own, limit] = [whole, token, budget].map(units::whole);
        let why = format!("the {what} has {has} bytes ({own} for the token), the limit is {limit}");
        (whole > budget).then_some((rule, why))
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attacks {
    NotRun,
    /// The attacked drivers by id, each with its first failure, if any.
    Run(BTreeMap<String, Option<String>>),
}

impl Attacks {
    pub(super) fn of(rows: &[AttackRow]) -> Self {
        if rows.is_empty() {
            return Self::NotRun;
        }
        let mut drivers: BTreeMap<String, Option<String>> = BTreeMap::new();
        // A void row or an unavailable driver gives no information.
        let tried = rows.iter().filter(|row| row.outcome.is_some());
        for row in tried.filter(|row| row.practice == Practice::Documented) {
            let fell_to = drivers.entry(row.subject.driver.clone()).or_default();
            if fell_to.is_none() {
                *fell_to = fall(row);
            }
        }
        Self::Run(drivers)
    }

    pub(super) fn fell_to(&self, driver: &str) -> Option<&str> {
        self.attacked(driver)?.as_deref()
    }

    /// Reports whether a driver was not attacked although others were.
    pub(super) fn left_out(&self, driver: &str) -> bool {
        matches!(self, Self::Run(_)) && self.attacked(driver).is_none()
    }

    /// Finds the result of a driver. What holds on one runtime (`java/a`) holds on another (`java/a@25`).
    fn attacked(&self, driver: &str) -> Option<&Option<String>> {
        let Self::Run(drivers) = self else {
            return None;
        };
        let without_runtime = driver.split('@').next().unwrap_or(driver);
        drivers.get(driver).or_else(|| drivers.get(without_runtime))
    }
}

fn fall(row: &AttackRow) -> Option<String> {
    let attack = Attack::named(&row.attack)?;
    let what = match (row.outcome?, attack.without_key()) {
        (_, WithoutKey::Cannot) => return None,
        (AttackOutcome::Accepted, WithoutKey::GetsPast) => {
            "accepts a token from a party without a key"
        }
        (AttackOutcome::Withheld, _) => "a finding that needs no key is not public yet",
        (AttackOutcome::Crashed, _) => "a party without a key can crash it",
        (AttackOutcome::Hung, _) => "a party without a key can make it hang",
        _ => return None,
    };
    Some(format!(
        "{what}: {} ({}), as documented, with {}",
        attack.id, attack.title, row.format
    ))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// A request header line (RFC 6750, section 2.1).
    Header,
    /// A cookie with its name and attributes: browsers count all of it (RFC 6265, section 6.1).
    Cookie,
}

impl Carrier {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }

    /// Returns the text around the token, with `…` for the token.
    pub(crate) fn around(self) -> &'static str {
        match self {
            Self::Header => "Authorization: Bearer …",
            Self::Cookie => "__Host-token=…; Path=/; Secure; HttpOnly; SameSite=Lax",
        }
    }

    pub(crate) fn with(self, token_bytes: u64) -> u64 {
        let around = self.around().len() - '…'.len_utf8();
        token_bytes.saturating_add(around as u64)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) carrier: Carrier,
    pub(crate) bytes: u64,
    pub(crate) whose: &'static str,
}

/// The limits that are always checked.
pub(crate) const USUAL: [Budget; 3] = [
    Budget {
        carrier: Carrier::Cookie,
        bytes: 4_096,
        whose: "all browsers accept a cookie of this size, and few accept more (RFC 6265, section 6.1)",
    },
    Budget {
        carrier: Carrier::Header,
        bytes: 8_190,
        whose: "Apache httpd accepts no longer line (LimitRequestFieldSize), and nginx at most one byte more (large_client_header_buffers)",
    },
    Budget {
        carrier: Carrier::Header,
        bytes: 16_384,
        whose: "Node accepts no more for all header lines together (--max-http-header-size)",
    },
];
