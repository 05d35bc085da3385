//! The arguments that set the limits for a token. Each error about such a limit has a hint that names its option.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use jeton::error::{Measure, Part, Rejection, codes};
use jeton::{Limits, limits};

use crate::exit::{Failure, Outcome};
use crate::jose::Token;
use crate::{input, output};

/// The largest value of --max-header-bytes.
const HEADER_BYTES_MAX: u64 = 1024 * 1024;

/// The largest value of --max-bytes. The token of the longest payload is shorter.
const TOKEN_BYTES_MAX: u64 = 2 * input::INPUT_BYTES_MAX;

/// The limit for the length of a token.
#[derive(Debug, Args)]
pub(crate) struct TokenSize {
    /// Largest accepted token, in bytes [default: 2097152, at most 134217728]
    #[arg(long, value_name = "BYTES", value_parser = up_to(TOKEN_BYTES_MAX))]
    max_bytes: Option<usize>,
}

/// The limits for a new token: those of the commands that read it.
#[derive(Debug, Args)]
pub(crate) struct NewTokenSize {
    /// Largest token to write, in bytes; the reader of a larger token needs the same option [default: 2097152, at most 134217728]
    #[arg(long, value_name = "BYTES", value_parser = up_to(TOKEN_BYTES_MAX))]
    max_bytes: Option<usize>,
}

impl NewTokenSize {
    /// Fails if a command that reads the token would reject it for its size. Notes that it needs `--max-bytes`.
    pub(crate) fn check(&self, token: &str) -> Outcome {
        let default = Limits::default();
        let limit = self.max_bytes.unwrap_or(default.token_bytes);
        let bytes = token.len();
        if bytes > limit {
            let failure = Failure::error(format!("the token has {bytes} bytes, limit {limit}"));
            return Err(match within(bytes as u64, TOKEN_BYTES_MAX) {
                Some(bytes) => failure.hint(format!(
                    "to write a token of this size, add `--max-bytes {bytes}`; its reader needs the same option"
                )),
                None => failure,
            });
        }
        check_headers(token, default)?;
        if bytes > default.token_bytes {
            output::note(format_args!(
                "the token has {bytes} bytes, more than the default limit of verifiers ({}); to read it, add `--max-bytes {bytes}`",
                default.token_bytes
            ));
        }
        Ok(())
    }
}

/// Fails if a header or a `kid` is longer than the limits.
fn check_headers(token: &str, limits: Limits) -> Outcome {
    let headers: Vec<_> = match Token::read(token) {
        Some(Token::Jws(jws)) => {
            let each = jws.signatures.iter();
            each.map(|one| (one.protected.clone(), one.headers().text("kid")))
                .collect()
        }
        Some(Token::Jwe(jwe)) => {
            let each = jwe.recipients.iter();
            each.map(|one| (jwe.protected.clone(), jwe.headers(one).text("kid")))
                .collect()
        }
        None => Vec::new(),
    };
    for (protected, kid) in headers {
        let bytes = protected.map_or(0, |text| text.len() / 4 * 3 + text.len() % 4 * 3 / 4);
        for (what, bytes, limit) in [
            ("header", bytes, limits.header_bytes),
            ("`kid`", kid.map_or(0, |kid| kid.len()), limits.key_id_bytes),
        ] {
            if bytes > limit {
                let what = format!("the {what} of the token has {bytes} bytes, limit {limit}");
                return Err(Failure::error(what));
            }
        }
    }
    Ok(())
}

/// Fails if a compressed plaintext exceeds the limits of a decrypter, which no option raises. `token` is the JWE.
pub(crate) fn check_compressed(plaintext: usize, token: &str) -> Outcome {
    let Some(Token::Jwe(jwe)) = Token::read(token) else {
        return Ok(());
    };
    // The padding of AES-CBC has at most 16 bytes.
    let compressed = (jwe.ciphertext.len() * 3 / 4).saturating_sub(16);
    let by_ratio = compressed.saturating_mul(limits::INFLATED_RATIO);
    let limit = by_ratio.min(limits::INFLATED_BYTES);
    if plaintext <= limit {
        return Ok(());
    }
    let what = format!(
        "--zip: the plaintext has {plaintext} bytes, and the token would inflate to at most {limit}"
    );
    Err(Failure::error(what).hint("remove `--zip`"))
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
    Err(match within(bytes as u64, TOKEN_BYTES_MAX) {
        Some(bytes) => failure.hint(token_hint(bytes)),
        None => failure,
    })
}

/// Adds the hint to the failure for an input that was not read because it is longer than `bytes_max`. `actual` is its length,
/// if it is known.
pub(crate) fn explain_too_long(failure: Failure, bytes_max: u64, actual: Option<u64>) -> Failure {
    if !failure.is_too_long() || bytes_max >= TOKEN_BYTES_MAX {
        return failure;
    }
    match within(actual.unwrap_or(TOKEN_BYTES_MAX), TOKEN_BYTES_MAX) {
        Some(bytes) => failure.hint(token_hint(bytes)),
        None => failure,
    }
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
            (Part::Token, Measure::Bytes) => within(actual.into(), TOKEN_BYTES_MAX).map(token_hint),
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
