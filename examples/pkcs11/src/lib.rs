//! A signer for jeton with PKCS#11: the private key stays in the HSM.
//!
//! ```no_run
//! use std::time::Duration;
//! use jeton::Claims;
//! use jeton::key::SigAlg;
//! use jeton_example_pkcs11::Hsm;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hsm = Hsm::open("/usr/lib/softhsm/libsofthsm2.so", "demo", "1234")?;
//! let signer = hsm.signer("tokens-2026", SigAlg::ES256)?;
//! let token = signer.issue(&Claims::new(()).issuer("i").expires_in(Duration::from_mins(5)))?;
//! # Ok(())
//! # }
//! ```

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;
use jeton::error::RemoteError;
use jeton::key::{SigAlg, VerifyingKey};
use jeton::remote::{RemoteKey, RemoteSigner, SignRemotely, Signature, SigningInput};

/// A session with one token of an HSM, logged in.
pub struct Hsm {
    session: Session,
}

/// P-256 as PKCS#11 encodes it: the DER of its object identifier.
const P256: [u8; 10] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];

impl Hsm {
    /// Loads the module and logs in to the token with this label.
    ///
    /// # Errors
    ///
    /// If the module cannot be loaded, no token has the label, or the PIN is wrong.
    pub fn open(module: impl AsRef<Path>, token: &str, pin: &str) -> Result<Hsm, Box<dyn Error>> {
        let pkcs11 = Pkcs11::new(module)?;
        pkcs11.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))?;
        for slot in pkcs11.get_slots_with_initialized_token()? {
            if pkcs11.get_token_info(slot)?.label() == token {
                let session = pkcs11.open_rw_session(slot)?;
                session.login(UserType::User, Some(&AuthPin::new(pin.into())))?;
                return Ok(Hsm { session });
            }
        }
        Err("no token has that label".into())
    }

    /// Generates a key pair in the token. The private key cannot be exported.
    ///
    /// # Errors
    ///
    /// If the algorithm is not RS256, PS256 or ES256, or if the token returns an error.
    pub fn generate(&self, label: &str, alg: SigAlg) -> Result<(), Box<dyn Error>> {
        let (mechanism, kind) = match alg {
            SigAlg::RS256 | SigAlg::PS256 => (
                Mechanism::RsaPkcsKeyPairGen,
                vec![
                    Attribute::ModulusBits(2048.into()),
                    Attribute::PublicExponent(vec![1, 0, 1]),
                ],
            ),
            SigAlg::ES256 => (
                Mechanism::EccKeyPairGen,
                vec![Attribute::EcParams(P256.to_vec())],
            ),
            _ => return Err("this example knows RS256, PS256 and ES256".into()),
        };
        let name = Attribute::Label(label.into());
        let public = [
            vec![
                name.clone(),
                Attribute::Token(true),
                Attribute::Verify(true),
            ],
            kind,
        ];
        let private = [
            name,
            Attribute::Token(true),
            Attribute::Private(true),
            Attribute::Sensitive(true),
            Attribute::Extractable(false),
            Attribute::Sign(true),
        ];
        self.session
            .generate_key_pair(&mechanism, &public.concat(), &private)?;
        Ok(())
    }

    /// Returns the public key with this label for an algorithm. The label becomes its key id.
    ///
    /// # Errors
    ///
    /// If no key has the label, or if the key is not for the algorithm.
    pub fn public(&self, label: &str, alg: SigAlg) -> Result<VerifyingKey, Box<dyn Error>> {
        let key = self.find(ObjectClass::PUBLIC_KEY, label)?;
        let encode = |bytes: &[u8]| base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes);
        let (mut modulus, mut exponent, mut point) = (None, None, None);
        let wanted = match alg {
            SigAlg::ES256 => vec![AttributeType::EcPoint],
            _ => vec![AttributeType::Modulus, AttributeType::PublicExponent],
        };
        for attribute in self.session.get_attributes(key, &wanted)? {
            match attribute {
                Attribute::Modulus(bytes) => modulus = Some(bytes),
                Attribute::PublicExponent(bytes) => exponent = Some(bytes),
                Attribute::EcPoint(bytes) => point = Some(bytes),
                _ => {}
            }
        }
        let jwk = match (modulus, exponent, point.as_deref()) {
            (Some(n), Some(e), _) => {
                serde_json::json!({"kty": "RSA", "n": encode(&n), "e": encode(&e)})
            }
            // An OCTET STRING with the uncompressed point.
            (_, _, Some([0x04, 0x41, 0x04, coordinates @ ..])) if coordinates.len() == 64 => {
                let (x, y) = coordinates.split_at(32);
                serde_json::json!({"kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y)})
            }
            _ => return Err("the key is not one for that algorithm".into()),
        };
        Ok(VerifyingKey::from_jwk_as(&jwk.to_string(), alg)?.with_key_id(label)?)
    }

    /// Returns a key that signs in the token.
    ///
    /// # Errors
    ///
    /// Like [`public`](Hsm::public).
    pub fn signer(self, label: &str, alg: SigAlg) -> Result<RemoteSigner, Box<dyn Error>> {
        self.signer_with_salt(label, alg, None)
    }

    /// Returns a signer that uses a wrong PSS salt length, to test that its signatures are detected.
    ///
    /// # Errors
    ///
    /// Like [`public`](Hsm::public).
    pub fn signer_with_salt(
        self,
        label: &str,
        alg: SigAlg,
        salt_bytes: Option<usize>,
    ) -> Result<RemoteSigner, Box<dyn Error>> {
        let public = self.public(label, alg)?;
        let key = self.find(ObjectClass::PRIVATE_KEY, label)?;
        Ok(RemoteKey::new(public).with_signer(InToken {
            session: Mutex::new(self.session),
            key,
            salt_bytes,
        }))
    }

    fn find(&self, class: ObjectClass, label: &str) -> Result<ObjectHandle, Box<dyn Error>> {
        let template = [Attribute::Class(class), Attribute::Label(label.into())];
        match self.session.find_objects(&template)?.as_slice() {
            [one] => Ok(*one),
            [] => Err("no key has that label".into()),
            _ => Err("several keys have that label".into()),
        }
    }
}

impl fmt::Debug for Hsm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hsm").finish_non_exhaustive()
    }
}

/// A private key in a token, and its session, which one caller can use at a time.
struct InToken {
    session: Mutex<Session>,
    key: ObjectHandle,
    salt_bytes: Option<usize>,
}

impl InToken {
    fn ask(&self, input: &SigningInput<'_>) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let session = self
            .session
            .lock()
            .map_err(|_| "a signer before panicked")?;
        let digest = input.digest().ok_or("not an algorithm of this example")?;
        Ok(match (input.alg(), input.salt_bytes()) {
            // The token hashes, pads and signs.
            (SigAlg::RS256, _) => {
                session.sign(&Mechanism::Sha256RsaPkcs, self.key, input.message())?
            }
            (SigAlg::PS256, Some(salt_bytes)) => {
                let pss = PkcsPssParams {
                    hash_alg: MechanismType::SHA256,
                    mgf: PkcsMgfType::MGF1_SHA256,
                    s_len: u64::try_from(self.salt_bytes.unwrap_or(salt_bytes))?.into(),
                };
                session.sign(&Mechanism::Sha256RsaPkcsPss(pss), self.key, input.message())?
            }
            // The token signs a digest and returns r‖s.
            (SigAlg::ES256, _) => session.sign(&Mechanism::Ecdsa, self.key, &digest)?,
            _ => return Err("not an algorithm of this example".into()),
        })
    }
}

impl SignRemotely for InToken {
    fn sign(&self, input: &SigningInput<'_>) -> jeton::Result<Signature> {
        // The error keeps the cause as its source, for the operator's log.
        let bytes = self.ask(input).map_err(RemoteError::not_signed)?;
        Ok(Signature::Fixed(bytes))
    }
}
