//! gRPC errors: a code, a reason for programs and a message for people.
//!
//! An error never repeats data of the request.

use std::collections::HashMap;

use jeton::error::codes;
use jeton_issuer::Error;
use jeton_proto::v1::ItemError;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use super::Failure;
use crate::auth::Denied;
use crate::issuer_error::{ErrorParts, issuer_parts};
use crate::metrics::CallOutcome;

/// The `domain` of every google.rpc.ErrorInfo.
const DOMAIN: &str = "jeton";

/// How a client authenticates at an endpoint that takes a form.
const FORM_CREDENTIALS: &str = "send the secret with HTTP Basic authentication, a signed assertion \
     (`client_assertion`), a client certificate, or `authorization: Bearer TOKEN`";

impl Failure {
    pub(crate) fn status(&self) -> Status {
        let parts = self.parts();
        let mut details =
            ErrorDetails::with_error_info(parts.reason, DOMAIN, HashMap::<String, String>::new());
        if let Some(field) = parts.field {
            details.add_bad_request_violation(field, parts.message.clone());
        }
        Status::with_error_details(parts.code, parts.message, details)
    }

    pub(crate) fn item(&self) -> ItemError {
        let parts = self.parts();
        ItemError {
            code: parts.code as i32,
            reason: parts.reason.to_owned(),
            message: parts.message,
        }
    }

    pub(crate) fn outcome(&self) -> CallOutcome {
        match self.parts().code {
            Code::FailedPrecondition => CallOutcome::Rejected,
            Code::ResourceExhausted => CallOutcome::Overloaded,
            Code::Internal | Code::Unavailable | Code::DataLoss => CallOutcome::ServerError,
            _ => CallOutcome::ClientError,
        }
    }

    /// The reason for programs: the name of a code.
    pub(crate) fn reason(&self) -> &'static str {
        self.parts().reason
    }

    /// The message for people.
    pub(crate) fn message(&self) -> String {
        self.parts().message
    }

    fn parts(&self) -> ErrorParts {
        match self {
            Failure::Logged(failure) => failure.parts(),
            Failure::Denied(denied) => denied_parts(*denied),
            Failure::Issuer(error) => issuer_parts(error),
            Failure::Overloaded(what) => ErrorParts {
                code: Code::ResourceExhausted,
                reason: codes::OVERLOADED.name(),
                message: what.to_string(),
                field: None,
            },
            Failure::OAuth(error) => ErrorParts {
                code: Code::InvalidArgument,
                reason: codes::INVALID_ARGUMENT.name(),
                message: error.what.clone(),
                field: None,
            },
            Failure::Rate(exceeded) => ErrorParts {
                code: Code::ResourceExhausted,
                reason: codes::OVERLOADED.name(),
                message: format!(
                    "{} requests of this client in a minute, the limit is {} per minute",
                    exceeded.used, exceeded.most
                ),
                field: None,
            },
            Failure::RevocationRate(exceeded) => ErrorParts {
                code: Code::ResourceExhausted,
                reason: codes::OVERLOADED.name(),
                message: format!(
                    "{} revocations of this client in a day, the limit is {} per day (`revocations_per_day`)",
                    exceeded.used, exceeded.most
                ),
                field: None,
            },
            Failure::DeadlineExceeded => ErrorParts {
                code: Code::DeadlineExceeded,
                reason: codes::DEADLINE_EXCEEDED.name(),
                message: "deadline exceeded (`grpc-timeout`)".to_owned(),
                field: None,
            },
            Failure::Field(field, what) => ErrorParts {
                code: Code::InvalidArgument,
                reason: codes::INVALID_ARGUMENT.name(),
                message: format!("`{field}`: {what}"),
                field: Some((*field).to_owned()),
            },
        }
    }
}

/// The status for a caller that is refused.
pub(crate) fn denied(denied: Denied) -> Status {
    Failure::Denied(denied).status()
}

/// The status of a request that is rejected by its host or origin.
pub(crate) fn permission_denied(reason: &'static str, message: &str) -> Status {
    let details = ErrorDetails::with_error_info(reason, DOMAIN, HashMap::<String, String>::new());
    Status::with_error_details(Code::PermissionDenied, message, details)
}

fn denied_parts(denied: Denied) -> ErrorParts {
    let (code, reason, message) = match denied {
        Denied::NoCredentials => (
            Code::Unauthenticated,
            codes::NO_CREDENTIALS.name(),
            "no credentials: send a client certificate or `authorization: Bearer TOKEN`".to_owned(),
        ),
        Denied::NoFormCredentials => (
            Code::Unauthenticated,
            codes::NO_CREDENTIALS.name(),
            format!("no credentials: {FORM_CREDENTIALS}"),
        ),
        Denied::SecretInForm => (
            Code::Unauthenticated,
            codes::BAD_CREDENTIALS.name(),
            format!("`client_secret`: not accepted in the form: {FORM_CREDENTIALS}"),
        ),
        Denied::BadCredentials => (
            Code::Unauthenticated,
            codes::BAD_CREDENTIALS.name(),
            "the credentials do not belong to a client of this server".to_owned(),
        ),
        Denied::CertificateEnded => (
            Code::Unauthenticated,
            codes::BAD_CREDENTIALS.name(),
            "the client certificate has ended, or its authority is no longer accepted: connect with a valid one"
                .to_owned(),
        ),
        Denied::Permission(permission) => (
            Code::PermissionDenied,
            codes::NOT_ALLOWED.name(),
            format!("the caller has no permission to {permission} for this issuer"),
        ),
        Denied::Credential => (
            Code::PermissionDenied,
            codes::NOT_ALLOWED.name(),
            "a token of this subject for this audience is a client credential of this server: issuing one for \
             another subject requires the permission `admin`"
                .to_owned(),
        ),
        Denied::NoAdminToken => (
            Code::Unauthenticated,
            codes::NO_ADMIN_TOKEN.name(),
            "no admin token: send `authorization: Bearer TOKEN`. Without configured clients, each start writes \
             a new token to the file `admin-token` in the data folder"
                .to_owned(),
        ),
        Denied::Stale => return issuer_parts(&Error::Stale),
    };
    ErrorParts {
        code,
        reason,
        message,
        field: None,
    }
}

/// Converts an error for the HTTP endpoints: status, reason and message.
pub(crate) fn http(failure: &Failure) -> (http::StatusCode, &'static str, String) {
    let parts = failure.parts();
    let status = match parts.code {
        Code::Unauthenticated => http::StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => http::StatusCode::FORBIDDEN,
        Code::NotFound => http::StatusCode::NOT_FOUND,
        Code::ResourceExhausted => http::StatusCode::TOO_MANY_REQUESTS,
        Code::Unavailable => http::StatusCode::SERVICE_UNAVAILABLE,
        Code::Internal => http::StatusCode::INTERNAL_SERVER_ERROR,
        _ => http::StatusCode::BAD_REQUEST,
    };
    (status, parts.reason, parts.message)
}
