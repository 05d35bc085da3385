//! Misuses that the types forbid: each file must fail to compile, and say why.

#[test]
fn misuses_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
