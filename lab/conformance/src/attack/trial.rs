//! One token or key that must be rejected, with its positive control.

use serde_json::Value;

use jeton_lab_model::protocol::{Extra, KeyText, Keys};

/// The number of trials for which an accepted control is not sent again.
pub(super) const TRIALS_PER_CONTROL: u32 = 40;

/// One variant of an attack.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// How this variant differs from the others, as text.
    pub spelling: String,
    /// The token that must be accepted first; otherwise the trial proves nothing.
    pub control: String,
    pub claims: Claims,
    /// Whether the trial applies only if the library itself reads the text of the key.
    pub read_by_library: bool,
    pub act: Act,
}

/// What the driver decodes claims into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Claims {
    /// The language's map type.
    Map,
    /// The typed struct of the claims set `standard`, where the language has one.
    Typed,
}

/// What the trial does.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// The token must be rejected.
    Verify(String),
    /// The keys must be rejected, or the token under them.
    VerifyUnder(Keys, String),
    /// The bad text must not load as a key; the good one must. Only for libraries that read such
    /// texts.
    Load { bad: KeyText, good: KeyText },
    /// The token must be rejected with no more time and memory than `plain`, a text of the same
    /// length.
    Costly { token: String, plain: String },
    /// A token issued with these claims must contain exactly these claims.
    Issue(Value),
    /// The control must be rejected after this time.
    Later(std::time::Duration),
    /// The token must be rejected, and no keys may be fetched from the address in it.
    NoFetch(String),
    /// Each token must be accepted or rejected as its step says.
    Steps(Vec<Step>),
    /// A token endpoint must reject the form with this token and these changes.
    Form(String, Vec<FormChange>),
}

/// What a driver prepares for a step.
#[derive(Debug, Clone)]
pub(super) enum Setup {
    /// A verifier with these keys.
    Keys(Keys),
    /// A feature that only some libraries have. [`Extra::Options`] has the options by language.
    Extra(Extra),
}

/// One of several tokens of a trial.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub setup: Setup,
    /// The index of the verifier.
    pub verifier: usize,
    pub token: String,
    /// Whether the token must be accepted: such a step is a positive control.
    pub is_control: bool,
}

/// A change of the form for a token endpoint.
#[derive(Debug, Clone)]
pub(super) enum FormChange {
    /// A parameter has this value.
    Set(&'static str, String),
    /// A parameter ends with this text too.
    Append(&'static str, String),
    /// A parameter is in upper case.
    UpperCase(&'static str),
    /// A parameter ends with a byte that is not UTF-8.
    NotUtf8(&'static str),
    /// A parameter is absent.
    Remove(&'static str),
    /// A parameter is there twice, first with this value.
    Before(&'static str, String),
    /// A parameter is there twice, last with this value.
    After(&'static str, String),
    /// A parameter is there twice with the same value.
    Again(&'static str),
    /// A parameter is the access token that the endpoint issued last.
    Issued(&'static str),
    /// The parameters are in the address.
    InAddress,
    /// The parameters are in the address of a GET request.
    Get,
    /// The parameters are a JSON object.
    Json,
    /// The form is declared as this content type.
    ContentType(&'static str),
    /// The value of `Authorization`, instead of that of the operator.
    Authorization(String),
    /// No `Authorization`.
    NoAuthorization,
}

impl FormChange {
    /// Stands for the name of the parameter with the token, which depends on the grant.
    pub(super) const TOKEN: &'static str = "<token>";
}

impl Trial {
    /// Returns a trial whose token must be rejected and whose control must be accepted.
    pub(super) fn token(
        spelling: impl Into<String>,
        control: impl Into<String>,
        token: impl Into<String>,
    ) -> Self {
        Self::new(spelling, control, Act::Verify(token.into()))
    }

    /// Returns such a trial for each of these tokens, with the same control.
    pub(super) fn all<S: Into<String>, T: Into<String>>(
        control: &str,
        tokens: impl IntoIterator<Item = (S, T)>,
    ) -> Vec<Self> {
        let tokens = tokens.into_iter();
        let trial = |(spelling, token)| Self::token(spelling, control, token);
        tokens.map(trial).collect()
    }

    pub(super) fn new(spelling: impl Into<String>, control: impl Into<String>, act: Act) -> Self {
        Self {
            spelling: spelling.into(),
            control: control.into(),
            claims: Claims::Map,
            read_by_library: false,
            act,
        }
    }

    /// Returns a trial of several tokens, whose first is a control.
    pub(super) fn steps(spelling: impl Into<String>, steps: Vec<Step>) -> Self {
        let control = steps.first().map(|step| step.token.clone());
        Self::new(spelling, control.unwrap_or_default(), Act::Steps(steps))
    }

    /// Returns the same trial with claims decoded into the typed struct.
    pub(super) fn typed(mut self) -> Self {
        self.claims = Claims::Typed;
        self
    }

    /// Returns the same trial, only for libraries that read the text of the key. Otherwise the
    /// driver would be tested.
    pub(super) fn read_by_library(mut self) -> Self {
        self.read_by_library = true;
        self
    }

    /// Returns whether the trial is slow.
    pub(super) fn takes_time(&self) -> bool {
        matches!(self.act, Act::Costly { .. } | Act::Later(_))
    }

    /// Returns whether the trial exists: there is no token where the lab cannot make one.
    pub(super) fn is_made(&self) -> bool {
        let made = match &self.act {
            Act::Verify(token) | Act::NoFetch(token) | Act::VerifyUnder(_, token) => {
                !token.is_empty()
            }
            Act::Costly { token, .. } | Act::Form(token, _) => !token.is_empty(),
            Act::Steps(steps) => steps.iter().all(|step| !step.token.is_empty()),
            _ => true,
        };
        made && !self.control.is_empty()
    }
}
