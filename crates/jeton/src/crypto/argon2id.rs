//! Argon2id, version 1.3 (RFC 9106).

use argon2::{Algorithm, Argon2, Block, Params, Version};
use zeroize::{Zeroize, Zeroizing};

use crate::error::{Error, Result};

/// Derives a key from a password. The caller has checked the cost limits.
pub(crate) fn derive(
    password: &[u8],
    salt: &[u8],
    memory_kib: u32,
    passes: u32,
    lanes: u32,
) -> Result<Zeroizing<[u8; 32]>> {
    let params = Params::new(memory_kib, passes, lanes, Some(32)).map_err(|_| Error::Primitive)?;
    // If the memory is not available, return an error instead of aborting the process.
    let mut blocks: Vec<Block> = Vec::new();
    blocks
        .try_reserve_exact(params.block_count())
        .map_err(|_| Error::Primitive)?;
    blocks.resize(params.block_count(), Block::new());
    let mut key = Zeroizing::new([0; 32]);
    let derived = Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(password, salt, key.as_mut_slice(), &mut blocks);
    blocks.iter_mut().for_each(Zeroize::zeroize);
    derived.map_err(|_| Error::Primitive)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vector of the reference implementation (`test.c`): 64 MiB, two passes, one lane.
    #[test]
    fn reference_implementation_test_vector() {
        let key = derive(b"password", b"somesalt", 65536, 2, 1).expect("memory");
        assert_eq!(
            key[..16],
            [
                0x09, 0x31, 0x61, 0x15, 0xd5, 0xcf, 0x24, 0xed, 0x5a, 0x15, 0xa3, 0x1a, 0x3b, 0xa3,
                0x26, 0xe5
            ]
        );
    }
}
