//! One key of every algorithm, with its readers.

use jeton::danger;
use jeton::key::{
    DecryptionKey, EncryptionKey, KeyManagementAlg, RsaSize, SigAlg, SigningKey, VerifyingKey,
};

use super::der::{bits, elements, split};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Rsa,
    Ec,
    /// Ed25519 and X25519.
    Edwards,
    MlDsa,
}

/// Reads a key and returns its identity.
pub(crate) type Read<T> = Box<dyn Fn(&T) -> jeton::Result<String>>;

/// A key of one algorithm in both encodings, with its readers.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) family: Family,
    /// Valid PKCS#8, version 1, and SubjectPublicKeyInfo.
    pub(crate) pkcs8: Vec<u8>,
    pub(crate) spki: Vec<u8>,
    /// SubjectPublicKeyInfo of another key of the same algorithm, and its PKCS#8.
    pub(crate) other_spki: Vec<u8>,
    pub(crate) other_pkcs8: Vec<u8>,
    pub(crate) read_private: Read<[u8]>,
    pub(crate) read_public: Read<[u8]>,
    pub(crate) read_private_pem: Read<str>,
    pub(crate) read_public_pem: Read<str>,
}

pub(crate) fn signing(alg: SigAlg) -> Subject {
    let [key, other] = [(), ()].map(|()| SigningKey::generate(alg).unwrap());
    Subject {
        name: alg.name().to_owned(),
        family: match alg.name() {
            "EdDSA" | "Ed25519" => Family::Edwards,
            name if name.starts_with("ES") => Family::Ec,
            name if name.starts_with("ML") => Family::MlDsa,
            _ => Family::Rsa,
        },
        pkcs8: key.to_der().unwrap().to_vec(),
        spki: key.verifying_key().to_der().unwrap(),
        other_spki: other.verifying_key().to_der().unwrap(),
        other_pkcs8: other.to_der().unwrap().to_vec(),
        read_private: Box::new(move |der| {
            Ok(SigningKey::from_der_as(der, alg)?
                .verifying_key()
                .thumbprint())
        }),
        read_public: Box::new(move |der| Ok(VerifyingKey::from_der_as(der, alg)?.thumbprint())),
        read_private_pem: Box::new(move |text| {
            Ok(SigningKey::from_pem_as(text, alg)?
                .verifying_key()
                .thumbprint())
        }),
        read_public_pem: Box::new(move |text| {
            Ok(VerifyingKey::from_pem_as(text, alg)?.thumbprint())
        }),
    }
}

pub(crate) fn encrypting(name: &str, family: Family, make: &dyn Fn() -> DecryptionKey) -> Subject {
    let [key, other] = [make(), make()];
    let alg = key.alg();
    Subject {
        name: name.to_owned(),
        family,
        pkcs8: key.to_der().unwrap().to_vec(),
        spki: key.encryption_key().to_der().unwrap(),
        other_spki: other.encryption_key().to_der().unwrap(),
        other_pkcs8: other.to_der().unwrap().to_vec(),
        read_private: Box::new(move |der| {
            let key = DecryptionKey::from_der_as(der, alg)?;
            Ok(key.encryption_key().thumbprint())
        }),
        read_public: Box::new(move |der| Ok(EncryptionKey::from_der_as(der, alg)?.thumbprint())),
        read_private_pem: Box::new(move |text| {
            let key = DecryptionKey::from_pem_as(text, alg)?;
            Ok(key.encryption_key().thumbprint())
        }),
        read_public_pem: Box::new(move |text| {
            Ok(EncryptionKey::from_pem_as(text, alg)?.thumbprint())
        }),
    }
}

pub(crate) fn subjects() -> Vec<Subject> {
    let ecdh = KeyManagementAlg::EcdhEsA256Kw;
    let mut all: Vec<Subject> = [
        SigAlg::RS256,
        SigAlg::PS512,
        SigAlg::ES256,
        SigAlg::ES384,
        SigAlg::ES512,
        SigAlg::ES256K,
        SigAlg::Ed25519,
        SigAlg::MlDsa44,
        SigAlg::MlDsa65,
        SigAlg::MlDsa87,
    ]
    .map(signing)
    .into();
    let rsa = |alg| move || DecryptionKey::generate_rsa(alg, RsaSize::Bits2048).unwrap();
    all.push(encrypting(
        "RSA-OAEP-256",
        Family::Rsa,
        &rsa(KeyManagementAlg::RsaOaep256),
    ));
    all.push(encrypting("RSA1_5", Family::Rsa, &rsa(danger::RSA1_5)));
    all.push(encrypting("ECDH P-256", Family::Ec, &|| {
        DecryptionKey::generate(ecdh).unwrap()
    }));
    all.push(encrypting("ECDH P-384", Family::Ec, &|| {
        DecryptionKey::generate_p384(ecdh).unwrap()
    }));
    all.push(encrypting("ECDH P-521", Family::Ec, &|| {
        DecryptionKey::generate_p521(ecdh).unwrap()
    }));
    all.push(encrypting("X25519", Family::Edwards, &|| {
        DecryptionKey::generate_x25519(ecdh).unwrap()
    }));
    all
}

impl Subject {
    /// The algorithm of the PKCS#8, and the contents of its OCTET STRING.
    pub(crate) fn private(&self) -> (Vec<u8>, Vec<u8>) {
        let parts = elements(&self.pkcs8);
        (parts[1].clone(), split(&parts[2]).1.to_vec())
    }

    pub(crate) fn algorithm_id(&self) -> Vec<u8> {
        split(&elements(&self.private().0)[0]).1.to_vec()
    }

    /// The contents of the BIT STRING of the SubjectPublicKeyInfo, without the first byte.
    pub(crate) fn public(&self) -> Vec<u8> {
        bits(&self.spki)
    }

    pub(crate) fn parameters(&self) -> Option<Vec<u8>> {
        elements(&self.private().0).get(1).cloned()
    }
}
