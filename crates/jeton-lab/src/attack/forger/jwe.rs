//! Encryption under any header, by AWS-LC alone.

use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{self, PrivateKey, UnparsedPublicKey};
use aws_lc_rs::cipher::{self, EncryptionContext, PaddedBlockEncryptingKey, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::key_wrap::{self, AesKek, KeyWrap};
use aws_lc_rs::rsa::{self, PublicEncryptingKey, PublicKeyComponents};
use aws_lc_rs::{hmac, pbkdf2};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::jws::{b64, member};

/// What a token is encrypted to: the JWK that the verifier was given, private or symmetric.
#[derive(Debug, Clone)]
pub(in crate::attack) struct RawRecipient {
    pub jwk: Value,
}

/// What the key management came to.
#[derive(Debug, Clone)]
pub(in crate::attack) struct Managed {
    /// Members that the header gets.
    pub header: Map<String, Value>,
    pub encrypted_key: Vec<u8>,
    pub cek: Vec<u8>,
}

/// Changes to an honest header, member by member; `null` takes one away.
pub(in crate::attack) type Changes<'a> = &'a [(&'a str, Value)];

impl RawRecipient {
    /// A token encrypted to this key under `alg` and `enc`, with changes in its header.
    pub(in crate::attack) fn token(
        &self,
        alg: &str,
        enc: &str,
        changes: Changes<'_>,
        plaintext: &[u8],
    ) -> Option<String> {
        let managed = self.manage(alg, enc)?;
        let mut header = json!({"alg": alg, "enc": enc, "typ": "JWT"});
        for (name, value) in &managed.header {
            header[name] = value.clone();
        }
        for (name, value) in changes {
            match value {
                Value::Null => drop(header.as_object_mut().map(|h| h.remove(*name))),
                value => header[*name] = value.clone(),
            }
        }
        under(&header.to_string(), &managed, enc, plaintext)
    }

    /// A content key for `enc`, hidden as `alg` says.
    pub(in crate::attack) fn manage(&self, alg: &str, enc: &str) -> Option<Managed> {
        let cek = random(cek_bytes(enc)?);
        let secret = member(&self.jwk, "k");
        let plain = |encrypted_key, cek| Managed {
            header: Map::new(),
            encrypted_key,
            cek,
        };
        match alg {
            "dir" => Some(plain(Vec::new(), secret)),
            "A128KW" | "A256KW" => Some(plain(wrap(&secret, &cek)?, cek)),
            "A128GCMKW" | "A256GCMKW" => {
                let iv = random(12);
                let (wrapped, tag) = gcm(&secret, &iv, b"", &cek)?;
                let mut managed = plain(wrapped, cek);
                managed.header.insert("iv".into(), b64(iv).into());
                managed.header.insert("tag".into(), b64(tag).into());
                Some(managed)
            }
            "RSA-OAEP" | "RSA-OAEP-256" | "RSA1_5" => {
                let wrapped =
                    rsa_wrap(alg, &member(&self.jwk, "n"), &member(&self.jwk, "e"), &cek)?;
                Some(plain(wrapped, cek))
            }
            "ECDH-ES" => {
                let (epk, z) = agree(&self.jwk)?;
                let mut managed = plain(Vec::new(), concat_kdf(&z, enc, cek.len()));
                managed.header.insert("epk".into(), epk);
                Some(managed)
            }
            _ => {
                let rounds = 1000;
                let salt = random(16);
                let kek = password_key(alg, &secret, &salt, rounds)?;
                let mut managed = plain(wrap(&kek, &cek)?, cek);
                managed.header.insert("p2s".into(), b64(salt).into());
                managed.header.insert("p2c".into(), rounds.into());
                Some(managed)
            }
        }
    }
}

/// A token under exactly this header, which is authentic.
pub(in crate::attack) fn under(
    header: &str,
    managed: &Managed,
    enc: &str,
    plaintext: &[u8],
) -> Option<String> {
    under_text(&b64(header), managed, enc, plaintext)
}

/// The same for a header that may be no base64url at all.
pub(in crate::attack) fn under_text(
    protected: &str,
    managed: &Managed,
    enc: &str,
    plaintext: &[u8],
) -> Option<String> {
    let (iv, ciphertext, tag) = seal(enc, &managed.cek, protected.as_bytes(), plaintext)?;
    let parts = [managed.encrypted_key.as_slice(), &iv, &ciphertext, &tag].map(b64);
    Some(format!("{protected}.{}", parts.join(".")))
}

/// Nonce, ciphertext and tag.
pub(in crate::attack) fn seal(
    enc: &str,
    cek: &[u8],
    aad: &[u8],
    plaintext: &[u8],
) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    if enc.ends_with("GCM") {
        let iv = random(12);
        let (ciphertext, tag) = gcm(cek, &iv, aad, plaintext)?;
        return Some((iv, ciphertext, tag));
    }
    let (algorithm, cipher) = match enc {
        "A128CBC-HS256" => (hmac::HMAC_SHA256, &cipher::AES_128),
        "A256CBC-HS512" => (hmac::HMAC_SHA512, &cipher::AES_256),
        _ => return None,
    };
    let (mac_key, cipher_key) = cek.split_at_checked(cek.len() / 2)?;
    let iv = random(16);
    let fixed: [u8; 16] = iv.as_slice().try_into().ok()?;
    let mut ciphertext = plaintext.to_vec();
    let key = UnboundCipherKey::new(cipher, cipher_key).ok()?;
    PaddedBlockEncryptingKey::cbc_pkcs7(key)
        .ok()?
        .less_safe_encrypt(
            &mut ciphertext,
            EncryptionContext::Iv128(FixedLength::from(fixed)),
        )
        .ok()?;
    let mut context = hmac::Context::with_key(&hmac::Key::new(algorithm, mac_key));
    let aad_bits = (aad.len() as u64 * 8).to_be_bytes();
    for part in [aad, &iv, &ciphertext, &aad_bits] {
        context.update(part);
    }
    let tag = context.sign().as_ref()[..mac_key.len()].to_vec();
    Some((iv, ciphertext, tag))
}

/// How long the content key of an encryption is.
pub(in crate::attack) fn cek_bytes(enc: &str) -> Option<usize> {
    Some(match enc {
        "A128GCM" => 16,
        "A192GCM" => 24,
        "A256GCM" | "A128CBC-HS256" => 32,
        "A256CBC-HS512" => 64,
        _ => return None,
    })
}

/// Bytes from the system's generator.
pub(in crate::attack) fn random(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    // AWS-LC's generator ends the process before it would give nothing.
    let _ = aws_lc_rs::rand::fill(&mut bytes);
    bytes
}

fn gcm(key: &[u8], iv: &[u8], aad: &[u8], plaintext: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let algorithm = match key.len() {
        16 => &aead::AES_128_GCM,
        32 => &aead::AES_256_GCM,
        _ => return None,
    };
    let key = LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?);
    let mut data = plaintext.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(iv).ok()?;
    let tag = key
        .seal_in_place_separate_tag(nonce, Aad::from(aad), &mut data)
        .ok()?;
    Some((data, tag.as_ref().to_vec()))
}

fn wrap(kek: &[u8], cek: &[u8]) -> Option<Vec<u8>> {
    let algorithm = match kek.len() {
        16 => &key_wrap::AES_128,
        32 => &key_wrap::AES_256,
        _ => return None,
    };
    let mut wrapped = vec![0; cek.len() + 8];
    AesKek::new(algorithm, kek)
        .ok()?
        .wrap(cek, &mut wrapped)
        .ok()?;
    Some(wrapped)
}

fn rsa_wrap(alg: &str, n: &[u8], e: &[u8], cek: &[u8]) -> Option<Vec<u8>> {
    let key: PublicEncryptingKey = PublicKeyComponents { n, e }.try_into().ok()?;
    let mut wrapped = vec![0; n.len()];
    let oaep = match alg {
        "RSA-OAEP" => &rsa::OAEP_SHA1_MGF1SHA1,
        "RSA-OAEP-256" => &rsa::OAEP_SHA256_MGF1SHA256,
        _ => {
            let key = rsa::Pkcs1PublicEncryptingKey::new(key).ok()?;
            key.encrypt(cek, &mut wrapped).ok()?;
            return Some(wrapped);
        }
    };
    let key = rsa::OaepPublicEncryptingKey::new(key).ok()?;
    key.encrypt(oaep, cek, &mut wrapped, None).ok()?;
    Some(wrapped)
}

/// An ephemeral key on P-256, and what it shares with the recipient.
fn agree(recipient: &Value) -> Option<(Value, Vec<u8>)> {
    let ephemeral = PrivateKey::generate(&agreement::ECDH_P256).ok()?;
    let public = ephemeral.compute_public_key().ok()?;
    let (x, y) = public.as_ref().get(1..)?.split_at_checked(32)?;
    let epk = json!({"kty": "EC", "crv": "P-256", "x": b64(x), "y": b64(y)});
    let point = [
        &[4],
        member(recipient, "x").as_slice(),
        &member(recipient, "y"),
    ]
    .concat();
    let peer = UnparsedPublicKey::new(&agreement::ECDH_P256, point);
    let z = agreement::agree(&ephemeral, peer, (), |z| Ok(z.to_vec())).ok()?;
    Some((epk, z))
}

/// One round of the Concat KDF (RFC 7518, section 4.6.2), which is enough for 32 bytes.
pub(in crate::attack) fn concat_kdf(z: &[u8], enc: &str, bytes: usize) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(1_u32.to_be_bytes());
    hash.update(z);
    hash.update(u32::try_from(enc.len()).unwrap_or_default().to_be_bytes());
    hash.update(enc);
    hash.update([0; 8]);
    hash.update(u32::try_from(bytes * 8).unwrap_or_default().to_be_bytes());
    hash.finalize()[..bytes.min(32)].to_vec()
}

/// RFC 7518, section 4.8.1.1: the algorithm's name stands before the salt.
fn password_key(alg: &str, password: &[u8], salt: &[u8], rounds: u32) -> Option<Vec<u8>> {
    let (algorithm, bytes) = match alg {
        "PBES2-HS256+A128KW" => (pbkdf2::PBKDF2_HMAC_SHA256, 16),
        "PBES2-HS512+A256KW" => (pbkdf2::PBKDF2_HMAC_SHA512, 32),
        _ => return None,
    };
    let salt = [alg.as_bytes(), &[0], salt].concat();
    let mut key = vec![0; bytes];
    pbkdf2::derive(
        algorithm,
        rounds.try_into().ok()?,
        &salt,
        password,
        &mut key,
    );
    Some(key)
}
