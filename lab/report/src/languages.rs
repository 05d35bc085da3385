//! The answer for a reader of one language: its libraries by time, the line that installs each, and what EdDSA costs
//! against ES256.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{Practice, Row, RunResult, Subject, Timing, VerdictKind};
use jeton_lab_stats::interval::{Ratio, estimate};
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::verdict::judge;
use jeton_lab_stats::verdicts::band_for;

use crate::comparison::time;
use crate::recommendation::{claims_of, is_cache};

/// Who verifies, and who may read the claims, with the kinds of token to compare libraries by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) id: &'static str,
    /// The title, which is that of the recommendation too.
    pub(crate) title: &'static str,
    pub(crate) tokens: &'static [&'static str],
}

/// The cases; readers start with the second.
pub(crate) const CASES: [Case; 3] = [
    Case {
        id: "shared",
        title: "One party issues and verifies",
        tokens: &["JWT HS256"],
    },
    Case {
        id: "public",
        title: "Third parties verify",
        tokens: &["JWT ES256", "JWT EdDSA", "JWT RS256", "PASETO v4.public"],
    },
    Case {
        id: "hidden",
        title: "Claims must stay hidden",
        tokens: &["JWE dir+A256GCM", "PASETO v4.local"],
    },
];

/// A library that makes and opens a kind of token.
#[derive(Debug, Clone)]
pub(crate) struct Library<'a> {
    pub(crate) subject: &'a Subject,
    /// The name, with what distinguishes it in its language.
    pub(crate) name: String,
    pub(crate) make: &'a Timing,
    pub(crate) open: &'a Timing,
    /// Nanoseconds to make and open a token, by round.
    rounds: Vec<f64>,
    pub(crate) median: f64,
    pub(crate) interval: [f64; 2],
    /// Called as documented, it accepts a token that must be rejected, or fails.
    pub(crate) has_findings: bool,
    /// The time as a multiple of that of the first library.
    pub(crate) against_first: Option<(Ratio, VerdictKind)>,
}

/// Returns the languages of the measured libraries.
pub(crate) fn languages(result: &RunResult) -> Vec<&'static str> {
    let is_measured = |language: &&str| {
        let mut rows = result.rows.measured.iter();
        rows.any(|row| row.subject.language == *language && is_usual(row) && time(row).is_some())
    };
    LANGUAGES.into_iter().filter(is_measured).collect()
}

fn is_usual(row: &Row) -> bool {
    let subject = &row.subject;
    !row.reference
        && row.threads == 1
        && subject.key_handling == "prepared"
        && subject.superseded_by.is_none()
        && !is_cache(subject.driver())
}

/// Returns the libraries of a language that make and open this kind of token, the fastest first. Those with findings
/// follow.
pub(crate) fn ranking<'a>(result: &'a RunResult, language: &str, token: &str) -> Vec<Library<'a>> {
    let claims = claims_of(&result.rows.measured);
    let is_it = |row: &&Row| {
        is_usual(row)
            && row.subject.language == language
            && Some(row.claims.name.as_str()) == claims
            && names::token(&row.subject) == token
    };
    let rows: Vec<&Row> = result.rows.measured.iter().filter(is_it).collect();
    let of = |subject: &Subject, operations: [&str; 2]| {
        let mut own = rows.iter().filter(|row| row.subject.id == subject.id);
        own.find(|row| operations.contains(&row.operation.as_str()) && time(row).is_some())
            .and_then(|row| row.ns_per_op.as_ref())
    };
    let mut subjects: Vec<&Subject> = Vec::new();
    for row in &rows {
        if !subjects.iter().any(|known| known.id == row.subject.id) {
            subjects.push(&row.subject);
        }
    }
    let found = subjects.iter().filter_map(|subject| {
        let (make, open) = (
            of(subject, ["sign", "encrypt"])?,
            of(subject, ["verify", "decrypt"])?,
        );
        let pairs = make.rounds.iter().zip(&open.rounds);
        let rounds: Vec<f64> = pairs.map(|(make, open)| make + open).collect();
        let median = median_interval(&rounds).ok()?;
        let mut attacks = result.rows.attack.iter();
        Some(Library {
            subject,
            name: match subject.own_runtime() {
                Some(runtime) => format!("{} on {runtime}", subject.library),
                None => subject.library.clone(),
            },
            make,
            open,
            rounds,
            median: median.median,
            interval: median.interval,
            has_findings: attacks.any(|row| {
                row.subject.driver == subject.driver()
                    && row.practice == Practice::Documented
                    && row.outcome.is_some_and(|outcome| outcome.is_finding())
            }),
            against_first: None,
        })
    });
    let mut found: Vec<Library<'a>> = found.collect();
    found.sort_by(|a, b| (a.has_findings.cmp(&b.has_findings)).then(a.median.total_cmp(&b.median)));
    if let Some((first, others)) = found.split_first_mut() {
        let count = others.len();
        for other in others {
            other.against_first = against(result, other, first, count);
        }
    }
    found
}

/// Compares the time of one library with that of another.
fn against(
    result: &RunResult,
    one: &Library<'_>,
    other: &Library<'_>,
    comparisons: usize,
) -> Option<(Ratio, VerdictKind)> {
    let ratio = estimate(&one.rounds, &other.rounds, comparisons).ok()?;
    let kinds = [one, other].map(|library| library.subject.is_managed());
    let band = band_for(&result.noise_floor, kinds.into_iter(), 1);
    let verdict = judge(&ratio, band);
    Some((ratio, verdict))
}

/// ES256 and EdDSA in one library, and the time of ES256 as a multiple of that of EdDSA.
pub(crate) struct Signatures<'a> {
    pub(crate) es256: Library<'a>,
    pub(crate) eddsa: Library<'a>,
    pub(crate) ratio: Ratio,
    pub(crate) verdict: VerdictKind,
}

/// Returns the two usual signatures in each library of these languages that has both, the fastest first. The
/// libraries called jeton have one core, so the first counts.
pub(crate) fn signatures<'a>(result: &'a RunResult, languages: &[&str]) -> Vec<Signatures<'a>> {
    let mut found: Vec<Signatures<'a>> = Vec::new();
    for language in languages {
        let all_eddsa = ranking(result, language, "JWT EdDSA");
        for es256 in ranking(result, language, "JWT ES256") {
            let is_same = |other: &&Library<'_>| other.subject.driver() == es256.subject.driver();
            let Some(eddsa) = all_eddsa.iter().find(is_same) else {
                continue;
            };
            if let Some((ratio, verdict)) = against(result, &es256, eddsa, 1) {
                let eddsa = eddsa.clone();
                found.push(Signatures {
                    es256,
                    eddsa,
                    ratio,
                    verdict,
                });
            }
        }
    }
    found.sort_by(|a, b| a.es256.median.total_cmp(&b.es256.median));
    let mut has_own = false;
    found.retain(|one| {
        one.es256.subject.library != "jeton" || !std::mem::replace(&mut has_own, true)
    });
    found
}

/// The packages of libraries whose name is not that of their package.
#[rustfmt::skip]
const PACKAGES: [(&str, &str); 13] = [
    ("go/cristalhq", "github.com/cristalhq/jwt/v3"),
    ("go/cristalhq-v5", "github.com/cristalhq/jwt/v5"),
    ("go/go-jose", "github.com/go-jose/go-jose/v4"),
    ("go/go-paseto", "aidanwoods.dev/go-paseto"),
    ("go/golang-jwt", "github.com/golang-jwt/jwt/v5"),
    ("go/jwx", "github.com/lestrrat-go/jwx/v3"),
    ("go/pascaldekloe", "github.com/pascaldekloe/jwt"),
    ("java/jjwt", "io.jsonwebtoken:jjwt-api"),
    ("java/jose4j", "org.bitbucket.b_c:jose4j"),
    ("java/json-web-token", "org.openidentityplatform.commons:json-web-token"),
    ("java/nimbus-jose-jwt", "com.nimbusds:nimbus-jose-jwt"),
    ("java/nimbus-jose-jwt-accp", "com.nimbusds:nimbus-jose-jwt"),
    ("python/pyjwt", "PyJWT"),
];

/// Returns the line that installs the measured version of a library.
pub(crate) fn install(subject: &Subject) -> String {
    let (language, version) = (subject.language.as_str(), &subject.version);
    if subject.library == "jeton" && language != "rust" {
        return format!("see sdk/{language}/README.md");
    }
    let driver = subject.driver().split('@').next().unwrap_or_default();
    let known = PACKAGES.iter().find(|(known, _)| *known == driver);
    let package = known.map_or(subject.library.as_str(), |(_, package)| package);
    match language {
        "rust" => format!("cargo add {package}@{version}"),
        "go" => format!("go get {package}@v{version}"),
        "node" => format!("npm install {package}@{version}"),
        "python" => format!("pip install {package}=={version}"),
        _ => format!("{package}:{version}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::recommendation::sample::{result, row};

    fn both(library: &str, alg: &str, ns: f64) -> [Row; 2] {
        ["sign", "verify"].map(|verb| row("go", library, "jwt", alg, verb, ns))
    }

    #[test]
    fn ranking_has_every_library_of_the_language() {
        let rows = [both("slow", "ES256", 300.0), both("fast", "ES256", 100.0)].concat();
        let result = result(rows, 0.02);
        let ranked = ranking(&result, "go", "JWT ES256");
        let names: Vec<&str> = ranked.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["fast", "slow"]);
        let (ratio, verdict) = ranked[1].against_first.as_ref().unwrap();
        assert!((ratio.ratio() - 3.0).abs() < 0.1 && *verdict == VerdictKind::Slower);
        assert!(ranking(&result, "java", "JWT ES256").is_empty());
    }

    #[test]
    fn signatures_compare_es256_with_eddsa_in_one_library() {
        let rows = [
            both("a", "ES256", 300.0),
            both("a", "EdDSA", 200.0),
            both("b", "ES256", 1.0),
        ];
        let result = result(rows.concat(), 0.02);
        let found = signatures(&result, &["go"]);
        assert_eq!(found.len(), 1);
        assert!((found[0].ratio.ratio() - 1.5).abs() < 0.05);
    }

    /// The lockfile of a driver has the package that a reader installs.
    #[test]
    fn install_names_the_package_of_the_driver() {
        let drivers = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drivers");
        for (driver, package) in PACKAGES {
            let file = match driver.split('/').next() {
                Some("go") => "go.mod",
                Some("java") => "pom.xml",
                _ => "requirements.txt",
            };
            let text = std::fs::read_to_string(drivers.join(driver).join(file)).unwrap();
            let own = package.split(':').all(|part| text.contains(part));
            assert!(own, "{driver}: {package}");
        }
    }
}
