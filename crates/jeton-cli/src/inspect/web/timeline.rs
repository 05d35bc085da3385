//! The token's times and now, in words, on a line, and as a table.

use jiff::Timestamp;
use maud::{Markup, html};

use super::super::relative_time;
use super::capital;

/// Pixels from one row to the next.
const ROW: f64 = 28.0;
/// Pixels above the first row's middle.
const TOP: f64 = 16.0;
/// Pixels for what stands under the line.
const FOOT: f64 = 34.0;
/// How far, in per cent of the width, the first and the last moment are from the edge.
const INSET: f64 = 3.0;

pub(super) type Times<'a> = &'a [(&'static str, Option<Timestamp>)];

/// What the times come to at this moment, a sentence each; whether it speaks against the token.
pub(super) fn verdicts(times: Times<'_>, now: jeton::Timestamp) -> Vec<(bool, String)> {
    let mut all = Vec::new();
    for (name, time) in times {
        let Some(time) = time else {
            all.push((true, format!("{name} is not a time in this format.")));
            continue;
        };
        if let Some(fault) = fault(name, *time, now) {
            let age = relative_time::relative(*time, now);
            all.push((true, format!("{} by its {name}: {age}.", capital(fault))));
        }
    }
    if all.is_empty() {
        let end = of(times, "exp").min();
        all.push((
            false,
            match end {
                Some(end) => format!("Within its times: its exp is {}.", relative_time::relative(end, now)),
                None => "It has no exp, and so never expires.".to_owned(),
            },
        ));
    }
    all
}

/// What speaks against the token, if this time does.
fn fault(name: &str, time: Timestamp, now: jeton::Timestamp) -> Option<&'static str> {
    let now = moment(now);
    match name {
        "exp" if now >= time => Some("expired"),
        "nbf" if now < time => Some("not valid yet"),
        "iat" if now < time => Some("issued in the future"),
        _ => None,
    }
}

pub(super) fn section(times: Times<'_>, now: jeton::Timestamp) -> Markup {
    let mut events = vec![("now", moment(now))];
    events.extend(
        times
            .iter()
            .filter_map(|(name, time)| Some((*name, (*time)?))),
    );
    events.sort_by_key(|(_, time)| *time);
    html! {
        @if events.len() > 1 {
            figure {
                (chart(&events, allowed(times), now))
                figcaption { (caption(times)) }
            }
        }
        (table(times, now))
    }
}

fn chart(
    events: &[(&str, Timestamp)],
    (begin, end): (Option<Timestamp>, Option<Timestamp>),
    now: jeton::Timestamp,
) -> Markup {
    let line = TOP + ROW * events.len() as f64;
    let (first, last) = (events[0].1, events[events.len() - 1].1);
    let place = |time: Timestamp| place(time, first, last);
    // Without a bound on a side, the chart's edge.
    let band = begin
        .or(end)
        .map(|_| (begin.map_or(0.0, place), end.map_or(100.0, place)));
    html! {
        svg.chart role="img" height=(line + FOOT) aria-label=(description(events, now)) aria-details="times-table" {
            @if let Some((left, right)) = band.filter(|(left, right)| left < right) {
                rect.span x=(per_cent(left)) y=(line - 5.0) width=(per_cent(right - left)) height="10" {}
            }
            line.axis x1="0" x2="100%" y1=(line) y2=(line) {}
            @for (row, (name, time)) in events.iter().enumerate() {
                @let x = per_cent(place(*time));
                line.(name) x1=(x) x2=(x) y1=(height(row)) y2=(line) {}
            }
            @for (row, (name, time)) in events.iter().enumerate() {
                @let x = place(*time);
                @let right = x > 50.0;
                circle.mark.(name) cx=(per_cent(x)) cy=(height(row)) r="6" {}
                text.end[right] x=(per_cent(x)) dx=(if right { -12 } else { 12 }) y=(height(row) + 5.0) {
                    (name)
                    @if *name != "now" { ", " (relative_time::relative(*time, now)) }
                }
            }
            text.tick x="0" y=(line + 24.0) { (first) }
            @if first < last { text.tick.end x="100%" y=(line + 24.0) { (last) } }
        }
    }
}

/// Where a moment is on the line, in per cent of the width.
fn place(time: Timestamp, first: Timestamp, last: Timestamp) -> f64 {
    let seconds = |time: Timestamp| time.as_second() as f64;
    let whole = seconds(last) - seconds(first);
    if whole <= 0.0 {
        return 50.0;
    }
    INSET + (100.0 - 2.0 * INSET) * (seconds(time) - seconds(first)) / whole
}

fn height(row: usize) -> f64 {
    TOP + ROW * row as f64
}

fn per_cent(place: f64) -> String {
    format!("{place:.2}%")
}

/// The same in words, for who does not see it.
fn description(events: &[(&str, Timestamp)], now: jeton::Timestamp) -> String {
    let each = events.iter().map(|(name, time)| match *name {
        "now" => "now".to_owned(),
        _ => format!("{name} {}", relative_time::relative(*time, now)),
    });
    let each: Vec<String> = each.collect();
    format!("A line of time, from the earliest: {}.", each.join("; "))
}

fn caption(times: Times<'_>) -> &'static str {
    match allowed(times) {
        (Some(begin), Some(end)) if begin >= end => {
            "To scale. No moment is both after nbf and before exp."
        }
        (Some(_), Some(_)) => "To scale. Shaded: from nbf to exp.",
        (Some(_), None) => "To scale. Shaded: from nbf on.",
        (None, Some(_)) => "To scale. Shaded: until exp.",
        (None, None) => "To scale.",
    }
}

fn table(times: Times<'_>, now: jeton::Timestamp) -> Markup {
    html! {
        div.scroll {
            table #times-table {
                caption { "The token's times, as they stand in it, and now" }
                thead {
                    tr {
                        th scope="col" { "Time" }
                        th scope="col" { "Moment" }
                        th scope="col" { "From now" }
                    }
                }
                tbody {
                    @for (name, time) in times {
                        tr {
                            th scope="row" { code { (name) } " " small { (words(name)) } }
                            @match time {
                                Some(time) => {
                                    td { time datetime=(time) { (time) } }
                                    td {
                                        (relative_time::relative(*time, now))
                                        @if let Some(fault) = fault(name, *time, now) { ": " strong { (fault) } }
                                    }
                                }
                                None => td colspan="2" { "not a time in this format" }
                            }
                        }
                    }
                    tr {
                        th scope="row" { "now" }
                        td { time datetime=(moment(now)) { (moment(now)) } }
                        td { "when this page was made, or the moment that was asked for" }
                    }
                }
            }
        }
    }
}

fn words(name: &str) -> &'static str {
    match name {
        "iat" => "issued",
        "nbf" => "not before",
        _ => "expires",
    }
}

/// From when and until when the token allows itself to be used. A time that stands twice counts at its
/// strictest.
fn allowed(times: Times<'_>) -> (Option<Timestamp>, Option<Timestamp>) {
    (of(times, "nbf").max(), of(times, "exp").min())
}

fn of(times: Times<'_>, wanted: &'static str) -> impl Iterator<Item = Timestamp> {
    let found = times.iter().filter(move |(name, _)| *name == wanted);
    found.filter_map(|(_, time)| *time)
}

fn moment(now: jeton::Timestamp) -> Timestamp {
    // Every moment of jeton's is one of jiff's.
    Timestamp::from_second(now.unix_seconds()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn at(seconds: i64) -> Option<Timestamp> {
        Some(Timestamp::from_second(seconds).unwrap())
    }

    fn add_note(times: Times<'_>) -> Vec<String> {
        let now = jeton::Timestamp::from_unix_seconds(1000).unwrap();
        let all = verdicts(times, now);
        all.into_iter().map(|(_, sentence)| sentence).collect()
    }

    #[test]
    fn a_token_ends_at_its_exp_and_begins_at_its_nbf() {
        assert_eq!(said(&[("exp", at(1000))]), ["Expired by its exp: now."]);
        assert_eq!(
            said(&[("exp", at(1001)), ("nbf", at(1000))]),
            ["Within its times: its exp is in 1 second."]
        );
        assert_eq!(
            said(&[("nbf", at(1001)), ("exp", at(5000))]),
            ["Not valid yet by its nbf: in 1 second."]
        );
        assert_eq!(
            said(&[("exp", at(1)), ("exp", None)]),
            [
                "Expired by its exp: 16 minutes ago.",
                "exp is not a time in this format."
            ]
        );
        assert_eq!(
            said(&[("iat", at(0))]),
            ["It has no exp, and so never expires."]
        );
    }

    #[test]
    fn what_is_shaded_is_said_and_nothing_is_where_no_moment_is_allowed() {
        let (nbf, exp) = (("nbf", at(2000)), ("exp", at(1500)));
        assert_eq!(
            caption(&[nbf, exp]),
            "To scale. No moment is both after nbf and before exp."
        );
        let now = jeton::Timestamp::from_unix_seconds(1000).unwrap();
        let shaded = |times: Times<'_>| section(times, now).into_string().contains("<rect");
        assert!(!shaded(&[nbf, exp]));
        assert!(shaded(&[nbf]) && shaded(&[exp]) && shaded(&[nbf, ("exp", at(2001))]));
        assert!(!shaded(&[("iat", at(1))]));
    }

    #[test]
    fn the_line_holds_every_moment_and_one_moment_is_in_its_middle() {
        let [first, last] = [at(0).unwrap(), at(100).unwrap()];
        let places = [at(0), at(50), at(100)].map(|time| place(time.unwrap(), first, last));
        assert_eq!(places, [3.0, 50.0, 97.0]);
        assert!((place(first, first, first) - 50.0).abs() < f64::EPSILON);
    }
}
