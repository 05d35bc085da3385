//! The claims set `standard`, as every subject signs it.

use serde_json::{Value, json};

use super::Format;

/// The issuer of every token of the lab.
pub const ISSUER: &str = "https://issuer.example";
/// The audience of every token of the lab.
pub const AUDIENCE: &str = "api";
/// How many claims values a run goes round in, so that no operation repeats the one before.
pub const POOL_SIZE: usize = 8;

const DAY_S: i64 = 24 * 60 * 60;

/// Makes claims of the set `standard`, all at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Standard {
    now_s: i64,
}

impl Standard {
    /// The name of the set.
    pub const NAME: &'static str = "standard";

    /// Claims issued at `now_s`, in seconds since 1970, that live for a day.
    #[must_use]
    pub fn issued_at(now_s: i64) -> Self {
        Self { now_s }
    }

    /// The pool: equal but for `jti`, and so equal in length.
    #[must_use]
    pub fn pool(&self, format: Format) -> Vec<Value> {
        (0..POOL_SIZE).map(|i| self.valid(format, i)).collect()
    }

    /// The value `index` of the pool.
    #[must_use]
    pub fn valid(&self, format: Format, index: usize) -> Value {
        // Any 16 hexadecimal digits will do; the last one tells the values apart in a checksum.
        let jti = format!("7f3a91c04be2d6{:02x}", 0x51 + 0x11 * index);
        json!({
            "iss": ISSUER,
            "sub": "user-1234567890",
            "aud": if format.is_paseto() { json!(AUDIENCE) } else { json!([AUDIENCE]) },
            "exp": time(format, self.now_s + DAY_S),
            "iat": time(format, self.now_s),
            "jti": jti,
            "name": "John Doe",
            "admin": true,
        })
    }

    /// Claims that every verifier must refuse, each with the name of what is wrong.
    #[must_use]
    pub fn refusable(&self, format: Format) -> Vec<(&'static str, Value)> {
        let changed = |member: &str, value: Value| {
            let mut claims = self.valid(format, 0);
            claims[member] = value;
            claims
        };
        let other_audience = if format.is_paseto() {
            json!("elsewhere")
        } else {
            json!(["elsewhere"])
        };
        let mut expired = changed("exp", time(format, self.now_s - DAY_S));
        expired["iat"] = time(format, self.now_s - 2 * DAY_S);
        vec![
            ("an expired token", expired),
            (
                "a token that is not valid yet",
                changed("nbf", time(format, self.now_s + DAY_S / 2)),
            ),
            (
                "a token of another issuer",
                changed("iss", json!("https://impostor.example")),
            ),
            (
                "a token for another audience",
                changed("aud", other_audience),
            ),
        ]
    }

    /// The length of the set's compact JSON in a format.
    #[must_use]
    pub fn bytes(&self, format: Format) -> u64 {
        self.valid(format, 0).to_string().len() as u64
    }
}

/// A time as the format writes it: a number in a JWT, RFC 3339 text in PASETO.
fn time(format: Format, seconds: i64) -> Value {
    if format.is_paseto() {
        let moment = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX);
        json!(moment.to_string())
    } else {
        json!(seconds)
    }
}
