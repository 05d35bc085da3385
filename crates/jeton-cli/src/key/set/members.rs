use std::path::PathBuf;

use clap::Args;
use zeroize::Zeroizing;

use crate::algorithm::{self, Algorithm};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{AnyKey, KEY_ERROR_PREFIX, KeyFile, KeyPassword};

/// How the keys for a set are read.
#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    /// Key id (`kid`) for the only key without one [default: its thumbprint (RFC 7638)]
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    kid: Option<String>,

    /// Algorithm for keys without `alg` (RSA)
    #[arg(long, value_name = "NAME", value_parser = algorithm::any(), hide_possible_values = true)]
    alg: Option<Algorithm>,

    /// Accept symmetric keys. The set is then secret and must not be published
    #[arg(long)]
    symmetric: bool,

    #[command(flatten)]
    password: KeyPassword,
}

/// A key for a set.
pub(super) struct Member {
    pub(super) kid: String,
    pub(super) thumbprint: String,
    pub(super) is_secret: bool,
    pub(super) jwk: Zeroizing<String>,
}

impl KeyArgs {
    /// Returns whether symmetric keys are accepted.
    pub(super) fn accepts_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Reads the keys. Of a private key, the public key is taken. A key of a set that cannot be used is noted.
    pub(super) fn read(&self, paths: &[PathBuf]) -> Outcome<Vec<Member>> {
        let mut members = Vec::new();
        for path in paths {
            let file = KeyFile::read_encrypted(path, &self.password)?;
            members.extend(file.each_as(|key| self.member(key))?);
        }
        match (&self.kid, members.len()) {
            (Some(_), count @ 2..) => Err(Failure::error(format!(
                "--kid is for one key, and these are {count} keys"
            ))
            .hint("remove `--kid`")),
            _ => Ok(members),
        }
    }

    fn member(&self, file: &KeyFile) -> Outcome<Member> {
        let name = file.name();
        // The algorithm is for keys that name and imply none, as with several keys for a verifier.
        let alg = self.alg.filter(|_| !file.names_algorithm());
        let public = file.any_public(alg);
        let public = match alg {
            None => public,
            Some(_) => public.or_else(|failure| file.any_public(None).map_err(|_| failure)),
        };
        let (key, is_secret) = match public? {
            Some(public) => (public, false),
            None if self.symmetric => (file.any(alg)?, true),
            None => {
                return Err(Failure::error(format!(
                    "{name}: a symmetric key (kty oct): everyone who reads the set could sign with it"
                ))
                .hint("if nobody else reads the set, add `--symmetric`"));
            }
        };
        let thumbprint = key.thumbprint();
        let kid = match (&self.kid, key.key_id()) {
            (Some(kid), Some(own)) if kid != own => {
                return Err(Failure::error(format!(
                    "{name}: {KEY_ERROR_PREFIX}kid: differs from --kid"
                ))
                .hint("remove `--kid`"));
            }
            (_, Some(own)) => own.to_owned(),
            (Some(kid), None) => kid.clone(),
            (None, None) if is_secret => {
                // Tokens would publish the thumbprint, which is a hash of the secret.
                return Err(Failure::error(format!(
                    "{name}: a symmetric key in a set needs a key id (kid)"
                ))
                .hint("add `--kid ID`"));
            }
            (None, None) => thumbprint.clone(),
        };
        let failed = |error: jeton::Error| Failure::error(format!("{name}: {error}"));
        let key = key.with_key_id(&kid).map_err(failed)?;
        let jwk = match &key {
            AnyKey::Verifying(key) => Zeroizing::new(key.to_jwk_with_use()),
            AnyKey::Encryption(key) => Zeroizing::new(for_encryption(&key.to_jwk())),
            key => key.to_jwk().map_err(failed)?,
        };
        Ok(Member {
            kid,
            thumbprint,
            is_secret,
            jwk,
        })
    }
}

/// Adds `use` to the JWK of an encryption key, so that verifiers ignore it.
fn for_encryption(jwk: &str) -> String {
    match jwk.strip_prefix('{') {
        Some(members) if !members.contains("\"use\":") => format!("{{\"use\":\"enc\",{members}"),
        _ => jwk.to_owned(),
    }
}
