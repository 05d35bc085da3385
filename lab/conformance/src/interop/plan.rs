//! Plans which drivers exchange which tokens.

use std::time::Duration;

use jeton_lab_harness::driver::{Driver, Offer};
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::{Dialect, Format, KeyForm, Operation, matches, nearest};

/// The requested exchanges.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Only pairs in which one driver matches: part of `go/jwx` or of `go/jwx:jwe:dir+A256GCM`; `*`
    /// matches anything. Empty: all.
    pub subjects: Vec<String>,
    /// Only these algorithms: `ES256`, `dir+A256GCM`, `v4.public`, or part of one with `*`. Empty:
    /// all.
    pub algs: Vec<String>,
    /// The extent.
    pub extent: Extent,
}

/// Which algorithms are exchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// All that any driver offers.
    #[default]
    Everything,
    /// One of each kind.
    Quick,
}

/// One of each kind for a quick run, and every version of PASETO.
const QUICK_JWS: [&str; 6] = ["HS256", "RS256", "PS256", "ES256", "EdDSA", "ML-DSA-65"];
const QUICK_JWE: [(&str, &str); 6] = [
    ("dir", "A256GCM"),
    ("A256KW", "A128CBC-HS256"),
    ("A256GCMKW", "A256GCM"),
    ("RSA-OAEP-256", "A256GCM"),
    ("ECDH-ES", "A256GCM"),
    ("ECDH-ES+A256KW", "A256CBC-HS512"),
];

/// All exchanges of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// One for each kind of token.
    pub exchanges: Vec<Exchange>,
    subjects: Vec<String>,
}

/// The drivers that exchange one kind of token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The kind of token.
    pub dialect: Dialect,
    /// The participants, in the order of their ids.
    pub roles: Vec<Role>,
}

/// What a driver does in an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The driver's id.
    pub driver: String,
    /// The operation that makes tokens, if offered.
    pub issues: Option<Operation>,
    /// The operation that verifies or decrypts tokens, if offered.
    pub verifies: Option<Operation>,
    /// The forms of key text that its library reads.
    pub reads: Vec<KeyForm>,
}

/// Plans the exchanges that the offers of `drivers` allow.
///
/// # Errors
///
/// Why there is nothing to exchange, with the nearest known name.
pub fn plan(drivers: &[Driver], choice: &Choice) -> Result<Plan, String> {
    let mut plan = Plan {
        exchanges: exchanges(drivers),
        subjects: choice.subjects.clone(),
    };
    for pattern in &choice.subjects {
        let mut roles = plan.exchanges.iter().flat_map(|m| {
            let ids = m.roles.iter().map(|role| id(role, &m.dialect));
            ids.collect::<Vec<_>>()
        });
        if !roles.any(|id| matches(pattern, &id)) {
            let names = drivers.iter();
            let names = names.flat_map(|d| [d.id.as_str(), d.manifest.library.as_str()]);
            let nearest = nearest(pattern, names);
            return Err(format!(
                "no driver matches `{pattern}`{nearest} (`jeton-lab list` shows all)"
            ));
        }
    }
    for pattern in &choice.algs {
        if !plan.exchanges.iter().any(|m| names(pattern, &m.dialect)) {
            let names: Vec<String> = plan
                .exchanges
                .iter()
                .flat_map(|m| [m.dialect.alg_or_format(), m.dialect.kind()])
                .collect();
            let nearest = nearest(pattern, names.iter().map(String::as_str));
            return Err(format!(
                "no driver offers the algorithm `{pattern}`{nearest} (`jeton-lab list` shows all)"
            ));
        }
    }
    let asked = |d: &Dialect| choice.algs.is_empty() || choice.algs.iter().any(|a| names(a, d));
    // An algorithm that is requested by name is exchanged even in a quick run.
    let quick = choice.extent == Extent::Quick && choice.algs.is_empty();
    plan.exchanges
        .retain(|m| asked(&m.dialect) && (!quick || is_quick(&m.dialect)));
    for exchange in &mut plan.exchanges {
        let (roles, dialect) = (exchange.roles.clone(), &exchange.dialect);
        let asked = |a: &Role, b: &Role| matches_pair(&choice.subjects, dialect, a, b);
        let comes = |role: &Role| roles.iter().any(|other| asked(role, other));
        exchange.roles.retain(comes);
    }
    plan.exchanges.retain(|m| !m.roles.is_empty());
    if plan.exchanges.is_empty() {
        let nothing = "no matching subject makes or verifies tokens with a matching algorithm (`jeton-lab list` shows the offers)";
        return Err(nothing.to_owned());
    }
    Ok(plan)
}

impl Plan {
    /// Returns whether this pair was requested.
    pub(super) fn is_requested(&self, dialect: &Dialect, issuer: &Role, verifier: &Role) -> bool {
        matches_pair(&self.subjects, dialect, issuer, verifier)
    }

    /// Returns the ids of all participating drivers.
    #[must_use]
    pub fn drivers(&self) -> Vec<&str> {
        let roles = self.exchanges.iter().flat_map(|m| &m.roles);
        let mut ids: Vec<&str> = roles.map(|role| role.driver.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns the number of pairs of an issuer and a verifier.
    #[must_use]
    pub fn exchanges(&self) -> usize {
        let of = |exchange: &Exchange| {
            let pairs = exchange
                .roles
                .iter()
                .flat_map(|a| exchange.roles.iter().map(move |b| (a, b)));
            pairs
                .filter(|(a, b)| a.issues.is_some() && b.verifies.is_some())
                .filter(|(a, b)| self.is_requested(&exchange.dialect, a, b))
                .count()
        };
        self.exchanges.iter().map(of).sum()
    }

    /// Estimates the time for this many rounds once the drivers are built: starting and preparing
    /// the drivers, and the tokens. The constants were measured on a reference machine.
    #[must_use]
    pub fn estimate(&self, rounds: u32) -> Duration {
        const START: Duration = Duration::from_millis(700);
        const READY: Duration = Duration::from_millis(12);
        const EXCHANGE: Duration = Duration::from_millis(3);
        let roles: usize = self.exchanges.iter().map(|m| m.roles.len()).sum();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        START * count(self.drivers().len())
            + READY * count(roles).saturating_mul(rounds)
            + EXCHANGE * count(self.exchanges()).saturating_mul(rounds)
    }
}

fn matches_pair(subjects: &[String], dialect: &Dialect, issuer: &Role, verifier: &Role) -> bool {
    let one = |pattern: &String| {
        matches(pattern, &id(issuer, dialect)) || matches(pattern, &id(verifier, dialect))
    };
    subjects.is_empty() || subjects.iter().any(one)
}

fn id(role: &Role, dialect: &Dialect) -> String {
    let (driver, format) = (&role.driver, dialect.format);
    match dialect.alg {
        Some(_) => format!("{driver}:{format}:{}", dialect.alg_or_format()),
        None => format!("{driver}:{format}"),
    }
}

/// Returns whether the pattern matches this kind of token.
fn names(pattern: &str, dialect: &Dialect) -> bool {
    let full = dialect.alg_or_format();
    if pattern.contains('*') {
        return matches(pattern, &full) || matches(pattern, &dialect.kind());
    }
    let is = |name: &str| name.eq_ignore_ascii_case(pattern);
    is(&full)
        || is(&dialect.kind())
        || is(dialect.format.name())
        || dialect.alg.as_deref().is_some_and(is)
}

fn is_quick(dialect: &Dialect) -> bool {
    let alg = dialect.alg.as_deref().unwrap_or_default();
    match dialect.format {
        Format::Jwt => QUICK_JWS.contains(&alg),
        Format::Jwe => {
            let enc = dialect.enc.as_deref().unwrap_or_default();
            QUICK_JWE.contains(&(alg, enc))
        }
        format => format.is_paseto(),
    }
}

/// Returns every kind of token that a driver offers, with all drivers that do.
fn exchanges(drivers: &[Driver]) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for driver in drivers {
        for offer in &driver.manifest.offers {
            for dialect in dialects(offer) {
                let role = role(driver, offer, dialect.format);
                let place = match exchanges.iter().position(|m| m.dialect == dialect) {
                    Some(place) => place,
                    None => {
                        let roles = Vec::new();
                        exchanges.push(Exchange { dialect, roles });
                        exchanges.len() - 1
                    }
                };
                let roles = &mut exchanges[place].roles;
                // A manifest can repeat an offer in two lines.
                if roles.iter().all(|r| r.driver != role.driver) {
                    roles.push(role);
                }
            }
        }
    }
    exchanges.retain(|m| {
        m.roles
            .iter()
            .any(|r| r.issues.is_some() || r.verifies.is_some())
    });
    exchanges.sort_by(|a, b| a.dialect.cmp(&b.dialect));
    exchanges
}

fn dialects(offer: &Offer) -> Vec<Dialect> {
    let Some(format) = offer.format else {
        return Vec::new();
    };
    let dialect = |alg: Option<&String>, enc: Option<&String>| Dialect {
        format,
        alg: alg.cloned(),
        enc: enc.cloned(),
        claims: STANDARD.into(),
        key_bits: None,
    };
    match format {
        Format::Jwt => offer.algs.iter().map(|a| dialect(Some(a), None)).collect(),
        Format::Jwe => {
            let pairs = |a| offer.encs.iter().map(move |e| dialect(Some(a), Some(e)));
            offer.algs.iter().flat_map(pairs).collect()
        }
        // References: they have no tokens to exchange.
        Format::Bare | Format::Unsecured => Vec::new(),
        _ => vec![dialect(None, None)],
    }
}

fn role(driver: &Driver, offer: &Offer, format: Format) -> Role {
    let of = |operations: [Operation; 2]| {
        let offered = operations.into_iter();
        offered
            .filter(|c| offer.operations.contains(c))
            .collect::<Vec<_>>()
            .first()
            .copied()
    };
    let (issues, verifies) = if format == Format::Jwe {
        (of([Operation::Encrypt; 2]), of([Operation::Decrypt; 2]))
    } else {
        (
            of([Operation::Sign, Operation::Encrypt]),
            of([Operation::Verify, Operation::Decrypt]),
        )
    };
    Role {
        driver: driver.id.clone(),
        issues,
        verifies,
        reads: offer.key_text.clone(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::path::PathBuf;

    fn driver(id: &str, offers: &str) -> Driver {
        let library = id.split('/').next_back().unwrap();
        let head = format!(
            "protocol = 1\nlibrary = \"{library}\"\nlanguage = \"go\"\nversion = \"1\"\nrun = [\"true\"]\n"
        );
        Driver {
            id: id.into(),
            folder: PathBuf::new(),
            manifest: toml::from_str(&(head + offers)).unwrap(),
            runtime: None,
        }
    }

    fn offer(format: &str, algs: &str, encs: &str, operations: &str) -> String {
        format!(
            "[[offers]]\nformat = \"{format}\"\nalgs = [{algs}]\nencs = [{encs}]\ncontracts = [{operations}]\nkey_handling = [\"prepared\"]\nkey_text = [\"jwk\"]\n"
        )
    }

    fn some() -> Vec<Driver> {
        let both = r#""sign", "verify""#;
        let jwe = offer(
            "jwe",
            r#""dir", "A256KW""#,
            r#""A256GCM", "A128GCM""#,
            r#""encrypt", "decrypt""#,
        );
        vec![
            driver(
                "go/one",
                &(offer("jwt", r#""HS256", "ES256""#, "", both) + &jwe),
            ),
            driver("go/two", &offer("jwt", r#""HS256""#, "", both)),
            driver(
                "node/reader",
                &offer("jwt", r#""HS256""#, "", r#""verify", "load-key""#),
            ),
            driver("rust/floor", &offer("bare", r#""HS256""#, "", both)),
        ]
    }

    fn chosen(subjects: &[&str], algs: &[&str], extent: Extent) -> Result<Plan, String> {
        let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let choice = Choice {
            subjects: owned(subjects),
            algs: owned(algs),
            extent,
        };
        plan(&some(), &choice)
    }

    fn kinds(plan: &Plan) -> Vec<String> {
        plan.exchanges.iter().map(|m| m.dialect.kind()).collect()
    }

    #[test]
    fn plan_pairs_all_drivers_with_the_same_offer() {
        let plan = chosen(&[], &[], Extent::Everything).unwrap();
        assert_eq!(
            kinds(&plan),
            [
                "jwt ES256",
                "jwt HS256",
                "jwe A256KW+A128GCM",
                "jwe A256KW+A256GCM",
                "jwe dir+A128GCM",
                "jwe dir+A256GCM"
            ]
        );
        let hs256 = &plan.exchanges[1];
        let drivers: Vec<&str> = hs256.roles.iter().map(|r| r.driver.as_str()).collect();
        assert_eq!(drivers, ["go/one", "go/two", "node/reader"]);
        // Two issuers and three verifiers; one driver alone in five exchanges.
        assert_eq!(plan.exchanges(), 2 * 3 + 5);
        assert_eq!(plan.drivers(), ["go/one", "go/two", "node/reader"]);
        assert_eq!(hs256.roles[2].issues, None);
        assert_eq!(plan.exchanges[2].roles[0].issues, Some(Operation::Encrypt));
    }

    #[test]
    fn plan_of_one_subject_contains_only_its_pairs() {
        let plan = chosen(&["two"], &[], Extent::Everything).unwrap();
        assert_eq!(kinds(&plan), ["jwt HS256"]);
        // one → two, two → one, two → two, two → reader.
        assert_eq!(plan.exchanges(), 4);
    }

    #[test]
    fn plan_matches_algorithms_by_common_names() {
        let all = |alg: &str| kinds(&chosen(&[], &[alg], Extent::Quick).unwrap());
        assert_eq!(all("hs256"), ["jwt HS256"]);
        assert_eq!(all("dir"), ["jwe dir+A128GCM", "jwe dir+A256GCM"]);
        assert_eq!(all("dir+A256GCM"), ["jwe dir+A256GCM"]);
        assert_eq!(all("*A256GCM"), ["jwe A256KW+A256GCM", "jwe dir+A256GCM"]);
        assert_eq!(all("jwe").len(), 4);
        assert_eq!(
            kinds(&chosen(&[], &[], Extent::Quick).unwrap()),
            ["jwt ES256", "jwt HS256", "jwe dir+A256GCM"]
        );
    }

    #[test]
    fn plan_unknown_name_suggests_the_nearest() {
        let said = |subjects: &[&str], algs: &[&str]| {
            chosen(subjects, algs, Extent::Everything)
                .unwrap_err()
                .to_string()
        };
        assert!(said(&["raeder"], &[]).contains("did you mean `reader`?"));
        assert!(said(&[], &["HS265"]).contains("did you mean `HS256`?"));
        assert!(said(&["node/reader"], &["ES256"]).contains("no matching subject"));
    }
}
