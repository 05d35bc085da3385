//! One prepared operation, and the two traits that nearly every driver implements: [`Signer`] and
//! [`Verifier`].

use crate::claims::{Claims, ClaimsVisitor};
use crate::error::DriverError;
use serde_json::Value;
use std::hint::black_box;

/// Why a token was rejected, as one line of text.
pub type Rejection = String;

/// A prepared operation: everything that can be computed once is computed. Shared by all threads.
pub trait Work: Send + Sync {
    /// Returns the token for the claims at `index`, made on the timed path.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if this was not prepared to sign or `index` is outside the pool,
    /// [`DriverError::Failed`] if the library failed.
    fn token(&self, index: usize) -> Result<String, DriverError> {
        let _ = index;
        Err(DriverError::invalid("prepared to verify, not to sign"))
    }

    /// Verifies `token` on the timed path. Returns the claims, or `null` if the operation decodes
    /// none.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if this was not prepared to verify.
    fn verify(&self, token: &str) -> Result<Result<Value, Rejection>, DriverError> {
        let _ = token;
        Err(DriverError::invalid("prepared to sign, not to verify"))
    }

    /// Returns the function that one thread runs. It takes a number of operations, does them from
    /// the start of the pool, and returns their checksum. It is called once for a single operation
    /// before the clock starts, so that its buffers have grown.
    fn start(&self) -> Box<dyn FnMut(u64) -> Result<u64, String> + '_>;
}

/// Signs the tokens of its pool.
pub trait Signer: Send + Sync {
    /// What a careful user keeps from one call to the next. One per thread.
    type Scratch: Default;
    /// The token.
    type Token: AsRef<str>;

    /// Returns the number of claims in the pool; never zero.
    fn pool(&self) -> usize;

    /// Returns the token for the claims at `index`.
    ///
    /// # Errors
    ///
    /// The library's error.
    fn sign(&self, scratch: &mut Self::Scratch, index: usize) -> Result<Self::Token, String>;
}

/// Verifies tokens.
pub trait Verifier: Send + Sync {
    /// What a careful user keeps from one call to the next. One per thread.
    type Scratch: Default;

    /// Verifies `token` and passes the claims to `visit`.
    ///
    /// # Errors
    ///
    /// The library's error.
    fn verify<L: ClaimsVisitor>(
        &self,
        scratch: &mut Self::Scratch,
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection>;
}

/// Returns work that makes a token and verifies it.
#[must_use]
pub fn round_trip(
    signer: impl Signer + 'static,
    verifier: impl Verifier + 'static,
) -> Box<dyn Work> {
    Box::new(RoundTripWork {
        signing: Signing(signer),
        verifier,
    })
}

/// Returns work that makes or loads a key in each operation. `make` is called once here, so that a
/// bad text fails in `prepare`.
///
/// # Errors
///
/// The error of `make`.
pub fn keys<K: 'static>(
    make: impl Fn() -> Result<K, DriverError> + Send + Sync + 'static,
) -> Result<Box<dyn Work>, DriverError> {
    make()?;
    Ok(Box::new(KeyMaking(make)))
}

/// Returns work that signs or encrypts.
#[must_use]
pub fn sign(signer: impl Signer + 'static) -> Box<dyn Work> {
    Box::new(Signing(signer))
}

/// Returns work that verifies or decrypts the tokens of a pool, repeatedly.
///
/// # Errors
///
/// [`DriverError::Invalid`] if the pool is empty.
pub fn verify(
    verifier: impl Verifier + 'static,
    tokens: Vec<String>,
) -> Result<Box<dyn Work>, DriverError> {
    if tokens.is_empty() {
        return Err(DriverError::invalid("verify needs at least one token"));
    }
    Ok(Box::new(Verifying { verifier, tokens }))
}

/// Returns what a signed token adds to the checksum.
#[inline]
#[must_use]
pub fn token_checksum(token: &[u8]) -> u64 {
    token.len() as u64 + u64::from(token.last().copied().unwrap_or(0))
}

/// Returns what verified claims add to the checksum.
#[inline]
#[must_use]
pub fn claims_checksum(claims: &impl Claims) -> u64 {
    let last = claims.jti().and_then(|jti| jti.as_bytes().last());
    last.map_or(1, |byte| u64::from(*byte))
}

/// Sums `operation` over `iterations`, cycling through a pool of `pool` entries.
///
/// # Errors
///
/// The first error of `operation`.
#[inline]
pub fn over_pool(
    iterations: u64,
    pool: usize,
    mut operation: impl FnMut(usize) -> Result<u64, String>,
) -> Result<u64, String> {
    let (mut sum, mut index) = (0_u64, 0);
    for _ in 0..iterations {
        sum = sum.wrapping_add(operation(index)?);
        index += 1;
        if index == pool {
            index = 0;
        }
    }
    Ok(sum)
}

struct Signing<S>(S);

impl<S: Signer> Work for Signing<S> {
    fn token(&self, index: usize) -> Result<String, DriverError> {
        if index >= self.0.pool() {
            return Err(DriverError::invalid("no claims at this index"));
        }
        let token = self.0.sign(&mut S::Scratch::default(), index);
        Ok(token.map_err(DriverError::Failed)?.as_ref().to_owned())
    }

    fn start(&self) -> Box<dyn FnMut(u64) -> Result<u64, String> + '_> {
        let (signer, pool) = (&self.0, self.0.pool());
        let mut scratch = S::Scratch::default();
        Box::new(move |iterations| {
            over_pool(iterations, pool, |index| {
                let token = signer.sign(&mut scratch, index)?;
                Ok(token_checksum(black_box(token.as_ref().as_bytes())))
            })
        })
    }
}

struct Verifying<V> {
    verifier: V,
    tokens: Vec<String>,
}

impl<V: Verifier> Work for Verifying<V> {
    fn verify(&self, token: &str) -> Result<Result<Value, Rejection>, DriverError> {
        let mut scratch = V::Scratch::default();
        Ok(self
            .verifier
            .verify(&mut scratch, token, Repeat)
            .and_then(|claims| claims))
    }

    fn start(&self) -> Box<dyn FnMut(u64) -> Result<u64, String> + '_> {
        let mut scratch = V::Scratch::default();
        Box::new(move |iterations| {
            over_pool(iterations, self.tokens.len(), |index| {
                self.verifier
                    .verify(&mut scratch, &self.tokens[index], Checksum)
            })
        })
    }
}

struct RoundTripWork<S, V> {
    signing: Signing<S>,
    verifier: V,
}

impl<S: Signer, V: Verifier> Work for RoundTripWork<S, V> {
    fn token(&self, index: usize) -> Result<String, DriverError> {
        self.signing.token(index)
    }

    fn start(&self) -> Box<dyn FnMut(u64) -> Result<u64, String> + '_> {
        let (signer, pool) = (&self.signing.0, self.signing.0.pool());
        let (mut making, mut opening) = (S::Scratch::default(), V::Scratch::default());
        Box::new(move |iterations| {
            over_pool(iterations, pool, |index| {
                let token = signer.sign(&mut making, index)?;
                let token = black_box(token.as_ref());
                let opened = self.verifier.verify(&mut opening, token, Checksum)?;
                Ok(token_checksum(token.as_bytes()).wrapping_add(opened))
            })
        })
    }
}

struct KeyMaking<F>(F);

impl<K, F: Fn() -> Result<K, DriverError> + Send + Sync> Work for KeyMaking<F> {
    fn start(&self) -> Box<dyn FnMut(u64) -> Result<u64, String> + '_> {
        Box::new(move |iterations| {
            over_pool(iterations, 1, |_| {
                let key = (self.0)().map_err(|error| format!("{error:?}"))?;
                black_box(&key);
                Ok(1)
            })
        })
    }
}

/// The visitor of the timed path.
struct Checksum;

impl ClaimsVisitor for Checksum {
    type Output = u64;

    #[inline]
    fn visit<C: Claims>(self, claims: &C) -> u64 {
        claims_checksum(black_box(claims))
    }
}

/// The visitor of the `verify` request: returns the claims as JSON.
struct Repeat;

impl ClaimsVisitor for Repeat {
    type Output = Result<Value, Rejection>;

    fn visit<C: Claims>(self, claims: &C) -> Self::Output {
        serde_json::to_value(claims).map_err(|error| error.to_string())
    }
}
