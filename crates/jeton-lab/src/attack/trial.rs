//! One token, or key, that must be refused, beside its control: the twin that must be accepted.

use serde_json::Value;

use crate::protocol::{KeyText, Keys};

/// A control that was accepted need not be asked again for so many trials beside it.
pub(super) const TRIALS_PER_CONTROL: u32 = 40;

/// How one spelling of an attack is tried.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// In which way this differs from the other spellings, for people.
    pub spelling: String,
    /// The token that must be accepted first: else the trial says nothing.
    pub control: String,
    pub claims: Claims,
    /// Whether it says something only where the library reads the text of the key itself.
    pub read_by_library: bool,
    pub act: Act,
}

/// What the driver reads claims into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Claims {
    /// The language's map type.
    Map,
    /// The typed struct of the claims `standard`, where the language has one.
    Typed,
}

/// What is done.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// The token must be refused.
    Verify(String),
    /// The keys must be refused, or the token under them.
    VerifyUnder(Keys, String),
    /// The text must not be loaded as a key; the other one must. The library reads such texts itself.
    Load { bad: KeyText, good: KeyText },
    /// The token must be refused without more time and memory than its length explains: those of
    /// `plain`, which is as long.
    Costly { token: String, plain: String },
    /// The token that claims of this content become says just that.
    Issue(Value),
    /// The control again, so much later, when it must be refused.
    Later(std::time::Duration),
    /// The token under keys that came after those that the control was verified with.
    NextKeys(Keys),
    /// The token must be refused, and nobody may be asked for its keys at the address that it names.
    NoFetch(String),
}

impl Trial {
    /// A token that must be refused, where the control is accepted.
    pub(super) fn token(
        spelling: impl Into<String>,
        control: impl Into<String>,
        token: impl Into<String>,
    ) -> Self {
        Self::new(spelling, control, Act::Verify(token.into()))
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

    /// The same with claims read into the typed struct.
    pub(super) fn typed(mut self) -> Self {
        self.claims = Claims::Typed;
        self
    }

    /// The same, where the library reads the text of the key itself: else the driver would be tried.
    pub(super) fn read_by_library(mut self) -> Self {
        self.read_by_library = true;
        self
    }

    /// Whether it is about time, and so takes some.
    pub(super) fn takes_time(&self) -> bool {
        matches!(self.act, Act::Costly { .. } | Act::Later(_))
    }

    /// Whether it could be made at all: where the lab cannot forge it, there is no token.
    pub(super) fn is_made(&self) -> bool {
        let made = match &self.act {
            Act::Verify(token) | Act::NoFetch(token) | Act::VerifyUnder(_, token) => {
                !token.is_empty()
            }
            Act::Costly { token, .. } => !token.is_empty(),
            _ => true,
        };
        made && !self.control.is_empty()
    }
}
