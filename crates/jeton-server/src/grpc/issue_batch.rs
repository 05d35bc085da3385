//! `IssueBatch` without an allocation for every text: those of the request stay in its bytes, and the
//! answer is written as it is made, 256 tokens in one allocation.

use bytes::Bytes;
use jeton_issuer::IssuedRef;
use jeton_proto::v1::{IssueBatchRequest, IssueOutcome, issue_outcome};
use prost::Message as _;
use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_varint, encoded_len_varint,
    skip_field,
};
use tonic::Status;

use super::unary::{Answer, HEAD, Question, behind_head};
use crate::service::Failure;

/// `jeton.v1.IssueBatchRequest`. The bytes are its own: whoever is waited for afterwards does not keep
/// what else the connection read with it.
pub(crate) struct Batch(Box<[u8]>);

/// What is in it, as token.proto numbers it.
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
    /// Of the message as prost generates it.
    pub(super) fn of(request: &IssueBatchRequest) -> Batch {
        Batch(request.encode_to_vec().into_boxed_slice())
    }

    pub(super) fn read(&self) -> Result<Contents<'_>, Status> {
        Contents::read(&self.0)
            .map_err(|Malformed| Status::internal("the message is no IssueBatchRequest"))
    }
}

impl Question for Batch {
    fn arrived(message: Bytes) -> Result<Batch, Status> {
        Ok(Batch((*message).into()))
    }
}

/// The bytes are not protobuf, or a text is not UTF-8.
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

/// The number and the bytes of the next field that has a length, as all here do. Others are a newer
/// caller's, and are skipped.
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

/// The keys of `IssueBatchResponse.outcomes`, `IssueOutcome.issued`, `IssueResponse.token`, `token_id` and
/// `expires_at`, as token.proto numbers them. Each is one byte.
const OUTCOMES: u8 = key(1, WireType::LengthDelimited);
const ISSUED: u8 = key(1, WireType::LengthDelimited);
const TOKEN: u8 = key(1, WireType::LengthDelimited);
const TOKEN_ID: u8 = key(2, WireType::LengthDelimited);
const EXPIRES_AT: u8 = key(3, WireType::Varint);

const fn key(field: u8, wire_type: WireType) -> u8 {
    field << 3 | wire_type as u8
}

/// More room for each token than the first one took: subjects and claims differ.
const MORE_BYTES: usize = 16;
/// No more room is made before there are tokens for it: 4,096 tokens of a kilobyte.
const RESERVED_BYTES: usize = 4 * 1024 * 1024;

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
            // The others are like the first; if it is long, they need not be.
            let like_it = self.items * (outcome + MORE_BYTES);
            self.frame.reserve(like_it.min(RESERVED_BYTES));
        }
        self.open(OUTCOMES, outcome);
        self.open(ISSUED, response);
        self.text(TOKEN, issued.token);
        self.text(TOKEN_ID, issued.token_id);
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
        self.open(OUTCOMES, outcome.encoded_len());
        outcome.encode_raw(&mut self.frame);
    }

    /// The key and the length of a message or a text.
    fn open(&mut self, key: u8, bytes: usize) {
        self.frame.push(key);
        match u8::try_from(bytes) {
            // Most ids, and no token.
            Ok(short @ ..0x80) => self.frame.push(short),
            _ => encode_varint(bytes as u64, &mut self.frame),
        }
    }

    fn text(&mut self, key: u8, text: &str) {
        if !text.is_empty() {
            self.open(key, text.len());
            self.frame.extend_from_slice(text.as_bytes());
        }
    }

    /// The same as a message.
    pub(super) fn message<M: prost::Message + Default>(&self) -> Result<M, Status> {
        M::decode(&self.frame[HEAD..]).map_err(|error| Status::internal(error.to_string()))
    }
}

/// With its key.
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

impl Answer for Outcomes {
    fn framed(self) -> Result<Bytes, Status> {
        behind_head(self.frame)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton_proto::v1::{IssueBatchResponse, IssueItem, IssueResponse};

    use super::*;
    use crate::grpc::unary::framed;

    #[test]
    fn a_request_is_the_message_that_token_proto_describes() {
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
        let batch = Batch::of(&request);
        assert_eq!(owned(&batch.read().unwrap()), request);
    }

    #[test]
    fn a_request_keeps_nothing_else_of_its_connection() {
        let read = Bytes::from(vec![0; 16 * 1024]);
        let _batch = Batch::arrived(read.slice(5..25)).unwrap();
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

    /// Each way to cut it short, and each byte of it replaced by each other.
    #[test]
    fn what_prost_refuses_is_refused_and_what_it_reads_is_the_same() {
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
                // A field of ours that is no text: prost refuses it, and others than prost skip it.
                (Err(error), Ok(_)) => assert!(
                    error.to_string().contains("invalid wire type"),
                    "{message:02x?}: {error}"
                ),
                (Ok(_), Err(Malformed)) => unreachable!("prost reads {message:02x?}"),
            }
        }
        assert!(refused > 1000, "{refused}");
    }

    /// A caller chooses the first token's length, and how many items follow it.
    #[test]
    fn room_is_not_made_for_items_that_may_be_short() {
        let mut outcomes = Outcomes::of(4096);
        let token = "t".repeat(256 * 1024);
        let issued = |token| IssuedRef {
            token,
            token_id: "0123456789abcdef",
            expires_at: 1,
        };
        outcomes.push(Ok(issued(&*token)));
        assert!(outcomes.frame.capacity() < 8 * 1024 * 1024);
        let mut outcomes = Outcomes::of(4096);
        outcomes.push(Ok(issued(&token[..400])));
        assert!(outcomes.frame.capacity() > 4096 * 400);
    }

    /// To the byte what prost writes of the same message.
    #[test]
    fn it_is_the_message_that_token_proto_describes() {
        let mut outcomes = Outcomes::of(1);
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
