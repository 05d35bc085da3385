//! The version of the interface.

/// The version of this header. It changes if programs built with an older header cannot use the library.
pub const JETON_ABI_VERSION: u32 = 2;

/// Returns the interface version of the library. Compare it with `JETON_ABI_VERSION` when you load the library.
#[unsafe(no_mangle)]
pub extern "C" fn jeton_abi_version() -> u32 {
    JETON_ABI_VERSION
}
