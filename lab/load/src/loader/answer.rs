//! Reads answers, as far as the loader needs them.

use serde::Deserialize;

use super::tally::End;
use jeton_lab_harness::grpc::{Field, unframed};
use jeton_lab_model::servers::{BATCH, Call};

/// The maximum number of bytes kept of an answer. A batch of the longest tokens has a third of it.
pub(super) const ANSWER_BYTES_MAX: usize = 1 << 20;
/// The subject of requested tokens, where the request has one.
pub(crate) const SUBJECT: &str = "user0001@mail.test";

/// What is behind every gateway. The error page of a gateway is another text.
const PASSED: &[u8] = b"passed";

/// A correct answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    /// Its token, or the first of several; none if the answer is about a token.
    pub(crate) token: Option<&'a str>,
    /// The required subject of the token.
    pub(crate) sub: &'a str,
}

impl<'a> Answer<'a> {
    /// Reads the answer to a call from the body of a response, or from one message of a stream.
    ///
    /// # Errors
    ///
    /// The outcome, if this is not exactly one complete answer with all requested tokens, or if one
    /// of several items has an error.
    pub(crate) fn read(call: Call, body: &'a [u8]) -> Result<Self, End> {
        match call {
            Call::Introspect => return introspected(body).ok_or(End::Garbage),
            Call::Pass | Call::PassDifferent => return passed(body).ok_or(End::Garbage),
            Call::PassRevoked => return Err(passed(body).map_or(End::Garbage, accepted)),
            _ => {}
        }
        let message = unframed(body).ok_or(End::Garbage)?;
        match call {
            Call::GenerateJwt => generated(message),
            Call::Issue => issued(message),
            Call::IssueStream => return outcome(message, issued),
            Call::IssueBatch => return batch(message, issued),
            Call::Verify => verified(message),
            Call::VerifyStream => return outcome(message, verified),
            Call::VerifyRevoked => return Err(verified(message).map_or(End::Garbage, accepted)),
            Call::VerifyBatch => return batch(message, verified),
            Call::Introspect | Call::Pass | Call::PassDifferent | Call::PassRevoked => None,
        }
        .ok_or(End::Garbage)
    }
}

/// Returns every token in an answer to `IssueBatch`.
///
/// # Errors
///
/// As for [`Answer::read`].
pub(super) fn tokens_of_batch(body: &[u8]) -> Result<Vec<&str>, End> {
    let outcomes = outcomes(unframed(body).ok_or(End::Garbage)?, issued)?;
    let tokens: Vec<&str> = outcomes.iter().filter_map(|answer| answer.token).collect();
    let all = tokens.len() == Call::IssueBatch.tokens() as usize;
    all.then_some(tokens).ok_or(End::Garbage)
}

/// `jwt.services.GenerateJwtResponse`.
fn generated(message: &[u8]) -> Option<Answer<'_>> {
    let (mut token, mut sub) = (None, "");
    for_each(message, |number, bytes| {
        match number {
            1 => token = Some(std::str::from_utf8(bytes).ok()?),
            2 => sub = std::str::from_utf8(bytes).ok()?,
            _ => {}
        }
        Some(())
    })?;
    let token = token.filter(|token| !token.is_empty());
    token.is_some().then_some(Answer { token, sub })
}

/// `jeton.v1.IssueResponse`.
fn issued(message: &[u8]) -> Option<Answer<'_>> {
    let mut token = None;
    for_each(message, |number, bytes| {
        if number == 1 {
            token = Some(std::str::from_utf8(bytes).ok()?);
        }
        Some(())
    })?;
    let token = token.filter(|token| !token.is_empty());
    token.is_some().then_some(Answer {
        token,
        sub: SUBJECT,
    })
}

/// Reads the answer for one item.
type ReadOne = fn(&[u8]) -> Option<Answer<'_>>;

/// `jeton.v1.IssueBatchResponse` or `VerifyBatchResponse`: every item must be correct.
fn batch(message: &[u8], read: ReadOne) -> Result<Answer<'_>, End> {
    let outcomes = outcomes(message, read)?;
    let all = outcomes.len() == BATCH as usize;
    let first = outcomes.first().copied();
    first.filter(|_| all).ok_or(End::Garbage)
}

/// Returns all items of a batch, in order.
fn outcomes(message: &[u8], read: ReadOne) -> Result<Vec<Answer<'_>>, End> {
    let mut answers = Vec::with_capacity(BATCH as usize);
    let mut failed = None;
    let whole = for_each(message, |number, bytes| {
        if number == 1 && failed.is_none() {
            match outcome(bytes, read) {
                Ok(answer) => answers.push(answer),
                Err(end) => failed = Some(end),
            }
        }
        Some(())
    });
    match (whole, failed) {
        (Some(()), None) => Ok(answers),
        (Some(()), Some(end)) => Err(end),
        (None, _) => Err(End::Garbage),
    }
}

/// `jeton.v1.IssueOutcome` or `VerifyOutcome`.
fn outcome(message: &[u8], read: ReadOne) -> Result<Answer<'_>, End> {
    let mut rest = message;
    let mut found = Err(End::Garbage);
    while !rest.is_empty() {
        match Field::take(&mut rest).ok_or(End::Garbage)? {
            Field::Bytes(1, answer) => found = read(answer).ok_or(End::Garbage),
            Field::Bytes(2, error) => found = Err(item_error(error)),
            _ => {}
        }
    }
    found
}

/// `jeton.v1.ItemError`: it has a status like a call. Without a status it is invalid.
fn item_error(message: &[u8]) -> End {
    let mut rest = message;
    let mut end = End::Garbage;
    while !rest.is_empty() {
        match Field::take(&mut rest) {
            Some(Field::Number(1, code)) => {
                let code = u8::try_from(code).ok().filter(|code| *code != 0);
                end = code.map_or(End::Garbage, End::Status);
            }
            Some(_) => {}
            None => return End::Garbage,
        }
    }
    end
}

/// `jeton.v1.VerifyResponse`: an answer without an error is a verified token. It must be the
/// expected one.
fn verified(message: &[u8]) -> Option<Answer<'_>> {
    let mut sub = None;
    for_each(message, |number, bytes| {
        if number == 1 {
            sub = Some(std::str::from_utf8(bytes).ok()?);
        }
        Some(())
    })?;
    about(sub?)
}

/// RFC 7662, section 2.2.
fn introspected(body: &[u8]) -> Option<Answer<'_>> {
    #[derive(Deserialize)]
    struct Introspected<'a> {
        active: bool,
        sub: Option<&'a str>,
    }
    let said: Introspected<'_> = serde_json::from_slice(body).ok()?;
    said.sub.filter(|_| said.active).and_then(about)
}

/// The answer of what is behind a gateway.
fn passed(body: &[u8]) -> Option<Answer<'_>> {
    (body == PASSED).then_some(Answer {
        token: None,
        sub: "",
    })
}

/// The answer to a token that must be rejected.
fn accepted(_: Answer<'_>) -> End {
    End::Accepted
}

fn about(sub: &str) -> Option<Answer<'_>> {
    (sub == SUBJECT).then_some(Answer { token: None, sub })
}

/// Calls `look` for every length-delimited field. Returns none if the message is incomplete, or if
/// `look` returns none.
fn for_each<'a>(
    message: &'a [u8],
    mut look: impl FnMut(u64, &'a [u8]) -> Option<()>,
) -> Option<()> {
    let mut rest = message;
    while !rest.is_empty() {
        if let Field::Bytes(number, bytes) = Field::take(&mut rest)? {
            look(number, bytes)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use jeton_lab_harness::grpc::{framed, put_bytes, put_text};

    fn read(body: &[u8]) -> Option<(Option<&str>, &str)> {
        let answer = Answer::read(Call::GenerateJwt, body).ok()?;
        Some((answer.token, answer.sub))
    }

    #[test]
    fn answer_is_one_complete_message_with_a_token() {
        let whole = b"\0\0\0\0\x08\x0a\x03a.b\x12\x01s";
        assert_eq!(read(whole), Some((Some("a.b"), "s")));
        // An unknown field of a newer server is ignored.
        let more = b"\0\0\0\0\x0a\x0a\x03a.b\x12\x01s\x18\x07";
        assert_eq!(read(more), Some((Some("a.b"), "s")));
    }

    #[test]
    fn answer_malformed_is_garbage() {
        for garbage in [
            &b""[..],
            b"\0\0\0\0",
            b"\0\0\0\0\0",
            b"\x01\0\0\0\x05\x0a\x03a.b",
            b"\0\0\0\0\x06\x0a\x03a.b",
            b"\0\0\0\0\x04\x0a\x03a.",
            b"\0\0\0\0\x02\x0a\xff",
            b"\0\0\0\0\x03\x12\x01s",
            b"\0\0\0\0\x05\x0a\x03\xff\xff\xff",
            b"\0\0\0\0\x01\x0b",
            b"<html>",
        ] {
            for call in Call::ALL {
                let read = Answer::read(call, garbage);
                assert_eq!(read, Err(End::Garbage), "{call}: {garbage:?}");
            }
        }
    }

    fn message(number: u32, text: &str) -> Vec<u8> {
        let mut message = Vec::new();
        put_text(&mut message, number, text);
        message
    }

    /// Returns `jeton.v1.IssueOutcome` or `VerifyOutcome` with the field `number`.
    fn outcome(number: u32, inner: &[u8]) -> Vec<u8> {
        let mut outcome = Vec::new();
        put_bytes(&mut outcome, number, inner);
        outcome
    }

    /// Returns `jeton.v1.ItemError` with this code and a reason.
    fn item_error(code: u8) -> Vec<u8> {
        let mut error = vec![0x08, code];
        put_text(&mut error, 2, "OVERLOADED");
        outcome(2, &error)
    }

    fn of_a_batch(outcome: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        put_bytes(&mut message, 1, outcome);
        message
    }

    #[test]
    fn batch_answer_has_every_requested_token() {
        let token = of_a_batch(&outcome(1, &message(1, "a.b")));
        let subject = of_a_batch(&outcome(1, &message(1, SUBJECT)));
        let other = of_a_batch(&outcome(1, &message(1, "somebody else")));
        let error = of_a_batch(&item_error(8));
        let read = |call, outcomes: &[&[u8]]| {
            let body = framed(&outcomes.concat());
            let read = Answer::read(call, &body);
            read.map(|answer| answer.token.map(str::to_owned))
        };
        for (call, good, found) in [
            (Call::IssueBatch, &token, Some("a.b".to_owned())),
            (Call::VerifyBatch, &subject, None),
        ] {
            assert_eq!(read(call, &[&good[..]; 256]), Ok(found));
            assert_eq!(read(call, &[&good[..]; 255]), Err(End::Garbage));
            let mut one_is_wrong = vec![&good[..]; 255];
            one_is_wrong.push(&error);
            assert_eq!(read(call, &one_is_wrong), Err(End::Status(8)));
        }
        let mut one_is_another = vec![&subject[..]; 255];
        one_is_another.push(&other);
        assert_eq!(read(Call::VerifyBatch, &one_is_another), Err(End::Garbage));

        let body = framed(&[&token[..]; 256].concat());
        assert_eq!(tokens_of_batch(&body), Ok(vec!["a.b"; 256]));
        assert_eq!(tokens_of_batch(&framed(&token)), Err(End::Garbage));
    }

    #[test]
    fn stream_message_is_a_token_or_an_error() {
        let read = |message: &[u8]| {
            let body = framed(message);
            let read = Answer::read(Call::IssueStream, &body);
            read.map(|answer| answer.token.unwrap().to_owned())
        };
        assert_eq!(read(&outcome(1, &message(1, "a.b"))), Ok("a.b".to_owned()));
        assert_eq!(read(&item_error(8)), Err(End::Status(8)));
        let read_verified = |message: &[u8]| {
            Answer::read(Call::VerifyStream, &framed(message)).map(|answer| answer.token.is_some())
        };
        assert_eq!(read_verified(&outcome(1, &message(1, SUBJECT))), Ok(false));
        assert_eq!(read_verified(&item_error(9)), Err(End::Status(9)));
        // An error with the status OK.
        assert_eq!(read(&item_error(0)), Err(End::Garbage));
        assert_eq!(read(&outcome(2, b"")), Err(End::Garbage));
        assert_eq!(read(b""), Err(End::Garbage));
    }

    #[test]
    fn revoked_token_that_verifies_is_reported() {
        let verify = |sub: &str| Answer::read(Call::VerifyRevoked, &framed(&message(1, sub))).err();
        assert_eq!(verify(SUBJECT), Some(End::Accepted));
        assert_eq!(verify("somebody else"), Some(End::Garbage));
    }

    #[test]
    fn gateway_passes_what_is_behind_it() {
        assert!(Answer::read(Call::PassDifferent, b"passed").is_ok());
        assert_eq!(
            Answer::read(Call::Pass, b"sign in").err(),
            Some(End::Garbage)
        );
        let revoked = Answer::read(Call::PassRevoked, b"passed");
        assert_eq!(revoked.err(), Some(End::Accepted));
    }

    #[test]
    fn verified_token_must_be_the_issued_one() {
        let verify = |sub: &str| Answer::read(Call::Verify, &framed(&message(1, sub))).is_ok();
        assert!(verify(SUBJECT) && !verify("somebody else"));
        let introspect = |body: &str| Answer::read(Call::Introspect, body.as_bytes()).is_ok();
        assert!(introspect(&format!(
            r#"{{"sub":"{SUBJECT}","active": true}}"#
        )));
        assert!(!introspect(&format!(
            r#"{{"sub":"{SUBJECT}","active":false}}"#
        )));
        assert!(!introspect(r#"{"active":true,"sub":"somebody else"}"#));
        assert!(!introspect(r#"{"active":false}"#));
    }
}
