//! A subject under a contract.

use super::{Contract, Format, KeyForm, KeyHandling, STANDARD};
use crate::result::{Subject, is_managed};

/// One subject under one contract, with one claims set, on so many threads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The driver's id, `language/folder`.
    pub driver: String,
    /// The library's name.
    pub library: String,
    /// The library's version.
    pub version: String,
    /// The driver's language.
    pub language: String,
    /// The format.
    pub format: Format,
    /// The JOSE algorithm; none where the format decides.
    pub alg: Option<String>,
    /// The content encryption of a JWE; none elsewhere.
    pub enc: Option<String>,
    /// How keys are handled.
    pub key_handling: KeyHandling,
    /// The contract.
    pub contract: Contract,
    /// The name of the claims set.
    pub claims: String,
    /// Threads that do it at the same time.
    pub threads: u32,
    /// Whether it answers from a cache of tokens that it verified before.
    pub caches: bool,
}

impl Cell {
    /// `jwt:HS256:prepared` of a driver's library, under `sign`, with the claims set `standard`,
    /// on one thread: what the other members are then set from.
    #[must_use]
    pub fn new(driver: &str, library: &str, version: &str, language: &str) -> Self {
        Self {
            driver: driver.to_owned(),
            library: library.to_owned(),
            version: version.to_owned(),
            language: language.to_owned(),
            format: Format::Jwt,
            alg: Some("HS256".into()),
            enc: None,
            key_handling: KeyHandling::Prepared,
            contract: Contract::Sign,
            claims: STANDARD.to_owned(),
            threads: 1,
            caches: false,
        }
    }

    /// The subject's id: `go/golang-jwt:jwt:HS256:prepared`, a JWE's `enc` behind the algorithm
    /// (`dir+A256GCM`), and no algorithm where the format decides it.
    #[must_use]
    pub fn subject_id(&self) -> String {
        let (driver, format) = (&self.driver, self.format);
        let handling = self.key_handling.name();
        match (&self.alg, &self.enc) {
            (Some(alg), Some(enc)) => format!("{driver}:{format}:{alg}+{enc}:{handling}"),
            (Some(alg), None) => format!("{driver}:{format}:{alg}:{handling}"),
            (None, _) => format!("{driver}:{format}:{handling}"),
        }
    }

    /// The subject, as the result file writes it.
    #[must_use]
    pub fn subject(&self) -> Subject {
        Subject {
            id: self.subject_id(),
            library: self.library.clone(),
            version: self.version.clone(),
            language: self.language.clone(),
            format: self.format.name().to_owned(),
            alg: self.alg.clone(),
            enc: self.enc.clone(),
            key_handling: self.key_handling.name().to_owned(),
        }
    }

    /// Its claims and threads in words, where they are not `standard` and one.
    #[must_use]
    pub fn factors_beside_the_usual(&self) -> Option<String> {
        let claims = (self.claims != STANDARD).then(|| format!("claims {}", self.claims));
        let threads = (self.threads != 1).then(|| format!("{} threads", self.threads));
        match (claims, threads) {
            (Some(claims), Some(threads)) => Some(format!("{claims}, {threads}")),
            (claims, threads) => claims.or(threads),
        }
    }

    /// The algorithm that really works, whether named in the token or decided by the format.
    #[must_use]
    pub fn effective_alg(&self) -> String {
        let alg = self.format.fixed_alg().or(self.alg.as_deref());
        match &self.enc {
            Some(enc) => format!("{}+{enc}", alg.unwrap_or("none")),
            None => alg.unwrap_or("none").to_owned(),
        }
    }

    /// A reference line is drawn beside a comparison, and never in one.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        matches!(self.format, Format::Bare | Format::Unsecured)
    }

    /// Whether its language compiles while it runs, so that it must be warmed up.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        is_managed(&self.language)
    }

    /// Whether its key is one text that both sides hold.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        let alg = self.alg.as_deref().unwrap_or_default();
        let wraps = alg.starts_with('A') || alg == "dir" || alg.starts_with("PBES2");
        self.format.name().ends_with(".local")
            || alg.starts_with("HS")
            || self.format == Format::Jwe && wraps
    }

    /// Whether its key can be written in this form at all.
    #[must_use]
    pub fn has_form(&self, form: KeyForm) -> bool {
        match form {
            KeyForm::Jwk => !self.format.is_paseto(),
            KeyForm::Pem => !self.is_symmetric(),
            KeyForm::Paserk => self.format.is_paseto(),
        }
    }

    /// The tokens of two cells can be exchanged if this is equal. A reference line works on the
    /// bytes of a JWT.
    #[must_use]
    pub fn speaks(&self) -> Dialect {
        Dialect {
            format: match self.format {
                Format::Bare => Format::Jwt,
                other => other,
            },
            alg: self.alg.clone(),
            enc: self.enc.clone(),
            claims: self.claims.clone(),
        }
    }
}

/// What two subjects must have in common to exchange tokens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dialect {
    /// The format.
    pub format: Format,
    /// The JOSE algorithm; none where the format decides.
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    pub enc: Option<String>,
    /// The name of the claims set.
    pub claims: String,
}
