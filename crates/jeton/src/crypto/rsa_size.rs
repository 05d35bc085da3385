/// The size of a new RSA key. The time to sign grows with about the third power of the size.
///
/// ```
/// use jeton::key::{RsaSize, SigAlg, SigningKey};
/// let key = SigningKey::generate_rsa(SigAlg::PS256, RsaSize::Bits3072)?;
/// assert_eq!(RsaSize::from_bits(3072), Some(RsaSize::Bits3072));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RsaSize {
    /// 2,048 bits: the minimum (RFC 7518, sections 3.3 and 4.2).
    #[default]
    Bits2048,
    /// 3,072 bits: a security strength of 128 bits (NIST SP 800-57, table 2).
    Bits3072,
    /// 4,096 bits.
    Bits4096,
    /// 8,192 bits: takes seconds to generate. Larger keys are rejected.
    Bits8192,
}

impl RsaSize {
    /// All sizes.
    pub const ALL: &'static [RsaSize] = &[
        RsaSize::Bits2048,
        RsaSize::Bits3072,
        RsaSize::Bits4096,
        RsaSize::Bits8192,
    ];

    /// Returns the length of the modulus, bits.
    pub const fn bits(self) -> usize {
        match self {
            RsaSize::Bits2048 => 2048,
            RsaSize::Bits3072 => 3072,
            RsaSize::Bits4096 => 4096,
            RsaSize::Bits8192 => 8192,
        }
    }

    /// Returns the size with this number of bits, if there is one.
    pub fn from_bits(bits: usize) -> Option<RsaSize> {
        RsaSize::ALL
            .iter()
            .copied()
            .find(|size| size.bits() == bits)
    }
}
