//! AES-256 in counter mode (NIST SP 800-38A, section 6.5). It encrypts without authentication.

use aws_lc_rs::cipher::{AES_256, DecryptingKey, DecryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;

use crate::error::{Error, Result};

pub(crate) const KEY_BYTES: usize = 32;
/// Length of the initial counter block. It is incremented as a big-endian number of 128 bits.
pub(crate) const COUNTER_BYTES: usize = 16;

/// Encrypts or decrypts in place; both are the same operation.
pub(crate) fn apply(
    key: &[u8; KEY_BYTES],
    counter: &[u8; COUNTER_BYTES],
    data: &mut [u8],
) -> Result<()> {
    // AWS-LC chooses the counter block itself when encrypting; decrypting accepts one from the caller.
    UnboundCipherKey::new(&AES_256, key)
        .and_then(DecryptingKey::ctr)
        .and_then(|cipher| {
            let counter = DecryptionContext::Iv128(FixedLength::from(counter));
            cipher.decrypt(data, counter).map(drop)
        })
        .map_err(|_| Error::Primitive)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [
        0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77,
        0x81, 0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7, 0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14,
        0xdf, 0xf4,
    ];

    #[test]
    fn nist_sp_800_38a_f_5_5() {
        let counter: [u8; 16] = std::array::from_fn(|i| 0xf0 + i as u8);
        let mut block = [
            0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93,
            0x17, 0x2a,
        ];
        apply(&KEY, &counter, &mut block).expect("short");
        assert_eq!(
            block,
            [
                0x60, 0x1e, 0xc3, 0x13, 0x77, 0x57, 0x89, 0xa5, 0xb7, 0xa7, 0xf5, 0x04, 0xbb, 0xf3,
                0xd2, 0x28
            ]
        );
    }

    #[test]
    fn counter_carries_over_all_bits() {
        // From the last counter value to zero, and across a carry out of the lower 32 bits.
        let mut carry = [0; 16];
        carry[11] = 1;
        for (last, next) in [
            ([0xff; 16], [0; 16]),
            (
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
                carry,
            ),
        ] {
            let mut both = [0; 32];
            apply(&KEY, &last, &mut both).expect("short");
            let mut second = [0; 16];
            apply(&KEY, &next, &mut second).expect("short");
            assert_eq!(both[16..], second);
        }
    }
}
