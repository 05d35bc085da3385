//! Snapshot tests: each file in `tests/cmd` is one call of the binary with its input, its output and its exit code.
//!
//! `TRYCMD=overwrite` updates the files. Read the changes before you commit them.

#[test]
fn commands_match_their_snapshots() {
    trycmd::TestCases::new().case("tests/cmd/*.toml");
}
