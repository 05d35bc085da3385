//! Formats issuers, keys and times.

use jeton_issuer::keyring::State;
use jeton_issuer::{IssuerSettings, TokenType};
use serde::Serialize;

use super::view::KeyView;

/// A key in JSON. Times are RFC 3339.
#[derive(Serialize)]
pub(super) struct KeyRow<'k> {
    kid: &'k str,
    alg: &'k str,
    state: &'static str,
    published_at: String,
    signs_from: String,
    signs_until: Option<String>,
    gone_at: Option<String>,
    successor_published_at: Option<String>,
    successor_signs_from: Option<String>,
    public: Option<&'k str>,
}

impl<'k> KeyRow<'k> {
    pub(super) fn of(key: &'k KeyView) -> KeyRow<'k> {
        KeyRow {
            kid: &key.kid,
            alg: &key.alg,
            state: state(key.state),
            published_at: moment(key.published_at),
            signs_from: moment(key.signs_from),
            signs_until: key.signs_until.map(moment),
            gone_at: key.gone_at.map(moment),
            successor_published_at: key.succession.map(|(published_at, _)| moment(published_at)),
            successor_signs_from: key.succession.map(|(_, signs_from)| moment(signs_from)),
            public: key.public.as_deref(),
        }
    }
}

/// Formats one line for each key: id, algorithm, state, and the next changes.
pub(super) fn keys(keys: &[KeyView]) -> String {
    let cells = keys.iter().map(|key| {
        let next = match (key.state, key.signs_until, key.gone_at) {
            (State::Published, ..) => format!("signs from {}", moment(key.signs_from)),
            (State::Signing, None, _) => match key.succession {
                Some((published_at, signs_from)) => format!(
                    "until {}, next key published {}",
                    moment(signs_from),
                    moment(published_at)
                ),
                None => "until it is rotated".to_owned(),
            },
            (State::Signing, Some(until), _) => format!("until {}", moment(until)),
            (State::Retired, _, Some(gone)) => format!("in the key set until {}", moment(gone)),
            (State::Retired | State::Gone, ..) => "its last token has expired".to_owned(),
        };
        [
            key.kid.clone(),
            key.alg.clone(),
            state(key.state).to_owned(),
            next,
        ]
    });
    table(&cells.collect::<Vec<_>>())
}

/// Formats the settings of an issuer, one on each line.
pub(super) fn settings(settings: &IssuerSettings) -> String {
    let mut rows = vec![
        ["issuer".to_owned(), settings.iss().to_owned()],
        [
            "pre-publication period".to_owned(),
            span(settings.publish_before_use_seconds()),
        ],
        ["max age".to_owned(), span(settings.max_age_seconds())],
        ["rotation".to_owned(), span(settings.rotate_every_seconds())],
    ];
    for profile in settings.profiles() {
        rows.push([
            format!("profile {}", profile.name),
            format!(
                "{}{}, {}, for {}{}",
                profile.alg,
                match profile.typ {
                    TokenType::Jwt => String::new(),
                    typ => format!(" ({})", typ.name()),
                },
                span(profile.lifetime_seconds),
                profile.audiences.join(", "),
                match &profile.encrypt_to {
                    Some(to) => format!(", encrypted with {}", to.enc),
                    None => String::new(),
                }
            ),
        ]);
    }
    table(&rows)
}

/// Formats a table whose columns are as wide as their widest cell.
pub(super) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(cell);
            let missing = width - cell.chars().count();
            line.extend(std::iter::repeat_n(' ', missing + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Formats seconds since 1970 as RFC 3339.
pub(super) fn moment(seconds: i64) -> String {
    match jiff::Timestamp::from_second(seconds) {
        Ok(moment) => moment.to_string(),
        Err(_) => format!("{seconds} seconds since 1970"),
    }
}

/// Formats seconds in the largest units: `1h30m`.
pub(super) fn span(seconds: i64) -> String {
    let mut rest = seconds.unsigned_abs();
    let mut text = String::new();
    for (unit, size) in [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)] {
        if rest >= size {
            text.push_str(&format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    if text.is_empty() {
        "0s".to_owned()
    } else {
        text
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Published => "published",
        State::Signing => "signing",
        State::Retired => "retired",
        State::Gone => "gone",
    }
}

/// Returns the current time in seconds since 1970.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_is_parsed_back_to_the_same_duration() {
        for text in ["0s", "15m", "1h30m", "30d", "1d1h1m1s"] {
            let seconds = crate::time::duration(text).map(|span| span.as_secs() as i64);
            assert_eq!(seconds.map(span), Ok(text.to_owned()));
        }
    }
}
