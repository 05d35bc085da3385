use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// Fills a buffer from the random number generator of the operating system.
///
/// No state is kept between calls, so a process that forks cannot use a nonce twice. It takes a third of the
/// time of AWS-LC's generator.
#[cfg(any(feature = "jwe", feature = "paseto"))]
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|_| Error::Primitive)
}

/// Fills a buffer from AWS-LC's random number generator. Without encryption there are no nonces, only new keys.
#[cfg(not(any(feature = "jwe", feature = "paseto")))]
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    aws_lc_rs::rand::fill(bytes).map_err(|_| Error::Primitive)
}

/// Returns a new secret of this length, at an address that does not change when its owner is moved.
pub(crate) fn secret_bytes(length: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; length]);
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Returns a new secret of `N` bytes.
pub(crate) fn secret<const N: usize>() -> Result<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    fill(bytes.as_mut_slice())?;
    Ok(bytes)
}
