//! Everything questionable, behind one name, so that one search finds it.

mod weak_keys;

use crate::base64;
use crate::error::{Part, Rejection, Result};
use crate::jws::Compact;
use crate::limits::Limits;

pub use weak_keys::{
    weak_mac_key, weak_mac_key_from_jwk, weak_rsa_key_from_jwk, weak_rsa_key_from_pem,
};

/// A compact JWS as it stands, with nothing verified.
///
/// To look at a token while debugging. Whoever sent it may have written every byte: no decision may
/// rest on it.
#[derive(Debug)]
pub struct Unverified {
    /// The protected header's bytes.
    pub header: Vec<u8>,
    /// The payload's bytes.
    pub payload: Vec<u8>,
}

/// Takes a compact JWS apart without verifying it.
///
/// ```
/// let seen = jeton::danger::peek("eyJhbGciOiJub25lIn0.e30.")?;
/// assert_eq!(seen.payload, b"{}");
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn peek(token: &str) -> Result<Unverified> {
    let compact = Compact::split(token, &Limits::default())?;
    let decode =
        |text: &str, part| base64::decode(text.as_bytes()).map_err(|_| Rejection::Malformed(part));
    Ok(Unverified {
        header: decode(compact.header(), Part::Header)?,
        payload: decode(compact.payload(), Part::Payload)?,
    })
}
