//! The native module of jeton's library for Node. Its functions are private: the classes in `sdk/node/src` call them.
//!
//! Each function returns its result, or `false` if it failed. `failure` then returns the code and the message of the
//! error. A rejected token therefore creates no error object and no stack trace here.

mod arguments;
mod call;
mod handle;
#[cfg(feature = "test-hooks")]
mod hooks;
mod issuing;
mod keys;
mod module;
mod numbers;
mod outputs;
mod pool;
mod remote;
mod state;
mod verified;
mod verifying;
