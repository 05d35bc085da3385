//! Verified claims: where they are in the buffer of the caller.

use jeton::error::Claim;
use jeton::{RawClaims, Timestamp, VerifiedIn};

use crate::argument::OutBytes;
use crate::reason::Fault;

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

fn range(start: usize, length: usize) -> Result<JetonRange, Fault> {
    let number = |value| u32::try_from(value).map_err(|_| Fault::Internal);
    Ok(JetonRange {
        start: number(start)?,
        length: number(length)?,
    })
}

/// Writes the claims and the header to the buffer.
pub(crate) fn write(
    verified: &VerifiedIn<'_, RawClaims>,
    out: &OutBytes,
) -> Result<JetonVerified, Fault> {
    let json = verified.json();
    let header = verified.header();
    let seconds = |moment: Option<Timestamp>| moment.map_or(0, Timestamp::unix_seconds);
    let mut result = JetonVerified {
        present: 0,
        claim_count: 0,
        claims: [JetonClaim::default(); JETON_CLAIMS_MAX],
        json: range(0, json.len())?,
        kid: JetonRange::default(),
        typ: JetonRange::default(),
        footer: JetonRange::default(),
        alg: header.alg().as_ptr(),
        alg_length: header.alg().len(),
        expires_at: seconds(verified.expires_at()),
        not_before: seconds(verified.not_before()),
        issued_at: seconds(verified.issued_at()),
    };
    for (place, found) in result.claims.iter_mut().zip(verified.registered_members()) {
        let claim = bit(found.claim);
        result.present |= claim;
        result.claim_count += 1;
        let value = &json.as_bytes()[found.value.clone()];
        *place = JetonClaim {
            claim,
            is_plain: u32::from(!value.contains(&b'\\')),
            member: range(found.member.start, found.member.len())?,
            value: range(found.value.start, found.value.len())?,
        };
    }
    out.write(0, json.as_bytes())?;
    let mut end = json.len();
    let mut append = |bytes: &[u8], flag: u32| -> Result<JetonRange, Fault> {
        let start = end;
        out.write(start, bytes)?;
        end += bytes.len();
        result.present |= flag;
        range(start, bytes.len())
    };
    if let Some(kid) = header.kid() {
        result.kid = append(kid.as_bytes(), KID)?;
    }
    if let Some(typ) = header.typ() {
        result.typ = append(typ.as_bytes(), TYP)?;
    }
    if let Some(footer) = verified.footer() {
        result.footer = append(footer, FOOTER)?;
    }
    Ok(result)
}
