//! The list of versions.

use super::suite::Suite;
use super::version::{Version, sealed};
#[cfg(feature = "legacy")]
use super::{v1, v2};
use super::{v3, v4};
use crate::paserk_kind::PaserkVersion;

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
    const VERSION: PaserkVersion = PaserkVersion::V1;
}

#[cfg(feature = "legacy")]
impl Version for v2::V2 {
    const VERSION: PaserkVersion = PaserkVersion::V2;
}

impl Version for v3::V3 {
    const VERSION: PaserkVersion = PaserkVersion::V3;
}

impl Version for v4::V4 {
    const VERSION: PaserkVersion = PaserkVersion::V4;
}
