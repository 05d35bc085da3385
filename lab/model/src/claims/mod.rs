//! Claims sets: named ones, and the user's own.

mod own;
mod reports;

pub use own::{MAX_CLAIMS_BYTES, OwnClaims, TOO_LONG};

use serde_json::{Value, json};

use super::Format;

/// The issuer of the lab's tokens, unless the claims state another or none.
pub const ISSUER: &str = "https://issuer.example";
/// The audience of the lab's tokens, unless the claims state another or none.
pub const AUDIENCE: &str = "api";
/// The name of the set for the comparison of libraries.
pub const STANDARD: &str = "standard";
/// The name of the set of the user's own claims.
pub const OWN: &str = "own";
/// The name of the set of report 1's concurrent benchmarks.
pub const REPORT_1_CONCURRENCY: &str = "report1-concurrency";
/// The number of different claims values that a run cycles through, so that no operation repeats the
/// previous one. Large claims have fewer values, because of the protocol's line limit.
pub const POOL_SIZE: usize = 8;
/// The sizes of the sweep: the length of the single string in the claims, in bytes.
pub const SWEEP: [usize; 7] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

const DAY_S: i64 = 24 * 60 * 60;
/// The issue time of report 4's claims: any time in the past.
const BENCHMARK_S: i64 = 1_600_000_000;
/// A time in the future, 2100-01-01.
const BENCHMARK_LATER_S: i64 = 4_102_444_800;

/// The claims sets of a run, all with the same issue time.
#[derive(Debug, Clone, Default)]
pub struct ClaimsSets {
    now_s: i64,
    own: Option<OwnClaims>,
}

/// One claims set: any number of values with equal length and different content.
#[derive(Debug, Clone)]
pub struct ClaimsSet {
    name: String,
    kind: Kind,
    now_s: i64,
}

#[derive(Debug, Clone)]
enum Kind {
    Standard,
    /// Report 1's shape: a value under `data`, and three times.
    Data(Value),
    /// Report 2's shape: ten strings.
    Letters,
    /// Report 3's shape: a subject and two times.
    Visitor,
    /// Report 4's shape: an issuer and a time.
    Benchmark,
    Own(OwnClaims),
}

impl ClaimsSets {
    /// Creates claims issued at `now_s`, in seconds since 1970, that expire after a day, and the user's
    /// own claims, if given.
    #[must_use]
    pub fn issued_at(now_s: i64, own: Option<OwnClaims>) -> Self {
        Self { now_s, own }
    }

    /// Finds a set by name; `None` if it is unknown, or if the user gave no claims.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<ClaimsSet> {
        let kind = match name {
            STANDARD => Kind::Standard,
            OWN => Kind::Own(self.own.clone()?),
            "report2" => Kind::Letters,
            "report3" => Kind::Visitor,
            "report4" => Kind::Benchmark,
            other => Kind::Data(reports::data(other)?),
        };
        Some(ClaimsSet {
            name: name.to_owned(),
            kind,
            now_s: self.now_s,
        })
    }

    /// Returns the names of all sets, except the user's own.
    #[must_use]
    pub fn names() -> Vec<String> {
        let mut names = vec![STANDARD.to_owned()];
        names.extend(reports::NAMES.iter().map(|&(name, _)| name.to_owned()));
        names.extend(["report2", "report3", "report4"].map(str::to_owned));
        names.extend(SWEEP.map(reports::text_of));
        names
    }

    /// Returns the name of the sweep's set with a string of this length.
    #[must_use]
    pub fn sweep(bytes: usize) -> String {
        reports::text_of(bytes)
    }
}

impl ClaimsSet {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the value `index`, with the types that the format uses.
    #[must_use]
    pub fn value(&self, format: Format, index: usize) -> Value {
        let step = i64::try_from(index).unwrap_or_default();
        let claims = match &self.kind {
            Kind::Standard => json!({
                "iss": ISSUER,
                "sub": "user-1234567890",
                "aud": [AUDIENCE],
                "exp": self.now_s + DAY_S,
                "iat": self.now_s,
                // Any 16 hexadecimal digits are valid; the last digit distinguishes the values in a
                // checksum.
                "jti": format!("7f3a91c04be2{:04x}", (0xd651 + 0x11 * index) & 0xffff),
                "name": "John Doe",
                "admin": true,
            }),
            Kind::Data(data) => json!({
                "data": data,
                "exp": self.now_s + DAY_S + step,
                "iat": self.now_s,
                "nbf": self.now_s,
            }),
            Kind::Letters => reports::letters(index),
            Kind::Visitor => json!({
                "sub": format!("user{:06}@mail.io", index % 1_000_000),
                "iat": self.now_s,
                "exp": self.now_s + DAY_S,
            }),
            // The same in every run: some tokens are signed in advance, with a key that jeton does not
            // sign with.
            Kind::Benchmark => json!({"iss": "benchmark", "iat": BENCHMARK_S + step}),
            Kind::Own(own) => own.value(index),
        };
        in_format(format, claims)
    }

    /// Returns the pool: as many values as fit a line of the protocol, at most [`POOL_SIZE`].
    #[must_use]
    pub fn pool(&self, format: Format) -> Vec<Value> {
        let size = self.at_most(format, POOL_SIZE);
        (0..size).map(|i| self.value(format, i)).collect()
    }

    /// Returns as many of `wanted` values as fit one line with their tokens.
    #[must_use]
    pub fn at_most(&self, format: Format, wanted: usize) -> usize {
        const LINE_BYTES: u64 = crate::protocol::MAX_LINE_BYTES as u64 - (64 << 10);
        // The claims, their base64 in a token, and space for a post-quantum signature.
        let each = self.bytes(format) * 12 / 5 + 8192;
        let room = usize::try_from(LINE_BYTES / each).unwrap_or(usize::MAX);
        wanted.min(room).max(1)
    }

    /// Returns the policy: the claims' own issuer and audience, or nothing.
    #[must_use]
    pub fn policy(&self) -> (String, String) {
        let claims = self.value(Format::Jwt, 0);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let audience = match &claims["aud"] {
            Value::Array(list) => list.first().map(text),
            other => Some(text(other)),
        };
        (text(&claims["iss"]), audience.unwrap_or_default())
    }

    /// Returns claims that every verifier must reject, each with a description of the fault. Claims
    /// that the set does not contain cannot be faulty.
    #[must_use]
    pub fn refusable(&self, format: Format) -> Vec<(&'static str, Value)> {
        let valid = self.value(Format::Jwt, 0);
        let mut wrong = Vec::new();
        let mut add = |what, changes: &[(&str, Value)]| {
            let mut claims = valid.clone();
            for (member, value) in changes {
                claims[*member] = value.clone();
            }
            wrong.push((what, in_format(format, claims)));
        };
        if valid.get("exp").is_some() {
            let mut changes = vec![("exp", json!(self.now_s - DAY_S))];
            for begin in ["iat", "nbf"] {
                if valid.get(begin).is_some() {
                    changes.push((begin, json!(self.now_s - 2 * DAY_S)));
                }
            }
            add("an expired token", &changes);
        }
        let later = json!(match self.kind {
            Kind::Benchmark => BENCHMARK_LATER_S,
            _ => self.now_s + DAY_S / 2,
        });
        add("a token that is not valid yet", &[("nbf", later)]);
        let (issuer, audience) = self.policy();
        if !issuer.is_empty() {
            let other = json!("https://impostor.example");
            add("a token of another issuer", &[("iss", other)]);
        }
        if !audience.is_empty() {
            let other = json!(["elsewhere"]);
            add("a token for another audience", &[("aud", other)]);
        }
        wrong
    }

    /// Returns the length of the compact JSON in a format.
    #[must_use]
    pub fn bytes(&self, format: Format) -> u64 {
        self.value(format, 0).to_string().len() as u64
    }
}

/// Converts the claims to a format: PASETO has RFC 3339 times and a single audience.
fn in_format(format: Format, mut claims: Value) -> Value {
    if !format.is_paseto() {
        return claims;
    }
    for time in ["exp", "nbf", "iat"] {
        if let Some(seconds) = claims.get(time).and_then(Value::as_i64) {
            let moment = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX);
            claims[time] = json!(moment.to_string());
        }
    }
    if let Some(Value::Array(list)) = claims.get("aud")
        && let [one] = list.as_slice()
    {
        claims["aud"] = one.clone();
    }
    claims
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NOW_S: i64 = 1_760_000_000;

    fn set(name: &str) -> ClaimsSet {
        ClaimsSets::issued_at(NOW_S, None).named(name).unwrap()
    }

    /// The published sizes of report 1, to the byte: the JSON under `data`, and the tokens computed
    /// from header, claims and signature.
    #[test]
    fn claims_report_1_sizes_match_published() {
        let b64 = |bytes: u64| (bytes * 4).div_ceil(3);
        let es256 = |claims: u64| b64(27) + 1 + b64(claims) + 1 + b64(64);
        let public = |claims: u64| 10 + b64(claims + 64);
        for (name, data, jwt, paseto) in [
            ("report1-string", 23, 235, 254),
            ("report1-simple", 36, 252, 272),
            ("report1-large", 6_181, 8_446, 8_465),
            ("report1-very-large", 82_781, 110_579, 110_598),
            ("text-1", 3, 208, 228),
            ("text-100", 102, 340, 360),
            ("text-1000", 1_002, 1_540, 1_560),
            ("text-10000", 10_002, 13_540, 13_560),
            ("text-100000", 100_002, 133_540, 133_560),
        ] {
            let set = set(name);
            let json = set.value(Format::Jwt, 0)["data"].to_string();
            assert_eq!(json.len(), data, "{name}");
            assert_eq!(es256(set.bytes(Format::Jwt)), jwt, "{name}");
            assert_eq!(public(set.bytes(Format::V4Public)), paseto, "{name}");
        }
        let complex = set("report1-complex").value(Format::Jwt, 0)["data"].to_string();
        assert_eq!(complex.len(), 214);
        let trip = set("report1-complex-round-trip").value(Format::Jwt, 0);
        assert!(trip["data"]["metadata"].get("region").is_none());
        let concurrency = set("report1-concurrency").value(Format::Jwt, 0);
        assert_eq!(concurrency["data"].to_string().len(), 30);
    }

    #[test]
    fn claims_report_2_has_375_bytes() {
        let set = set("report2");
        for index in [0, 7] {
            let claims = set.value(Format::Jwt, index);
            assert_eq!(claims.to_string().len(), 375);
            let members = claims.as_object().unwrap();
            assert_eq!(members.len(), 10);
            for value in members.values() {
                let mut letters: Vec<u8> = value.as_str().unwrap().bytes().collect();
                letters.sort_unstable();
                assert_eq!(letters, (b'a'..=b'z').collect::<Vec<u8>>());
            }
        }
    }

    #[test]
    fn claims_report_3_addresses_have_18_characters() {
        let claims = set("report3").value(Format::Jwt, 999);
        assert_eq!(claims["sub"].as_str().unwrap().len(), 18);
    }

    #[test]
    fn pool_values_have_equal_length_and_different_content() {
        for name in ClaimsSets::names() {
            for format in [Format::Jwt, Format::V4Local] {
                let set = set(&name);
                let pool = set.pool(format);
                assert!(!pool.is_empty() && pool.len() <= POOL_SIZE, "{name}");
                for (i, value) in pool.iter().enumerate() {
                    assert_eq!(value.to_string().len() as u64, set.bytes(format), "{name}");
                    assert!(!pool[..i].contains(value), "{name}");
                }
            }
        }
        assert_eq!(set("text-1000000").pool(Format::Jwt).len(), 3);
        let last = |i: usize| set(STANDARD).value(Format::Jwt, i)["jti"].to_string();
        let lasts: Vec<String> = (0..8).map(last).map(|j| j[15..].to_owned()).collect();
        assert_eq!(lasts[0], "51\"");
        assert_eq!(set(STANDARD).bytes(Format::Jwt), 160);
    }

    #[test]
    fn refusable_only_changes_existing_claims() {
        let wrong = |name: &str| set(name).refusable(Format::Jwt).len();
        assert_eq!(wrong(STANDARD), 4);
        assert_eq!(wrong("report1-string"), 2, "no issuer and no audience");
        assert_eq!(wrong("report2"), 1, "no expiry either");
        assert_eq!(set("report2").policy(), (String::new(), String::new()));
        let policy = (ISSUER.to_owned(), AUDIENCE.to_owned());
        assert_eq!(set(STANDARD).policy(), policy);
    }
}
