//! The suites: from what the drivers offer to the cells of a run and their comparisons.

use super::offered::{BASELINE, cells};
use super::plan::{narrow, nearest};
use super::quick::at_a_glance;
use super::{Cell, Contract, Format, KeyForm, KeyHandling, Plan, PlanError, STANDARD};
use crate::driver::Driver;

/// The algorithms that libraries are compared under.
const LIBRARY_ALGS: [&str; 4] = ["HS256", "ES256", "EdDSA", "RS256"];

/// The algorithms that show what making and opening a token costs together.
const ROUND_TRIP_ALGS: [&str; 2] = ["HS256", "ES256"];

/// The algorithm that shows what a key costs: to make, to load, to parse in each call. An RSA key
/// is luck: the next one takes five times as long.
const KEY_ALG: &str = "ES256";

/// The encryptions that libraries are compared under: one of each kind of key management, and both
/// kinds of content encryption.
const LIBRARY_JWES: [(&str, &str); 4] = [
    ("dir", "A256GCM"),
    ("A128KW", "A128CBC-HS256"),
    ("RSA-OAEP-256", "A256GCM"),
    ("ECDH-ES+A256KW", "A256GCM"),
];

/// The algorithms of jeton that a quick run of everything shows.
const FEW_ALGS: [&str; 7] = [
    "HS256", "HS512", "RS256", "PS256", "ES256", "ES384", "EdDSA",
];

/// The rows of report 2, without NONE, which is a format of its own here.
const REPORT_2_ALGS: [&str; 7] = [
    "HS256", "HS384", "HS512", "RS256", "ES256", "ES384", "ES512",
];

/// The key managements of report 2, each of which went with each of the six content encryptions.
const REPORT_2_KEY_MANAGEMENTS: [&str; 7] = [
    "RSA1_5",
    "RSA-OAEP",
    "RSA-OAEP-256",
    "dir",
    "A128KW",
    "A192KW",
    "A256KW",
];

/// The content encryptions that stand for their kinds where not all six are measured.
const REPRESENTATIVE_ENCS: [&str; 2] = ["A128CBC-HS256", "A256GCM"];

/// Who has the full matrix, and each key handling, beside the baseline: a peer of each language.
const FULL_PEERS: [&str; 5] = [
    "rust/josekit",
    "go/go-jose",
    "node/jose",
    "java/nimbus-jose-jwt",
    "python/joserfc",
];

/// A named choice of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// JWT or PASETO?
    Formats,
    /// What does each algorithm cost?
    Algorithms,
    /// Which library?
    Libraries,
}

impl Suite {
    /// All of them, in the order in which they are measured and shown.
    pub const ALL: [Self; 3] = [Self::Libraries, Self::Formats, Self::Algorithms];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Formats => "formats",
            Self::Algorithms => "algorithms",
            Self::Libraries => "libraries",
        }
    }

    /// The question it answers.
    #[must_use]
    pub fn question(self) -> &'static str {
        match self {
            Self::Formats => "JWT or PASETO, with the same claims?",
            Self::Algorithms => "What does each algorithm cost?",
            Self::Libraries => "Which library, doing the same work?",
        }
    }

    /// The suite of that name.
    ///
    /// # Errors
    /// [`PlanError::NoSuite`].
    pub fn named(name: &str) -> Result<Self, PlanError> {
        let found = Self::ALL.into_iter().find(|s| s.name() == name);
        found.ok_or_else(|| PlanError::NoSuite {
            name: name.to_owned(),
            nearest: nearest(name, Self::ALL.map(Self::name).into_iter()),
        })
    }
}

/// How much of a suite is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// A small choice of everything, from few libraries: what 90 seconds have time for.
    Glance,
    /// One algorithm of each kind, made and opened: for a run that repeats it with many claims.
    Narrow,
    /// The core of a suite, for somebody who waits.
    Quick,
    /// What answers the suite's question.
    Usual,
    /// All algorithms with all content encryptions, for the baseline and a peer of each language.
    Full,
}

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The suites.
    pub suites: Vec<Suite>,
    /// How much of them.
    pub extent: Extent,
    /// Only subjects whose id matches one of these; `*` stands for anything. Empty: all.
    pub subjects: Vec<String>,
    /// Only these contracts. Empty: all.
    pub contracts: Vec<Contract>,
    /// The claims sets, each with everything.
    pub claims: Vec<String>,
    /// The numbers of threads, each with everything.
    pub threads: Vec<u32>,
}

impl Choice {
    /// Suites with the claims `standard` on one thread, nothing left out.
    #[must_use]
    pub fn of(suites: &[Suite], extent: Extent) -> Self {
        Self {
            suites: suites.to_vec(),
            extent,
            subjects: Vec::new(),
            contracts: Vec::new(),
            claims: vec![STANDARD.to_owned()],
            threads: vec![1],
        }
    }
}

/// Plans a run over what `drivers` offer.
///
/// # Errors
/// [`PlanError::NoSubject`], and [`PlanError::Nothing`] if a contract leaves nothing over.
pub fn plan(drivers: &[Driver], choice: &Choice) -> Result<Plan, PlanError> {
    let extent = choice.extent;
    // Who is asked for by name is measured, however little time there is.
    let offered = if extent == Extent::Glance && choice.subjects.is_empty() {
        at_a_glance(cells(drivers))
    } else {
        cells(drivers)
    };
    let offered = Offered(offered);
    let mut plan = Plan::default();
    for suite in Suite::ALL.into_iter().filter(|s| choice.suites.contains(s)) {
        match suite {
            Suite::Libraries => libraries(&offered, extent, &mut plan),
            Suite::Formats => formats(&offered, extent, &mut plan),
            Suite::Algorithms => algorithms(&offered, extent, &mut plan),
        }
    }
    narrow(&mut plan, &choice.subjects, &choice.contracts)?;
    Ok(plan.with_each(&choice.claims, &choice.threads))
}

/// What can be planned.
struct Offered(Vec<Cell>);

impl Offered {
    /// The cells of a format and algorithm under a contract, with prepared keys.
    fn of(
        &self,
        format: Format,
        alg: Option<&str>,
        enc: Option<&str>,
        contract: Contract,
    ) -> impl Iterator<Item = &Cell> {
        self.handled(KeyHandling::Prepared, format, alg, enc, contract)
    }

    fn handled(
        &self,
        handling: KeyHandling,
        format: Format,
        alg: Option<&str>,
        enc: Option<&str>,
        contract: Contract,
    ) -> impl Iterator<Item = &Cell> {
        self.0.iter().filter(move |c| {
            c.format == format
                && c.alg.as_deref() == alg
                && c.enc.as_deref() == enc
                && c.contract == contract
                && c.key_handling == handling
        })
    }

    fn jwt(&self, alg: &str, contract: Contract) -> impl Iterator<Item = &Cell> {
        self.of(Format::Jwt, Some(alg), None, contract)
    }
}

fn own(cell: &&Cell) -> bool {
    cell.library == BASELINE
}

fn libraries(offered: &Offered, extent: Extent, plan: &mut Plan) {
    const SUITE: &str = "libraries";
    let algs: &[&str] = match extent {
        Extent::Narrow => &["HS256"],
        Extent::Quick => &["HS256", "ES256"],
        _ => &LIBRARY_ALGS,
    };
    for &alg in algs {
        for contract in [Contract::Sign, Contract::Verify] {
            plan.add(SUITE, alg, offered.jwt(alg, contract));
            plan.add_references(SUITE, offered.of(Format::Bare, Some(alg), None, contract));
        }
        // The finer questions: a quick run has no time for them.
        if extent >= Extent::Usual {
            plan.add(SUITE, alg, offered.jwt(alg, Contract::VerifySignature));
        }
        if extent >= Extent::Usual && ROUND_TRIP_ALGS.contains(&alg) {
            let there_and_back = offered.jwt(alg, Contract::RoundTrip);
            plan.add(SUITE, &format!("{alg} there and back"), there_and_back);
        }
    }
    if extent < Extent::Usual {
        return;
    }
    for (alg, enc) in LIBRARY_JWES {
        for contract in [Contract::Encrypt, Contract::Decrypt] {
            let cells = offered.of(Format::Jwe, Some(alg), Some(enc), contract);
            plan.add(SUITE, &format!("JWE {alg} with {enc}"), cells);
        }
    }
    let title = format!("Keys of {KEY_ALG}");
    plan.add(SUITE, &title, offered.jwt(KEY_ALG, Contract::GenerateKey));
    for form in [KeyForm::Jwk, KeyForm::Pem] {
        let handling = KeyHandling::Text(form);
        let loading = Contract::LoadKey;
        let cells = offered.handled(handling, Format::Jwt, Some(KEY_ALG), None, loading);
        plan.add(SUITE, &format!("{title} from {}", form.name()), cells);
    }
    key_handling(offered, plan);
}

/// What it costs to parse a key in each call, library by library.
fn key_handling(offered: &Offered, plan: &mut Plan) {
    for contract in [Contract::Sign, Contract::Verify] {
        let prepared: Vec<&Cell> = offered.jwt(KEY_ALG, contract).collect();
        let handling = KeyHandling::ParsedPerCall;
        let parsed = offered.handled(handling, Format::Jwt, Some(KEY_ALG), None, contract);
        for cell in parsed.filter(|c| own(c) || FULL_PEERS.contains(&c.driver.as_str())) {
            let same = prepared.iter().filter(|c| c.driver == cell.driver).copied();
            let (library, version) = (&cell.library, &cell.version);
            let title = format!("{KEY_ALG} in {library} {version}: the key's handling");
            plan.add("libraries", &title, same.chain([cell]));
        }
    }
}

fn formats(offered: &Offered, extent: Extent, plan: &mut Plan) {
    const SUITE: &str = "formats";
    for contract in [Contract::Sign, Contract::Verify, Contract::RoundTrip] {
        let back = match contract {
            Contract::RoundTrip if extent < Extent::Usual => continue,
            Contract::RoundTrip => " there and back",
            _ => "",
        };
        let mut add = |title: &str, cells: &mut dyn Iterator<Item = &Cell>| {
            plan.add(SUITE, &format!("{title}{back}"), cells);
        };
        let signed = || offered.of(Format::V4Public, None, None, contract);
        let local = || offered.of(Format::V4Local, None, None, contract);
        let jwt = offered.jwt("EdDSA", contract).filter(own);
        add(
            "JWT or v4.public, both Ed25519 in jeton",
            &mut jwt.chain(signed().filter(own)),
        );
        add("v4.public", &mut signed());
        add("v4.local", &mut local());
        add(REPORT_1, &mut report_1(offered, contract, None));
        if extent >= Extent::Usual {
            let older = (contract != Contract::RoundTrip).then(older_pasetos);
            for format in older.into_iter().flatten() {
                add(format.name(), &mut offered.of(format, None, None, contract));
            }
        }
    }
    if extent < Extent::Usual {
        return;
    }
    for contract in [Contract::Encrypt, Contract::Decrypt] {
        let jwe = offered.of(Format::Jwe, Some("dir"), Some("A256GCM"), contract);
        let local = offered.of(Format::V4Local, None, None, contract);
        let title = "JWE dir with A256GCM or v4.local, in jeton";
        plan.add(SUITE, title, jwe.filter(own).chain(local.filter(own)));
    }
    for format in [Format::V4Public, Format::V4Local] {
        let title = format!("Keys of {format}");
        let made = offered.of(format, None, None, Contract::GenerateKey);
        plan.add(SUITE, &title, made);
        let handling = KeyHandling::Text(KeyForm::Paserk);
        let loaded = offered.handled(handling, format, None, None, Contract::LoadKey);
        plan.add(SUITE, &title, loaded);
    }
    let title = format!("{REPORT_1}, keys");
    let made = report_1(offered, Contract::GenerateKey, None);
    plan.add(SUITE, &title, made);
    let forms = Some((KeyForm::Pem, KeyForm::Paserk));
    plan.add(SUITE, &title, report_1(offered, Contract::LoadKey, forms));
}

/// Report 1 compared this pair and called the difference "JWT against PASETO".
const REPORT_1: &str = "report 1's pair: golang-jwt ES256 or go-paseto v4.public";

fn report_1(
    offered: &Offered,
    contract: Contract,
    forms: Option<(KeyForm, KeyForm)>,
) -> impl Iterator<Item = &Cell> {
    let (jwt, paseto) = match forms {
        Some((jwt, paseto)) => (KeyHandling::Text(jwt), KeyHandling::Text(paseto)),
        None => (KeyHandling::Prepared, KeyHandling::Prepared),
    };
    let es256 = offered.handled(jwt, Format::Jwt, Some("ES256"), None, contract);
    let es256: Vec<&Cell> = es256.filter(|c| c.library == "golang-jwt").collect();
    // The report's own major version, where there is a driver for it.
    let fourth = es256.iter().find(|c| c.version.starts_with("4."));
    let es256 = fourth.or(es256.first()).copied();
    let signed = offered.handled(paseto, Format::V4Public, None, None, contract);
    es256
        .into_iter()
        .chain(signed.filter(|c| c.library == "go-paseto"))
}

fn older_pasetos() -> [Format; 6] {
    [
        Format::V3Public,
        Format::V3Local,
        Format::V2Public,
        Format::V2Local,
        Format::V1Public,
        Format::V1Local,
    ]
}

fn algorithms(offered: &Offered, extent: Extent, plan: &mut Plan) {
    const SUITE: &str = "algorithms";
    if extent == Extent::Narrow {
        return;
    }
    let shown = |cell: &&Cell| {
        let alg = cell.alg.as_deref().unwrap_or_default();
        match extent {
            Extent::Glance => FEW_ALGS.contains(&alg),
            Extent::Narrow | Extent::Quick => REPORT_2_ALGS.contains(&alg),
            Extent::Usual | Extent::Full => true,
        }
    };
    let in_full = |c: &&Cell| own(c) || FULL_PEERS.contains(&c.driver.as_str());
    for contract in [Contract::Sign, Contract::Verify] {
        let all = || {
            offered.0.iter().filter(move |c| {
                c.format == Format::Jwt
                    && c.contract == contract
                    && c.key_handling == KeyHandling::Prepared
            })
        };
        plan.add(
            SUITE,
            "JWT algorithms in jeton",
            all().filter(own).filter(shown),
        );
        let none = offered.of(Format::Unsecured, None, None, contract);
        plan.add_references(SUITE, none);
        if extent == Extent::Full {
            by_peer(
                plan,
                "JWT algorithms",
                all().filter(in_full).filter(|c| !own(c)),
            );
        }
    }
    if extent == Extent::Glance {
        return;
    }
    for contract in [Contract::Encrypt, Contract::Decrypt] {
        let all = || {
            offered.0.iter().filter(move |c| {
                c.format == Format::Jwe
                    && c.contract == contract
                    && c.key_handling == KeyHandling::Prepared
            })
        };
        let jwes = all().filter(own).filter(|c| is_shown_jwe(c, extent));
        // The cheapest is what the others are measured against.
        let (direct, others): (Vec<&Cell>, Vec<&Cell>) =
            jwes.partition(|c| c.alg.as_deref() == Some("dir"));
        let jwes = direct.into_iter().chain(others);
        plan.add(SUITE, "JWE algorithms in jeton", jwes);
        if extent == Extent::Full {
            by_peer(
                plan,
                "JWE algorithms",
                all().filter(in_full).filter(|c| !own(c)),
            );
        }
    }
}

/// Each library's algorithms in a comparison of their own.
fn by_peer<'a>(plan: &mut Plan, what: &str, cells: impl Iterator<Item = &'a Cell>) {
    let cells: Vec<&Cell> = cells.collect();
    for peer in FULL_PEERS {
        let of_peer: Vec<&Cell> = cells.iter().filter(|c| c.driver == peer).copied().collect();
        if let Some(first) = of_peer.first() {
            let title = format!("{what} in {}", first.library);
            plan.add("algorithms", &title, of_peer.into_iter());
        }
    }
}

fn is_shown_jwe(cell: &Cell, extent: Extent) -> bool {
    let alg = cell.alg.as_deref().unwrap_or_default();
    let enc = cell.enc.as_deref().unwrap_or_default();
    match extent {
        Extent::Glance | Extent::Narrow => false,
        Extent::Quick => REPORT_2_KEY_MANAGEMENTS.contains(&alg),
        Extent::Usual => {
            REPORT_2_KEY_MANAGEMENTS.contains(&alg) || REPRESENTATIVE_ENCS.contains(&enc)
        }
        Extent::Full => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_suite_names_the_nearest() {
        let error = Suite::named("librarys").map_err(|e| e.to_string());
        assert!(error.is_err_and(|e| e.contains("did you mean `libraries`?")));
    }
}
