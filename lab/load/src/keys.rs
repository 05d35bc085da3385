//! The keys of a run: generated for the run, given to every server, and deleted with the run.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use zeroize::Zeroizing;

use jeton_lab_model::servers::Algorithm;

/// The length of the secret: as many bytes as HS256 requires, as text that any server can read.
/// Each character has six bits, 192 bits in total.
const SECRET_CHARACTERS: usize = 32;

/// A secret for HS256 and a key pair for ES256, in a separate folder.
#[derive(Debug)]
pub(super) struct Keys {
    folder: PathBuf,
    /// The key for ES256, with which the lab signs the tokens for gateways.
    pub(super) signing: SigningKey,
}

impl Keys {
    /// Generates both and writes them to `folder`, readable only by this user.
    ///
    /// # Errors
    ///
    /// A sentence, if the files cannot be written.
    pub(super) fn make(folder: &Path) -> Result<Self, String> {
        let failed = |e: jeton::Error| format!("cannot generate the keys of the run: {e}");
        let random = MacKey::generate(MacAlg::HS256).map_err(failed)?;
        let jwk = random.to_jwk();
        // The `k` of the JWK has 43 base64url characters: the first 32 are the secret.
        let value: serde_json::Value =
            serde_json::from_str(&jwk).map_err(|e| format!("secret of the run: {e}"))?;
        let k = value["k"].as_str().unwrap_or_default();
        let secret = Zeroizing::new(
            k.as_bytes()
                .get(..SECRET_CHARACTERS)
                .unwrap_or_default()
                .to_vec(),
        );
        let mac = MacKey::new(MacAlg::HS256, &secret).map_err(failed)?;
        let signing = es256().map_err(failed)?;
        let public = signing.verifying_key().to_pem().map_err(failed)?;
        let jwks = format!(r#"{{"keys":[{}]}}"#, signing.verifying_key().to_jwk());
        let private = signing.to_pem().map_err(failed)?;
        let private_jwk = signing.to_jwk().map_err(failed)?;
        let keys = Self {
            folder: folder.to_owned(),
            signing,
        };
        let mac = mac.with_key_id("report-mac").map_err(failed)?.to_jwk();
        for (name, content) in [
            ("hs256", secret.as_slice()),
            ("hs256_jwk", mac.as_bytes()),
            ("es256", private.as_bytes()),
            ("es256_public", public.as_bytes()),
            ("es256_jwk", private_jwk.as_bytes()),
            ("es256_jwks", jwks.as_bytes()),
        ] {
            write_secret(&keys.file(name), content)?;
        }
        Ok(keys)
    }

    /// The placeholders of the files in a manifest.
    pub(crate) const FILES: [&'static str; 6] = [
        "hs256",
        "hs256_jwk",
        "es256",
        "es256_jwk",
        "es256_public",
        "es256_jwks",
    ];

    /// Returns the file with that placeholder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the file for verifying tokens of this algorithm; none if the run has no key for it.
    pub(crate) fn checker_file(&self, algorithm: Algorithm) -> Option<PathBuf> {
        match algorithm {
            Algorithm::Hs256 => Some(self.file("hs256")),
            Algorithm::Es256 => Some(self.file("es256_public")),
            Algorithm::Rs256 | Algorithm::EdDsa | Algorithm::V4Public | Algorithm::V4Local => None,
        }
    }
}

/// Returns a new key. Another one has the same key id, and signs forged tokens.
pub(super) fn es256() -> jeton::Result<SigningKey> {
    SigningKey::generate(SigAlg::ES256)?.with_key_id("report")
}

pub(super) fn write_secret(path: &Path, content: &[u8]) -> Result<(), String> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(content))
        .map_err(|e| format!("cannot write {}: {e}", path.display()))
}
