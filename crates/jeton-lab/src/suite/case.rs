//! A subject under a contract.

use super::{Format, KeyForm, KeyHandling, Operation, STANDARD};
use crate::driver::RUNTIME_MARK;
use crate::result::{Subject, is_managed};

/// One subject under one contract, with one claims set, on so many threads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Case {
    /// The driver's id, `language/folder`.
    pub driver: String,
    /// The library's name.
    pub library: String,
    /// The library's version.
    pub version: String,
    /// The driver's language.
    pub language: String,
    /// The runtime of that language, if it is known: `JDK 25.0.3`.
    pub runtime: Option<String>,
    /// The day on which the library's version was released, if its manifest says.
    pub released: Option<String>,
    /// The driver of a newer version of the library, if this one is kept for a published report.
    pub superseded_by: Option<String>,
    /// The format.
    pub format: Format,
    /// The JOSE algorithm; none where the format decides.
    pub alg: Option<String>,
    /// The content encryption of a JWE; none elsewhere.
    pub enc: Option<String>,
    /// The size of an RSA key in bits, where it is not [`crate::result::RSA_BITS`].
    pub key_bits: Option<u32>,
    /// How keys are handled.
    pub key_handling: KeyHandling,
    /// The contract.
    pub operation: Operation,
    /// The name of the claims set.
    pub claims: String,
    /// Threads that do it at the same time.
    pub threads: u32,
    /// Whether it answers from a cache of tokens that it verified before.
    pub caches: bool,
}

impl Case {
    /// `jwt:HS256:prepared` of a driver's library, under `sign`, with the claims set `standard`,
    /// on one thread: what the other members are then set from.
    #[must_use]
    pub fn new(driver: &str, library: &str, version: &str, language: &str) -> Self {
        Self {
            driver: driver.to_owned(),
            library: library.to_owned(),
            version: version.to_owned(),
            language: language.to_owned(),
            runtime: None,
            released: None,
            superseded_by: None,
            format: Format::Jwt,
            alg: Some("HS256".into()),
            enc: None,
            key_bits: None,
            key_handling: KeyHandling::Prepared,
            operation: Operation::Sign,
            claims: STANDARD.to_owned(),
            threads: 1,
            caches: false,
        }
    }

    /// The subject's id: `go/golang-jwt:jwt:HS256:prepared`, a JWE's `enc` behind the algorithm
    /// (`dir+A256GCM`), an RSA key's size if it is not the usual (`RS384@4096`), and no algorithm
    /// where the format decides it.
    #[must_use]
    pub fn subject_id(&self) -> String {
        let (driver, format) = (&self.driver, self.format);
        let handling = self.key_handling.name();
        let mut id = format!("{driver}:{format}:");
        if let Some(alg) = &self.alg {
            id.push_str(alg);
            if let Some(enc) = &self.enc {
                id.push_str(&format!("+{enc}"));
            }
            if let Some(bits) = self.key_bits {
                id.push_str(&format!("@{bits}"));
            }
            id.push(':');
        }
        id + handling
    }

    /// Whether it is of this driver, on whichever runtime.
    #[must_use]
    pub fn is_of(&self, driver: &str) -> bool {
        self.driver.split(RUNTIME_MARK).next() == Some(driver)
    }

    /// The library with its version; with its runtime where the driver is there on several.
    #[must_use]
    pub fn library_in_words(&self) -> String {
        let named = format!("{} {}", self.library, self.version);
        match &self.runtime {
            Some(runtime) if self.driver.contains(RUNTIME_MARK) => format!("{named} on {runtime}"),
            _ => named,
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
            runtime: self.runtime.clone(),
            released: self.released.clone(),
            superseded_by: self.superseded_by.clone(),
            format: self.format.name().to_owned(),
            alg: self.alg.clone(),
            enc: self.enc.clone(),
            key_bits: self.key_bits,
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

    /// A reference line is drawn beside a comparison, and never in one: it makes no token that
    /// protects anything, or leaves out a part of the work.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        let no_token = matches!(
            self.format,
            Format::Bare | Format::Unsecured | Format::Opaque
        );
        no_token || self.operation == Operation::VerifyParsed
    }

    /// Whether its language compiles while it runs, so that it must be warmed up.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        is_managed(&self.language)
    }

    /// Whether its language has a collector, which works when it likes.
    #[must_use]
    pub fn collects_garbage(&self) -> bool {
        self.language != "rust"
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
            KeyForm::Paserk | KeyForm::Hex => self.format.is_paseto(),
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
            key_bits: self.key_bits,
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
    /// The size of an RSA key in bits, where it is not the usual.
    pub key_bits: Option<u32>,
    /// The name of the claims set.
    pub claims: String,
}

impl Dialect {
    /// `ES256`, `dir+A256GCM`, or the format where it decides: `v4.public`.
    #[must_use]
    pub fn alg_or_format(&self) -> String {
        match (&self.alg, &self.enc) {
            (Some(alg), Some(enc)) => format!("{alg}+{enc}"),
            (Some(alg), None) => alg.clone(),
            (None, _) => self.format.name().to_owned(),
        }
    }

    /// The same with the format before it: `jwt ES256`, `jwe dir+A256GCM`, `v4.public`.
    #[must_use]
    pub fn kind(&self) -> String {
        match self.alg {
            Some(_) => format!("{} {}", self.format, self.alg_or_format()),
            None => self.alg_or_format(),
        }
    }
}
