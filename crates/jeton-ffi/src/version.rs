//! The version of the interface.

/// The version of this header. It changes if a program that was built with an older header cannot use the library.
pub const JETON_ABI_VERSION: u32 = 1;

/// Returns the version of the interface that the library has. Compare it with `JETON_ABI_VERSION` when the library is
/// loaded.
#[unsafe(no_mangle)]
pub extern "C" fn jeton_abi_version() -> u32 {
    JETON_ABI_VERSION
}
