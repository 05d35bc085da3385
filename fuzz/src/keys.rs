//! One key of every algorithm. `keys.json` contains the asymmetric ones; they protect nothing.

use std::sync::LazyLock;

use base64_simd::URL_SAFE_NO_PAD as BASE64URL;
use jeton::danger::{Password, Pbes2Alg, RSA1_5};
use jeton::jws::JwsVerifier;
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, DecryptionKeys, EncryptionKey, EncryptionKeyRef,
    KeyManagementAlg, KeyWrapAlg, Keys, MacAlg, MacKey, SigAlg, SigningKey, SigningKeyRef,
    WrappingKey,
};
use jeton::paserk::{Form, Kind, Paserk, PaserkVersion, PaserkWrappingKey};
use jeton::paseto::{LocalKey, SecretKey, Version};
use serde_json::Value;

static JWKS: LazyLock<Vec<Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("keys.json")).expect("JSON"));

/// Returns a private JWK with this `kty`, and with this curve or algorithm if the `kty` has several.
pub fn jwk(kty: &str, which: &str) -> String {
    let is_it = |key: &&Value| {
        let has = |member: &str| key.get(member).is_some_and(|value| value == which);
        key["kty"] == kty && (which.is_empty() || has("crv") || has("alg"))
    };
    JWKS.iter().find(is_it).expect("in keys.json").to_string()
}

/// A key that signs.
pub enum Signing {
    Mac(MacKey),
    Pair(SigningKey),
}

impl Signing {
    pub fn as_ref(&self) -> SigningKeyRef<'_> {
        match self {
            Signing::Mac(key) => key.into(),
            Signing::Pair(key) => key.into(),
        }
    }

    pub fn keys(&self) -> Keys {
        match self {
            Signing::Mac(key) => key.into(),
            Signing::Pair(key) => key.verifying_key().into(),
        }
    }

    pub fn verifier(&self) -> JwsVerifier {
        JwsVerifier::new(self.keys())
    }
}

/// Returns a signing key of every algorithm.
pub fn signing() -> Vec<Signing> {
    let macs = MacAlg::ALL
        .iter()
        .copied()
        .map(|alg| Signing::Mac(mac(alg)));
    let pairs = SigAlg::ALL.iter().copied().map(|alg| {
        let jwk = match alg {
            SigAlg::ES256 => jwk("EC", "P-256"),
            SigAlg::ES384 => jwk("EC", "P-384"),
            SigAlg::ES512 => jwk("EC", "P-521"),
            SigAlg::ES256K => jwk("EC", "secp256k1"),
            SigAlg::EdDSA | SigAlg::Ed25519 => jwk("OKP", "Ed25519"),
            SigAlg::MlDsa44 | SigAlg::MlDsa65 | SigAlg::MlDsa87 => jwk("AKP", alg.name()),
            _ => jwk("RSA", ""),
        };
        Signing::Pair(SigningKey::from_jwk_as(&jwk, alg).expect("a key"))
    });
    macs.chain(pairs).collect()
}

/// Returns the MAC key of an algorithm.
pub fn mac(alg: MacAlg) -> MacKey {
    MacKey::new(alg, &vec![7; alg.key_bytes()]).expect("a key")
}

/// A key that decrypts, with the key that encrypts to it.
pub enum Decrypting {
    Private(DecryptionKey, EncryptionKey),
    Wrapping(WrappingKey),
    Content(ContentKey),
    Password(Password),
}

impl Decrypting {
    pub fn as_ref(&self) -> EncryptionKeyRef<'_> {
        match self {
            Decrypting::Private(_, key) => key.into(),
            Decrypting::Wrapping(key) => key.into(),
            Decrypting::Content(key) => key.into(),
            Decrypting::Password(key) => key.into(),
        }
    }

    pub fn keys(&self) -> DecryptionKeys {
        match self {
            Decrypting::Private(key, _) => key.into(),
            Decrypting::Wrapping(key) => key.into(),
            Decrypting::Content(key) => key.into(),
            Decrypting::Password(key) => key.into(),
        }
    }

    /// Returns the content encryption of the key, if there is only one.
    pub fn enc(&self) -> Option<ContentEnc> {
        match self {
            Decrypting::Content(key) => Some(key.enc()),
            _ => None,
        }
    }
}

/// Returns a decryption key of every algorithm and curve.
pub fn decrypting() -> Vec<Decrypting> {
    let mut all = Vec::new();
    let mut private = |jwk: String, alg| {
        let key = DecryptionKey::from_jwk_as(&jwk, alg).expect("a key");
        let public = key.encryption_key();
        all.push(Decrypting::Private(key, public));
    };
    for alg in KeyManagementAlg::ALL.iter().copied().chain([RSA1_5]) {
        if alg.name().starts_with("RSA") {
            private(jwk("RSA", ""), alg);
            continue;
        }
        for curve in ["P-256", "P-384", "P-521"] {
            private(jwk("EC", curve), alg);
        }
        private(jwk("OKP", "X25519"), alg);
    }
    for &alg in KeyWrapAlg::ALL {
        let key = WrappingKey::new(alg, &vec![7; alg.key_bytes()]).expect("a key");
        all.push(Decrypting::Wrapping(key));
    }
    for &enc in ContentEnc::ALL {
        all.push(Decrypting::Content(content(enc)));
    }
    for &alg in Pbes2Alg::ALL {
        let key = Password::new(alg, b"password").expect("a password");
        all.push(Decrypting::Password(key.rounds(1_000).expect("enough")));
    }
    all
}

/// Returns the key for `dir` with a content encryption.
pub fn content(enc: ContentEnc) -> ContentKey {
    ContentKey::new(enc, &vec![7; enc.key_bytes()]).expect("a key")
}

/// The keys of one PASETO version, and the wrapping key for PASERKs.
pub struct Paseto<V: Version> {
    pub local: LocalKey<V>,
    pub secret: SecretKey<V>,
    pub wrapping: PaserkWrappingKey<V>,
}

/// Returns the fixed keys of a version. They are not from the official vectors.
pub fn paseto<V: Version>() -> Paseto<V> {
    let decoded = |jwk: &str, member: &str| {
        let jwk: Value = serde_json::from_str(jwk).expect("JSON");
        let text = jwk[member].as_str().expect("there");
        BASE64URL.decode_to_vec(text).expect("base64url")
    };
    let secret = match V::VERSION {
        // PKCS#8 contains PKCS#1 after 26 bytes.
        PaserkVersion::V1 => {
            let key = SigningKey::from_jwk_as(&jwk("RSA", ""), SigAlg::RS256).expect("a key");
            key.to_der().expect("written")[26..].to_vec()
        }
        PaserkVersion::V3 => decoded(&jwk("EC", "P-384"), "d"),
        _ => {
            let jwk = jwk("OKP", "Ed25519");
            [decoded(&jwk, "d"), decoded(&jwk, "x")].concat()
        }
    };
    let text = |form, bytes: &[u8]| {
        let kind = Kind::of(V::VERSION, form);
        Paserk::from_bytes(kind, bytes).expect("a key").to_text()
    };
    let local = text(Form::Local, &[7; 32]);
    Paseto {
        local: LocalKey::from_paserk(&local).expect("a key"),
        secret: SecretKey::from_paserk(&text(Form::Secret, &secret)).expect("a key"),
        wrapping: PaserkWrappingKey::from_paserk(&local).expect("a key"),
    }
}
