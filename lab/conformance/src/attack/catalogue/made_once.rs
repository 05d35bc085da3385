//! Tokens that AWS-LC refuses to make: by keys too short, and with the hash of another curve. They
//! were made once, and the private halves of their keys are gone.

use serde_json::{Value, json};

/// A token of valid claims that a key of 1,024 bits signed with RS256.
pub(super) const SHORT_RSA: &str = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjo\
    idXNlci0xMjM0NTY3ODkwIiwiYXVkIjpbImFwaSJdLCJleHAiOjQxMDI0NDQ4MDAsImlhdCI6MTcwMDAwMDAwMCw\
    ianRpIjoiMDEyMzQ1Njc4OWFiY2RlZiIsIm5hbWUiOiJKb2huIERvZSIsImFkbWluIjp0cnVlfQ.l4d3DKp8kyLs\
    H4GanYcQD38KlcLLuiYcoUBweeUUz9GWHd1seGBHCqnwfqTutT-Xr03m0vqkaoUA-0cCiVlKE9BKStHSi34XdjZp\
    YelIsTTZR_FIepRfG5L_gUrlqz1m2tx7yB88wFbA4i_3yx_q2r5quGu5mHvblxk8XuHXeRI";

const MODULUS: &str = "yhTlpUiAU_Dsbsx5l4scmDDxuetIKj3HdYG7b_ZS2BahDktfxGftHxJpCoDFWiHt3qJIVedYmvPTD26yEWgGjjAn\
    G_ww_dhbzJRsd7RE4b-4KZPFVwInXa-uacNRj8GcVoHbVVBx6NlJIPVUDm95tuGfcziMBwo29MJwLjjtz6U";

/// That key.
pub(super) fn short_rsa_key() -> Value {
    json!({"kty": "RSA", "alg": "RS256", "n": MODULUS, "e": "AQAB"})
}

/// Tokens of valid claims that a key on P-256 signed as ES384 says: with SHA-384, the numbers as
/// long as for P-384, and as long as they are.
pub(super) const P256_AS_ES384: [(&str, &str); 2] = [
    ("numbers of 48 bytes", P256_WIDE),
    ("numbers of 32 bytes", P256_NARROW),
];

const P256_WIDE: &str = "eyJhbGciOiJFUzM4NCIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjo\
    idXNlci0xMjM0NTY3ODkwIiwiYXVkIjpbImFwaSJdLCJleHAiOjQxMDI0NDQ4MDAsImlhdCI6MTcwMDAwMDAwMCw\
    ianRpIjoiMDEyMzQ1Njc4OWFiY2RlZiIsIm5hbWUiOiJKb2huIERvZSIsImFkbWluIjp0cnVlfQ.AAAAAAAAAAAA\
    AAAAAAAAANoeM6ZvvyV3VrWFJcX_aS_MRaD4rZm_tyfATlNbI4UqAAAAAAAAAAAAAAAAAAAAAP-miOS9qFnw3M2e\
    alF1oslaLmM-Qs40JE7CuqKjeH3L";

const P256_NARROW: &str = "eyJhbGciOiJFUzM4NCIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjo\
    idXNlci0xMjM0NTY3ODkwIiwiYXVkIjpbImFwaSJdLCJleHAiOjQxMDI0NDQ4MDAsImlhdCI6MTcwMDAwMDAwMCw\
    ianRpIjoiMDEyMzQ1Njc4OWFiY2RlZiIsIm5hbWUiOiJKb2huIERvZSIsImFkbWluIjp0cnVlfQ.2h4zpm-_JXdW\
    tYUlxf9pL8xFoPitmb-3J8BOU1sjhSr_pojkvahZ8NzNnmpRdaLJWi5jPkLONCROwrqio3h9yw";

/// That key.
pub(super) fn p256_key() -> Value {
    json!({
        "kty": "EC", "crv": "P-256",
        "x": "g6tnp3P5kA6EE5r5cJVUXARFAZWbCkLXmogp9UDL464",
        "y": "gr4bkrAGhD9C898eQ9ct7QXTnBbhG35S2RzmWWd0Eug",
    })
}
