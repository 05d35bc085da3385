use super::suite::Suite;
use crate::paserk_kind::PaserkVersion;

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
    const VERSION: PaserkVersion;
}

pub(super) mod sealed {
    use super::Suite;

    pub trait Sealed {
        fn suite() -> &'static Suite;
    }
}
