//! Issues and verifies claims: no command changes a byte of a custom claim.

use crate::binary::{ends, jeton, keys, succeeds};

/// Returns the output of a call without its line break.
fn line(folder: &std::path::Path, args: &[&str]) -> String {
    let printed = String::from_utf8(succeeds(folder, args, b"")).unwrap();
    printed.trim_end().to_owned()
}

/// Values that a reader with its own number or map types would change.
const MEMBERS: [&str; 5] = [
    r#""z":18446744073709551617,"a":-9223372036854775809"#,
    r#""exact":1.10,"tiny":1e-999,"huge":1E+999,"zero":-0"#,
    r#""raw":{"$serde_json::private::RawValue":"1","n":0.10000000000000000000001}"#,
    r#""number":{"$serde_json::private::Number":"1"},"list":[ 1 ,  2 ]"#,
    r#""text":"\u00e9\/","\u006eame":"é""#,
];

#[test]
fn custom_claims_are_copied_unchanged() {
    for members in MEMBERS {
        let claims = format!(r#"{{{members},"sub":"s"}}"#);
        let jwt = [
            "jwt",
            "sign",
            "--key",
            "es256.jwk",
            "--claims",
            &claims,
            "--no-expiry",
        ];
        let jwt = line(&keys(), &jwt);
        let verify = [
            "jwt",
            "verify",
            "--key",
            "es256.pub.jwk",
            "--allow",
            "no-expiry",
        ];
        let verified = line(&keys(), &[&verify[..], &[&jwt]].concat());
        assert!(
            verified.ends_with(&format!(",{members},\"sub\":\"s\"}}")),
            "{verified}"
        );
        let json = line(&keys(), &[&verify[..], &["--json", &jwt]].concat());
        assert!(json.contains(members), "{json}");
        // `inspect` indents the claims and keeps the digits.
        let shown = line(&keys(), &["inspect", &jwt]);
        for digits in [
            "18446744073709551617",
            "1E+999",
            "0.10000000000000000000001",
        ] {
            assert_eq!(shown.contains(digits), members.contains(digits), "{shown}");
        }
        let json = line(&keys(), &["inspect", "--json", &jwt]);
        assert!(json.contains(members), "{json}");

        let paseto = [
            "paseto",
            "sign",
            "--key",
            "k4.secret",
            "--claims",
            &claims,
            "--no-expiry",
        ];
        let paseto = line(&keys(), &paseto);
        let verify = [
            "paseto",
            "verify",
            "--key",
            "k4.public",
            "--allow",
            "no-expiry",
        ];
        let verified = line(&keys(), &[&verify[..], &[&paseto]].concat());
        assert!(
            verified.ends_with(&format!(",{members},\"sub\":\"s\"}}")),
            "{verified}"
        );
    }
}

#[test]
fn ambiguous_claims_are_an_error_with_value_and_limit() {
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(32), "]".repeat(32));
    for (claims, said) in [
        (r#"{"a":1,"\u0061":2}"#, "duplicate member \"a\""),
        (r#"{"sub":"a","\u0073ub":"b"}"#, "duplicate member \"sub\""),
        (&*deep, "nested 33 levels, the limit is 32"),
        (r#"{"\u0065xp":"x"}"#, "exp must be a number of seconds"),
        (r#"{"a":"\ud800"}"#, "not valid JSON"),
    ] {
        let sign = [
            "jwt",
            "sign",
            "--key",
            "es256.jwk",
            "--claims",
            claims,
            "--no-expiry",
        ];
        ends(&keys(), &sign, b"", 2, said);
    }
    let refused = jeton(&keys(), &["inspect", &"[".repeat(100_000)], b"");
    assert_ne!(refused.status.code(), Some(101));
}
