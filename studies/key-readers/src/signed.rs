//! A signature that shows which key a reader has read.

/// What the signatures are of.
pub const MESSAGE: &[u8] = b"a message";

/// A signature that only this public key verifies.
pub struct Signed {
    pub alg: &'static str,
    pub key: String,
    pub signature: Vec<u8>,
}
