//! Operations on claims and tokens: sign, verify and round trip, for every format.

use crate::check::{Check, Typed, Untyped};
use crate::issue::{self, Issue};
use jeton::{Cached, Verify};
use jeton_driver_harness::{DriverError, KeySource, Operation, Pool, PrepareRequest, Work, work};

/// The number of tokens that a cache holds.
const CACHED: usize = 64;

/// Prepares the request's operation, with what signs its tokens, verifies them, or both.
pub(crate) fn prepare<K: Issue, V: Check + Verify>(
    request: PrepareRequest,
    issuer: impl Fn() -> Result<K, DriverError> + Send + Sync + 'static,
    verifier: impl Fn() -> Result<V, DriverError> + Send + Sync + 'static,
) -> Result<Box<dyn Work>, DriverError> {
    let (handling, pool) = (request.key_handling, request.pool);
    match request.operation {
        Operation::Sign | Operation::Encrypt => {
            issue::prepare(KeySource::new(handling, issuer)?, pool)
        }
        Operation::Verify if request.caches => {
            let cached = move || Cached::new(verifier()?, CACHED).map_err(DriverError::failed);
            let source = KeySource::new(handling, cached)?;
            crate::check::prepare(source, pool, request.tokens)
        }
        Operation::Verify | Operation::Decrypt => {
            crate::check::prepare(KeySource::new(handling, verifier)?, pool, request.tokens)
        }
        Operation::RoundTrip => {
            let (issuer, verifier) = (
                KeySource::new(handling, issuer)?,
                KeySource::new(handling, verifier)?,
            );
            Ok(match pool {
                Pool::Standard(pool) => {
                    work::round_trip(issue::typed(issuer, pool)?, Typed(verifier))
                }
                Pool::StandardPaseto(pool) => {
                    work::round_trip(issue::typed(issuer, pool)?, Typed(verifier))
                }
                Pool::Map(pool) => {
                    work::round_trip(issue::untyped(issuer, pool)?, Untyped(verifier))
                }
            })
        }
        other => Err(DriverError::unsupported(format!(
            "{other:?} is not supported"
        ))),
    }
}
