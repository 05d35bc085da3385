use std::time::Duration;

use clap::Args;
use jeton::error::Claim;
use jeton::{Claims, JsonClaims};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{CLAIMS, ClaimsFormat};
use crate::exit::{Failure, Outcome};
use crate::input::Member;
use crate::json::Members;
use crate::source::{self, Source, Text};
use crate::{escape, output, time};

/// The claims of a new token.
#[derive(Debug, Args)]
pub(crate) struct ClaimsArgument {
    /// Claims, a JSON object: as text, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    claims: Option<Source>,

    /// Claims as text, never read as @FILE or -
    #[arg(long, value_name = "JSON", conflicts_with = "claims")]
    claims_text: Option<Text>,

    /// Issuer (`iss`)
    #[arg(long, value_name = "TEXT")]
    issuer: Option<String>,

    /// Audience (`aud`); repeat it for several
    #[arg(long, value_name = "TEXT")]
    audience: Vec<String>,

    /// Subject (`sub`)
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// Add a claim. A value that is JSON is taken as JSON, any other as text; to make 7 text, write it as JSON: NAME='"7"' (repeatable)
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    claim: Vec<Member>,
}

/// The expiry of a new token.
#[derive(Debug, Args)]
pub(crate) struct Expiry {
    /// Token lifetime, for example 15m, 1h or 7d
    #[arg(long, value_name = "TIME", value_parser = time::lifetime)]
    expires_in: Option<Duration>,

    /// Issue a token without an expiry
    #[arg(long, conflicts_with = "expires_in")]
    no_expiry: bool,
}

impl ClaimsArgument {
    /// Returns whether the caller passed claims in any way.
    pub(crate) fn is_given(&self) -> bool {
        self.source().is_some() || !self.added().is_empty()
    }

    /// Returns the claims to issue, with the chosen expiry.
    pub(crate) fn claims(
        &self,
        expiry: &Expiry,
        format: ClaimsFormat,
    ) -> Outcome<Claims<'static, JsonClaims<'static>>> {
        let added = self.added();
        let given = match self.source() {
            Some(source) => {
                let text = source.text(CLAIMS)?;
                // Checked alone, so that an error has a position in this text.
                super::read(CLAIMS, &text, format)?;
                text
            }
            None if added.is_empty() => {
                return Err(Failure::error("no claims")
                    .hint("pass `--claims JSON`, or set a claim, for example `--subject me`"));
            }
            None => "{}".to_owned(),
        };
        if added.is_empty() {
            return expiry.chosen(super::read(CLAIMS, &given, format)?);
        }
        for Added { option, name, json } in &added {
            // Checked alone, so that an error names its option.
            super::read(
                option,
                &format!("{{{}:{json}}}", Value::from(*name)),
                format,
            )?;
        }
        let joined = joined(&added, &given)?;
        expiry.chosen(super::read(CLAIMS, &joined, format)?)
    }

    fn source(&self) -> Option<&Source> {
        source::given(self.claims.as_ref(), self.claims_text.as_ref())
    }

    /// Returns the claims of the other options.
    fn added(&self) -> Vec<Added<'_>> {
        let text = |option, name, text: &String| Added {
            option,
            name,
            json: Value::from(&**text).to_string(),
        };
        let mut added = Vec::new();
        added.extend(self.issuer.iter().map(|one| text("--issuer", "iss", one)));
        added.extend(self.subject.iter().map(|one| text("--subject", "sub", one)));
        match &self.audience[..] {
            [] => {}
            [only] => added.push(text("--audience", "aud", only)),
            several => added.push(Added {
                option: "--audience",
                name: "aud",
                json: Value::from(several).to_string(),
            }),
        }
        added.extend(self.claim.iter().map(|Member { name, value }| Added {
            option: "--claim",
            name,
            json: json_or_text(value),
        }));
        added
    }
}

/// A claim of an option.
struct Added<'a> {
    option: &'static str,
    name: &'a str,
    /// The value.
    json: String,
}

/// Returns a value that is JSON as it is, and any other as a JSON string.
fn json_or_text(value: &str) -> String {
    match serde_json::from_str::<IgnoredAny>(value) {
        Ok(_) => value.to_owned(),
        Err(_) => Value::from(value).to_string(),
    }
}

/// Adds claims at the beginning of an object, which is valid.
fn joined(added: &[Added<'_>], object: &str) -> Outcome<String> {
    let Members(members) = Members::loose(object).unwrap_or_else(|| Members(Vec::new()));
    let mut names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
    let mut all = Vec::with_capacity(added.len());
    for Added { option, name, json } in added {
        if names.contains(name) {
            let what = format!("the claim {} is set twice", escape::line(name));
            return Err(Failure::error(what).hint(format!("remove one, or remove `{option}`")));
        }
        names.push(name);
        all.push(format!("{}:{json}", Value::from(*name)));
    }
    let rest = object.trim().strip_prefix('{').unwrap_or_default();
    let comma = if members.is_empty() { "" } else { "," };
    Ok(format!("{{{}{comma}{rest}", all.join(",")))
}

impl Expiry {
    /// Returns the claims with this expiry.
    fn chosen(&self, json: JsonClaims<'static>) -> Outcome<Claims<'static, JsonClaims<'static>>> {
        let has_expiry = json.contains(Claim::Expiry);
        let claims = Claims::new(json);
        let conflict = |flag: &str| {
            Failure::error(format!("the claims have exp, and {flag} is passed too"))
                .hint(format!("remove exp from the claims, or remove `{flag}`"))
        };
        match (has_expiry, self.expires_in, self.no_expiry) {
            (true, None, false) => Ok(claims),
            (false, Some(lifetime), _) => Ok(claims.expires_in(lifetime)),
            (false, None, true) => {
                output::note(
                    "the token never expires: it is valid until its key is no longer trusted",
                );
                Ok(claims.without_expiry())
            }
            (true, Some(_), _) => Err(conflict("--expires-in")),
            (true, None, true) => Err(conflict("--no-expiry")),
            (false, None, false) => Err(Failure::error(
                "no expiry: neither exp in the claims nor --expires-in",
            )
            .hint("add `--expires-in 15m`; for a token without an expiry, add `--no-expiry`")),
        }
    }
}
