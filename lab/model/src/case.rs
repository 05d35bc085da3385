//! A case: one subject, operation, claims set and thread count.

use super::{Format, KeyForm, KeyHandling, Operation};
use crate::claims::STANDARD;
use crate::result::RUNTIME_MARK;
use crate::result::{Subject, is_managed};

/// One subject with one operation, claims set and thread count.
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
    /// The runtime of the language, if known: `JDK 25.0.3`.
    pub runtime: Option<String>,
    /// The release day of the library's version, if the manifest states it.
    pub released: Option<String>,
    /// The driver of a newer version of the library, if this one is measured only for a published
    /// report.
    pub superseded_by: Option<String>,
    /// The format.
    pub format: Format,
    /// The JOSE algorithm; `None` if the format decides it.
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    pub enc: Option<String>,
    /// The size of an RSA key in bits, if it is not [`crate::result::RSA_BITS`].
    pub key_bits: Option<u32>,
    /// The key handling.
    pub key_handling: KeyHandling,
    /// The operation.
    pub operation: Operation,
    /// The name of the claims set.
    pub claims: String,
    /// The number of concurrent threads.
    pub threads: u32,
    /// True if the library answers from a cache of verified tokens.
    pub caches: bool,
}

impl Case {
    /// Creates the default case of a library: `jwt:HS256:prepared`, `sign`, claims set `standard`, one
    /// thread. Callers then change members.
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

    /// Returns the subject's id: `go/golang-jwt:jwt:HS256:prepared`. A JWE has its `enc` after the
    /// algorithm (`dir+A256GCM`), an RSA key of an unusual size has its bits (`RS384@4096`), and
    /// formats that decide the algorithm have none.
    #[must_use]
    pub fn subject_id(&self) -> String {
        self.subject().id
    }

    /// Reports whether the case belongs to this driver, on any runtime.
    #[must_use]
    pub fn is_of(&self, driver: &str) -> bool {
        self.driver.split(RUNTIME_MARK).next() == Some(driver)
    }

    /// Returns the library with its version, and its runtime if there are several.
    #[must_use]
    pub fn library_in_words(&self) -> String {
        let named = format!("{} {}", self.library, self.version);
        match &self.runtime {
            Some(runtime) if self.driver.contains(RUNTIME_MARK) => format!("{named} on {runtime}"),
            _ => named,
        }
    }

    /// Returns the subject for the result file.
    #[must_use]
    pub fn subject(&self) -> Subject {
        let mut subject = Subject {
            id: String::new(),
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
        };
        subject.id = subject.id_for(&self.driver);
        subject
    }

    /// Describes claims and threads, if they are not `standard` and one.
    #[must_use]
    pub fn unusual_factors(&self) -> Option<String> {
        let claims = (self.claims != STANDARD).then(|| format!("claims {}", self.claims));
        let threads = (self.threads != 1).then(|| format!("{} threads", self.threads));
        match (claims, threads) {
            (Some(claims), Some(threads)) => Some(format!("{claims}, {threads}")),
            (claims, threads) => claims.or(threads),
        }
    }

    /// Returns the effective algorithm, from the token or from the format.
    #[must_use]
    pub fn effective_alg(&self) -> String {
        self.subject().effective_alg()
    }

    /// Reports whether the case is a reference: it makes no secure token, or omits part of the work. A
    /// reference is drawn next to a comparison and never compared.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        let no_token = matches!(
            self.format,
            Format::Bare | Format::Unsecured | Format::Opaque
        );
        no_token || self.operation == Operation::VerifyParsed
    }

    /// Reports whether the language compiles at run time and needs a warm-up.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        is_managed(&self.language)
    }

    /// Reports whether the language has a garbage collector.
    #[must_use]
    pub fn collects_garbage(&self) -> bool {
        self.language != "rust"
    }

    /// Reports whether the key is symmetric.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        let alg = self.alg.as_deref().unwrap_or_default();
        let wraps = alg.starts_with('A') || alg == "dir" || alg.starts_with("PBES2");
        self.format.name().ends_with(".local")
            || alg.starts_with("HS")
            || self.format == Format::Jwe && wraps
    }

    /// Reports whether the key exists in this form.
    #[must_use]
    pub fn has_form(&self, form: KeyForm) -> bool {
        match form {
            KeyForm::Jwk => !self.format.is_paseto(),
            KeyForm::Pem => !self.is_symmetric(),
            KeyForm::Paserk | KeyForm::Hex => self.format.is_paseto(),
        }
    }

    /// Returns the dialect; cases with equal dialects can exchange tokens. A reference works on the
    /// bytes of a JWT.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
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
    /// The JOSE algorithm; `None` if the format decides it.
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    pub enc: Option<String>,
    /// The size of an RSA key in bits, if it is unusual.
    pub key_bits: Option<u32>,
    /// The name of the claims set.
    pub claims: String,
}

impl Dialect {
    /// Returns `ES256`, `dir+A256GCM`, or the format if it decides the algorithm: `v4.public`.
    #[must_use]
    pub fn alg_or_format(&self) -> String {
        match (&self.alg, &self.enc) {
            (Some(alg), Some(enc)) => format!("{alg}+{enc}"),
            (Some(alg), None) => alg.clone(),
            (None, _) => self.format.name().to_owned(),
        }
    }

    /// Returns the same with the format first: `jwt ES256`, `jwe dir+A256GCM`, `v4.public`.
    #[must_use]
    pub fn kind(&self) -> String {
        match self.alg {
            Some(_) => format!("{} {}", self.format, self.alg_or_format()),
            None => self.alg_or_format(),
        }
    }
}
