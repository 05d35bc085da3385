//! Why calls fail, and what their callers receive.

mod status;

pub(crate) use status::{denied, http as http_status, permission_denied};

use std::borrow::Cow;

use jeton_issuer::Error;
use jeton_transport::Refused;

use crate::auth::Denied;
use crate::rate_limit::RateExceeded;
use crate::refusal::Refusal;

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Denied(Denied),
    Issuer(Error),
    /// A field of the request is invalid: the field and the problem.
    Field(&'static str, String),
    /// A limit was exceeded, or the server is overloaded.
    Overloaded(Cow<'static, str>),
    /// The deadline of the call has passed.
    DeadlineExceeded,
    /// A request to the token endpoint is refused (RFC 6749, section 5.2).
    OAuth(OAuthError),
    /// A client exceeded its requests per minute.
    Rate(RateExceeded),
    /// A client exceeded its revocations per day.
    RevocationRate(RateExceeded),
    /// A failure whose reason is in the log already.
    Logged(Box<Failure>),
}

/// An error of the token endpoint: its code, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OAuthError {
    /// The code of RFC 6749, RFC 8693 or RFC 8707.
    pub(crate) code: &'static str,
    /// Names the parameter, and repeats no value.
    pub(crate) what: String,
}

impl Failure {
    /// Marks it as logged.
    pub(crate) fn logged(self) -> Failure {
        Failure::Logged(Box::new(self))
    }

    /// What the caller learns.
    pub(crate) fn answer(self) -> Failure {
        match self {
            Failure::Logged(failure) => failure.answer(),
            other => other,
        }
    }

    /// An error of the token endpoint.
    pub(crate) fn oauth(code: &'static str, what: impl Into<String>) -> Failure {
        let what = what.into();
        Failure::OAuth(OAuthError { code, what })
    }

    /// The reason that the caller learns.
    pub(crate) fn refusal(&self) -> Refusal {
        match self {
            Failure::OAuth(error) => Refusal::of_whole(error.code, error.what.clone()),
            Failure::Field(name, what) => Refusal::of_parameter(self.reason(), name, what.clone()),
            Failure::Rate(_) => Refusal::of_whole("requests_per_minute", self.message()),
            Failure::RevocationRate(_) => Refusal::of_whole("revocations_per_day", self.message()),
            other => Refusal::of_whole(other.reason(), other.message()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Issuer(error)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Failure::Overloaded(refused.to_string().into())
    }
}

impl From<RateExceeded> for Failure {
    fn from(exceeded: RateExceeded) -> Self {
        Failure::Rate(exceeded)
    }
}

impl From<Denied> for Failure {
    fn from(denied: Denied) -> Self {
        Failure::Denied(denied)
    }
}
