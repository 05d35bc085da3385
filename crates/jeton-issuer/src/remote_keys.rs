//! Keys of issuers that are held outside the store, for example in an HSM.
//!
//! The store has the public key, which is published and verified with on every node. A node signs with the
//! private key through [`RemoteKeys`].

use std::fmt;
use std::sync::Arc;

use jeton::error::RemoteError;
use jeton::key::{SigAlg, VerifyingKey};
use jeton::remote::{RemoteKey, RemoteSigner, SignRemotely, Signature, SigningInput};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::seal::KeyEncryptionKey;

/// Keys that sign outside the store.
pub trait RemoteKeys: Send + Sync + fmt::Debug {
    /// Returns the key that the operator names for this issuer and kind, or why it is not known yet. `None`:
    /// the node generates keys of that kind. Returns at once.
    fn named(&self, iss: &str, kind: KeyKind) -> Option<Result<NamedKey, String>>;

    /// Signs with the key of that label, and waits for the signature.
    ///
    /// # Errors
    ///
    /// Why there is no signature, for the operator and the caller.
    fn sign(
        &self,
        label: &str,
        public: &VerifyingKey,
        input: &SigningInput<'_>,
    ) -> Result<Signature, String>;

    /// Returns why keys cannot sign at present, if they cannot. Returns at once.
    fn fault(&self) -> Option<String>;
}

/// A key that an operator names.
#[derive(Debug, Clone)]
pub struct NamedKey {
    /// The name of the key where it is held.
    pub label: String,
    /// The public key.
    pub public: VerifyingKey,
}

/// What the node needs to read private keys from the store.
#[derive(Debug)]
pub(crate) struct KeyReader {
    /// The first one encrypts.
    pub(crate) keks: Vec<KeyEncryptionKey>,
    pub(crate) remote: Option<Arc<dyn RemoteKeys>>,
}

/// A remote key as the store has it, encrypted like a private key: nobody who writes to the store can replace
/// the public key.
#[derive(Serialize, Deserialize)]
pub(crate) struct RemoteRecord {
    remote: RemoteText,
}

#[derive(Serialize, Deserialize)]
struct RemoteText {
    label: String,
    public: Value,
}

const NOT_CONFIGURED: &str =
    "the configuration of this server has no [pkcs11], and the key is in an HSM";

/// The key of a signer, and where it signs.
struct Held {
    keys: Option<Arc<dyn RemoteKeys>>,
    label: String,
    public: VerifyingKey,
}

impl SignRemotely for Held {
    fn sign(&self, input: &SigningInput<'_>) -> jeton::Result<Signature> {
        let signed = match &self.keys {
            Some(keys) => keys.sign(&self.label, &self.public, input),
            None => Err(NOT_CONFIGURED.to_owned()),
        };
        signed.map_err(|why| RemoteError::not_signed(why).into())
    }
}

/// Returns a signer for a named key. Its id is the thumbprint of the public key.
pub(crate) fn signer(keys: Option<Arc<dyn RemoteKeys>>, named: NamedKey) -> Result<RemoteSigner> {
    let kid = named.public.thumbprint();
    let public = named.public.with_key_id(&kid)?;
    let held = Held {
        keys,
        label: named.label,
        public: public.clone(),
    };
    Ok(RemoteKey::new(public).with_signer(held))
}

impl RemoteRecord {
    pub(crate) fn to_text(label: &str, signer: &RemoteSigner) -> Result<String> {
        let public = signer.verifying_key().to_jwk();
        let public = serde_json::from_str(&public).map_err(|_| damaged())?;
        let label = label.to_owned();
        let record = RemoteRecord {
            remote: RemoteText { label, public },
        };
        serde_json::to_string(&record).map_err(|_| damaged())
    }

    /// Reads the text of a record. `None`: it is a private key.
    pub(crate) fn read(alg: SigAlg, text: &str) -> Result<Option<NamedKey>> {
        let Ok(RemoteRecord { remote }) = serde_json::from_str(text) else {
            return Ok(None);
        };
        let public = VerifyingKey::from_jwk_as(&remote.public.to_string(), alg)?;
        Ok(Some(NamedKey {
            label: remote.label,
            public,
        }))
    }
}

fn damaged() -> Error {
    Error::Record("of a remote key".to_owned())
}
