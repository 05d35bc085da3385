//! Version 4: XChaCha20 and BLAKE2b for `local`, Ed25519 for `public`
//! (PASETO, "Version 4"). The version for everybody who is not bound to NIST's algorithms.

mod local;
mod public;

pub use super::Verifier;
pub use local::LocalKey;
pub use public::{PublicKey, SecretKey};
