//! The native part of jeton's library for Node. Its functions are private: the classes in `sdk/node/src` call them.
//!
//! Each function returns its result, or `false`. Then `failure` returns the code and the message of the error. A rejected
//! token thus costs no error object and no stack here.

mod arguments;
mod call;
mod handle;
mod issuing;
mod keys;
mod module;
mod numbers;
mod outputs;
mod pool;
mod remote;
mod state;
mod verifying;
