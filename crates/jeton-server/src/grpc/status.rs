//! gRPC errors: a code, a reason for programs and a message for people.
//!
//! An error never repeats data of the request.

use std::collections::HashMap;

use jeton::error::Rejection;
use jeton_issuer::Error;
use jeton_proto::v1::ItemError;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::auth::Denied;
use crate::metrics::CallOutcome;
use crate::service::Failure;

/// The `domain` of every google.rpc.ErrorInfo.
const DOMAIN: &str = "jeton";

/// The parts of an error that a caller receives.
struct ErrorParts {
    code: Code,
    reason: &'static str,
    message: String,
    field: Option<String>,
}

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

    pub(super) fn item(&self) -> ItemError {
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

    fn parts(&self) -> ErrorParts {
        match self {
            Failure::Denied(denied) => denied_parts(*denied),
            Failure::Issuer(error) => issuer_parts(error),
            Failure::Overloaded(what) => ErrorParts {
                code: Code::ResourceExhausted,
                reason: "OVERLOADED",
                message: (*what).to_owned(),
                field: None,
            },
            Failure::DeadlineExceeded => ErrorParts {
                code: Code::DeadlineExceeded,
                reason: "DEADLINE_EXCEEDED",
                message: "deadline exceeded (`grpc-timeout`)".to_owned(),
                field: None,
            },
            Failure::Field(field, what) => ErrorParts {
                code: Code::InvalidArgument,
                reason: "INVALID_ARGUMENT",
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
            "NO_CREDENTIALS",
            "no credentials: send a client certificate or `authorization: Bearer TOKEN`".to_owned(),
        ),
        Denied::BadCredentials => (
            Code::Unauthenticated,
            "BAD_CREDENTIALS",
            "the certificate or bearer token does not belong to a client of this server".to_owned(),
        ),
        Denied::Permission(permission) => (
            Code::PermissionDenied,
            "NOT_ALLOWED",
            format!("the caller has no permission to {permission} for this issuer"),
        ),
        Denied::Credential => (
            Code::PermissionDenied,
            "NOT_ALLOWED",
            "a token of this subject for this audience is a client credential of this server: issuing one for \
             another subject requires the permission `admin`"
                .to_owned(),
        ),
        Denied::NoAdminToken => (
            Code::Unauthenticated,
            "NO_ADMIN_TOKEN",
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

fn issuer_parts(error: &Error) -> ErrorParts {
    let mut field = None;
    let (code, reason) = match error {
        Error::Invalid(rule) | Error::Unsupported(rule) => {
            field = Some(rule.field.clone());
            (Code::InvalidArgument, "INVALID_ARGUMENT")
        }
        Error::Claims(rule) => {
            field = Some(rule.field.clone());
            (Code::InvalidArgument, "INVALID_CLAIMS")
        }
        Error::TokenTooLarge { .. } => (Code::FailedPrecondition, "TOKEN_TOO_LARGE"),
        Error::Irrevocable(_) => (Code::FailedPrecondition, "TOKEN_CLAIMS"),
        Error::UnknownIssuer => (Code::NotFound, "UNKNOWN_ISSUER"),
        Error::UnknownProfile => (Code::NotFound, "UNKNOWN_PROFILE"),
        Error::UnknownKey => (Code::NotFound, "UNKNOWN_KEY"),
        Error::IssuerExists => (Code::AlreadyExists, "ISSUER_EXISTS"),
        Error::NotReady => (Code::Unavailable, "NOT_READY"),
        Error::Stale => (Code::Unavailable, "STALE"),
        Error::StoreUnreachable { .. } => (Code::Unavailable, "STORE_UNREACHABLE"),
        Error::Contended => (Code::Aborted, "CONTENDED"),
        Error::FellBehind { .. } => (Code::Aborted, "FELL_BEHIND"),
        Error::Revoked => (Code::FailedPrecondition, "TOKEN_REVOKED"),
        Error::WrongAudience => (Code::FailedPrecondition, "TOKEN_FOR_ANOTHER_AUDIENCE"),
        Error::Token(error) => match error.rejection() {
            Some(rejection) => (Code::FailedPrecondition, rejection_reason(rejection)),
            None if matches!(error, jeton::Error::Primitive) => (Code::Internal, "INTERNAL"),
            None => (Code::InvalidArgument, "INVALID_CLAIMS"),
        },
        Error::Store(jeton_store::Error::Overloaded) => (Code::ResourceExhausted, "OVERLOADED"),
        Error::Store(jeton_store::Error::Invalid(_)) => (Code::InvalidArgument, "INVALID_ARGUMENT"),
        Error::Store(_) => (Code::Unavailable, "STORE"),
        _ => (Code::Internal, "INTERNAL"),
    };
    // Details of internal errors are for the operator's log only.
    let message = match code {
        Code::Internal => "internal error".to_owned(),
        _ => error.to_string(),
    };
    ErrorParts {
        code,
        reason,
        message,
        field,
    }
}

fn rejection_reason(rejection: Rejection) -> &'static str {
    match rejection {
        Rejection::Expired => "TOKEN_EXPIRED",
        Rejection::NotYetValid | Rejection::IssuedInTheFuture => "TOKEN_NOT_YET_VALID",
        Rejection::TooOld => "TOKEN_TOO_OLD",
        Rejection::Signature | Rejection::Decryption => "TOKEN_NOT_AUTHENTIC",
        Rejection::UnknownKey => "TOKEN_OF_UNKNOWN_KEY",
        Rejection::AlgorithmMismatch | Rejection::WrongFormat => "TOKEN_OF_ANOTHER_ALGORITHM",
        Rejection::IssuerMismatch => "TOKEN_OF_ANOTHER_ISSUER",
        Rejection::AudienceMismatch => "TOKEN_FOR_ANOTHER_AUDIENCE",
        Rejection::Revoked => "TOKEN_REVOKED",
        Rejection::TooLarge(_) | Rejection::TooDeep(_) => "TOKEN_TOO_LARGE",
        Rejection::ClaimMissing(_) | Rejection::ClaimType(_) | Rejection::ClaimRange(_) => {
            "TOKEN_CLAIMS"
        }
        _ => "TOKEN_MALFORMED",
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
