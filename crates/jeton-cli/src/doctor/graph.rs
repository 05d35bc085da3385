//! Explains access tokens for Microsoft Graph.
//!
//! Their header has a `nonce`, and their signature does not cover the header as it is sent. So only Graph can verify
//! them, and a signature that is not valid says nothing about the key.

use jeton::error::Rejection;

use super::findings::Section;
use super::key_check::{CheckResult, KeyCheck};

/// The cause, in findings and in the results of the keys.
pub(super) const WHAT: &str =
    "the header has `nonce`, as tokens for Microsoft Graph have: only Graph can verify them";

pub(super) const ADVICE: &str = "do not verify this token: send it to Graph; for your own API, request a token with the scope api://YOUR-API/.default";

/// A key whose signature is not valid is undetermined, unless another key signed the token.
pub(super) fn check(findings: &mut Section, answers: &mut [KeyCheck]) {
    let is_not_signed = |answer: &KeyCheck| answer.answer == CheckResult::NotSigned;
    if answers.iter().any(KeyCheck::is_signed) || !answers.iter().any(is_not_signed) {
        return;
    }
    findings.wrong_for(Rejection::Signature, WHAT, ADVICE);
    for answer in answers.iter_mut().filter(|answer| is_not_signed(answer)) {
        answer.answer = CheckResult::Undetermined;
        answer.reason = Some(WHAT.to_owned());
    }
}
