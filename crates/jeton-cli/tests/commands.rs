//! The command line's behaviour, as files: every file in `tests/cmd` is one call of the real binary,
//! with what it reads, both of its streams and its exit code.
//!
//! What has changed on purpose is written with `TRYCMD=overwrite`, and read before it is committed.

#[test]
fn every_call_does_what_its_file_says() {
    trycmd::TestCases::new().case("tests/cmd/*/*.toml");
}
