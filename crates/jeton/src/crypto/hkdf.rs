//! HKDF with HMAC-SHA-384 (RFC 5869).

use aws_lc_rs::hkdf::{HKDF_SHA384, KeyType, Salt};
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// Derives `N` bytes from a secret. An empty salt means no salt. `info` is the concatenation of its pieces.
pub(crate) fn sha384<const N: usize>(
    secret: &[u8],
    salt: &[u8],
    info: &[&[u8]],
) -> Result<Zeroizing<[u8; N]>> {
    let mut derived = Zeroizing::new([0; N]);
    Salt::new(HKDF_SHA384, salt)
        .extract(secret)
        .expand(info, Length(N))
        .and_then(|okm| okm.fill(derived.as_mut_slice()))
        .map_err(|_| Error::Primitive)?;
    Ok(derived)
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use crate::crypto::hmac::Sha384;

    /// RFC 5869, sections 2.2 and 2.3, computed directly: up to one hash length, the first block is the output.
    #[test]
    fn matches_extract_and_expand_of_rfc_5869() {
        for salt in [&b""[..], b"salt"] {
            let secret = Sha384::keyed(salt).and(b"input").finish();
            let block = Sha384::keyed(secret.as_slice())
                .and(b"in")
                .and(b"fo")
                .and(&[1])
                .finish();
            let derived = super::sha384::<48>(b"input", salt, &[b"in", b"fo"]).expect("short");
            assert_eq!(derived, block);
            let half = super::sha384::<32>(b"input", salt, &[b"info"]).expect("short");
            assert_eq!(half.as_slice(), &block[..32]);
        }
    }
}
