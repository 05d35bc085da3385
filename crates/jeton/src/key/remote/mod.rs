//! What a remote key signs and returns. [`remote`](crate::remote) has the keys and the documentation.

mod input;
mod prepared;
mod signer;

pub use input::{Signature, SigningInput};
pub use prepared::Prepared;
pub use signer::{RemoteSigner, SignRemotely};

pub(crate) use input::RemoteVerifier;
