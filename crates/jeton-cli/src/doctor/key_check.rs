//! The result of checking whether a key signed a token.

use jeton::key::Alg;
use serde::Serialize;

use crate::keyfile::{KeyFile, SecretEncoding};

/// Whether a key signed a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CheckResult {
    /// The signature was computed and is valid.
    Signed,
    /// The signature was computed and is not valid.
    NotSigned,
    /// The signature was not computed: the key cannot be used, a limit was exceeded, or the header has an unknown
    /// critical extension.
    Undetermined,
}

/// The result for one key.
#[derive(Debug, Serialize)]
pub(super) struct KeyCheck {
    /// The name of the key in findings.
    pub(super) key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kid: Option<String>,
    pub(super) answer: CheckResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip)]
    pub(super) detail: Detail,
}

/// Details of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Normal,
    /// The signature covers the parts with their padding.
    OverPadding,
    /// The signature covers the parts in the alphabet of base64.
    OverAnotherAlphabet,
    /// The key has no algorithm, so the algorithm of the token was used.
    AssumedAlgorithm(Alg),
    /// The key has another algorithm than the token, or an unsupported kind.
    OtherAlgorithm,
    /// The secret, read in this encoding, signed the token.
    OtherEncoding(SecretEncoding),
}

impl KeyCheck {
    pub(super) fn new(answer: CheckResult, detail: Detail) -> KeyCheck {
        KeyCheck {
            key: String::new(),
            kid: None,
            answer,
            reason: None,
            detail,
        }
    }

    pub(super) fn undetermined(reason: impl Into<String>) -> KeyCheck {
        KeyCheck {
            reason: Some(reason.into()),
            ..KeyCheck::new(CheckResult::Undetermined, Detail::Normal)
        }
    }

    /// Returns the result of the command for its only key.
    pub(super) fn for_only_key(
        key: &KeyFile,
        answer: CheckResult,
        reason: Option<String>,
    ) -> KeyCheck {
        KeyCheck {
            key: key.name().to_owned(),
            reason,
            ..KeyCheck::new(answer, Detail::Normal)
        }
    }

    pub(super) fn is_signed(&self) -> bool {
        self.answer == CheckResult::Signed
    }
}
