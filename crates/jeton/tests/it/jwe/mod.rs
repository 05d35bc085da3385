//! JWE: encrypted bytes.

mod attacks;
mod keys;
