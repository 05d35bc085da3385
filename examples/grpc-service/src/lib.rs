//! The messages of the service. The test `generated` checks the code in `generated/`.

/// The package `greeter.v1`.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used)]
pub mod greeter {
    include!("generated/greeter.v1.rs");
}
