//! Verified claims, as ranges of the caller's buffer.

use std::ptr;

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
    /// The offset of the first byte.
    pub start: u32,
    /// The number of bytes.
    pub length: u32,
}

/// The position of a registered claim in the JSON text.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct JetonClaim {
    /// The bit of the claim in `JetonVerified.present`.
    pub claim: u32,
    /// 1 if the value has no backslash: a string is then the bytes between its quotes. Otherwise 0.
    pub is_plain: u32,
    /// The whole member: the name, the colon and the value.
    pub member: JetonRange,
    /// The value as in the token; a string includes its quotes.
    pub value: JetonRange,
}

/// A verified token. All ranges are in the caller's buffer.
#[repr(C)]
#[derive(Debug)]
pub struct JetonVerified {
    /// The members that the token has, as bits: 1 `iss`, 2 `sub`, 4 `aud`, 8 `exp`, 16 `nbf`, 32 `iat`, 64 `jti`,
    /// 256 `kid`, 512 `typ`, 1024 footer.
    pub present: u32,
    /// The number of registered claims.
    pub claim_count: u32,
    /// The registered claims, in the order of the JSON text.
    pub claims: [JetonClaim; JETON_CLAIMS_MAX],
    /// The claims: one JSON object, byte for byte as in the token.
    pub json: JetonRange,
    /// The `kid` of the header.
    pub kid: JetonRange,
    /// The `typ` of the header.
    pub typ: JetonRange,
    /// The footer of a PASETO.
    pub footer: JetonRange,
    /// The name of the algorithm. The library owns it: do not free it.
    pub alg: *const u8,
    /// The number of bytes of `alg`.
    pub alg_length: usize,
    /// `exp` in seconds since 1970: the first second in which the token is no longer valid.
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

/// Returns a range of the buffer. The size of the buffer was checked.
fn range(start: usize, length: usize) -> JetonRange {
    JetonRange {
        start: start as u32,
        length: length as u32,
    }
}

impl JetonVerified {
    const EMPTY: JetonVerified = JetonVerified {
        present: 0,
        claim_count: 0,
        claims: [JetonClaim {
            claim: 0,
            is_plain: 0,
            member: NOTHING,
            value: NOTHING,
        }; JETON_CLAIMS_MAX],
        json: NOTHING,
        kid: NOTHING,
        typ: NOTHING,
        footer: NOTHING,
        alg: ptr::null(),
        alg_length: 0,
        expires_at: 0,
        not_before: 0,
        issued_at: 0,
    };
}

const NOTHING: JetonRange = JetonRange {
    start: 0,
    length: 0,
};

/// Writes the claims and the header to the buffer.
pub(crate) fn write<Text: AsRef<str>>(
    verified: &Verified<RawClaims, Text>,
    buffer: &OutBytes,
    mut result: Out<JetonVerified>,
) -> Result<(), Fault> {
    let json = verified.json();
    let header = verified.header();
    let (kid, typ, footer) = (header.kid(), header.typ(), verified.footer());
    let length = |part: Option<&[u8]>| part.map_or(0, <[u8]>::len);
    let (kid, typ) = (kid.map(str::as_bytes), typ.map(str::as_bytes));
    if u32::try_from(json.len() + length(kid) + length(typ) + length(footer)).is_err() {
        return Err(Fault::Internal);
    }
    buffer.write(0, json.as_bytes())?;
    // The struct is large, so it is completed in place.
    let result = result.start(JetonVerified::EMPTY);
    result.json = range(0, json.len());
    // Few tokens have a backslash, so values are rarely searched.
    let has_escape = memchr::memchr(b'\\', json.as_bytes()).is_some();
    for (place, found) in result.claims.iter_mut().zip(verified.registered_members()) {
        place.claim = bit(found.claim);
        let is_plain = !has_escape || !json[found.value.clone()].contains('\\');
        place.is_plain = u32::from(is_plain);
        place.member = range(found.member.start, found.member.len());
        place.value = range(found.value.start, found.value.len());
        result.present |= place.claim;
        result.claim_count += 1;
    }
    let mut end = json.len();
    for (bit, part, place) in [
        (KID, kid, &mut result.kid),
        (TYP, typ, &mut result.typ),
        (FOOTER, footer, &mut result.footer),
    ] {
        if let Some(part) = part {
            buffer.write(end, part)?;
            *place = range(end, part.len());
            end += part.len();
            result.present |= bit;
        }
    }
    result.alg = header.alg().as_ptr();
    result.alg_length = header.alg().len();
    let seconds = |moment: Option<Timestamp>| moment.map_or(0, Timestamp::unix_seconds);
    result.expires_at = seconds(verified.expires_at());
    result.not_before = seconds(verified.not_before());
    result.issued_at = seconds(verified.issued_at());
    Ok(())
}
