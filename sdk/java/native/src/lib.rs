//! The native library of jeton for Java: the functions of `io.github.jeton.internal.Native`.
//!
//! Only numbers and byte arrays cross. A function takes its input as byte arrays with their lengths, and returns a
//! reply: a byte array that begins with a status (see the module `reply`). No function throws, unless the JVM has no
//! memory for a reply.
//!
//! A handle is the address of a value of the library. The Java classes count the calls that use it, and release it
//! once, after the last call.

mod clock;
mod env;
mod guard;
mod handle;
#[cfg(feature = "test-hooks")]
mod hooks;
mod issuer;
mod key;
mod key_set;
mod prepared;
mod remote_keys;
mod reply;
mod verified;
mod verifier;
mod version;
