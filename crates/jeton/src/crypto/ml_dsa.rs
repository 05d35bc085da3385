//! ML-DSA (FIPS 204), the pure variant with an empty context, as JOSE uses it.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::encoding::AsRawBytes;
use aws_lc_rs::signature::{
    KeyPair as _, ML_DSA_44, ML_DSA_44_SIGNING, ML_DSA_65, ML_DSA_65_SIGNING, ML_DSA_87,
    ML_DSA_87_SIGNING, ParsedPublicKey, PqdsaKeyPair, PqdsaSigningAlgorithm,
    PqdsaVerificationAlgorithm,
};
use zeroize::Zeroizing;

use super::random;
use crate::error::{Error, KeyProblem, Result};

pub(crate) const SEED_BYTES: usize = 32;

/// A parameter set of FIPS 204, section 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterSet {
    MlDsa44,
    MlDsa65,
    MlDsa87,
}

impl ParameterSet {
    /// Length of a public key, bytes.
    pub(crate) const fn public_bytes(self) -> usize {
        match self {
            ParameterSet::MlDsa44 => 1312,
            ParameterSet::MlDsa65 => 1952,
            ParameterSet::MlDsa87 => 2592,
        }
    }

    /// Length of a signature, bytes.
    pub(crate) const fn signature_bytes(self) -> usize {
        match self {
            ParameterSet::MlDsa44 => 2420,
            ParameterSet::MlDsa65 => 3309,
            ParameterSet::MlDsa87 => 4627,
        }
    }

    fn signing(self) -> &'static PqdsaSigningAlgorithm {
        match self {
            ParameterSet::MlDsa44 => &ML_DSA_44_SIGNING,
            ParameterSet::MlDsa65 => &ML_DSA_65_SIGNING,
            ParameterSet::MlDsa87 => &ML_DSA_87_SIGNING,
        }
    }

    fn verification(self) -> &'static PqdsaVerificationAlgorithm {
        match self {
            ParameterSet::MlDsa44 => &ML_DSA_44,
            ParameterSet::MlDsa65 => &ML_DSA_65,
            ParameterSet::MlDsa87 => &ML_DSA_87,
        }
    }
}

/// A private key, expanded and ready to sign, and its seed. All encodings of the key contain the seed.
pub(crate) struct Pair {
    set: ParameterSet,
    seed: Zeroizing<Vec<u8>>,
    key: PqdsaKeyPair,
}

impl Pair {
    pub(crate) fn generate(set: ParameterSet) -> Result<Pair> {
        let mut seed = Zeroizing::new(vec![0; SEED_BYTES]);
        random::fill(&mut seed)?;
        Pair::from_seed(set, &seed).map_err(|_| Error::Primitive)
    }

    pub(crate) fn from_seed(set: ParameterSet, seed: &[u8]) -> Result<Pair, KeyProblem> {
        if seed.len() != SEED_BYTES {
            return Err(KeyProblem::WrongLength);
        }
        // At an address that does not change when the pair is moved.
        let seed = Zeroizing::new(seed.to_vec());
        PqdsaKeyPair::from_seed(set.signing(), &seed)
            .map(|key| Pair { set, seed, key })
            .map_err(|_| KeyProblem::Invalid)
    }

    /// Creates a pair from a seed and a public key, which must match.
    pub(crate) fn from_halves(
        set: ParameterSet,
        seed: &[u8],
        public: &[u8],
    ) -> Result<Pair, KeyProblem> {
        let pair = Pair::from_seed(set, seed)?;
        if pair.public_bytes() != public {
            return Err(KeyProblem::Mismatch);
        }
        Ok(pair)
    }

    /// Creates a pair from a seed and the expanded key (FIPS 204, algorithm 24), which must match.
    pub(crate) fn from_seed_and_expanded(
        set: ParameterSet,
        seed: &[u8],
        expanded: &[u8],
    ) -> Result<Pair, KeyProblem> {
        let pair = Pair::from_seed(set, seed)?;
        let own = pair.key.private_key().as_raw_bytes();
        let own = own.map_err(|_| KeyProblem::Invalid)?;
        // Slices of different lengths are an error too.
        verify_slices_are_equal(own.as_ref(), expanded).map_err(|_| KeyProblem::Mismatch)?;
        Ok(pair)
    }

    pub(crate) fn seed(&self) -> &[u8] {
        &self.seed
    }

    /// Returns PKCS#8 with the seed only.
    pub(crate) fn pkcs8(&self) -> Result<Zeroizing<Vec<u8>>> {
        let document = self.key.to_pkcs8v1().map_err(|_| Error::Primitive)?;
        Ok(Zeroizing::new(document.as_ref().to_vec()))
    }

    pub(crate) fn public_bytes(&self) -> &[u8] {
        self.key.public_key().as_ref()
    }

    pub(crate) fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// `signature` must have the signature length of the parameter set.
    pub(crate) fn sign(&self, message: &[u8], signature: &mut [u8]) -> Result<()> {
        self.key
            .sign(message, signature)
            .map(|_| ())
            .map_err(|_| Error::Primitive)
    }
}

/// A public key, parsed once.
pub(crate) struct Public {
    set: ParameterSet,
    bytes: Box<[u8]>,
    key: ParsedPublicKey,
}

impl Public {
    /// Reads a public key. Every string of the right length is one.
    pub(crate) fn from_bytes(set: ParameterSet, bytes: &[u8]) -> Result<Public, KeyProblem> {
        if bytes.len() != set.public_bytes() {
            return Err(KeyProblem::WrongLength);
        }
        ParsedPublicKey::new(set.verification(), bytes)
            .map(|key| Public {
                set,
                bytes: bytes.into(),
                key,
            })
            .map_err(|_| KeyProblem::Invalid)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        signature.len() == self.set.signature_bytes()
            && self.key.verify_sig(message, signature).is_ok()
    }
}
