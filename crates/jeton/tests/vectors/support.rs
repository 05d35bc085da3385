//! Shared by the vector tests: the path of the vectors, and keys from JWKs that may be private.

#![allow(clippy::disallowed_methods, reason = "a test reads files")]

use std::fs;
use std::path::PathBuf;

use jeton::key::{Keys, MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};
use libtest_mimic::Failed;
use serde_json::Value;

pub(crate) fn text(path: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../vectors")
        .join(path);
    fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

pub(crate) fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A verification key from a symmetric, private or public JWK.
pub(crate) fn verification_keys(jwk: &Value, alg: &str) -> jeton::Result<Keys> {
    let text = jwk.to_string();
    if let Ok(alg) = alg.parse::<MacAlg>() {
        return Ok(MacKey::from_jwk_as(&text, alg)?.into());
    }
    let alg = alg.parse::<SigAlg>().expect("a signature algorithm");
    if jwk.get("d").is_some() {
        return Ok(SigningKey::from_jwk_as(&text, alg)?.verifying_key().into());
    }
    Ok(VerifyingKey::from_jwk_as(&text, alg)?.into())
}

/// A test of a module. Names are unique in their module.
pub(crate) struct Trial {
    name: String,
    run: Box<dyn FnOnce() -> Result<(), Failed> + Send>,
}

impl Trial {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The test with its full name, `module::name`.
    pub(crate) fn named_in(self, module: &str) -> libtest_mimic::Trial {
        libtest_mimic::Trial::test(format!("{module}::{}", self.name), self.run)
    }
}

/// A named test.
pub(crate) fn trial(
    name: impl Into<String>,
    run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let (name, run) = (name.into(), Box::new(run));
    Trial { name, run }
}

pub(crate) fn check(holds: bool, what: &str) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(what.into()) }
}
