//! How issuers, keys and times are shown.

use jeton_issuer::IssuerSettings;
use jeton_issuer::keyring::{KeyEntry, State};
use serde::Serialize;

/// A key, for machines. Times are RFC 3339.
#[derive(Serialize)]
pub(super) struct ShownKey<'k> {
    kid: &'k str,
    alg: &'static str,
    state: &'static str,
    published_at: String,
    signs_from: String,
    signs_until: Option<String>,
    gone_at: Option<String>,
    public: Option<&'k str>,
}

impl<'k> ShownKey<'k> {
    pub(super) fn of(key: &'k KeyEntry, now: i64) -> ShownKey<'k> {
        ShownKey {
            kid: &key.kid,
            alg: key.kind.name(),
            state: state(key.state(now)),
            published_at: moment(key.published_at),
            signs_from: moment(key.signs_from),
            signs_until: key.signs_until.map(moment),
            gone_at: key.gone_at().map(moment),
            public: key.public.as_deref(),
        }
    }
}

/// A line for each key: its id, its algorithm, and what it does until when.
pub(super) fn keys(keys: &[KeyEntry], now: i64) -> String {
    let cells = keys.iter().map(|key| {
        let state_now = key.state(now);
        let until = match (state_now, key.signs_until, key.gone_at()) {
            (State::Published, ..) => format!("signs from {}", moment(key.signs_from)),
            (State::Signing, None, _) => "until it is rotated".to_owned(),
            (State::Signing, Some(until), _) => format!("until {}", moment(until)),
            (State::Retired, _, Some(gone)) => format!("in the key set until {}", moment(gone)),
            (State::Retired | State::Gone, ..) => "its last token has expired".to_owned(),
        };
        [
            key.kid.clone(),
            key.kind.name().to_owned(),
            state(state_now).to_owned(),
            until,
        ]
    });
    table(&cells.collect::<Vec<_>>())
}

/// An issuer's settings, a line for each.
pub(super) fn settings(settings: &IssuerSettings) -> String {
    let mut rows = vec![
        ["issuer".to_owned(), settings.iss().to_owned()],
        [
            "lead".to_owned(),
            span(settings.publish_before_use_seconds()),
        ],
        ["max age".to_owned(), span(settings.max_age_seconds())],
        ["rotation".to_owned(), span(settings.rotate_every_seconds())],
    ];
    for profile in settings.profiles() {
        rows.push([
            format!("profile {}", profile.name),
            format!(
                "{}, {}, for {}{}",
                profile.alg,
                span(profile.lifetime_seconds),
                profile.audiences.join(", "),
                match &profile.encrypt_to {
                    Some(to) => format!(", encrypted ({}) for its reader", to.enc),
                    None => String::new(),
                }
            ),
        ]);
    }
    table(&rows)
}

/// Columns as wide as their widest cell.
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

/// A second since 1970 as RFC 3339.
pub(super) fn moment(seconds: i64) -> String {
    match jiff::Timestamp::from_second(seconds) {
        Ok(moment) => moment.to_string(),
        Err(_) => format!("{seconds} s after 1970"),
    }
}

/// Seconds in the largest units that they are whole in: `1h30m`.
pub(super) fn span(seconds: i64) -> String {
    let mut rest = seconds.unsigned_abs();
    let mut text = String::new();
    for (unit, size) in [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)] {
        if rest >= size {
            text.push_str(&format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    match text.is_empty() {
        true => "0s".to_owned(),
        false => text,
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

/// Seconds since 1970.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_back_as_they_are_typed() {
        for text in ["0s", "15m", "1h30m", "30d", "1d1h1m1s"] {
            let seconds = crate::time::duration(text).map(|span| span.as_secs() as i64);
            assert_eq!(seconds.map(span), Ok(text.to_owned()));
        }
    }
}
