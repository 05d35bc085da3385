use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// Fills a buffer from the operating system's generator.
///
/// Nothing is kept between calls, so a process that forks cannot give one nonce twice.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|_| Error::Primitive)
}

/// A fresh secret of that many bytes, which do not move when their owner does.
pub(crate) fn secret_bytes(length: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; length]);
    fill(&mut bytes)?;
    Ok(bytes)
}

/// A fresh secret of `N` bytes.
pub(crate) fn secret<const N: usize>() -> Result<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    fill(bytes.as_mut_slice())?;
    Ok(bytes)
}
