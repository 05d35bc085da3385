/// How long a new RSA key is. A longer one signs more slowly, in about the third power of its length.
///
/// ```
/// use jeton::key::{RsaSize, SigAlg, SigningKey};
/// let key = SigningKey::generate_rsa(SigAlg::PS256, RsaSize::Bits3072)?;
/// assert_eq!(RsaSize::of_bits(3072), Some(RsaSize::Bits3072));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RsaSize {
    /// 2,048 bits: today's minimum (RFC 7518, sections 3.3 and 4.2).
    #[default]
    Bits2048,
    /// 3,072 bits: as strong as 128 bits are (NIST SP 800-57, table 2).
    Bits3072,
    /// 4,096 bits.
    Bits4096,
    /// 8,192 bits: seconds to make, and the largest that is read.
    Bits8192,
}

impl RsaSize {
    /// Every size.
    pub const ALL: [RsaSize; 4] = [
        RsaSize::Bits2048,
        RsaSize::Bits3072,
        RsaSize::Bits4096,
        RsaSize::Bits8192,
    ];

    /// The length of the modulus, bits.
    pub const fn bits(self) -> usize {
        match self {
            RsaSize::Bits2048 => 2048,
            RsaSize::Bits3072 => 3072,
            RsaSize::Bits4096 => 4096,
            RsaSize::Bits8192 => 8192,
        }
    }

    /// The size with a modulus of so many bits, if there is one.
    pub fn of_bits(bits: usize) -> Option<RsaSize> {
        RsaSize::ALL.into_iter().find(|size| size.bits() == bits)
    }
}
