//! One test for each known attack on PASETO verifiers, for local and public tokens, with generated keys. Each
//! test first checks that the original token is accepted.

mod claims;
mod keys;
mod paserks;
mod support;
mod tokens;
mod versions;
