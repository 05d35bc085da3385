//! Replies: what a function returns to Java.
//!
//! A reply is a byte array: the status, the length of the content, and the content. Both numbers have four bytes in
//! little-endian order. The status 0 is success. Otherwise the content is the name of the code, a line feed and the
//! message.

use jeton_bindings::Fault;
use jni_sys::jbyteArray;

use crate::env::Env;

/// The status and the length.
pub(crate) const HEAD: usize = 8;

/// The maximum length of a message in bytes.
const MESSAGE_BYTES: usize = 400;

/// A reply that is not yet an array of the JVM.
pub(crate) enum Reply {
    /// Success without content.
    Done,
    /// The handle of a new value.
    Handle(i64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Bytes that contain a secret and are wiped.
    Secret(zeroize::Zeroizing<Vec<u8>>),
    /// The array of the caller, which already has the reply.
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
    /// Returns the reply as an array.
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

/// Returns the reply of a failed call.
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

/// Returns the head of a reply.
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

/// Returns the array of the caller if it has room for this many bytes, or a new array.
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
