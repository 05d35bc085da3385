//! The arguments that set the limits for a token. Each error about such a limit has a hint that names its option.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use jeton::error::{Measure, Part, Rejection, codes};
use jeton::{Limits, limits};

use crate::exit::{Failure, Outcome};
use crate::input;

/// The largest value of --max-header-bytes.
const HEADER_BYTES_MAX: u64 = 1024 * 1024;

/// The limit for the length of a token.
#[derive(Debug, Args)]
pub(crate) struct TokenSize {
    /// Largest accepted token, in bytes [default: 2097152, at most 67108864]
    #[arg(long, value_name = "BYTES", value_parser = up_to(input::INPUT_BYTES_MAX))]
    max_bytes: Option<usize>,
}

/// The limits for a token with a header.
#[derive(Debug, Args)]
pub(crate) struct TokenLimits {
    #[command(flatten)]
    size: TokenSize,

    /// Largest accepted header, in bytes [default: 16384, at most 1048576]
    #[arg(long, value_name = "BYTES", value_parser = up_to(HEADER_BYTES_MAX))]
    max_header_bytes: Option<usize>,

    /// Largest accepted `kid` of a token, in bytes [default: 1024, at most 16384]
    #[arg(long, value_name = "BYTES", value_parser = up_to(limits::KEY_ID_BYTES_MAX as u64))]
    max_kid_bytes: Option<usize>,
}

/// The limits for a signed token.
#[derive(Debug, Args)]
pub(crate) struct SignedTokenLimits {
    #[command(flatten)]
    token: TokenLimits,

    /// Keys of a set to try for a token without `kid` [default: 8, at most 256]
    #[arg(long, value_name = "NUMBER", value_parser = up_to(limits::KEY_SET_KEYS as u64))]
    max_keys_tried: Option<usize>,
}

fn up_to(limit: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=limit)
}

impl TokenSize {
    pub(crate) fn limits(&self) -> Limits {
        let limits = Limits::default();
        limits.token_bytes(self.max_bytes.unwrap_or(limits.token_bytes))
    }
}

impl TokenLimits {
    pub(crate) fn limits(&self) -> Limits {
        let limits = self.size.limits();
        limits
            .header_bytes(self.max_header_bytes.unwrap_or(limits.header_bytes))
            .key_id_bytes(self.max_kid_bytes.unwrap_or(limits.key_id_bytes))
    }
}

impl SignedTokenLimits {
    pub(crate) fn limits(&self) -> Limits {
        let limits = self.token.limits();
        limits.keys_tried(self.max_keys_tried.unwrap_or(limits.keys_tried))
    }
}

/// Fails if a token is longer than the limit. A verifier has the same error.
pub(crate) fn check(bytes: usize, limits: Limits) -> Outcome {
    let limit = limits.token_bytes;
    if bytes <= limit {
        return Ok(());
    }
    let failure = Failure::rejected(format!("the token has {bytes} bytes, limit {limit}"))
        .with_code(codes::TOKEN_TOO_LARGE.name());
    Err(match within(bytes as u64, input::INPUT_BYTES_MAX) {
        Some(bytes) => failure.hint(token_hint(bytes)),
        None => failure,
    })
}

/// Returns the hint for a token that exceeds a limit, if an option can raise this limit far enough.
pub(crate) fn hint(rejection: &Rejection) -> Option<String> {
    match *rejection {
        Rejection::TooManyKeys { keys, .. } => {
            let keys = within(keys.into(), limits::KEY_SET_KEYS as u64)?;
            Some(format!(
                "the issuer should set `kid` in the header; to try all keys, add `--max-keys-tried {keys}`"
            ))
        }
        Rejection::TooLarge {
            part,
            measure,
            actual,
            ..
        } => match (part, measure) {
            (Part::Token, Measure::Bytes) => {
                within(actual.into(), input::INPUT_BYTES_MAX).map(token_hint)
            }
            (Part::Header, Measure::Bytes) => {
                let bytes = within(actual.into(), HEADER_BYTES_MAX)?;
                Some(format!(
                    "to accept a header of this size, add `--max-header-bytes {bytes}`"
                ))
            }
            (Part::Header, Measure::KeyIdBytes) => {
                let bytes = within(actual.into(), limits::KEY_ID_BYTES_MAX as u64)?;
                Some(format!(
                    "to accept a `kid` of this size, add `--max-kid-bytes {bytes}`"
                ))
            }
            _ => None,
        },
        _ => None,
    }
}

fn token_hint(bytes: u64) -> String {
    format!("to accept a token of this size, add `--max-bytes {bytes}`")
}

fn within(actual: u64, limit: u64) -> Option<u64> {
    (actual <= limit).then_some(actual)
}
