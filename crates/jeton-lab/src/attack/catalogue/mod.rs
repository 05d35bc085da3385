//! Every attack that the lab knows. Attacks differ in the check that they defeat; variants of one
//! attack count once.

mod claims;
mod costs;
mod encoding;
mod encryption;
mod headers;
mod json;
mod key_texts;
mod keys;
mod made_once;
mod paseto;
mod properties;
mod serializations;
mod signatures;
mod without_key;

pub use without_key::WithoutKey;

use super::fixtures::Stage;
use super::trial::Trial;
use crate::suite::Format;

/// One attack: which check it defeats, and how it is made.
#[derive(Clone, Copy)]
pub struct Attack {
    /// Its name, in results and on the command line.
    pub id: &'static str,
    /// What is tried, for people.
    pub title: &'static str,
    /// The check that a library lacks which accepts it.
    pub defeats: &'static str,
    /// What it works on.
    pub family: Family,
    /// The formats that it can be made in.
    pub formats: &'static [Kind],
    /// Where it is written of: an RFC's section, an advisory.
    pub reference: &'static str,
    /// What a library has to look at to refuse it.
    pub(super) about: About,
    /// What a verifier has to demand of a claim for it to be refused, where it is one demand.
    pub(super) demand: Option<Demand>,
    pub(super) make: fn(&Stage) -> Vec<Trial>,
}

/// What an attack works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// What the header says.
    Header,
    /// The key that the verifier was given.
    Key,
    /// The form of the signature.
    Signature,
    /// The encoding and the parts.
    Encoding,
    /// The JSON inside.
    Json,
    /// The claims and their times.
    Claims,
    /// Encryption.
    Encryption,
    /// PASETO's own.
    Paseto,
    /// What a token costs who refuses it.
    Cost,
    /// What must hold of every token.
    Property,
}

/// What a library has to look at to refuse an attack. Where that is the driver's work, or nobody's,
/// the row says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// How the token is protected and written.
    Protection,
    /// What the claims say.
    Claims,
    /// The types that the caller declares for claims.
    DeclaredTypes,
}

/// What a verifier can demand of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Demand {
    /// That `iss` is a certain one.
    Issuer,
    /// That `aud` names a certain one.
    Audience,
    /// That there is an `exp`.
    Expiry,
    /// That `nbf` has passed.
    NotBefore,
}

impl Demand {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Issuer, Self::Audience, Self::Expiry, Self::NotBefore];

    /// The claim that it is about.
    #[must_use]
    pub fn claim(self) -> &'static str {
        match self {
            Self::Issuer => "iss",
            Self::Audience => "aud",
            Self::Expiry => "exp",
            Self::NotBefore => "nbf",
        }
    }

    /// The demand about the claim of that name.
    #[must_use]
    pub fn of_claim(claim: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.claim() == claim)
    }
}

/// What formats have in common, as far as attacks go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A signed JWT.
    Jwt,
    /// An encrypted one.
    Jwe,
    /// PASETO of any version and purpose.
    Paseto,
}

impl Kind {
    /// The kind of a format; `None` for what is no token.
    #[must_use]
    pub fn of(format: Format) -> Option<Self> {
        match format {
            Format::Jwt => Some(Self::Jwt),
            Format::Jwe => Some(Self::Jwe),
            Format::Bare | Format::Unsecured => None,
            _ => Some(Self::Paseto),
        }
    }

    /// The kind as people read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jwt => "JWT",
            Self::Jwe => "JWE",
            Self::Paseto => "PASETO",
        }
    }
}

impl Family {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::Header,
        Self::Key,
        Self::Signature,
        Self::Encoding,
        Self::Json,
        Self::Claims,
        Self::Encryption,
        Self::Paseto,
        Self::Cost,
        Self::Property,
    ];

    /// The family as people read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Key => "keys",
            Self::Signature => "signature",
            Self::Encoding => "encoding",
            Self::Json => "JSON",
            Self::Claims => "claims",
            Self::Encryption => "encryption",
            Self::Paseto => "PASETO",
            Self::Cost => "cost",
            Self::Property => "properties",
        }
    }

    /// An attack of this family, in the formats that most of the family can be made in.
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
                Self::Header | Self::Key | Self::Signature => JWT,
                Self::Encryption => JWE,
                Self::Paseto => PASETO,
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
    /// Every attack, family by family.
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
            costs::ATTACKS,
            properties::ATTACKS,
        ]
        .concat()
    }

    /// The attack of that name.
    #[must_use]
    pub fn named(id: &str) -> Option<Self> {
        Self::all().into_iter().find(|a| a.id == id)
    }

    /// Whether it is made at a second where a verifier that grants leeway accepts on purpose.
    #[must_use]
    pub fn is_at_a_border(&self) -> bool {
        let borders = [
            "expiry-border",
            "not-before-border",
            "expired-after-first-use",
        ];
        borders.contains(&self.id)
    }

    /// The same, about something else than most of its family.
    const fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// The same, refused by those alone who demand this.
    const fn demanding(self, demand: Demand) -> Self {
        Self {
            demand: Some(demand),
            ..self
        }
    }

    /// Its spellings for these keys: none where it cannot be made with them.
    pub(super) fn trials(&self, stage: &Stage) -> Vec<Trial> {
        let trials = (self.make)(stage);
        trials.into_iter().filter(Trial::is_made).collect()
    }
}

const JWT: &[Kind] = &[Kind::Jwt];
const JWE: &[Kind] = &[Kind::Jwe];
const JOSE: &[Kind] = &[Kind::Jwt, Kind::Jwe];
const PASETO: &[Kind] = &[Kind::Paseto];
const ALL: &[Kind] = &[Kind::Jwt, Kind::Jwe, Kind::Paseto];
