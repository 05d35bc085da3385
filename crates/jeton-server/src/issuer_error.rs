//! What callers receive of an error of the issuer.

use jeton::error::codes::{self, Cause};
use jeton_issuer::Error;
use tonic::Code;

/// The parts of an error that a caller receives.
pub(crate) struct ErrorParts {
    pub(crate) code: Code,
    /// For programs: the name of a code.
    pub(crate) reason: &'static str,
    /// For people.
    pub(crate) message: String,
    /// The field of the request that is invalid.
    pub(crate) field: Option<String>,
}

/// Returns the parts of an error of the issuer.
pub(crate) fn issuer_parts(error: &Error) -> ErrorParts {
    let mut field = None;
    let (code, reason) = match error {
        Error::Invalid(rule) | Error::Unsupported(rule) => {
            field = Some(rule.field.clone());
            (Code::InvalidArgument, codes::INVALID_ARGUMENT.name())
        }
        Error::Claims(rule) => {
            field = Some(rule.field.clone());
            (Code::InvalidArgument, codes::INVALID_CLAIMS.name())
        }
        Error::TokenTooLarge { .. } => (Code::FailedPrecondition, codes::TOKEN_TOO_LARGE.name()),
        Error::Irrevocable(_) => (Code::FailedPrecondition, codes::TOKEN_INVALID_CLAIMS.name()),
        Error::UnknownIssuer => (Code::NotFound, codes::UNKNOWN_ISSUER.name()),
        Error::UnknownProfile => (Code::NotFound, codes::UNKNOWN_PROFILE.name()),
        Error::UnknownKey => (Code::NotFound, codes::UNKNOWN_KEY.name()),
        Error::UnknownRule => (Code::NotFound, codes::INVALID_ARGUMENT.name()),
        Error::IssuerExists => (Code::AlreadyExists, codes::ISSUER_EXISTS.name()),
        Error::NotReady => (Code::Unavailable, codes::NOT_READY.name()),
        Error::SignerUnavailable(_) => (Code::Unavailable, codes::SIGNER_FAILED.name()),
        Error::Stale => (Code::Unavailable, codes::STALE.name()),
        Error::StoreUnreachable { .. } => (Code::Unavailable, codes::STORE_UNREACHABLE.name()),
        Error::Contended => (Code::Aborted, codes::CONTENDED.name()),
        Error::FellBehind { .. } | Error::PositionLost { .. } => {
            (Code::Aborted, codes::FELL_BEHIND.name())
        }
        Error::Revoked => (Code::FailedPrecondition, codes::TOKEN_REVOKED.name()),
        Error::WrongAudience => (
            Code::FailedPrecondition,
            codes::TOKEN_AUDIENCE_MISMATCH.name(),
        ),
        Error::Token(error) => match error.entry().cause() {
            Cause::TokenSender => (Code::FailedPrecondition, error.code()),
            Cause::System => (Code::Internal, error.code()),
            _ => (Code::InvalidArgument, codes::INVALID_CLAIMS.name()),
        },
        Error::RulesFull { .. }
        | Error::ClientRulesFull { .. }
        | Error::Store(jeton_store::Error::Overloaded) => {
            (Code::ResourceExhausted, codes::OVERLOADED.name())
        }
        Error::Store(jeton_store::Error::Invalid(_)) => {
            (Code::InvalidArgument, codes::INVALID_ARGUMENT.name())
        }
        Error::StoreWentBack { .. } => (Code::Unavailable, codes::STORE.name()),
        Error::ClockApart { .. } | Error::ClocksDisagree { .. } | Error::ClockBehind { .. } => {
            (Code::FailedPrecondition, codes::NOT_READY.name())
        }
        Error::OlderNode { .. } => (Code::FailedPrecondition, codes::NOT_READY.name()),
        Error::AuditExport(_) => (Code::FailedPrecondition, codes::INVALID_ARGUMENT.name()),
        Error::Store(_) => (Code::Unavailable, codes::STORE.name()),
        _ => (Code::Internal, codes::INTERNAL.name()),
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
