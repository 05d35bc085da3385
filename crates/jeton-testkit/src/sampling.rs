//! Long tests: `cargo xtask test` runs a sample of their cases, and `cargo xtask test --rest` all of them.

/// The environment variable with which long tests run whole.
pub const WHOLE: &str = "JETON_TEST_WHOLE";

/// Reports whether long tests run whole.
#[must_use]
pub fn is_whole() -> bool {
    std::env::var_os(WHOLE).is_some()
}

/// Reports whether the case of this index is among those that run: one in so many, or all.
///
/// Take a number that divides no length of a list in the cases, so that the sample has some of each kind.
#[must_use]
pub fn is_sampled(index: usize, one_in: usize) -> bool {
    is_whole() || index.is_multiple_of(one_in)
}
