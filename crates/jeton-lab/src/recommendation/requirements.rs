//! What the reader needs of a token, and what matters most to them.

use std::collections::BTreeSet;
use std::fmt;

use crate::suite::{Nearest, nearest};

use super::libraries;

/// A budget is no more than this: 1 GB.
const BUDGET_BYTES_MAX: u64 = 1_000_000_000;

/// Of a need that is not one, an error shows no more than this.
const SHOWN_CHARS_MAX: usize = 40;

/// Everything that the reader asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requirements {
    /// Nobody without the key reads the claims.
    pub confidentiality: bool,
    /// Others verify, who must not be able to make tokens.
    pub third_parties: bool,
    /// Only algorithms that FIPS approves.
    pub fips: bool,
    /// Nothing that a quantum computer would break.
    pub post_quantum: bool,
    /// Tokens must be taken back before they expire.
    pub revocation: bool,
    /// What the header line that carries the token may have, bytes.
    pub header_budget: Option<u64>,
    /// What the cookie that carries it may have, bytes.
    pub cookie_budget: Option<u64>,
    /// Languages that must all have it.
    pub languages: BTreeSet<String>,
    /// What decides between those that are left.
    pub weight: Weight,
}

/// What decides between tokens that meet every need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weight {
    /// Time to open and check a token: done most often.
    #[default]
    Verify,
    /// Time to make one.
    Sign,
    /// Time to make one and open it again.
    RoundTrip,
    /// Its length.
    Size,
}

impl Weight {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Verify, Self::Sign, Self::RoundTrip, Self::Size];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Sign => "sign",
            Self::RoundTrip => "round-trip",
            Self::Size => "size",
        }
    }

    /// What it is about, in words.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Verify => "time to verify",
            Self::Sign => "time to sign",
            Self::RoundTrip => "time to sign and verify",
            Self::Size => "token size",
        }
    }
}

/// The names that `--need` knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// [`Requirements::confidentiality`].
    Confidentiality,
    /// [`Requirements::third_parties`].
    VerifyByThirdParties,
    /// [`Requirements::header_budget`].
    HeaderBudget,
    /// [`Requirements::cookie_budget`].
    CookieBudget,
    /// [`Requirements::languages`].
    Languages,
    /// [`Requirements::revocation`].
    Revocation,
    /// [`Requirements::fips`].
    Fips,
    /// [`Requirements::post_quantum`].
    PostQuantum,
    /// [`Requirements::weight`].
    Weight,
}

impl Requirement {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Confidentiality,
        Self::VerifyByThirdParties,
        Self::HeaderBudget,
        Self::CookieBudget,
        Self::Languages,
        Self::Revocation,
        Self::Fips,
        Self::PostQuantum,
        Self::Weight,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Confidentiality => "confidentiality",
            Self::VerifyByThirdParties => "verify-by-third-parties",
            Self::HeaderBudget => "header-budget",
            Self::CookieBudget => "cookie-budget",
            Self::Languages => "languages",
            Self::Revocation => "revocation",
            Self::Fips => "fips",
            Self::PostQuantum => "post-quantum",
            Self::Weight => "weight",
        }
    }

    /// What follows its `=`, as an example; none if nothing does.
    #[must_use]
    pub fn example(self) -> Option<&'static str> {
        match self {
            Self::HeaderBudget | Self::CookieBudget => Some("4096"),
            Self::Languages => Some("go+node"),
            Self::Weight => Some("verify"),
            _ => None,
        }
    }
}

/// Why a need is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequirementsError {
    /// Nothing is called that.
    Unknown {
        /// What was given.
        name: String,
        /// What is called most like it.
        nearest: Nearest,
    },
    /// Its value is missing, or it has one and takes none.
    Value(Requirement),
    /// Its value is not one of those it takes.
    Among {
        /// The need.
        requirement: Requirement,
        /// What was given.
        value: String,
        /// What is called most like it.
        nearest: Nearest,
    },
    /// A budget that is no number of bytes above zero.
    Budget(Requirement),
    /// It was given twice.
    Twice(Requirement),
}

impl fmt::Display for RequirementsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest } => {
                let all: Vec<String> = Requirement::ALL.into_iter().map(spelled).collect();
                write!(
                    f,
                    "there is no need `{name}`{nearest} (needs: {})",
                    all.join(", ")
                )
            }
            Self::Value(requirement) => match requirement.example() {
                Some(_) => write!(
                    f,
                    "the need `{}` takes a value, like {}",
                    requirement.name(),
                    spelled(*requirement)
                ),
                None => write!(f, "the need `{}` takes no value", requirement.name()),
            },
            Self::Among {
                requirement,
                value,
                nearest,
            } => write!(
                f,
                "the need `{}` knows no `{value}`{nearest}",
                requirement.name()
            ),
            Self::Budget(requirement) => write!(
                f,
                "`{}` is a number of bytes from 1 to {BUDGET_BYTES_MAX}, like {}",
                requirement.name(),
                spelled(*requirement)
            ),
            Self::Twice(requirement) => {
                write!(
                    f,
                    "the need `{}` is given twice: say it once",
                    requirement.name()
                )
            }
        }
    }
}

impl std::error::Error for RequirementsError {}

impl Requirements {
    /// Reads needs as `--need` gives them: each text holds one or several, parted by commas.
    ///
    /// # Errors
    /// [`RequirementsError`], with the nearest spelling of what is not known.
    ///
    /// # Examples
    /// ```
    /// use jeton_lab::recommendation::{Requirements, Weight};
    ///
    /// let needs = Requirements::parse(&["fips,languages=go+node", "weight=size"])?;
    /// assert_eq!(needs.weight, Weight::Size);
    /// let wrong = Requirements::parse(&["confidentialty"]).unwrap_err();
    /// assert!(wrong.to_string().contains("did you mean `confidentiality`?"));
    /// # Ok::<(), jeton_lab::recommendation::RequirementsError>(())
    /// ```
    pub fn parse<T: AsRef<str>>(given: &[T]) -> Result<Self, RequirementsError> {
        let mut requirements = Self::default();
        let mut seen = Vec::new();
        let each = given.iter().flat_map(|text| text.as_ref().split(','));
        for text in each.map(str::trim).filter(|text| !text.is_empty()) {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim())),
                None => (text, None),
            };
            let requirement = named(name)?;
            if seen.contains(&requirement) {
                return Err(RequirementsError::Twice(requirement));
            }
            seen.push(requirement);
            if requirement.example().is_some() != value.is_some_and(|v| !v.is_empty()) {
                return Err(RequirementsError::Value(requirement));
            }
            requirements.take(requirement, value.unwrap_or_default())?;
        }
        Ok(requirements)
    }

    fn take(&mut self, requirement: Requirement, value: &str) -> Result<(), RequirementsError> {
        match requirement {
            Requirement::Confidentiality => self.confidentiality = true,
            Requirement::VerifyByThirdParties => self.third_parties = true,
            Requirement::Fips => self.fips = true,
            Requirement::PostQuantum => self.post_quantum = true,
            Requirement::Revocation => self.revocation = true,
            Requirement::HeaderBudget => self.header_budget = Some(budget(requirement, value)?),
            Requirement::CookieBudget => self.cookie_budget = Some(budget(requirement, value)?),
            Requirement::Languages => {
                let languages = value.split('+').map(str::trim);
                self.languages = languages
                    .map(|name| among(requirement, name, libraries::LANGUAGES.iter().copied()))
                    .collect::<Result<_, _>>()?;
            }
            Requirement::Weight => {
                let name = among(
                    requirement,
                    value,
                    Weight::ALL.into_iter().map(Weight::name),
                )?;
                let weight = Weight::ALL.into_iter().find(|w| w.name() == name);
                self.weight = weight.unwrap_or_default();
            }
        }
        Ok(())
    }

    /// The needs as `--need` takes them, in one order; the weight only if it is not the usual.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let flags = [
            (Requirement::Confidentiality, self.confidentiality),
            (Requirement::VerifyByThirdParties, self.third_parties),
            (Requirement::Fips, self.fips),
            (Requirement::PostQuantum, self.post_quantum),
            (Requirement::Revocation, self.revocation),
        ];
        let set = flags.into_iter().filter(|(_, set)| *set);
        let mut names: Vec<String> = set
            .map(|(requirement, _)| requirement.name().to_owned())
            .collect();
        let budgets = [
            (Requirement::HeaderBudget, self.header_budget),
            (Requirement::CookieBudget, self.cookie_budget),
        ];
        for (requirement, budget) in budgets {
            names.extend(budget.map(|bytes| format!("{}={bytes}", requirement.name())));
        }
        if !self.languages.is_empty() {
            let all: Vec<&str> = self.languages.iter().map(String::as_str).collect();
            names.push(format!("languages={}", all.join("+")));
        }
        if self.weight != Weight::default() {
            names.push(format!("weight={}", self.weight.name()));
        }
        names
    }
}

fn named(name: &str) -> Result<Requirement, RequirementsError> {
    let found = Requirement::ALL
        .into_iter()
        .find(|requirement| requirement.name() == name);
    found.ok_or_else(|| RequirementsError::Unknown {
        name: shown(name),
        nearest: nearest(name, Requirement::ALL.into_iter().map(Requirement::name)),
    })
}

fn among(
    requirement: Requirement,
    value: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> Result<String, RequirementsError> {
    if known.clone().any(|name| name == value) {
        return Ok(value.to_owned());
    }
    Err(RequirementsError::Among {
        requirement,
        value: shown(value),
        nearest: nearest(value, known),
    })
}

fn budget(requirement: Requirement, value: &str) -> Result<u64, RequirementsError> {
    let bytes = value.parse::<u64>().ok();
    bytes
        .filter(|bytes| (1..=BUDGET_BYTES_MAX).contains(bytes))
        .ok_or(RequirementsError::Budget(requirement))
}

fn spelled(requirement: Requirement) -> String {
    match requirement.example() {
        Some(example) => format!("{}={example}", requirement.name()),
        None => requirement.name().to_owned(),
    }
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(given: &str) -> String {
        Requirements::parse(&[given])
            .err()
            .map_or_else(String::new, |e| e.to_string())
    }

    #[test]
    fn what_is_written_is_read_again() {
        let given = "confidentiality,fips,header-budget=4096,languages=go+node,weight=size";
        let requirements = Requirements::parse(&[given]).unwrap_or_default();
        assert_eq!(requirements.names().join(","), given);
        assert_eq!(Requirements::parse(&requirements.names()), Ok(requirements));
    }

    #[test]
    fn wrong_needs_are_told_the_nearest_spelling() {
        assert!(error("pq").contains("there is no need `pq`"));
        assert!(error("post-quantm").contains("did you mean `post-quantum`?"));
        assert!(error("languages=go+nod").contains("did you mean `node`?"));
        assert!(error("weight=verfy").contains("did you mean `verify`?"));
    }

    #[test]
    fn values_are_asked_for_where_they_belong() {
        assert!(error("header-budget").contains("takes a value, like header-budget=4096"));
        assert!(error("languages=").contains("takes a value"));
        assert!(error("fips=yes").contains("takes no value"));
        for wrong in ["0", "-1", "4k", "99999999999"] {
            let said = error(&format!("cookie-budget={wrong}"));
            assert!(said.contains("a number of bytes from 1"), "{said}");
        }
        assert!(error("fips,fips").contains("given twice"));
    }

    #[test]
    fn nothing_given_is_no_need() {
        assert_eq!(
            Requirements::parse::<&str>(&[]),
            Ok(Requirements::default())
        );
        assert_eq!(
            Requirements::parse(&["", " , "]),
            Ok(Requirements::default())
        );
    }
}
