//! The keys that the lab gives every server.

use std::fs;
use std::path::Path;

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

use crate::arguments::Arguments;

/// The secret of HS256 has at least as many bytes as the hash (RFC 7518, section 3.2).
const SECRET_BYTES: usize = 32;

/// The kid of ES256, as in the report.
const KID: &str = "report";

/// The claims of a token.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) sub: String,
    pub(crate) iat: u64,
    pub(crate) exp: u64,
}

/// One pair for each algorithm.
pub(crate) struct Keys {
    hs256: Pair,
    es256: Pair,
}

/// Signs and verifies with one algorithm.
pub(crate) struct Pair {
    header: Header,
    private: EncodingKey,
    public: DecodingKey,
    validation: Validation,
}

impl Keys {
    pub(crate) fn load(files: &Arguments) -> Result<Self, String> {
        let secret = read(&files.hs256)?;
        if secret.len() < SECRET_BYTES {
            return Err(format!(
                "{}: the secret has {} bytes, HS256 requires at least {SECRET_BYTES}",
                files.hs256.display(),
                secret.len()
            ));
        }
        let no_secret = |why| format!("{}: {why}", files.hs256.display());
        let private = EncodingKey::from_ec_pem(&read(&files.es256)?);
        let public = DecodingKey::from_ec_pem(&read(&files.es256_public)?);
        let no_key = |file: &Path| format!("{}: not a P-256 key in PEM", file.display());
        Ok(Self {
            hs256: Pair {
                header: Header::new(Algorithm::HS256),
                private: EncodingKey::from_secret(&secret).map_err(no_secret)?,
                public: DecodingKey::from_secret(&secret).map_err(no_secret)?,
                validation: Validation::new(Algorithm::HS256),
            },
            es256: Pair {
                header: Header {
                    kid: Some(KID.to_owned()),
                    ..Header::new(Algorithm::ES256)
                },
                private: private.map_err(|_| no_key(&files.es256))?,
                public: public.map_err(|_| no_key(&files.es256_public))?,
                validation: Validation::new(Algorithm::ES256),
            },
        })
    }

    /// Returns the pair of the algorithm with that name.
    pub(crate) fn of(&self, algorithm: &str) -> Option<&Pair> {
        match algorithm {
            "HS256" => Some(&self.hs256),
            "ES256" => Some(&self.es256),
            _ => None,
        }
    }
}

impl Pair {
    pub(crate) fn sign(&self, claims: &Claims) -> jsonwebtoken::errors::Result<String> {
        encode(&self.header, claims, &self.private)
    }

    pub(crate) fn verify(&self, token: &str) -> jsonwebtoken::errors::Result<Claims> {
        decode(token, &self.public, &self.validation).map(|verified| verified.claims)
    }
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|e| format!("{}: {e}", file.display()))
}
