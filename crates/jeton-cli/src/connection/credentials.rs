//! Certificates and bearer tokens for calls to a server.

use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::input;

/// The largest PEM file, bytes.
const PEM_BYTES: usize = 1024 * 1024;
/// The largest bearer token file, bytes.
const BEARER_BYTES: usize = 64 * 1024;

/// Reads a bearer token.
pub(super) fn bearer_token(file: &Path) -> Outcome<Zeroizing<String>> {
    let bytes = input::key_bytes(file, BEARER_BYTES)?;
    match std::str::from_utf8(&bytes).map(str::trim) {
        Ok("") => Err(wrong(file, "no token, only whitespace")),
        Ok(token) => Ok(Zeroizing::new(token.to_owned())),
        Err(_) => Err(wrong(file, "not a token: not UTF-8 text")),
    }
}

/// Reads a PEM file with one or more certificates.
pub(super) fn certificates(file: &Path) -> Outcome<Vec<u8>> {
    let bytes = input::key_bytes(file, PEM_BYTES)?;
    let mut certificates = CertificateDer::pem_slice_iter(&bytes).peekable();
    let is_good = certificates.peek().is_some() && certificates.all(|one| one.is_ok());
    if is_good {
        Ok(bytes.to_vec())
    } else {
        Err(wrong(file, "no valid PEM certificate"))
    }
}

/// Reads a PEM file with a private key.
pub(super) fn private_key(file: &Path) -> Outcome<Vec<u8>> {
    let bytes = input::key_bytes(file, PEM_BYTES)?;
    match PrivateKeyDer::from_pem_slice(&bytes) {
        Ok(_) => Ok(bytes.to_vec()),
        Err(_) => Err(wrong(file, "no valid PEM private key")),
    }
}

fn wrong(file: &Path, what: &str) -> Failure {
    Failure::error(format!("{}: {what}", input::name_of(file)))
}
