//! Verified tokens that move between threads.

use jeton::{RawClaims, Timestamp, Verified};
use jeton_bindings::{Fault, ReadVerified};
use napi_sys::{napi_env, napi_value};
use zeroize::Zeroizing;

use crate::numbers;
use crate::outputs;

/// A verified token that moves between threads.
pub(crate) struct Owned {
    json: Zeroizing<String>,
    /// The algorithm, key id, type and footer.
    parts: [Option<Vec<u8>>; 4],
    times: [Option<i64>; 3],
    may_be_rounded: bool,
}

impl Owned {
    /// Returns an array: the claims, four header parts, three times, and whether numbers may be rounded.
    pub(crate) fn array(&self, env: napi_env) -> Result<napi_value, Fault> {
        let mut values = vec![outputs::text(env, &self.json)?];
        for part in &self.parts {
            values.push(match part {
                Some(part) => outputs::bytes(env, part)?,
                None => outputs::null(env)?,
            });
        }
        for time in self.times {
            values.push(outputs::number(
                env,
                time.map_or(f64::NAN, |time| time as f64),
            )?);
        }
        values.push(outputs::number(
            env,
            f64::from(u8::from(self.may_be_rounded)),
        )?);
        outputs::list(env, &values)
    }
}

/// Copies a verified token.
pub(crate) struct ReadOwned;

impl ReadVerified for ReadOwned {
    type Output = Owned;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Owned {
        let json = verified.json();
        let times = [
            verified.expires_at(),
            verified.not_before(),
            verified.issued_at(),
        ];
        Owned {
            json: Zeroizing::new(json.to_owned()),
            parts: parts(verified),
            times: times.map(|time| time.map(Timestamp::unix_seconds)),
            may_be_rounded: numbers::may_be_rounded(json),
        }
    }
}

fn parts<Text: AsRef<str>>(verified: &Verified<RawClaims, Text>) -> [Option<Vec<u8>>; 4] {
    let header = verified.header();
    [
        Some(header.alg().as_bytes().to_vec()),
        header.kid().map(|kid| kid.as_bytes().to_vec()),
        header.typ().map(|typ| typ.as_bytes().to_vec()),
        verified.footer().map(<[u8]>::to_vec),
    ]
}
