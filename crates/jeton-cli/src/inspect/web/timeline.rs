//! Renders the times of a token and the current time: as sentences, as a chart and as a table.

use jiff::Timestamp;
use maud::{Markup, html};

use super::super::relative_time;
use super::capital;

/// Height of a row, pixels.
const ROW: f64 = 28.0;
/// Space above the middle of the first row, pixels.
const TOP: f64 = 16.0;
/// Space below the line, pixels.
const FOOT: f64 = 34.0;
/// Distance of the first and the last time from the edge, per cent of the width.
const INSET: f64 = 3.0;

/// How far a verifier lets `iat` be ahead of the clock, if it has no other leeway.
const ISSUED_AHEAD_SECONDS: i64 = 60;

pub(super) type Times<'a> = &'a [(&'static str, Option<Timestamp>)];

/// Returns sentences about the times, each with whether it is a problem.
pub(super) fn summary(times: Times<'_>, now: jeton::Timestamp) -> Vec<(bool, String)> {
    let mut all = Vec::new();
    for (name, time) in times {
        let Some(time) = time else {
            all.push((true, format!("{name} is not a valid time.")));
            continue;
        };
        if let Some(problem) = problem(name, *time, now) {
            let age = relative_time::relative(*time, now);
            all.push((true, format!("{} ({name}: {age}).", capital(problem))));
        }
    }
    if all.is_empty() {
        let end = of(times, "exp").min();
        all.push((
            false,
            match end {
                Some(end) => format!(
                    "Within its validity: expires {}.",
                    relative_time::relative(end, now)
                ),
                None => "No exp: the token never expires.".to_owned(),
            },
        ));
    }
    all
}

/// Returns the problem with a time, if there is one.
fn problem(name: &str, time: Timestamp, now: jeton::Timestamp) -> Option<&'static str> {
    let now = moment(now);
    match name {
        "exp" if now >= time => Some("expired"),
        "nbf" if now < time => Some("not valid yet"),
        "iat" if now.as_second() + ISSUED_AHEAD_SECONDS < time.as_second() => {
            Some("issued in the future")
        }
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
    let position = |time: Timestamp| position(time, first, last);
    // Without nbf or exp, the span reaches the edge of the chart.
    let band = begin
        .or(end)
        .map(|_| (begin.map_or(0.0, position), end.map_or(100.0, position)));
    html! {
        svg.chart role="img" height=(line + FOOT) aria-label=(description(events, now)) aria-details="times-table" {
            @if let Some((left, right)) = band.filter(|(left, right)| left < right) {
                rect.span x=(per_cent(left)) y=(line - 5.0) width=(per_cent(right - left)) height="10" {}
            }
            line.axis x1="0" x2="100%" y1=(line) y2=(line) {}
            @for (row, (name, time)) in events.iter().enumerate() {
                @let x = per_cent(position(*time));
                line.(name) x1=(x) x2=(x) y1=(height(row)) y2=(line) {}
            }
            @for (row, (name, time)) in events.iter().enumerate() {
                @let x = position(*time);
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

/// Returns the position of a time on the line, in per cent of the width.
fn position(time: Timestamp, first: Timestamp, last: Timestamp) -> f64 {
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

fn per_cent(position: f64) -> String {
    format!("{position:.2}%")
}

/// Describes the chart for screen readers.
fn description(events: &[(&str, Timestamp)], now: jeton::Timestamp) -> String {
    let each = events.iter().map(|(name, time)| match *name {
        "now" => "now".to_owned(),
        _ => format!("{name} {}", relative_time::relative(*time, now)),
    });
    let each: Vec<String> = each.collect();
    format!("A timeline, from the earliest: {}.", each.join("; "))
}

fn caption(times: Times<'_>) -> &'static str {
    match allowed(times) {
        (Some(begin), Some(end)) if begin >= end => {
            "To scale. exp is before nbf: the token is never valid."
        }
        (Some(_), Some(_)) => "To scale. Shaded: from nbf to exp.",
        (Some(_), None) => "To scale. Shaded: from nbf.",
        (None, Some(_)) => "To scale. Shaded: until exp.",
        (None, None) => "To scale.",
    }
}

fn table(times: Times<'_>, now: jeton::Timestamp) -> Markup {
    html! {
        div.scroll {
            table #times-table {
                caption { "Times of the token, and now" }
                thead {
                    tr {
                        th scope="col" { "Time" }
                        th scope="col" { "Value" }
                        th scope="col" { "Relative to now" }
                    }
                }
                tbody {
                    @for (name, time) in times {
                        tr {
                            th scope="row" { code { (name) } " " small { (label(name)) } }
                            @match time {
                                Some(time) => {
                                    td { time datetime=(time) { (time) } }
                                    td {
                                        (relative_time::relative(*time, now))
                                        @if let Some(problem) = problem(name, *time, now) { ": " strong { (problem) } }
                                    }
                                }
                                None => td colspan="2" { "not a valid time" }
                            }
                        }
                    }
                    tr {
                        th scope="row" { "now" }
                        td { time datetime=(moment(now)) { (moment(now)) } }
                        td { "the time of this page, or of --at" }
                    }
                }
            }
        }
    }
}

fn label(name: &str) -> &'static str {
    match name {
        "iat" => "issued",
        "nbf" => "not before",
        _ => "expires",
    }
}

/// Returns the bounds of the validity of the token. Of duplicate times, the strictest counts.
fn allowed(times: Times<'_>) -> (Option<Timestamp>, Option<Timestamp>) {
    (of(times, "nbf").max(), of(times, "exp").min())
}

fn of(times: Times<'_>, claim: &'static str) -> impl Iterator<Item = Timestamp> {
    let found = times.iter().filter(move |(name, _)| *name == claim);
    found.filter_map(|(_, time)| *time)
}

fn moment(now: jeton::Timestamp) -> Timestamp {
    // Every `Timestamp` is in the range of jiff.
    Timestamp::from_second(now.unix_seconds()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn at(seconds: i64) -> Option<Timestamp> {
        Some(Timestamp::from_second(seconds).unwrap())
    }

    fn sentences(times: Times<'_>) -> Vec<String> {
        let now = jeton::Timestamp::from_unix_seconds(1000).unwrap();
        let all = summary(times, now);
        all.into_iter().map(|(_, sentence)| sentence).collect()
    }

    #[test]
    fn summary_reports_expired_and_not_yet_valid() {
        assert_eq!(sentences(&[("exp", at(1000))]), ["Expired (exp: now)."]);
        assert_eq!(
            sentences(&[("exp", at(1001)), ("nbf", at(1000))]),
            ["Within its validity: expires in 1 second."]
        );
        assert_eq!(
            sentences(&[("nbf", at(1001)), ("exp", at(5000))]),
            ["Not valid yet (nbf: in 1 second)."]
        );
        assert_eq!(
            sentences(&[("exp", at(1)), ("exp", None)]),
            ["Expired (exp: 16 minutes ago).", "exp is not a valid time."]
        );
        assert_eq!(
            sentences(&[("iat", at(0))]),
            ["No exp: the token never expires."]
        );
        assert_eq!(
            sentences(&[("iat", at(1060))]),
            ["No exp: the token never expires."]
        );
        assert_eq!(
            sentences(&[("iat", at(1061))]),
            ["Issued in the future (iat: in 1 minute)."]
        );
    }

    #[test]
    fn chart_shades_only_a_valid_time_span() {
        let (nbf, exp) = (("nbf", at(2000)), ("exp", at(1500)));
        assert_eq!(
            caption(&[nbf, exp]),
            "To scale. exp is before nbf: the token is never valid."
        );
        let now = jeton::Timestamp::from_unix_seconds(1000).unwrap();
        let shaded = |times: Times<'_>| section(times, now).into_string().contains("<rect");
        assert!(!shaded(&[nbf, exp]));
        assert!(shaded(&[nbf]) && shaded(&[exp]) && shaded(&[nbf, ("exp", at(2001))]));
        assert!(!shaded(&[("iat", at(1))]));
    }

    #[test]
    fn chart_positions_are_within_its_width() {
        let [first, last] = [at(0).unwrap(), at(100).unwrap()];
        let positions = [at(0), at(50), at(100)].map(|time| position(time.unwrap(), first, last));
        assert_eq!(positions, [3.0, 50.0, 97.0]);
        assert!((position(first, first, first) - 50.0).abs() < f64::EPSILON);
    }
}
