//! Ed25519 for versions 2 and 4.

use zeroize::Zeroizing;

use super::suite;
use crate::crypto::Signature;
use crate::crypto::ed25519::{PUBLIC_BYTES, Pair, Public, SEED_BYTES, SIGNATURE_BYTES};
use crate::error::{KeyProblem, Result};

pub(crate) fn generate() -> Result<Box<dyn suite::Pair>> {
    Ok(Box::new(Pair::generate()?))
}

/// Reads the seed and the public key, which must match.
pub(crate) fn pair(bytes: &[u8]) -> Result<Box<dyn suite::Pair>, KeyProblem> {
    let (seed, public) = bytes
        .split_at_checked(SEED_BYTES)
        .ok_or(KeyProblem::WrongLength)?;
    Ok(Box::new(Pair::from_halves(seed, public)?))
}

pub(crate) fn public(bytes: &[u8]) -> Result<Box<dyn suite::Public>, KeyProblem> {
    Ok(Box::new(Public::from_bytes(bytes)?))
}

impl suite::Pair for Pair {
    fn sign(&self, message: &[u8]) -> Result<Signature> {
        Ok(Signature::from_slice(&Pair::sign(self, message)?))
    }

    fn public(&self) -> Result<Box<dyn suite::Public>, KeyProblem> {
        Ok(Box::new(Pair::public(self)?))
    }

    fn bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(SEED_BYTES + PUBLIC_BYTES));
        bytes.extend_from_slice(self.seed());
        bytes.extend_from_slice(&self.public_bytes());
        Ok(bytes)
    }
}

impl suite::Public for Public {
    fn bytes(&self) -> &[u8] {
        Public::bytes(self)
    }

    fn signature_bytes(&self) -> usize {
        SIGNATURE_BYTES
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        signature
            .try_into()
            .is_ok_and(|signature| Public::verify(self, message, signature))
    }
}
