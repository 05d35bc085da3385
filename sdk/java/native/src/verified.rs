//! A verified token as a reply. `VerifiedReply.java` reads it.
//!
//! After the head, a reply has these numbers:
//!
//! 1. the bits of the members that the token has (4 bytes),
//! 2. start and length of the JSON, algorithm, key id, type and footer (4 bytes each),
//! 3. start and length of the values of `iss`, `sub`, `aud` and `jti` inside the JSON (4 bytes each),
//! 4. `exp`, `nbf` and `iat` (8 bytes each).
//!
//! A start is an offset in the array.

use jeton::error::Claim;
use jeton::{RawClaims, Timestamp, Verified};
use jeton_bindings::Fault;
use jni_sys::jbyteArray;
use smallvec::SmallVec;

use crate::env::Env;
use crate::reply::{self, HEAD, Reply};

/// The offsets of the numbers.
const PRESENT: usize = HEAD;
const PARTS: usize = PRESENT + 4;
const VALUES: usize = PARTS + 5 * 8;
const TIMES: usize = VALUES + 4 * 8;
/// The size of all numbers.
const NUMBERS: usize = TIMES + 3 * 8;

const KID: u32 = 256;
const TYP: u32 = 512;
const FOOTER: u32 = 1024;
/// The JSON has a backslash, so texts must be decoded.
const ESCAPED: u32 = 2048;

/// Returns the bit of a claim, and the index of its value.
fn place(claim: Claim) -> (u32, Option<usize>) {
    match claim {
        Claim::Issuer => (1, Some(0)),
        Claim::Subject => (2, Some(1)),
        Claim::Audience => (4, Some(2)),
        Claim::Expiry => (8, None),
        Claim::NotBefore => (16, None),
        Claim::IssuedAt => (32, None),
        Claim::TokenId => (64, Some(3)),
        _ => (0, None),
    }
}

/// Writes the reply.
pub(crate) fn write<Text: AsRef<str>>(
    verified: &Verified<RawClaims, Text>,
    env: Env,
    offered: jbyteArray,
    capacity: usize,
) -> Result<Reply, Fault> {
    let json = verified.json().as_bytes();
    let header = verified.header();
    let parts = [
        (0, Some(json)),
        (0, Some(header.alg().as_bytes())),
        (KID, header.kid().map(str::as_bytes)),
        (TYP, header.typ().map(str::as_bytes)),
        (FOOTER, verified.footer()),
    ];
    let mut numbers = [0; NUMBERS];
    let mut put = |at: usize, number: usize| {
        // The length of the whole reply is checked below.
        numbers[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes());
    };
    let mut present = 0;
    let mut end = NUMBERS;
    for (index, (bit, part)) in parts.iter().enumerate() {
        let Some(part) = part else { continue };
        put(PARTS + index * 8, end);
        put(PARTS + index * 8 + 4, part.len());
        end += part.len();
        present |= bit;
    }
    if i32::try_from(end).is_err() {
        return Err(Fault::Internal);
    }
    for found in verified.registered_members() {
        let (bit, index) = place(found.claim);
        present |= bit;
        if let Some(index) = index {
            put(VALUES + index * 8, NUMBERS + found.value.start);
            put(VALUES + index * 8 + 4, found.value.len());
        }
    }
    if memchr::memchr(b'\\', json).is_some() {
        present |= ESCAPED;
    }
    put(PRESENT, present as usize);
    let times = [
        verified.expires_at(),
        verified.not_before(),
        verified.issued_at(),
    ];
    for (index, time) in times.into_iter().enumerate() {
        let seconds = time.map_or(0, Timestamp::unix_seconds);
        let at = TIMES + index * 8;
        numbers[at..at + 8].copy_from_slice(&seconds.to_le_bytes());
    }
    numbers[..HEAD].copy_from_slice(&reply::head(0, end - HEAD));

    let Some(array) = reply::room(env, offered, capacity, end) else {
        // The JVM throws an out-of-memory error.
        return Ok(Reply::Written(std::ptr::null_mut()));
    };
    // One call of the JVM, because each call costs more than a copy of this size.
    let mut whole = SmallVec::<[u8; ON_STACK]>::new();
    whole.extend_from_slice(&numbers);
    for (_, part) in parts {
        whole.extend_from_slice(part.unwrap_or_default());
    }
    env.write(array, 0, &whole);
    Ok(Reply::Written(array))
}

/// Replies up to this size are assembled on the stack.
const ON_STACK: usize = 1536;
