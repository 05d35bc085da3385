//! AES-256-CTR and HMAC-SHA-384 with encrypt-then-MAC, for versions 1 and 3. The versions differ in key
//! derivation and in the associated data.

use smallvec::SmallVec;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::pae;
use super::suite::Tag;
use crate::crypto::aes_ctr::{self, COUNTER_BYTES, KEY_BYTES};
use crate::crypto::hmac::Sha384;
use crate::error::{Rejection, Result};

pub(crate) const NONCE_BYTES: usize = 32;
pub(crate) const MAC_BYTES: usize = 48;

/// The derived keys of one token.
pub(crate) struct Derived<const A: usize> {
    pub(crate) encryption: Zeroizing<[u8; KEY_BYTES]>,
    pub(crate) counter: [u8; COUNTER_BYTES],
    pub(crate) authentication: Zeroizing<[u8; A]>,
}

/// The associated data of the encryption.
pub(crate) struct Bound<'a> {
    pub(crate) header: &'static str,
    pub(crate) nonce: &'a [u8],
    /// The footer, and from version 3 on the implicit assertion.
    pub(crate) behind: &'a [&'a [u8]],
}

impl<const A: usize> Derived<A> {
    /// Encrypts in place.
    pub(crate) fn seal(&self, message: &mut [u8], bound: &Bound<'_>) -> Result<Tag> {
        aes_ctr::apply(&self.encryption, &self.counter, message)?;
        Ok(Tag::from_slice(self.mac(message, bound).as_slice()))
    }

    /// Decrypts ciphertext and MAC in place; the message is at the start.
    pub(crate) fn open(&self, sealed: &mut [u8], bound: &Bound<'_>) -> Result<()> {
        let (encrypted, given) = sealed.split_at_mut(sealed.len() - MAC_BYTES);
        let mac = self.mac(encrypted, bound);
        if !bool::from(mac.as_slice().ct_eq(given)) {
            return Err(Rejection::Decryption.into());
        }
        aes_ctr::apply(&self.encryption, &self.counter, encrypted)
    }

    fn mac(&self, encrypted: &[u8], bound: &Bound<'_>) -> Zeroizing<[u8; MAC_BYTES]> {
        let mut pieces: SmallVec<[&[u8]; 5]> = SmallVec::new();
        pieces.extend([bound.header.as_bytes(), bound.nonce, encrypted]);
        pieces.extend_from_slice(bound.behind);
        let mut mac = Sha384::keyed(self.authentication.as_slice());
        pae::encode(&pieces, |bytes| mac.update(bytes));
        mac.finish()
    }
}
