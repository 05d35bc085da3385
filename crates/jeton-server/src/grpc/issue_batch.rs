//! `IssueBatch` without an allocation for every string.
//!
//! Strings of the request borrow from its bytes. The response is encoded directly while tokens are issued.

use bytes::Bytes;
use jeton_issuer::IssuedRef;
use jeton_proto::v1::{IssueBatchRequest, IssueOutcome, issue_outcome};
use jeton_transport::grpc::{FRAME_HEADER, RequestMessage, ResponseMessage, write_header};
use prost::Message as _;
use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_varint, encoded_len_varint,
    skip_field,
};
use tonic::Status;

use crate::failure::Failure;

/// An encoded `jeton.v1.IssueBatchRequest`.
///
/// It owns its bytes, so that a long call does not keep the read buffer of the connection in memory.
pub(crate) struct Batch(Box<[u8]>);

/// The decoded fields of a batch.
#[derive(Default)]
pub(super) struct Contents<'b> {
    pub(super) issuer: &'b str,
    pub(super) profile: &'b str,
    pub(super) audience: &'b str,
    pub(super) items: Vec<Item<'b>>,
}

/// `jeton.v1.IssueItem`.
#[derive(Default)]
pub(super) struct Item<'b> {
    pub(super) subject: &'b str,
    pub(super) claims_json: &'b str,
}

impl Batch {
    /// Encodes the generated message.
    pub(super) fn encode(request: &IssueBatchRequest) -> Batch {
        Batch(request.encode_to_vec().into_boxed_slice())
    }

    pub(super) fn read(&self) -> Result<Contents<'_>, Status> {
        Contents::read(&self.0)
            .map_err(|Malformed| Status::internal("the message is not an IssueBatchRequest"))
    }
}

impl RequestMessage for Batch {
    fn decode_message(message: Bytes) -> Result<Batch, Status> {
        Ok(Batch((*message).into()))
    }
}

/// The bytes are not protobuf, or a string is not UTF-8.
struct Malformed;

impl<'b> Contents<'b> {
    fn read(mut message: &'b [u8]) -> Result<Contents<'b>, Malformed> {
        let mut contents = Contents::default();
        while let Some((field, value)) = next_field(&mut message)? {
            match field {
                1 => contents.issuer = text(value)?,
                2 => contents.profile = text(value)?,
                3 => contents.audience = text(value)?,
                4 => contents.items.push(Item::read(value)?),
                _ => {}
            }
        }
        Ok(contents)
    }
}

impl<'b> Item<'b> {
    fn read(mut message: &'b [u8]) -> Result<Item<'b>, Malformed> {
        let mut item = Item::default();
        while let Some((field, value)) = next_field(&mut message)? {
            match field {
                1 => item.subject = text(value)?,
                2 => item.claims_json = text(value)?,
                _ => {}
            }
        }
        Ok(item)
    }
}

/// Returns number and bytes of the next length-delimited field.
///
/// All known fields are length-delimited. Other fields come from newer callers and are skipped.
fn next_field<'b>(message: &mut &'b [u8]) -> Result<Option<(u32, &'b [u8])>, Malformed> {
    while !message.is_empty() {
        let (field, wire_type) = decode_key(message).map_err(|_| Malformed)?;
        if wire_type == WireType::LengthDelimited {
            let bytes = decode_varint(message).map_err(|_| Malformed)?;
            let bytes = usize::try_from(bytes).map_err(|_| Malformed)?;
            let (value, rest) = message.split_at_checked(bytes).ok_or(Malformed)?;
            *message = rest;
            return Ok(Some((field, value)));
        }
        let context = DecodeContext::default();
        skip_field(wire_type, field, message, context).map_err(|_| Malformed)?;
    }
    Ok(None)
}

fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed)
}

/// The field keys of `IssueBatchResponse.outcomes`, `IssueOutcome.issued`, `IssueResponse.token`, `token_id`
/// and `expires_at`, as numbered in token.proto. Each is one byte.
const OUTCOMES: u8 = key(1, WireType::LengthDelimited);
const ISSUED: u8 = key(1, WireType::LengthDelimited);
const TOKEN: u8 = key(1, WireType::LengthDelimited);
const TOKEN_ID: u8 = key(2, WireType::LengthDelimited);
const EXPIRES_AT: u8 = key(3, WireType::Varint);

const fn key(field: u8, wire_type: WireType) -> u8 {
    field << 3 | wire_type as u8
}

/// Bytes to reserve for each token in addition to the length of the first one.
const MORE_BYTES: usize = 16;
/// Maximum bytes to reserve in advance: 4,096 tokens of a kilobyte.
const RESERVED_BYTES: usize = 4 * 1024 * 1024;

/// An encoded `jeton.v1.IssueBatchResponse`, after space for its frame header.
pub(crate) struct Outcomes {
    frame: Vec<u8>,
    items: usize,
    issued: u64,
}

impl Outcomes {
    /// Creates an empty response for this many items.
    pub(super) fn new(items: usize) -> Outcomes {
        Outcomes {
            frame: vec![0; FRAME_HEADER],
            items,
            issued: 0,
        }
    }

    /// The number of issued tokens.
    pub(super) fn issued(&self) -> u64 {
        self.issued
    }

    pub(super) fn push(&mut self, outcome: Result<IssuedRef<'_>, Failure>) {
        match outcome {
            Ok(issued) => self.push_issued(issued),
            Err(failure) => self.push_failed(&failure),
        }
    }

    fn push_issued(&mut self, issued: IssuedRef<'_>) {
        let response =
            text_bytes(issued.token) + text_bytes(issued.token_id) + moment_bytes(issued);
        let outcome = 1 + encoded_len_varint(response as u64) + response;
        if self.issued == 0 {
            // Other tokens have a similar length. A caller chooses the first one, so the reserve is capped.
            let estimate = self.items * (outcome + MORE_BYTES);
            self.frame.reserve(estimate.min(RESERVED_BYTES));
        }
        self.push_field_header(OUTCOMES, outcome);
        self.push_field_header(ISSUED, response);
        self.push_text(TOKEN, issued.token);
        self.push_text(TOKEN_ID, issued.token_id);
        if issued.expires_at != 0 {
            self.frame.push(EXPIRES_AT);
            encode_varint(issued.expires_at.cast_unsigned(), &mut self.frame);
        }
        self.issued += 1;
    }

    pub(super) fn push_failed(&mut self, failure: &Failure) {
        let outcome = IssueOutcome {
            outcome: Some(issue_outcome::Outcome::Error(failure.item())),
        };
        self.push_field_header(OUTCOMES, outcome.encoded_len());
        outcome.encode_raw(&mut self.frame);
    }

    /// Writes the key and the length of a message or a string.
    fn push_field_header(&mut self, key: u8, bytes: usize) {
        self.frame.push(key);
        match u8::try_from(bytes) {
            // The short form fits most ids, and no token.
            Ok(short @ ..0x80) => self.frame.push(short),
            _ => encode_varint(bytes as u64, &mut self.frame),
        }
    }

    fn push_text(&mut self, key: u8, text: &str) {
        if !text.is_empty() {
            self.push_field_header(key, text.len());
            self.frame.extend_from_slice(text.as_bytes());
        }
    }

    /// Decodes the response into a generated message.
    pub(super) fn message<M: prost::Message + Default>(&self) -> Result<M, Status> {
        M::decode(&self.frame[FRAME_HEADER..]).map_err(|error| Status::internal(error.to_string()))
    }
}

/// Encoded length of a string field, including its key.
fn text_bytes(text: &str) -> usize {
    match text.len() {
        0 => 0,
        bytes => 1 + encoded_len_varint(bytes as u64) + bytes,
    }
}

fn moment_bytes(issued: IssuedRef<'_>) -> usize {
    match issued.expires_at.cast_unsigned() {
        0 => 0,
        seconds => 1 + encoded_len_varint(seconds),
    }
}

impl ResponseMessage for Outcomes {
    fn into_frame(self) -> Result<Bytes, Status> {
        write_header(self.frame)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton_proto::v1::{IssueBatchResponse, IssueItem, IssueResponse};

    use super::*;
    use jeton_transport::grpc::frame;

    #[test]
    fn batch_read_returns_the_encoded_fields() {
        let text = |field: &str, n: usize| format!("{field}{}", "é".repeat(n));
        let item = |n| IssueItem {
            subject: text("subject", n),
            claims_json: text("claims", n),
        };
        let request = IssueBatchRequest {
            issuer: text("issuer", 1),
            profile: text("profile", 2),
            audience: text("audience", 3),
            items: (0..300).map(item).collect(),
        };
        let batch = Batch::encode(&request);
        assert_eq!(owned(&batch.read().unwrap()), request);
    }

    #[test]
    fn batch_does_not_keep_the_read_buffer() {
        let read = Bytes::from(vec![0; 16 * 1024]);
        let _batch = Batch::decode_message(read.slice(5..25)).unwrap();
        assert!(read.is_unique());
    }

    fn owned(contents: &Contents<'_>) -> IssueBatchRequest {
        let item = |item: &Item<'_>| IssueItem {
            subject: item.subject.to_owned(),
            claims_json: item.claims_json.to_owned(),
        };
        IssueBatchRequest {
            issuer: contents.issuer.to_owned(),
            profile: contents.profile.to_owned(),
            audience: contents.audience.to_owned(),
            items: contents.items.iter().map(item).collect(),
        }
    }

    /// Truncates the message at each length and replaces each byte by each value.
    #[test]
    fn batch_read_agrees_with_prost_on_damaged_messages() {
        let request = IssueBatchRequest {
            issuer: "i".to_owned(),
            profile: "é".to_owned(),
            items: vec![
                IssueItem {
                    subject: "s".to_owned(),
                    claims_json: "{}".to_owned(),
                },
                IssueItem::default(),
            ],
            ..IssueBatchRequest::default()
        };
        let whole = request.encode_to_vec();
        let cut = (0..whole.len()).map(|length| whole[..length].to_vec());
        let changed = (0..whole.len()).flat_map(|at| {
            let whole = &whole;
            (0..=u8::MAX).map(move |byte| {
                let mut message = whole.clone();
                message[at] = byte;
                message
            })
        });
        let mut refused = 0;
        for message in cut.chain(changed) {
            let ours = Contents::read(&message).map(|contents| owned(&contents));
            match (IssueBatchRequest::decode(&*message), ours) {
                (Ok(prosts), Ok(ours)) => assert_eq!(ours, prosts, "{message:02x?}"),
                (Err(_), Err(Malformed)) => refused += 1,
                // A known field with another wire type: prost rejects it, other implementations skip it.
                (Err(error), Ok(_)) => assert!(
                    error.to_string().contains("invalid wire type"),
                    "{message:02x?}: {error}"
                ),
                (Ok(_), Err(Malformed)) => unreachable!("prost reads {message:02x?}"),
            }
        }
        assert!(refused > 1000, "{refused}");
    }

    /// A caller chooses the length of the first token and the number of items.
    #[test]
    fn outcomes_reserve_is_capped_after_a_long_token() {
        let mut outcomes = Outcomes::new(4096);
        let token = "t".repeat(256 * 1024);
        let issued = |token| IssuedRef {
            token,
            token_id: "0123456789abcdef",
            expires_at: 1,
        };
        outcomes.push(Ok(issued(&*token)));
        assert!(outcomes.frame.capacity() < 8 * 1024 * 1024);
        let mut outcomes = Outcomes::new(4096);
        outcomes.push(Ok(issued(&token[..400])));
        assert!(outcomes.frame.capacity() > 4096 * 400);
    }

    #[test]
    fn outcomes_equal_the_encoding_of_prost() {
        let mut outcomes = Outcomes::new(1);
        let mut expected = Vec::new();
        for length in [0, 1, 90, 127, 128, 300, 16_383, 16_384, 70_000] {
            for expires_at in [0, 1, 1_700_000_000, i64::MAX, -1] {
                let token = "t".repeat(length);
                outcomes.push(Ok(IssuedRef {
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
        let failure = || Failure::Field("claims_json", "expected a JSON object".to_owned());
        outcomes.push(Err(failure()));
        expected.push(IssueOutcome {
            outcome: Some(issue_outcome::Outcome::Error(failure().item())),
        });
        assert_eq!(outcomes.issued(), 45);
        let expected = IssueBatchResponse { outcomes: expected };
        // No assert_eq: test output must not contain tokens.
        assert!(outcomes.message::<IssueBatchResponse>().unwrap() == expected);
        assert!(outcomes.into_frame().unwrap() == frame(&expected).unwrap());
    }
}
