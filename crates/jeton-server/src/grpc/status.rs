//! Errors as gRPC has them: a code, a reason for programs, words for people. None of them repeats
//! what the caller sent.

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

/// A failure, read for a caller.
struct ErrorParts {
    code: Code,
    reason: &'static str,
    message: String,
    field: Option<String>,
}

impl Failure {
    pub(super) fn status(&self) -> Status {
        let told = self.told();
        let mut details =
            ErrorDetails::with_error_info(told.reason, DOMAIN, HashMap::<String, String>::new());
        if let Some(field) = told.field {
            details.add_bad_request_violation(field, told.message.clone());
        }
        Status::with_error_details(told.code, told.message, details)
    }

    pub(super) fn item(&self) -> ItemError {
        let told = self.told();
        ItemError {
            code: told.code as i32,
            reason: told.reason.to_owned(),
            message: told.message,
        }
    }

    pub(crate) fn outcome(&self) -> CallOutcome {
        match self.told().code {
            Code::FailedPrecondition => CallOutcome::Rejected,
            Code::ResourceExhausted => CallOutcome::Overloaded,
            Code::Internal | Code::Unavailable | Code::DataLoss => CallOutcome::ServerError,
            _ => CallOutcome::ClientError,
        }
    }

    fn told(&self) -> ErrorParts {
        match self {
            Failure::Denied(denied) => of_denied(*denied),
            Failure::Issuer(error) => of_issuer(error),
            Failure::Overloaded(what) => ErrorParts {
                code: Code::ResourceExhausted,
                reason: "OVERLOADED",
                message: (*what).to_owned(),
                field: None,
            },
            Failure::DeadlineExceeded => ErrorParts {
                code: Code::DeadlineExceeded,
                reason: "DEADLINE_EXCEEDED",
                message: "the call was not answered within its `grpc-timeout`".to_owned(),
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

/// A caller that is turned away before its request is read.
pub(crate) fn denied(denied: Denied) -> Status {
    Failure::Denied(denied).status()
}

/// A request that no gRPC client would have sent by itself.
pub(crate) fn refused(reason: &'static str, message: &str) -> Status {
    let details = ErrorDetails::with_error_info(reason, DOMAIN, HashMap::<String, String>::new());
    Status::with_error_details(Code::PermissionDenied, message, details)
}

fn of_denied(denied: Denied) -> ErrorParts {
    let (code, reason, message) = match denied {
        Denied::NoCredentials => (
            Code::Unauthenticated,
            "NO_CREDENTIALS",
            "wants a client certificate or `authorization: Bearer TOKEN`".to_owned(),
        ),
        Denied::BadCredentials => (
            Code::Unauthenticated,
            "BAD_CREDENTIALS",
            "the certificate or the bearer token is not one of a client of this server".to_owned(),
        ),
        Denied::Permission(permission) => (
            Code::PermissionDenied,
            "NOT_ALLOWED",
            format!("the caller has no permission to {permission} for this issuer"),
        ),
        Denied::Credential => (
            Code::PermissionDenied,
            "NOT_ALLOWED",
            "a token of this subject for this audience is a credential of this server: only a caller with \
             the permission to admin has one issued that is not its own"
                .to_owned(),
        ),
        Denied::NoAdminToken => (
            Code::Unauthenticated,
            "NO_ADMIN_TOKEN",
            "wants `authorization: Bearer TOKEN`: without clients in the configuration, the token is in the \
             file `admin-token` of the data folder, new at each start"
                .to_owned(),
        ),
        Denied::Stale => return of_issuer(&Error::Stale),
    };
    ErrorParts {
        code,
        reason,
        message,
        field: None,
    }
}

fn of_issuer(error: &Error) -> ErrorParts {
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
        Error::CutOff { .. } => (Code::Unavailable, "CUT_OFF"),
        Error::Contended => (Code::Aborted, "CONTENDED"),
        Error::FellBehind { .. } => (Code::Aborted, "FELL_BEHIND"),
        Error::Revoked => (Code::FailedPrecondition, "TOKEN_REVOKED"),
        Error::WrongAudience => (Code::FailedPrecondition, "TOKEN_FOR_ANOTHER_AUDIENCE"),
        Error::Token(error) => match error.rejection() {
            Some(rejection) => (Code::FailedPrecondition, of_rejection(rejection)),
            None if matches!(error, jeton::Error::Primitive) => (Code::Internal, "INTERNAL"),
            None => (Code::InvalidArgument, "INVALID_CLAIMS"),
        },
        Error::Store(jeton_store::Error::Overloaded) => (Code::ResourceExhausted, "OVERLOADED"),
        Error::Store(jeton_store::Error::Invalid(_)) => (Code::InvalidArgument, "INVALID_ARGUMENT"),
        Error::Store(_) => (Code::Unavailable, "STORE"),
        _ => (Code::Internal, "INTERNAL"),
    };
    // What is wrong inside is for the operator's log, not for the caller.
    let message = match code {
        Code::Internal => "the server could not answer".to_owned(),
        _ => error.to_string(),
    };
    ErrorParts {
        code,
        reason,
        message,
        field,
    }
}

fn of_rejection(rejection: Rejection) -> &'static str {
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

/// A gRPC code as HTTP has it, for the forms.
pub(crate) fn http(failure: &Failure) -> (http::StatusCode, &'static str, String) {
    let told = failure.told();
    let status = match told.code {
        Code::Unauthenticated => http::StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => http::StatusCode::FORBIDDEN,
        Code::NotFound => http::StatusCode::NOT_FOUND,
        Code::ResourceExhausted => http::StatusCode::TOO_MANY_REQUESTS,
        Code::Unavailable => http::StatusCode::SERVICE_UNAVAILABLE,
        Code::Internal => http::StatusCode::INTERNAL_SERVER_ERROR,
        _ => http::StatusCode::BAD_REQUEST,
    };
    (status, told.reason, told.message)
}
