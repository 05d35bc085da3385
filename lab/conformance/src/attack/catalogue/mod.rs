//! Every attack that the lab knows. Attacks differ in the check that they defeat; variants of one
//! attack count once.

mod caches;
mod claims;
mod costs;
mod encoding;
mod encryption;
mod grants;
mod headers;
mod issuers;
mod json;
mod key_texts;
mod keys;
mod made_once;
mod ml_dsa;
mod options;
mod paseto;
mod properties;
mod serializations;
mod signatures;
mod without_key;

pub use without_key::WithoutKey;

use super::fixtures::Stage;
use super::trial::Trial;
use jeton_lab_model::{Format, named};

/// One attack: the check that it defeats, and how its tokens are made.
#[derive(Clone, Copy)]
pub struct Attack {
    /// Its name in results and on the command line.
    pub id: &'static str,
    /// A description of the token or key.
    pub title: &'static str,
    /// The check that is missing in a library that accepts it.
    pub defeats: &'static str,
    /// What it attacks.
    pub family: Family,
    /// The formats that it applies to.
    pub formats: &'static [Kind],
    /// The source: a section of an RFC, or an advisory.
    pub reference: &'static str,
    /// What a library must check to reject it.
    pub(super) about: About,
    /// The requirement that a verifier must have to reject it, if it needs one.
    pub(super) demand: Option<Demand>,
    pub(super) make: fn(&Stage) -> Vec<Trial>,
}

named! {
    /// What an attack targets, in display order.
    Family {
        /// The header.
        Header = "header",
        /// The verifier's key.
        Key = "keys",
        /// The signature and its encoding.
        Signature = "signature",
        /// The encoding and the number of parts.
        Encoding = "encoding",
        /// The JSON of the payload.
        Json = "JSON",
        /// The claims and their times.
        Claims = "claims",
        /// Encryption.
        Encryption = "encryption",
        /// PASETO only.
        Paseto = "PASETO",
        /// ML-DSA only.
        MlDsa = "ML-DSA",
        /// Caches of verified tokens in several verifiers.
        Cache = "caches",
        /// Verifiers for several issuers.
        Issuers = "issuers",
        /// Options that a library ignores or misreads.
        Options = "options",
        /// The cost of rejecting a token.
        Cost = "cost",
        /// Properties that every token must have.
        Property = "properties",
        /// Grants of a token endpoint.
        Grant = "grants",
    }
}

/// What a library must check to reject an attack. If the driver does the check instead, or no code
/// does, the row says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The protection and encoding of the token.
    Protection,
    /// The claims.
    Claims,
    /// The types that the caller declares for claims.
    DeclaredTypes,
}

named! {
    /// A requirement of a verifier on the claim with this name.
    Demand {
        /// `iss` must equal a value.
        Issuer = "iss",
        /// `aud` must contain a value.
        Audience = "aud",
        /// `exp` must be present.
        Expiry = "exp",
        /// `nbf` must have passed.
        NotBefore = "nbf",
        /// A token is accepted once, by its `jti`.
        Once = "jti",
    }
}

/// A group of formats with the same attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A signed JWT.
    Jwt,
    /// An encrypted JWT.
    Jwe,
    /// PASETO of any version and purpose.
    Paseto,
    /// An assertion at a token endpoint.
    JwtBearer,
    /// A subject token at a token endpoint.
    TokenExchange,
}

impl Kind {
    /// Returns the kind of a format; `None` if it is not a token.
    #[must_use]
    pub fn of(format: Format) -> Option<Self> {
        match format {
            Format::Jwt => Some(Self::Jwt),
            Format::Jwe => Some(Self::Jwe),
            Format::Bare | Format::Unsecured => None,
            _ => Some(Self::Paseto),
        }
    }

    /// Returns the name for readers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jwt => "JWT",
            Self::Jwe => "JWE",
            Self::Paseto => "PASETO",
            Self::JwtBearer => "jwt-bearer",
            Self::TokenExchange => "token-exchange",
        }
    }
}

impl Family {
    /// Creates an attack of this family, for the usual formats of the family.
    const fn attack(
        self,
        id: &'static str,
        title: &'static str,
        defeats: &'static str,
        reference: &'static str,
        make: fn(&Stage) -> Vec<Trial>,
    ) -> Attack {
        Attack {
            id,
            title,
            defeats,
            family: self,
            formats: match self {
                Self::Header
                | Self::Key
                | Self::Signature
                | Self::MlDsa
                | Self::Issuers
                | Self::Options => JWT,
                Self::Cache => SIGNED,
                Self::Encryption => JWE,
                Self::Paseto => PASETO,
                Self::Grant => GRANTS,
                Self::Encoding | Self::Json | Self::Claims | Self::Cost | Self::Property => ALL,
            },
            reference,
            about: match self {
                Self::Json | Self::Claims => About::Claims,
                _ => About::Protection,
            },
            demand: None,
            make,
        }
    }
}

impl std::fmt::Debug for Attack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attack")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Attack {
    /// Returns every attack, by family.
    #[must_use]
    pub fn all() -> Vec<Self> {
        [
            headers::ATTACKS,
            keys::ATTACKS,
            key_texts::ATTACKS,
            signatures::ATTACKS,
            encoding::ATTACKS,
            serializations::ATTACKS,
            json::ATTACKS,
            claims::ATTACKS,
            encryption::ATTACKS,
            paseto::ATTACKS,
            ml_dsa::ATTACKS,
            caches::ATTACKS,
            issuers::ATTACKS,
            options::ATTACKS,
            costs::ATTACKS,
            properties::ATTACKS,
            grants::ATTACKS,
        ]
        .concat()
    }

    /// Returns the attack with that id.
    #[must_use]
    pub fn named(id: &str) -> Option<Self> {
        Self::all().into_iter().find(|a| a.id == id)
    }

    /// Returns whether it uses a time that a verifier with leeway accepts on purpose.
    #[must_use]
    pub fn is_at_a_border(&self) -> bool {
        let borders = [
            "expiry-border",
            "not-before-border",
            "expired-after-first-use",
        ];
        borders.contains(&self.id)
    }

    /// Returns the same attack, for these formats.
    const fn on(self, formats: &'static [Kind]) -> Self {
        Self { formats, ..self }
    }

    /// Returns the same attack, checked by a different part of the library.
    const fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// Returns the same attack, rejected only with this requirement.
    const fn demanding(self, demand: Demand) -> Self {
        Self {
            demand: Some(demand),
            ..self
        }
    }

    /// Returns whether it is tried on drivers with these keys. A token of ML-DSA is long, so that only attacks on
    /// signatures are repeated with it.
    pub(super) fn is_for(&self, stage: &Stage) -> bool {
        let on_signatures = [Family::Signature, Family::MlDsa, Family::Cache];
        !stage.is_ml_dsa() || on_signatures.contains(&self.family)
    }

    /// Returns its trials for these keys; none if it does not apply to them.
    pub(super) fn trials(&self, stage: &Stage) -> Vec<Trial> {
        let trials = (self.make)(stage);
        trials.into_iter().filter(Trial::is_made).collect()
    }
}

const JWT: &[Kind] = &[Kind::Jwt];
const SIGNED: &[Kind] = &[Kind::Jwt, Kind::Paseto];
const JWE: &[Kind] = &[Kind::Jwe];
const JOSE: &[Kind] = &[Kind::Jwt, Kind::Jwe];
const PASETO: &[Kind] = &[Kind::Paseto];
const GRANTS: &[Kind] = &[Kind::JwtBearer, Kind::TokenExchange];
const ALL: &[Kind] = &[Kind::Jwt, Kind::Jwe, Kind::Paseto];
