use super::suite::Suite;
#[cfg(feature = "legacy")]
use super::{v1, v2};
use super::{v3, v4};
use crate::paserk;

/// A version of PASETO as a type parameter. It prevents using a key of one version as one of another.
///
/// Implemented by [`v3::V3`](super::v3::V3), [`v4::V4`](super::v4::V4), and the two deprecated versions in
/// [`danger`](crate::danger). Sealed.
///
/// ```
/// use jeton::paserk::PaserkVersion;
/// use jeton::paseto::{LocalKey, Version, v3, v4};
///
/// fn version<V: Version>(_: &LocalKey<V>) -> PaserkVersion {
///     V::VERSION
/// }
///
/// assert_eq!(version(&v3::LocalKey::generate()?), PaserkVersion::V3);
/// assert_eq!(version(&v4::LocalKey::generate()?), PaserkVersion::V4);
/// # Ok::<_, jeton::Error>(())
/// ```
pub trait Version: sealed::Sealed + Send + Sync + 'static {
    /// The version as a value.
    const VERSION: paserk::PaserkVersion;
}

mod sealed {
    use super::Suite;

    pub trait Sealed {
        fn suite() -> &'static Suite;
    }
}

#[cfg(feature = "legacy")]
impl sealed::Sealed for v1::V1 {
    fn suite() -> &'static Suite {
        &v1::SUITE
    }
}

#[cfg(feature = "legacy")]
impl sealed::Sealed for v2::V2 {
    fn suite() -> &'static Suite {
        &v2::SUITE
    }
}

impl sealed::Sealed for v3::V3 {
    fn suite() -> &'static Suite {
        &v3::SUITE
    }
}

impl sealed::Sealed for v4::V4 {
    fn suite() -> &'static Suite {
        &v4::SUITE
    }
}

#[cfg(feature = "legacy")]
impl Version for v1::V1 {
    const VERSION: paserk::PaserkVersion = paserk::PaserkVersion::V1;
}

#[cfg(feature = "legacy")]
impl Version for v2::V2 {
    const VERSION: paserk::PaserkVersion = paserk::PaserkVersion::V2;
}

impl Version for v3::V3 {
    const VERSION: paserk::PaserkVersion = paserk::PaserkVersion::V3;
}

impl Version for v4::V4 {
    const VERSION: paserk::PaserkVersion = paserk::PaserkVersion::V4;
}
