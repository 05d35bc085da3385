//! The primitives, each behind the few operations that jeton needs. Everything here works on keys
//! that are ready and on bytes; nothing knows a token.

pub(crate) mod ed25519;
pub(crate) mod random;
