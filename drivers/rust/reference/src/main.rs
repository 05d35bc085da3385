//! The lab's references: what stands beside the subjects and is none of them.
//!
//! | format | what it is |
//! |---|---|
//! | `none` | claims as JSON in base64url, without any security: what of a token's cost is encoding |
//! | `opaque` | a random text, and the claims in a table: what it costs to have no token, without the way to the table |
//!
//! Both hold the claims to the policy, as every subject does.

mod opaque;
mod unsecured;

use jeton_driver_harness::{
    Claims, Contract, Driver, KeyHandling, Offer, Order, Pool, Refusal, Registered, Work, serve,
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
            contracts: &[Contract::Sign, Contract::Verify],
            key_handling: &[KeyHandling::Prepared],
            ..Offer::NOTHING
        },
        Offer {
            format: "opaque",
            contracts: &[Contract::Sign, Contract::Verify, Contract::RoundTrip],
            key_handling: &[KeyHandling::Prepared],
            ..Offer::NOTHING
        },
    ];

    fn version() -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn prepare(order: Order) -> Result<Box<dyn Work>, Refusal> {
        match order.pool.clone() {
            Pool::Standard(pool) => prepare(&order, pool),
            Pool::StandardPaseto(_) => Err(Refusal::invalid("these claims are no PASETO's")),
            Pool::Map(pool) => prepare(&order, pool),
        }
    }
}

/// What claims must be to go in and come out again.
trait Travelling:
    Claims + Registered + Clone + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<C> Travelling for C where
    C: Claims + Registered + Clone + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

fn prepare<C: Travelling>(order: &Order, pool: Vec<C>) -> Result<Box<dyn Work>, Refusal> {
    match order.format.as_str() {
        "none" => unsecured::prepare(order, pool),
        _ => opaque::prepare(order, pool),
    }
}

fn now_s() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0.0, |since| since.as_secs_f64())
}
