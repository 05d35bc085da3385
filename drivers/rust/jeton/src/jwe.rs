//! Claims in a JWE.
//!
//! jeton encrypts bytes. A JWE does not authenticate its sender, so it cannot hold verified claims.
//! The claims are written and read with serde and checked by hand inside the timed loop.

use std::time::{SystemTime, UNIX_EPOCH};

use jeton::danger::{self, Password, Pbes2Alg};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, DecryptionKeys, EncryptionKey, EncryptionKeyRef,
    KeyManagementAlg, KeyWrapAlg, WrappingKey,
};
use jeton_driver_harness::{
    Claims, ClaimsVisitor, DriverError, KeyForm, KeySource, KeyText, Operation, Policy, Pool,
    PrepareRequest, Registered, Rejection, Signer, Verifier, Work, work,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// The key management algorithm with its key.
#[derive(Debug, Clone, Copy)]
enum Management {
    Direct,
    Wrap(KeyWrapAlg),
    Public(KeyManagementAlg),
    Password(Pbes2Alg),
}

/// PBKDF2 iterations: the default of the other libraries, so that equal work is compared. This is
/// far too few to resist password guessing.
const ROUNDS: u32 = 2_048;

/// A key for encryption.
enum Sealing {
    Content(ContentKey),
    Wrapping(WrappingKey),
    Encryption(EncryptionKey),
    Password(Password),
}

pub(crate) fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    match request.pool.clone() {
        Pool::Standard(pool) => with_pool(&request, pool),
        Pool::Map(pool) => with_pool(&request, pool),
        Pool::StandardPaseto(_) => Err(DriverError::invalid("a JWE cannot hold PASETO claims")),
    }
}

fn with_pool<C>(request: &PrepareRequest, pool: Vec<C>) -> Result<Box<dyn Work>, DriverError>
where
    C: Claims + Registered + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let (management, enc) = (management(request)?, enc(request)?);
    let sealer = || {
        let text = match management {
            Management::Public(_) => request.keys.public()?,
            _ => request.keys.private()?,
        };
        let load = move || sealing(&text, management, enc);
        let key = KeySource::new(request.key_handling, load)?;
        Ok::<_, DriverError>(Sealer { key, enc, pool })
    };
    let opener = || {
        let text = request.keys.private()?;
        let load = move || opening(&text, management, enc);
        Ok::<_, DriverError>(Opener {
            key: KeySource::new(request.key_handling, load)?,
            policy: request.policy.clone(),
            claims: PhantomData::<fn() -> C>,
        })
    };
    match request.operation {
        Operation::Encrypt => Ok(work::sign(sealer()?)),
        Operation::Decrypt => work::verify(opener()?, request.tokens.clone()),
        Operation::RoundTrip => Ok(work::round_trip(sealer()?, opener()?)),
        other => Err(DriverError::unsupported(format!(
            "{other:?} does not apply to a JWE"
        ))),
    }
}

struct Sealer<C> {
    key: KeySource<Sealing>,
    enc: ContentEnc,
    pool: Vec<C>,
}

impl<C: Claims + Serialize + Send + Sync> Signer for Sealer<C> {
    type Scratch = Vec<u8>;
    type Token = String;

    fn pool(&self) -> usize {
        self.pool.len()
    }

    fn sign(&self, json: &mut Vec<u8>, index: usize) -> Result<String, String> {
        self.key.with(|key| {
            json.clear();
            serde_json::to_writer(&mut *json, &self.pool[index]).map_err(|e| e.to_string())?;
            let key: EncryptionKeyRef<'_> = match key {
                Sealing::Content(key) => key.into(),
                Sealing::Wrapping(key) => key.into(),
                Sealing::Encryption(key) => key.into(),
                Sealing::Password(password) => password.into(),
            };
            let encrypter = Encrypter::new(key, self.enc).typ("JWT");
            encrypter.encrypt(json).map_err(|error| error.to_string())
        })
    }
}

struct Opener<C> {
    key: KeySource<Decrypter>,
    policy: Policy,
    claims: PhantomData<fn() -> C>,
}

impl<C: Claims + Registered + DeserializeOwned> Verifier for Opener<C> {
    type Scratch = ();

    fn verify<L: ClaimsVisitor>(
        &self,
        _: &mut (),
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        self.key.with(|decrypter| {
            let decrypted = decrypter.decrypt(token).map_err(|e| e.to_string())?;
            let claims = serde_json::from_slice::<C>(decrypted.plaintext());
            let claims = claims.map_err(|error| error.to_string())?;
            self.policy.check(&claims, now_s())?;
            Ok(visit.visit(&claims))
        })
    }
}

/// Generates a key in each operation.
pub(crate) fn generate(request: &PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    let enc = enc(request)?;
    match management(request)? {
        Management::Direct => {
            work::keys(move || ContentKey::generate(enc).map_err(DriverError::failed))
        }
        Management::Wrap(alg) => {
            work::keys(move || WrappingKey::generate(alg).map_err(DriverError::failed))
        }
        Management::Public(alg) => {
            work::keys(move || DecryptionKey::generate(alg).map_err(DriverError::failed))
        }
        Management::Password(_) => Err(DriverError::unsupported("a password cannot be generated")),
    }
}

/// Loads the request's key text in each operation, both halves of a pair.
pub(crate) fn load(request: &PrepareRequest, text: KeyText) -> Result<Box<dyn Work>, DriverError> {
    let (management, enc, private) = (management(request)?, enc(request)?, text.private()?);
    let Management::Public(alg) = management else {
        return work::keys(move || sealing(&private, management, enc));
    };
    let public = text.public()?;
    match text.form {
        KeyForm::Pem => work::keys(move || {
            let private = DecryptionKey::from_pem_as(&private, alg).map_err(DriverError::failed)?;
            let public = EncryptionKey::from_pem_as(&public, alg).map_err(DriverError::failed)?;
            Ok((private, public))
        }),
        _ => work::keys(move || {
            let private = DecryptionKey::from_jwk_as(&private, alg).map_err(DriverError::failed)?;
            let public = EncryptionKey::from_jwk_as(&public, alg).map_err(DriverError::failed)?;
            Ok((private, public))
        }),
    }
}

fn sealing(jwk: &str, management: Management, enc: ContentEnc) -> Result<Sealing, DriverError> {
    let key = match management {
        Management::Direct => ContentKey::from_jwk_as(jwk, enc).map(Sealing::Content),
        Management::Wrap(alg) => WrappingKey::from_jwk_as(jwk, alg).map(Sealing::Wrapping),
        Management::Public(alg) => EncryptionKey::from_jwk_as(jwk, alg).map(Sealing::Encryption),
        Management::Password(alg) => Password::from_jwk_as(jwk, alg)
            .and_then(|password| password.rounds(ROUNDS))
            .map(Sealing::Password),
    };
    key.map_err(DriverError::failed)
}

fn opening(jwk: &str, management: Management, enc: ContentEnc) -> Result<Decrypter, DriverError> {
    let keys: Result<DecryptionKeys, _> = match management {
        Management::Direct => ContentKey::from_jwk_as(jwk, enc).map(Into::into),
        Management::Wrap(alg) => WrappingKey::from_jwk_as(jwk, alg).map(Into::into),
        Management::Public(alg) => DecryptionKey::from_jwk_as(jwk, alg).map(Into::into),
        Management::Password(alg) => Password::from_jwk_as(jwk, alg).map(Into::into),
    };
    let decrypter = Decrypter::new(keys.map_err(DriverError::failed)?);
    Ok(decrypter.allow_only([enc]))
}

fn management(request: &PrepareRequest) -> Result<Management, DriverError> {
    Ok(match request.alg()? {
        "dir" => Management::Direct,
        "RSA1_5" => Management::Public(danger::RSA1_5),
        name => match (name.parse(), name.parse()) {
            (Ok(alg), _) => Management::Wrap(alg),
            (_, Ok(alg)) => Management::Password(alg),
            _ => Management::Public(name.parse().map_err(DriverError::unsupported)?),
        },
    })
}

fn enc(request: &PrepareRequest) -> Result<ContentEnc, DriverError> {
    request.enc()?.parse().map_err(DriverError::unsupported)
}

fn now_s() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0.0, |since| since.as_secs_f64())
}
