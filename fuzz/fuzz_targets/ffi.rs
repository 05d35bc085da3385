//! Any calls of the C interface with any handles, texts and lengths: a code, no panic, and nothing written beyond a buffer.
#![no_main]

use jeton_ffi::script;
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: seeds::write(first), |bytes: &[u8]| script::run(bytes));

/// Scripts that make a key, an issuer and a verifier of each format, and issue and verify.
fn first() -> Vec<Vec<u8>> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    let claims = r#""issuer":"i","audience":"a""#;
    let mut all = Vec::new();
    for (alg, format) in [
        (0, "jwt"),
        (1, "jwt"),
        (2, "jws"),
        (3, "jwt"),
        (6, "paseto"),
        (7, "paseto"),
    ] {
        let options = match format {
            "jws" => String::new(),
            _ => format!(",{claims}"),
        };
        let lifetime = if format == "jws" {
            ""
        } else {
            r#","lifetime":900"#
        };
        let key = if alg == 3 {
            r#"{"enc":"A128GCM"}"#
        } else {
            "{}"
        };
        let (issue, verify): (&[u8], &[u8]) = match format {
            "jws" => (&[15, 2], &[16, 3, 251, 255]),
            _ => (&[13, 2], &[14, 3, 251, 1]),
        };
        all.push(
            [
                &[0, alg][..],
                &text(key),
                &[1],
                &[9, 1, 8, 8],
                &text(&format!(r#"{{"format":"{format}"{options}{lifetime}}}"#)),
                &[2],
                &[11, 1, 8, 8, 8, 8],
                &text(&format!(r#"{{"format":"{format}"{options}}}"#)),
                &[3],
                issue,
                &text(r#"{"sub":"user-7"}"#),
                &[1],
                verify,
            ]
            .concat(),
        );
    }
    all
}
