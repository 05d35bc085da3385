//! One test for each known attack on JWE. All keys are generated here.

mod algorithms;
mod bytes;
mod co_recipient;
mod compression;
mod json_form;
mod key_agreement;
mod key_wrapping;
mod literal;
mod nested;
mod passwords;
mod rsa;
mod sizes;
mod support;
mod unprotected;
