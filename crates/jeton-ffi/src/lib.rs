//! The C interface of jeton. `include/jeton.h` declares it, and `docs/ffi.md` explains ownership, threads, errors and
//! versions.
//!
//! All keys, issuers and verifiers are handles: opaque, immutable, reference-counted and usable from any thread.
//! Settings are JSON text, so that new settings do not change the interface. Tokens and claims are written to the
//! caller's buffers.
//!
//! Each function catches panics and then returns `INTERNAL`.

mod argument;
mod buffer;
mod bytes;
mod call_time;
mod claims;
mod clock;
mod code;
mod guard;
mod handle;
#[cfg(feature = "test-hooks")]
mod hooks;
mod issuer;
mod key;
mod key_export;
mod key_import;
mod key_set;
mod prepared;
mod reason;
mod references;
mod remote_keys;
#[cfg(feature = "test-hooks")]
pub mod script;
mod unverified;
mod verifier;
mod version;

pub use buffer::{JetonBuffer, jeton_buffer_free};
pub use bytes::{jeton_issue_bytes, jeton_verify_bytes};
pub use call_time::JETON_USE_CLOCK;
pub use claims::{JETON_CLAIMS_MAX, JetonClaim, JetonRange, JetonVerified};
pub use clock::{JetonClock, jeton_clock_new, jeton_clock_set};
pub use code::{JetonCode, NUMBERS, jeton_code_name};
#[cfg(feature = "test-hooks")]
pub use hooks::jeton_test_panic_next;
pub use issuer::{JetonIssuer, jeton_issue, jeton_issue_bound, jeton_issuer_new};
pub use key::{JetonKey, jeton_key_generate, jeton_key_public, jeton_key_warm_up};
pub use key_export::jeton_key_export;
pub use key_import::jeton_key_import;
pub use key_set::{JetonKeySet, jeton_key_set_export, jeton_key_set_import, jeton_key_set_new};
pub use prepared::{JetonPrepared, jeton_attach, jeton_prepare, jeton_prepared_input};
pub use reason::{JETON_MESSAGE_BYTES, JetonReason};
pub use references::{jeton_release, jeton_retain};
pub use remote_keys::{
    JetonRemoteKeys, jeton_remote_keys_new, jeton_remote_keys_next, jeton_remote_keys_ready,
    jeton_remote_keys_respond,
};
pub use unverified::jeton_unverified;
pub use verifier::{
    JetonVerifier, jeton_verified_header, jeton_verifier_new, jeton_verify, jeton_verify_bound,
};
pub use version::{JETON_ABI_VERSION, jeton_abi_version};
