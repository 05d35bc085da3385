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
/// use jeton::paserk;
/// use jeton::paseto::{LocalKey, Version, v3, v4};
///
/// fn version<V: Version>(_: &LocalKey<V>) -> paserk::Version {
///     V::VERSION
/// }
///
/// assert_eq!(version(&v3::LocalKey::generate()?), paserk::Version::V3);
/// assert_eq!(version(&v4::LocalKey::generate()?), paserk::Version::V4);
/// # Ok::<_, jeton::Error>(())
/// ```
pub trait Version: sealed::Sealed + Send + Sync + 'static {
    /// The version as a value.
    const VERSION: paserk::Version;
}

mod sealed {
    use super::Suite;

    pub trait Sealed {
        fn suite() -> &'static Suite;
    }
}

macro_rules! versions {
    ($($(#[$feature:meta])? $version:ident in $module:ident;)*) => {$(
        $(#[$feature])?
        impl sealed::Sealed for $module::$version {
            fn suite() -> &'static Suite {
                &$module::SUITE
            }
        }

        $(#[$feature])?
        impl Version for $module::$version {
            const VERSION: paserk::Version = paserk::Version::$version;
        }
    )*};
}

versions! {
    #[cfg(feature = "legacy")] V1 in v1;
    #[cfg(feature = "legacy")] V2 in v2;
    V3 in v3;
    V4 in v4;
}
