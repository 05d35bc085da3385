//! The user's requirements, and the quantity that matters most.

use std::collections::BTreeSet;

use crate::name_table::named;
use crate::nearest;

/// The languages with subjects.
pub const LANGUAGES: [&str; 5] = ["go", "java", "node", "python", "rust"];

/// The largest budget: 1 GB.
const BUDGET_BYTES_MAX: u64 = 1_000_000_000;

/// The number of characters of an unknown requirement shown in an error.
const SHOWN_CHARS_MAX: usize = 40;

/// All requirements.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requirements {
    /// The claims must be unreadable without the key.
    pub confidentiality: bool,
    /// Third parties verify, and must not be able to create tokens.
    pub third_parties: bool,
    /// Only algorithms that FIPS approves.
    pub fips: bool,
    /// Only algorithms that quantum computers do not break.
    pub post_quantum: bool,
    /// Tokens must be revocable before they expire.
    pub revocation: bool,
    /// The size limit of the header line with the token, in bytes.
    pub header_budget: Option<u64>,
    /// The size limit of the cookie with the token, in bytes.
    pub cookie_budget: Option<u64>,
    /// The languages that must all have the token.
    pub languages: BTreeSet<String>,
    /// The quantity that orders the remaining tokens.
    pub weight: Weight,
}

named! {
    /// The quantity that orders tokens that meet all requirements.
    #[derive(Default)]
    Weight {
        /// The time to sign and verify. It is the default, so that a token that is slow to sign is not recommended for its
        /// time to verify alone.
        #[default]
        RoundTrip = "round-trip",
        /// The time to verify.
        Verify = "verify",
        /// The time to sign.
        Sign = "sign",
        /// The token size.
        Size = "size",
    }
}

impl Weight {
    /// Returns a description.
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

named! {
    /// The requirements that `--need` accepts.
    Requirement {
        /// [`Requirements::confidentiality`].
        Confidentiality = "confidentiality",
        /// [`Requirements::third_parties`].
        VerifyByThirdParties = "verify-by-third-parties",
        /// [`Requirements::header_budget`].
        HeaderBudget = "header-budget",
        /// [`Requirements::cookie_budget`].
        CookieBudget = "cookie-budget",
        /// [`Requirements::languages`].
        Languages = "languages",
        /// [`Requirements::revocation`].
        Revocation = "revocation",
        /// [`Requirements::fips`].
        Fips = "fips",
        /// [`Requirements::post_quantum`].
        PostQuantum = "post-quantum",
        /// [`Requirements::weight`].
        Weight = "weight",
    }
}

impl Requirement {
    /// Returns an example of the value after `=`, if there is one.
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

impl Requirements {
    /// Parses requirements as `--need` accepts them: each text has one or several, separated by commas.
    ///
    /// # Errors
    /// What is wrong, with the nearest known spelling.
    ///
    /// # Examples
    /// ```
    /// use jeton_lab_model::recommendation::{Requirements, Weight};
    ///
    /// let requirements = Requirements::parse(&["fips,languages=go+node", "weight=size"])?;
    /// assert_eq!(requirements.weight, Weight::Size);
    /// let wrong = Requirements::parse(&["confidentialty"]).unwrap_err();
    /// assert!(wrong.contains("did you mean `confidentiality`?"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse<T: AsRef<str>>(given: &[T]) -> Result<Self, String> {
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
                return Err(format!("duplicate requirement `{requirement}`"));
            }
            seen.push(requirement);
            match (requirement.example(), value) {
                (Some(_), None | Some("")) => {
                    let spelled = spelled(requirement);
                    return Err(format!(
                        "`{requirement}` requires a value, for example {spelled}"
                    ));
                }
                (None, Some(value)) if !value.is_empty() => {
                    return Err(format!("`{requirement}` accepts no value"));
                }
                _ => {}
            }
            requirements.take(requirement, value.unwrap_or_default())?;
        }
        Ok(requirements)
    }

    fn take(&mut self, requirement: Requirement, value: &str) -> Result<(), String> {
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
                    .map(|name| among(requirement, name, LANGUAGES.iter().copied()))
                    .collect::<Result<_, _>>()?;
            }
            Requirement::Weight => {
                let names = Weight::ALL.into_iter().map(Weight::name);
                let name = among(requirement, value, names)?;
                self.weight = Weight::named(&name).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Returns the requirements as `--need` accepts them, in a fixed order; the weight only if it is
    /// not the default.
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

fn named(name: &str) -> Result<Requirement, String> {
    Requirement::named(name).ok_or_else(|| {
        let nearest = nearest(name, Requirement::ALL.into_iter().map(Requirement::name));
        let (name, all) = (shown(name), Requirement::ALL.map(spelled).join(", "));
        format!("unknown requirement `{name}`{nearest}; expected one of: {all}")
    })
}

fn among(
    requirement: Requirement,
    value: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> Result<String, String> {
    if known.clone().any(|name| name == value) {
        return Ok(value.to_owned());
    }
    let (nearest, value) = (nearest(value, known), shown(value));
    Err(format!("`{requirement}`: unknown value `{value}`{nearest}"))
}

fn budget(requirement: Requirement, value: &str) -> Result<u64, String> {
    let bytes = value.parse::<u64>().ok();
    let bytes = bytes.filter(|bytes| (1..=BUDGET_BYTES_MAX).contains(bytes));
    bytes.ok_or_else(|| {
        let spelled = spelled(requirement);
        format!(
            "`{requirement}` must be between 1 and {BUDGET_BYTES_MAX} bytes, for example {spelled}"
        )
    })
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
    use crate::recommendation::*;

    fn error(given: &str) -> String {
        Requirements::parse(&[given]).err().unwrap_or_default()
    }

    #[test]
    fn requirements_round_trip() {
        let given = "confidentiality,fips,header-budget=4096,languages=go+node,weight=size";
        let requirements = Requirements::parse(&[given]).unwrap_or_default();
        assert_eq!(requirements.names().join(","), given);
        assert_eq!(Requirements::parse(&requirements.names()), Ok(requirements));
    }

    #[test]
    fn requirements_unknown_name_suggests_nearest() {
        assert!(error("pq").contains("unknown requirement `pq`"));
        assert!(error("post-quantm").contains("did you mean `post-quantum`?"));
        assert!(error("languages=go+nod").contains("did you mean `node`?"));
        assert!(error("weight=verfy").contains("did you mean `verify`?"));
    }

    #[test]
    fn requirements_check_values() {
        assert!(
            error("header-budget").contains("requires a value, for example header-budget=4096")
        );
        assert!(error("languages=").contains("requires a value"));
        assert!(error("fips=yes").contains("accepts no value"));
        for wrong in ["0", "-1", "4k", "99999999999"] {
            let said = error(&format!("cookie-budget={wrong}"));
            assert!(said.contains("must be between 1 and"), "{said}");
        }
        assert!(error("fips,fips").contains("duplicate requirement"));
    }

    #[test]
    fn requirements_empty_input_is_default() {
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
