//! Scripts of random bytes. The fuzzer runs them for longer (`fuzz/fuzz_targets/ffi.rs`).

use jeton_ffi::script;

#[test]
fn random_scripts_break_no_promise() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..20_000 {
        let length = (random() % 300) as usize;
        let bytes: Vec<u8> = (0..length).map(|_| (random() >> 32) as u8).collect();
        script::run(&bytes);
    }
}

/// A script that creates a key, an issuer and a verifier, and issues and verifies a token.
#[test]
fn script_that_issues_and_verifies_runs() {
    let issuer = br#"{"issuer":"i","audience":"a","lifetime":900}"#;
    let verifier = br#"{"issuer":"i","audience":"a"}"#;
    let text = |text: &[u8]| [&[text.len() as u8], text].concat();
    let script = [
        &[0, 0, 255, 1][..],
        &[9, 1, 8, 8],
        &text(issuer),
        &[2],
        &[11, 1, 8, 8, 8, 8],
        &text(verifier),
        &[3],
        &[13, 2],
        &text(b"{}"),
        &[255, 1],
        &[14, 3, 251, 255, 1],
    ]
    .concat();
    script::run(&script);
}
