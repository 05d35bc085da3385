//! Replies: what a function returns to Java.
//!
//! A reply is a byte array: the status, the length of what follows the status and the length, and that. Numbers have four bytes,
//! the lowest first. The status 0 says that the call succeeded. Otherwise the rest is the name of the code, a line feed and the
//! message.

use jeton_bindings::Fault;
use jni_sys::jbyteArray;

use crate::env::Env;

/// The status and the length.
pub(crate) const HEAD: usize = 8;

/// A message has at most this many bytes.
const MESSAGE_BYTES: usize = 400;

/// A reply before it is an array of the JVM.
pub(crate) enum Reply {
    /// Nothing but success.
    Done,
    /// The handle of a new value.
    Handle(i64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Bytes that contain a secret, and are wiped.
    Secret(zeroize::Zeroizing<Vec<u8>>),
    /// The array of the caller, in which the reply is already.
    Written(jbyteArray),
}

impl From<()> for Reply {
    fn from((): ()) -> Reply {
        Reply::Done
    }
}

impl From<Vec<u8>> for Reply {
    fn from(bytes: Vec<u8>) -> Reply {
        Reply::Bytes(bytes)
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Reply {
        Reply::Bytes(text.into_bytes())
    }
}

impl Reply {
    /// Makes the array.
    pub(crate) fn into_array(self, env: Env) -> jbyteArray {
        match self {
            Reply::Written(array) => array,
            Reply::Done => array(env, 0, &[]),
            Reply::Handle(handle) => array(env, 0, &handle.to_le_bytes()),
            Reply::Bytes(bytes) => array(env, 0, &bytes),
            Reply::Secret(bytes) => array(env, 0, &bytes),
        }
    }
}

/// The array for a call that failed.
#[cold]
pub(crate) fn failure(env: Env, fault: &Fault) -> jbyteArray {
    let mut text = format!("{}\n{fault}", fault.code().name());
    let mut end = text.len().min(MESSAGE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    array(env, 1, text.as_bytes())
}

/// The head of a reply.
pub(crate) fn head(status: u32, length: usize) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&status.to_le_bytes());
    head[4..].copy_from_slice(&(length as u32).to_le_bytes());
    head
}

fn array(env: Env, status: u32, bytes: &[u8]) -> jbyteArray {
    let array = env.new_array(HEAD + bytes.len());
    if !array.is_null() {
        env.write(array, 0, &head(status, bytes.len()));
        env.write(array, HEAD, bytes);
    }
    array
}

/// The array of the caller if it has room for this many bytes, or else a new one.
pub(crate) fn room(
    env: Env,
    offered: jbyteArray,
    capacity: usize,
    needed: usize,
) -> Option<jbyteArray> {
    if !offered.is_null() && needed <= capacity {
        return Some(offered);
    }
    let array = env.new_array(needed);
    (!array.is_null()).then_some(array)
}
