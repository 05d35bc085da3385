//! The answer of `IssueBatch`, written as it is made: 256 tokens are one allocation, and no token is
//! copied from one message into another.

use bytes::Bytes;
use jeton_issuer::Lent;
use jeton_proto::v1::{IssueOutcome, issue_outcome};
use prost::Message as _;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint};
use tonic::Status;

use super::unary::{Answer, HEAD, behind_head};
use crate::service::Failure;

/// `IssueBatchResponse.outcomes`, `IssueOutcome.issued`, `IssueResponse.token`, `token_id` and
/// `expires_at`, as token.proto numbers them.
const OUTCOMES: u32 = 1;
const ISSUED: u32 = 1;
const TOKEN: u32 = 1;
const TOKEN_ID: u32 = 2;
const EXPIRES_AT: u32 = 3;

/// More room for each token than the first one took: subjects and claims differ.
const MORE_BYTES: usize = 16;

/// `jeton.v1.IssueBatchResponse`, behind room for the head of its frame.
pub(crate) struct Outcomes {
    frame: Vec<u8>,
    items: usize,
    issued: u64,
}

impl Outcomes {
    /// For so many items.
    pub(super) fn of(items: usize) -> Outcomes {
        Outcomes {
            frame: vec![0; HEAD],
            items,
            issued: 0,
        }
    }

    /// How many tokens are among them.
    pub(super) fn issued(&self) -> u64 {
        self.issued
    }

    pub(super) fn push(&mut self, outcome: Result<Lent<'_>, Failure>) {
        match outcome {
            Ok(lent) => self.push_issued(lent),
            Err(failure) => self.push_failed(&failure),
        }
    }

    fn push_issued(&mut self, lent: Lent<'_>) {
        let response = text_bytes(lent.token) + text_bytes(lent.token_id) + moment_bytes(lent);
        let outcome = 1 + encoded_len_varint(response as u64) + response;
        if self.issued == 0 {
            // The others are like the first.
            self.frame.reserve(self.items * (outcome + MORE_BYTES));
        }
        self.open(OUTCOMES, outcome);
        self.open(ISSUED, response);
        self.text(TOKEN, lent.token);
        self.text(TOKEN_ID, lent.token_id);
        if lent.expires_at != 0 {
            encode_key(EXPIRES_AT, WireType::Varint, &mut self.frame);
            encode_varint(lent.expires_at.cast_unsigned(), &mut self.frame);
        }
        self.issued += 1;
    }

    pub(super) fn push_failed(&mut self, failure: &Failure) {
        let outcome = IssueOutcome {
            outcome: Some(issue_outcome::Outcome::Error(failure.item())),
        };
        self.open(OUTCOMES, outcome.encoded_len());
        outcome.encode_raw(&mut self.frame);
    }

    /// The key and the length of a message or a text.
    fn open(&mut self, field: u32, bytes: usize) {
        encode_key(field, WireType::LengthDelimited, &mut self.frame);
        encode_varint(bytes as u64, &mut self.frame);
    }

    fn text(&mut self, field: u32, text: &str) {
        if !text.is_empty() {
            self.open(field, text.len());
            self.frame.extend_from_slice(text.as_bytes());
        }
    }

    /// The same as a message.
    pub(super) fn message<M: prost::Message + Default>(&self) -> Result<M, Status> {
        M::decode(&self.frame[HEAD..]).map_err(|error| Status::internal(error.to_string()))
    }
}

/// Every key here is one byte.
fn text_bytes(text: &str) -> usize {
    match text.len() {
        0 => 0,
        bytes => 1 + encoded_len_varint(bytes as u64) + bytes,
    }
}

fn moment_bytes(lent: Lent<'_>) -> usize {
    match lent.expires_at.cast_unsigned() {
        0 => 0,
        seconds => 1 + encoded_len_varint(seconds),
    }
}

impl Answer for Outcomes {
    fn framed(self) -> Result<Bytes, Status> {
        behind_head(self.frame)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton_proto::v1::{IssueBatchResponse, IssueResponse};

    use super::*;
    use crate::grpc::unary::framed;

    /// To the byte what prost writes of the same message.
    #[test]
    fn it_is_the_message_that_token_proto_describes() {
        let mut outcomes = Outcomes::of(1);
        let mut expected = Vec::new();
        for length in [0, 1, 90, 127, 128, 300, 16_383, 16_384, 70_000] {
            for expires_at in [0, 1, 1_700_000_000, i64::MAX, -1] {
                let token = "t".repeat(length);
                outcomes.push(Ok(Lent {
                    token: &token,
                    token_id: "0123456789abcdef",
                    expires_at,
                }));
                let issued = IssueResponse {
                    token,
                    token_id: "0123456789abcdef".to_owned(),
                    expires_at,
                };
                expected.push(IssueOutcome {
                    outcome: Some(issue_outcome::Outcome::Issued(issued)),
                });
            }
        }
        let failure = || Failure::Field("claims_json", "wants a JSON object".to_owned());
        outcomes.push(Err(failure()));
        expected.push(IssueOutcome {
            outcome: Some(issue_outcome::Outcome::Error(failure().item())),
        });
        assert_eq!(outcomes.issued(), 45);
        let expected = IssueBatchResponse { outcomes: expected };
        // Tokens are not for a test's output.
        assert!(outcomes.message::<IssueBatchResponse>().unwrap() == expected);
        assert!(outcomes.framed().unwrap() == framed(&expected).unwrap());
    }
}
