//! Calls that end with a hint.

/// A call whose hint is in no snapshot, its arguments separated by spaces, and values for the placeholders of the hint.
pub(super) type Provoked = (&'static str, &'static [(&'static str, &'static str)]);

/// Calls with hints that are in no snapshot.
pub(super) const PROVOKED: &[Provoked] = &[
    (
        "jwt verify --key es256.pub.jwk --issuer a --issuer b @../tokens/es256",
        &[],
    ),
    (
        "jwt verify --key es256.pub.jwk --max-header-bytes 5 @../tokens/es256",
        &[],
    ),
    (
        "jwt verify --key es256.pub.jwk --max-kid-bytes 5 @../tokens/es256",
        &[],
    ),
    (
        "jwt verify --key es256.pub.jwk --max-bytes 5 @../tokens/es256",
        &[],
    ),
    ("inspect --max-bytes 5 @../tokens/es256", &[]),
    ("jws sign --key es256.jwk --max-bytes 5 text", &[]),
    (
        "jwe encrypt --key ecdh.pub.jwk --zip --allow zip @zeros",
        &[],
    ),
    ("jwt sign --key es256.jwk --no-expiry", &[("JSON", "{}")]),
    ("jwt verify --key binary --alg ES256 @../tokens/es256", &[]),
    (
        "jwt verify --key http://0.0.0.0:1/keys @../tokens/es256",
        &[],
    ),
    (
        "jwt verify --key es256.pub.jwk --at 2026-11-30T00:00:00Z @../tokens/es256-nbf",
        &[],
    ),
    ("jwt verify --key nine.json @nokid", &[]),
    (
        "jwt verify --key es256.pub.jwk --decrypt-key rsa-enc-no-alg.jwk --decrypt-alg RSA-OAEP @../tokens/jwe-rsa1_5",
        &[],
    ),
    (
        "jwt verify --key es256.pub.jwk --decrypt-key a128kw.jwk @../tokens/jwe-pbes2",
        &[("FILE", "pbes2-hs512.jwk")],
    ),
    (
        "jwt verify --key es256.pub.jwk --ca certificate.pem @../tokens/es256",
        &[],
    ),
    ("key public oct-enc.jwk", &[]),
    (
        "jws verify --secret-file binary --alg HS256 @../tokens/hs256",
        &[],
    ),
    (
        "jws verify --secret-file base64url --secret-encoding base64 --alg HS256 @../tokens/hs256",
        &[],
    ),
    (
        "jws verify --secret-file base64 --secret-encoding base64url --alg HS256 @../tokens/hs256",
        &[],
    ),
    ("key set add one.json same-kid.jwk", &[("ID", "same")]),
    (
        "jwt sign --key es256.jwk --claims {} --no-expiry --header-style report --encrypt-key ecdh.pub.jwk",
        &[],
    ),
    (
        "jws verify --key encrypted.pem x",
        &[("PASSWORD_FILE", "password")],
    ),
    (
        "jwe encrypt --key a128kw.jwk --key a128kw.jwk --serialization flattened x",
        &[],
    ),
    (
        r#"inspect {"a":"eyJhbGciOiJFUzI1NiJ9.e30.AA","b":"eyJhbGciOiJFUzI1NiJ9.e30.AA"}"#,
        &[],
    ),
    (
        r#"inspect --member x {"a":"eyJhbGciOiJFUzI1NiJ9.e30.AA"}"#,
        &[],
    ),
    ("inspect --member x eyJhbGciOiJFUzI1NiJ9.e30.AA", &[]),
    ("key thumbprint ssh.pub", &[]),
    (r#"{"sub":"user-7"}"#, &[]),
];
