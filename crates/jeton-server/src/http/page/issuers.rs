//! The issuers, each with its keys: a chart of their times, and the table of these.

use jeton_issuer::keyring::{KeyEntry, Keyring, State};
use jeton_issuer::{IssuerSettings, Node};
use maud::{Markup, html};

use super::time;

/// Height of a key in the chart, pixels.
const ROW: usize = 40;
/// Space below the keys, pixels.
const FOOT: usize = 30;
/// Characters of a key's id in the chart. The table has all.
const ID_CHARACTERS: usize = 16;

/// The times of a key, seconds since 1970.
struct Times {
    published: i64,
    signs_from: i64,
    /// As it is planned, if it has no successor yet.
    signs_until: Option<i64>,
    gone: Option<i64>,
}

impl Times {
    fn of(key: &KeyEntry, settings: &IssuerSettings, keyring: &Keyring) -> Times {
        let planned = keyring.succession(settings, key);
        Times {
            published: key.published_at,
            signs_from: key.signs_from,
            signs_until: key
                .signs_until
                .or(planned.map(|(_, signs_from)| signs_from)),
            gone: key.gone_at(),
        }
    }
}

pub(super) fn section(node: &Node, now: i64) -> Markup {
    let names = node.status().issuers;
    let issuers = names
        .iter()
        .filter_map(|name| Some((name, node.issuer(name).ok()?)));
    html! {
        section #issuers aria-labelledby="issuers-heading" {
            h2 #issuers-heading { "Issuers" }
            @if names.is_empty() { p { "There is no issuer: the server issues nothing." } }
            @for (index, (name, (settings, keyring))) in issuers.enumerate() {
                h3 { (name) }
                (keys(&settings, &keyring, index + 1, now))
            }
        }
    }
}

fn keys(settings: &IssuerSettings, keyring: &Keyring, number: usize, now: i64) -> Markup {
    let mut keys: Vec<(&KeyEntry, Times)> = (keyring.keys().iter())
        .map(|key| (key, Times::of(key, settings, keyring)))
        .collect();
    keys.sort_by(|(a, _), (b, _)| {
        (a.kind.name(), a.published_at).cmp(&(b.kind.name(), b.published_at))
    });
    let table = format!("keys-{number}");
    html! {
        figure {
            (chart(&keys, &table, now))
            figcaption { "To scale. Light: published, or retired. Dark: signing. The line: now." }
        }
        div.scroll role="group" aria-label={ "Keys of " (settings.iss()) } tabindex="0" {
            table #(table) {
                caption { "Keys of " (settings.iss()) }
                thead {
                    tr {
                        @for head in ["Key", "Algorithm", "State", "Published", "Signs from", "Signs until", "Leaves the key set"] {
                            th scope="col" { (head) }
                        }
                    }
                }
                tbody {
                    @for (key, times) in &keys {
                        tr {
                            th scope="row" { code { (key.kid) } }
                            td { (key.kind.name()) }
                            td { (state(key, now)) }
                            td { (time(times.published)) }
                            td { (time(times.signs_from)) }
                            td { (times.signs_until.map_or("it is rotated".to_owned(), time)) }
                            td { (times.gone.map_or("not known yet".to_owned(), time)) }
                        }
                    }
                }
            }
        }
    }
}

fn state(key: &KeyEntry, now: i64) -> &'static str {
    match key.state(now) {
        State::Published => "published",
        State::Signing => "signing",
        State::Retired => "retired",
        State::Gone => "gone",
    }
}

fn chart(keys: &[(&KeyEntry, Times)], table: &str, now: i64) -> Markup {
    let times = keys.iter().flat_map(|(_, times)| {
        let ends = [times.signs_until, times.gone].into_iter().flatten();
        ends.chain([times.published, times.signs_from])
    });
    let (first, last) = times.fold((now, now), |(first, last), at| {
        (first.min(at), last.max(at))
    });
    let position = |at: i64| percent(at, first, last);
    let bottom = ROW * keys.len();
    html! {
        svg.chart role="img" height=(bottom + FOOT) aria-label=(description(keys, now)) aria-details=(table) {
            @for (row, (key, times)) in keys.iter().enumerate() {
                @let y = ROW * row;
                @let until = times.signs_until.unwrap_or(last);
                text x="0" y=(y + 14) {
                    (key.kid.chars().take(ID_CHARACTERS).collect::<String>()) ", " (key.kind.name()) ", " (state(key, now))
                }
                @for (class, from, to) in [
                    ("waiting", times.published, times.signs_from),
                    ("signing", times.signs_from, until),
                    ("waiting", until, times.gone.unwrap_or(until)),
                ] {
                    @if from < to {
                        rect.bar.(class) x={ (position(from)) "%" } y=(y + 20)
                            width={ (width(position(from), position(to))) "%" } height="10" {}
                    }
                }
            }
            @let line = position(now);
            line.now x1={ (line) "%" } x2={ (line) "%" } y1="0" y2=(bottom) {}
            text.tick x="0" y=(bottom + 20) { (day(first)) }
            text.tick.end x="100%" y=(bottom + 20) { (day(last)) }
        }
    }
}

/// The place of a time between the first and the last, per cent with two decimals.
fn percent(at: i64, first: i64, last: i64) -> String {
    let whole = (last - first).max(1);
    let hundredths = (at - first).saturating_mul(10_000) / whole;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// A bar is never so narrow that nobody sees it.
fn width(from: String, to: String) -> String {
    let number = |text: String| text.parse::<f64>().unwrap_or_default();
    format!("{:.2}", (number(to) - number(from)).max(0.3))
}

fn day(seconds: i64) -> String {
    let time = time(seconds);
    time.split('T').next().unwrap_or_default().to_owned()
}

/// Describes the chart for screen readers.
fn description(keys: &[(&KeyEntry, Times)], now: i64) -> String {
    let each = keys.iter().map(|(key, times)| {
        let until = times
            .signs_until
            .map_or(String::new(), |until| format!(" until {}", time(until)));
        format!(
            "{} {} signs from {}{until}",
            key.kind.name(),
            state(key, now),
            time(times.signs_from)
        )
    });
    let each: Vec<String> = each.collect();
    format!("A timeline of the keys: {}.", each.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_between_the_first_and_the_last_time() {
        let places = [100, 150, 200].map(|at| percent(at, 100, 200));
        assert_eq!(places, ["0.00", "50.00", "100.00"]);
        assert_eq!(percent(5, 5, 5), "0.00");
        assert_eq!(width("1.00".to_owned(), "1.01".to_owned()), "0.30");
    }
}
