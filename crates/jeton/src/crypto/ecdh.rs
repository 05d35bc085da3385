//! ECDH on the NIST curves (NIST SP 800-56A) and X25519 (RFC 7748).

use aws_lc_rs::agreement::{
    self as aws, Algorithm, ParsedPublicKey, PrivateKey, UnparsedPublicKey,
};
use curve25519_dalek::montgomery::MontgomeryPoint;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{Curve, random};
use crate::error::{Error, KeyProblem, Result};

/// A group for key agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    P256,
    P384,
    P521,
    X25519,
}

impl Group {
    /// The longest coordinate, and so the longest shared secret, bytes (P-521).
    const BYTES_MAX: usize = 66;

    /// Length of a private key, and of a coordinate, bytes.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Group::P256 | Group::X25519 => 32,
            Group::P384 => 48,
            Group::P521 => 66,
        }
    }

    /// Returns the curve, if public keys are points with two coordinates.
    pub(crate) const fn curve(self) -> Option<Curve> {
        match self {
            Group::P256 => Some(Curve::P256),
            Group::P384 => Some(Curve::P384),
            Group::P521 => Some(Curve::P521),
            Group::X25519 => None,
        }
    }

    /// Length of a public key: an uncompressed point, or a u-coordinate.
    const fn public_bytes(self) -> usize {
        match self {
            Group::X25519 => 32,
            _ => 1 + 2 * self.bytes(),
        }
    }

    fn algorithm(self) -> &'static Algorithm {
        match self {
            Group::P256 => &aws::ECDH_P256,
            Group::P384 => &aws::ECDH_P384,
            Group::P521 => &aws::ECDH_P521,
            Group::X25519 => &aws::X25519,
        }
    }
}

/// A private key, with its public key as bytes.
pub(crate) struct Private {
    group: Group,
    key: PrivateKey,
    secret: Zeroizing<Vec<u8>>,
    public: Vec<u8>,
}

impl Private {
    pub(crate) fn generate(group: Group) -> Result<Private> {
        if group == Group::X25519 {
            // Not an array: it would be moved, and what a move leaves on the stack is copied with the unused bytes of
            // other values.
            let secret = random::secret_bytes(group.bytes())?;
            return Self::from_secret(group, &secret).map_err(|_| Error::Primitive);
        }
        use aws_lc_rs::encoding::{AsBigEndian, EcPrivateKeyBin};
        let key = PrivateKey::generate(group.algorithm()).map_err(|_| Error::Primitive)?;
        let scalar: EcPrivateKeyBin<'_> = key.as_be_bytes().map_err(|_| Error::Primitive)?;
        let secret = Zeroizing::new(scalar.as_ref().to_vec());
        Self::with_secret(group, key, secret).map_err(|_| Error::Primitive)
    }

    /// Creates a key from a scalar of full length. Zero and values that are not below the order are rejected.
    pub(crate) fn from_secret(group: Group, secret: &[u8]) -> Result<Private, KeyProblem> {
        if secret.len() != group.bytes() {
            return Err(KeyProblem::WrongLength);
        }
        let key = PrivateKey::from_private_key(group.algorithm(), secret)
            .map_err(|_| KeyProblem::Invalid)?;
        Self::with_secret(group, key, Zeroizing::new(secret.to_vec()))
    }

    fn with_secret(
        group: Group,
        key: PrivateKey,
        secret: Zeroizing<Vec<u8>>,
    ) -> Result<Private, KeyProblem> {
        let public = key.compute_public_key().map_err(|_| KeyProblem::Invalid)?;
        let public = public.as_ref().to_vec();
        Ok(Private {
            group,
            key,
            secret,
            public,
        })
    }

    pub(crate) fn group(&self) -> Group {
        self.group
    }

    pub(crate) fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// Returns the uncompressed point (4, x, y), or the u-coordinate.
    pub(crate) fn public(&self) -> &[u8] {
        &self.public
    }

    /// Returns the shared secret, or `None` if the groups differ. Also `None` if the secret of X25519 is zero,
    /// which a point of small order causes (RFC 7748, section 6.1).
    pub(crate) fn agree(&self, peer: &Public) -> Option<Zeroizing<Vec<u8>>> {
        let keep = |secret: &[u8]| Ok(Zeroizing::new(secret.to_vec()));
        let secret = aws::agree(&self.key, peer.key.clone(), (), keep).ok()?;
        // Compares all bytes, in constant time.
        let zeros = [0; Group::BYTES_MAX];
        let is_zero = secret.ct_eq(&zeros[..secret.len()]);
        (!bool::from(is_zero)).then_some(secret)
    }
}

/// A public key that is a point on its curve.
#[derive(Clone)]
pub(crate) struct Public {
    group: Group,
    key: ParsedPublicKey,
}

impl Public {
    /// Reads an uncompressed point, or a u-coordinate. Other encodings are rejected.
    pub(crate) fn from_bytes(group: Group, bytes: &[u8]) -> Result<Public, KeyProblem> {
        if bytes.len() != group.public_bytes() {
            return Err(KeyProblem::WrongLength);
        }
        if group.curve().is_some() && bytes[0] != 4 {
            return Err(KeyProblem::Invalid);
        }
        ParsedPublicKey::try_from(UnparsedPublicKey::new(group.algorithm(), bytes))
            .map(|key| Public { group, key })
            .map_err(|_| KeyProblem::Invalid)
    }

    /// Reads a compressed point (SEC 1, section 2.3.3).
    pub(crate) fn from_compressed(group: Group, point: &[u8]) -> Result<Public, KeyProblem> {
        if group.curve().is_none() || point.len() != 1 + group.bytes() {
            return Err(KeyProblem::WrongLength);
        }
        ParsedPublicKey::try_from(UnparsedPublicKey::new(group.algorithm(), point))
            .map(|key| Public { group, key })
            .map_err(|_| KeyProblem::Invalid)
    }

    pub(crate) fn group(&self) -> Group {
        self.group
    }

    /// Whether every shared secret with this key is zero (RFC 7748, section 6.1): the point has small order.
    /// Curves of prime order have no such points.
    pub(crate) fn is_of_small_order(&self) -> bool {
        // 2²⁵⁴ is a multiple of the cofactors of the curve and its twist, but not of the prime factors of
        // their orders. So the result is zero exactly for points of small order.
        match <[u8; 32]>::try_from(self.bytes()) {
            Ok(u) if self.group == Group::X25519 => {
                MontgomeryPoint(u).mul_clamped([0; 32]) == MontgomeryPoint([0; 32])
            }
            _ => false,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.key.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: [Group; 4] = [Group::P256, Group::P384, Group::P521, Group::X25519];

    #[test]
    fn both_sides_agree() {
        for group in GROUPS {
            let [one, two] = [(), ()].map(|()| Private::generate(group).expect("randomness"));
            let [a, b] = [&one, &two]
                .map(|key| Public::from_bytes(group, key.public()).expect("its own point"));
            assert_eq!(one.agree(&b), two.agree(&a));
            assert_eq!(
                one.agree(&b).map(|secret| secret.len()),
                Some(group.bytes())
            );
            let again = Private::from_secret(group, one.secret()).expect("its own secret");
            assert_eq!(again.public(), one.public());
        }
    }

    #[test]
    fn point_off_the_curve_or_in_another_form_is_rejected() {
        for group in &GROUPS[..3] {
            let key = Private::generate(*group).expect("randomness");
            for position in [1, key.public().len() - 1] {
                let mut off = key.public().to_vec();
                off[position] ^= 1;
                assert!(Public::from_bytes(*group, &off).is_err());
            }
            for first in [2, 3, 5, 6, 7] {
                let mut other = key.public().to_vec();
                other[0] = first;
                assert!(Public::from_bytes(*group, &other).is_err());
            }
            assert!(Public::from_bytes(*group, &[0]).is_err());
            assert!(Public::from_bytes(*group, &key.public()[..1 + group.bytes()]).is_err());
            assert!(Private::from_secret(*group, &vec![0; group.bytes()]).is_err());
            assert!(Private::from_secret(*group, &vec![0xff; group.bytes()]).is_err());
        }
    }

    /// All encodings of the points of order 1, 2, 4 and 8 on the curve and its twist, including numbers beyond
    /// the field. Their neighbours do not have small order.
    #[test]
    fn small_order_check_finds_exactly_the_small_order_points() {
        const ORDER_8: [[u8; 32]; 2] = [
            [
                0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f,
                0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16,
                0x5f, 0x49, 0xb8, 0x00,
            ],
            [
                0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83,
                0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd,
                0xd0, 0x9f, 0x11, 0x57,
            ],
        ];
        let p_and = |last: u8| {
            let mut number = [0xff; 32];
            number[0] = last;
            number[31] = 0x7f;
            number
        };
        let mut one = [0; 32];
        one[0] = 1;
        let small = [
            [0; 32],
            one,
            p_and(0xec),
            p_and(0xed),
            p_and(0xee),
            ORDER_8[0],
            ORDER_8[1],
        ];
        let key = Private::generate(Group::X25519).expect("randomness");
        for point in small {
            for high_bit in [0, 0x80] {
                let mut point = point;
                point[31] |= high_bit;
                let public = Public::from_bytes(Group::X25519, &point).expect("32 bytes");
                assert!(public.is_of_small_order(), "{point:?}");
                assert!(key.agree(&public).is_none(), "{point:?}");
            }
            let mut neighbour = point;
            neighbour[0] ^= 4;
            let public = Public::from_bytes(Group::X25519, &neighbour).expect("32 bytes");
            assert!(!public.is_of_small_order(), "{neighbour:?}");
            assert!(key.agree(&public).is_some(), "{neighbour:?}");
        }
        for group in GROUPS {
            let own = Private::generate(group).expect("randomness");
            let public = Public::from_bytes(group, own.public()).expect("its own");
            assert!(!public.is_of_small_order());
        }
    }

    #[test]
    fn agree_with_small_order_point_is_none() {
        let key = Private::generate(Group::X25519).expect("randomness");
        let mut one = [0; 32];
        one[0] = 1;
        for point in [[0; 32], one] {
            let agreed = Public::from_bytes(Group::X25519, &point)
                .ok()
                .and_then(|public| key.agree(&public));
            assert!(agreed.is_none());
        }
    }
}
