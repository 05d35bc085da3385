//! Verified claims: where they are in the buffer of the caller.

use jeton::error::Claim;
use jeton::{RawClaims, Timestamp, Verified};

use crate::argument::{Out, OutBytes};
use jeton_bindings::Fault;

/// The number of registered claims.
pub const JETON_CLAIMS_MAX: usize = 7;

/// A part of the buffer.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JetonRange {
    /// The first byte.
    pub start: u32,
    /// The number of bytes.
    pub length: u32,
}

/// Where a registered claim is in the JSON text.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct JetonClaim {
    /// Which claim: its bit in `JetonVerified.present`.
    pub claim: u32,
    /// 1 if the value has no backslash: then a text is the bytes between its quotes. Else 0.
    pub is_plain: u32,
    /// The whole member: the name, the colon and the value.
    pub member: JetonRange,
    /// The value as it is written; of a text with its quotes.
    pub value: JetonRange,
}

/// What a verified token says. All ranges are in the buffer that was passed.
#[repr(C)]
#[derive(Debug)]
pub struct JetonVerified {
    /// Which members the token has. Bits: 1 `iss`, 2 `sub`, 4 `aud`, 8 `exp`, 16 `nbf`, 32 `iat`, 64 `jti`, 256 `kid`,
    /// 512 `typ`, 1024 footer.
    pub present: u32,
    /// The number of registered claims.
    pub claim_count: u32,
    /// The registered claims, in the order of the text.
    pub claims: [JetonClaim; JETON_CLAIMS_MAX],
    /// The claims: one JSON object, as the token has it.
    pub json: JetonRange,
    /// The key id of the header.
    pub kid: JetonRange,
    /// The type of the header.
    pub typ: JetonRange,
    /// The footer of a PASETO.
    pub footer: JetonRange,
    /// The algorithm. It is part of the library.
    pub alg: *const u8,
    /// The number of bytes of `alg`.
    pub alg_length: usize,
    /// `exp` in seconds since 1970: the first second in which the token is not valid.
    pub expires_at: i64,
    /// `nbf` in seconds since 1970.
    pub not_before: i64,
    /// `iat` in seconds since 1970.
    pub issued_at: i64,
}

const KID: u32 = 256;
const TYP: u32 = 512;
const FOOTER: u32 = 1024;

fn bit(claim: Claim) -> u32 {
    match claim {
        Claim::Issuer => 1,
        Claim::Subject => 2,
        Claim::Audience => 4,
        Claim::Expiry => 8,
        Claim::NotBefore => 16,
        Claim::IssuedAt => 32,
        Claim::TokenId => 64,
        _ => 0,
    }
}

/// A range of the buffer, whose size was checked.
fn range(start: usize, length: usize) -> JetonRange {
    JetonRange {
        start: start as u32,
        length: length as u32,
    }
}

/// Writes the claims and the header to the buffer.
pub(crate) fn write<Text: AsRef<str>>(
    verified: &Verified<RawClaims, Text>,
    buffer: &OutBytes,
    result: Out<JetonVerified>,
) -> Result<(), Fault> {
    let json = verified.json();
    let header = verified.header();
    let (kid, typ, footer) = (header.kid(), header.typ(), verified.footer());
    let parts = [
        (KID, kid.map(str::as_bytes)),
        (TYP, typ.map(str::as_bytes)),
        (FOOTER, footer),
    ];
    let length = |part: &(u32, Option<&[u8]>)| part.1.map_or(0, <[u8]>::len);
    if u32::try_from(json.len() + parts.iter().map(length).sum::<usize>()).is_err() {
        return Err(Fault::Internal);
    }
    // Few claims have one, so that the values are seldom searched.
    let has_escape = memchr::memchr(b'\\', json.as_bytes()).is_some();
    let mut present = 0;
    let mut claim_count = 0;
    let mut claims = [JetonClaim::default(); JETON_CLAIMS_MAX];
    for (place, found) in claims.iter_mut().zip(verified.registered_members()) {
        let claim = bit(found.claim);
        present |= claim;
        claim_count += 1;
        place.claim = claim;
        let is_plain = !has_escape || !json[found.value.clone()].contains('\\');
        place.is_plain = u32::from(is_plain);
        place.member = range(found.member.start, found.member.len());
        place.value = range(found.value.start, found.value.len());
    }
    buffer.write(0, json.as_bytes())?;
    let mut end = json.len();
    let mut ranges = [JetonRange::default(); 3];
    for (range_of_part, (flag, part)) in ranges.iter_mut().zip(parts) {
        if let Some(part) = part {
            buffer.write(end, part)?;
            *range_of_part = range(end, part.len());
            end += part.len();
            present |= flag;
        }
    }
    let seconds = |moment: Option<Timestamp>| moment.map_or(0, Timestamp::unix_seconds);
    let [kid, typ, footer] = ranges;
    result.put(JetonVerified {
        present,
        claim_count,
        claims,
        json: range(0, json.len()),
        kid,
        typ,
        footer,
        alg: header.alg().as_ptr(),
        alg_length: header.alg().len(),
        expires_at: seconds(verified.expires_at()),
        not_before: seconds(verified.not_before()),
        issued_at: seconds(verified.issued_at()),
    });
    Ok(())
}
