//! The lab's references: shown beside the subjects, but not subjects themselves.
//!
//! | format | what it is |
//! |---|---|
//! | `none` | claims as JSON in base64url, without any security: the encoding part of a token's cost |
//! | `opaque` | a random text, and the claims in a table: the cost without a token, not counting the network |
//!
//! Both check the policy, as every subject does.

mod opaque;
mod unsecured;

use jeton_driver_harness::{
    Claims, Driver, DriverError, KeyHandling, Offer, Operation, Pool, PrepareRequest, Registered,
    Work, serve,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::{SystemTime, UNIX_EPOCH};

fn main() -> std::io::Result<()> {
    serve::<Reference>()
}

struct Reference;

impl Driver for Reference {
    const LIBRARY: &'static str = "reference";
    const OFFERS: &'static [Offer] = &[
        Offer {
            format: "none",
            operations: &[Operation::Sign, Operation::Verify],
            key_handling: &[KeyHandling::Prepared],
            ..Offer::NOTHING
        },
        Offer {
            format: "opaque",
            operations: &[Operation::Sign, Operation::Verify, Operation::RoundTrip],
            key_handling: &[KeyHandling::Prepared],
            ..Offer::NOTHING
        },
    ];

    fn version() -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
        match request.pool.clone() {
            Pool::Standard(pool) => prepare(&request, pool),
            Pool::StandardPaseto(_) => Err(DriverError::invalid("PASETO claims are not supported")),
            Pool::Map(pool) => prepare(&request, pool),
        }
    }
}

/// Claims that can be written, read and checked.
trait ClaimsSet:
    Claims + Registered + Clone + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<C> ClaimsSet for C where
    C: Claims + Registered + Clone + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

fn prepare<C: ClaimsSet>(
    request: &PrepareRequest,
    pool: Vec<C>,
) -> Result<Box<dyn Work>, DriverError> {
    match request.format.as_str() {
        "none" => unsecured::prepare(request, pool),
        _ => opaque::prepare(request, pool),
    }
}

fn now_s() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0.0, |since| since.as_secs_f64())
}
