//! One test for each known attack on JWS verifiers, for every algorithm that it applies to, with generated keys.
//! Each test first checks that the original token is accepted.

mod claims;
mod extensions;
mod headers;
mod json_form;
mod keys;
mod secrets;
mod signatures;
mod support;
mod unprotected;
