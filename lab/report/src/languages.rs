//! The answer for a reader of one language: its libraries by time, and the line that installs each.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{
    AttackOutcome, Practice, Row, RunResult, Subject, Timing, VerdictKind,
};
use jeton_lab_stats::interval::{Ratio, estimate};
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::verdict::{Band, judge};
use jeton_lab_stats::verdicts::band_for;

use crate::comparison::time;
use crate::grouped::grouped;
use crate::recommendation::answers::{Sure, clear, of_choice};
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
#[rustfmt::skip]
pub(crate) const CASES: [Case; 3] = [
    Case { id: "shared", title: "One party issues and verifies", tokens: &["JWT HS256"] },
    Case { id: "public", title: "Third parties verify", tokens: &["JWT ES256", "JWT EdDSA", "JWT RS256", "PASETO v4.public"] },
    Case { id: "hidden", title: "Claims must stay hidden", tokens: &["JWE dir+A256GCM", "PASETO v4.local"] },
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
    pub(crate) against_first: Option<Against>,
}

/// The time of a library as a multiple of that of the first one.
#[derive(Debug, Clone)]
pub(crate) struct Against {
    pub(crate) ratio: Ratio,
    pub(crate) verdict: VerdictKind,
    band: Band,
}

impl Against {
    pub(crate) fn sure(&self, result: &RunResult, what: &str) -> Sure {
        let clear = clear(self.verdict, self.ratio.interval(), self.band);
        of_choice(result, clear, what)
    }
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
    let rows = result.rows.measured.iter().filter(is_it);
    let timed = rows.filter_map(|row| Some((&row.subject.id, (row, time(row)?))));
    let found = grouped(timed).into_iter().filter_map(|(_, rows)| {
        let of = |operations: [&str; 2]| {
            let mut own = rows.iter();
            let row = own.find(|(row, _)| operations.contains(&row.operation.as_str()));
            row.map(|(_, timing)| *timing)
        };
        let (make, open) = (of(["sign", "encrypt"])?, of(["verify", "decrypt"])?);
        let subject = &rows[0].0.subject;
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
                    && row.outcome.is_some_and(AttackOutcome::counts_against)
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

fn against(
    result: &RunResult,
    one: &Library<'_>,
    first: &Library<'_>,
    comparisons: usize,
) -> Option<Against> {
    let ratio = estimate(&one.rounds, &first.rounds, comparisons).ok()?;
    let kinds = [one, first].map(|library| library.subject.is_managed());
    let band = band_for(&result.noise_floor, kinds.into_iter(), 1);
    Some(Against {
        verdict: judge(&ratio, band),
        ratio,
        band,
    })
}

/// The packages of libraries whose name is not that of their package.
#[rustfmt::skip]
const PACKAGES: [(&str, &str); 16] = [
    ("go/cristalhq", "github.com/cristalhq/jwt/v3"),
    ("go/cristalhq-v5", "github.com/cristalhq/jwt/v5"),
    ("go/go-jose", "github.com/go-jose/go-jose/v4"),
    ("go/go-paseto", "aidanwoods.dev/go-paseto"),
    ("go/golang-jwt", "github.com/golang-jwt/jwt/v5"),
    ("go/jwx", "github.com/lestrrat-go/jwx/v3"),
    ("go/pascaldekloe", "github.com/pascaldekloe/jwt"),
    ("java/fusionauth-jwt", "io.fusionauth:fusionauth-jwt"),
    ("java/java-jwt", "com.auth0:java-jwt"),
    ("java/jjwt", "io.jsonwebtoken:jjwt-api"),
    ("java/jose4j", "org.bitbucket.b_c:jose4j"),
    ("java/json-web-token", "org.openidentityplatform.commons:json-web-token"),
    ("java/nimbus-jose-jwt", "com.nimbusds:nimbus-jose-jwt"),
    ("java/nimbus-jose-jwt-accp", "com.nimbusds:nimbus-jose-jwt"),
    ("node/node-rs-jsonwebtoken", "@node-rs/jsonwebtoken"),
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
