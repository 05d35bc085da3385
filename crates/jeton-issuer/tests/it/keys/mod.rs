//! Keys: rotation, import and the published set.

mod imported_keys;
mod key_set;
mod remote_keys;
mod rotation;
