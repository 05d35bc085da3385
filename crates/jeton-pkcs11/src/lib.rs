//! Keys of the token service in an HSM, over PKCS#11.
//!
//! The server loads the module of the HSM, a shared library, and signs with it. The private key never leaves
//! the HSM. [`PROVIDER`] is what `jeton serve` passes to [`jeton_server`]; a static binary cannot load a
//! library, so only a build with the feature `pkcs11` has it.
//!
//! A module cannot be interrupted, and one process has one connection. So a call that fails closes the
//! connection, and the next call or the thread `jeton-hsm` opens a new one.

mod connection;
mod error;
mod hsm;
mod key;

use std::sync::Arc;

use jeton_server::{HsmKeys, Pkcs11, Pkcs11Provider};

use connection::Connection;
use hsm::Hsm;

/// Opens and checks keys in an HSM.
pub const PROVIDER: Pkcs11Provider = Pkcs11Provider { open, check };

fn open(settings: &Pkcs11) -> Result<Arc<dyn HsmKeys>, String> {
    // Without the file, no later attempt can succeed either.
    connection::pin(settings)?;
    let hsm = Hsm::start(settings).map_err(|error| format!("cannot start a thread: {error}"))?;
    Ok(Arc::new(hsm))
}

/// Makes one signature with each key, and verifies it.
fn check(settings: &Pkcs11) -> Vec<String> {
    let connected = connection::pin(settings)
        .and_then(|pin| Connection::open(settings, &pin).map_err(|error| error.to_string()));
    let connection = match connected {
        Ok(connection) => connection,
        Err(problem) => return vec![problem],
    };
    let keys = settings.keys.iter();
    let problems = keys.filter_map(|key| {
        let problem = connection.check(&key.label, key.alg).err()?;
        Some(format!("{} of {}: {problem}", key.alg.name(), key.issuer))
    });
    let problems = problems.collect();
    connection.close();
    problems
}
