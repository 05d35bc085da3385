//! Claims to tokens, tokens to claims, and there and back: the same ways under each contract.

use crate::check::{Check, Typed, Untyped};
use crate::mint::{self, Issue};
use jeton_driver_harness::{Contract, Held, Order, Pool, Refusal, Work, work};

/// Prepares the contract of an order with what makes its tokens, or opens them, or both.
pub(crate) fn prepare<K: Issue, V: Check>(
    order: Order,
    issuer: impl Fn() -> Result<K, Refusal> + Send + Sync + 'static,
    verifier: impl Fn() -> Result<V, Refusal> + Send + Sync + 'static,
) -> Result<Box<dyn Work>, Refusal> {
    let (handling, pool) = (order.key_handling, order.pool);
    match order.contract {
        Contract::Sign | Contract::Encrypt => mint::prepare(Held::new(handling, issuer)?, pool),
        Contract::Verify | Contract::Decrypt => {
            crate::check::prepare(Held::new(handling, verifier)?, pool, order.tokens)
        }
        Contract::RoundTrip => {
            let (issuer, verifier) = (Held::new(handling, issuer)?, Held::new(handling, verifier)?);
            Ok(match pool {
                Pool::Standard(pool) => {
                    work::round_trip(mint::typed(issuer, pool)?, Typed(verifier))
                }
                Pool::StandardPaseto(pool) => {
                    work::round_trip(mint::typed(issuer, pool)?, Typed(verifier))
                }
                Pool::Map(pool) => {
                    work::round_trip(mint::untyped(issuer, pool)?, Untyped(verifier))
                }
            })
        }
        other => Err(Refusal::unsupported(format!("no {other:?} here"))),
    }
}
