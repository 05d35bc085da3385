//! What a library adds to the bare primitive below it: times the floor.

use maud::{Markup, html};

use crate::recommendation::is_cache;
use crate::result::Row;
use crate::stats::interval::{Ratio, estimate};

use super::chart::{cut, name_class, ticks, upright};
use super::comparison::time;
use super::marks::{self, Mark};
use super::names;
use super::scale::LogScale;
use super::units::{self, Unit};

const ROW: f64 = 44.0;
const AXIS: f64 = 30.0;
const NAME_CHARS_MAX: usize = 26;

/// Everything above one primitive, under one contract.
struct Group<'a> {
    contract: &'a str,
    token: String,
    floor: &'a Row,
    /// The smallest ratio first.
    above: Vec<Above<'a>>,
}

struct Above<'a> {
    row: &'a Row,
    name: String,
    ratio: Ratio,
}

pub(super) fn section(rows: &[Row]) -> Markup {
    let groups = groups(rows);
    html! {
        @if groups.is_empty() {
            p { "No bare primitive was measured beside a library, so there is no floor to measure from." }
        } @else {
            p {
                "The floor is the primitive alone (AWS-LC) on the same bytes: no JSON, no base64, no checks. A mark is a "
                "library's time as a multiple of it, round by round in the same run. 1 means that nothing is added; below 1 "
                "the library's own primitive is faster than the floor's. The axis is logarithmic."
            }
            (legend(&groups))
            @for contract in groups.chunk_by(|a, b| a.contract == b.contract) {
                @let name = contract[0].contract;
                article.comparison {
                    h3 { (units::capitalised(name)) ": times the bare primitive" }
                    figure { (svg(contract)) }
                    (table(contract))
                }
            }
        }
    }
}

fn groups(rows: &[Row]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let floors = rows
        .iter()
        .filter(|row| row.reference && time(row).is_some());
    for floor in floors {
        let same = |row: &&Row| {
            // Who remembers a token does not call the primitive.
            !row.reference
                && !is_cache(row.subject.driver())
                && row.contract == floor.contract
                && row.threads == floor.threads
                && row.claims.name == floor.claims.name
                && row.subject.key_handling == floor.subject.key_handling
                && names::primitive(&row.subject) == names::primitive(&floor.subject)
        };
        let mut by_token: Vec<(String, Vec<&Row>)> = Vec::new();
        for row in rows.iter().filter(same).filter(|row| time(row).is_some()) {
            let token = names::token(&row.subject);
            match by_token.iter_mut().find(|(known, _)| *known == token) {
                Some((_, rows)) if rows.iter().any(|r| r.subject.id == row.subject.id) => {}
                Some((_, rows)) => rows.push(row),
                None => by_token.push((token, vec![row])),
            }
        }
        for (token, rows) in by_token {
            let known = |g: &Group<'_>| g.contract == floor.contract && g.token == token;
            let above = above(&rows, floor);
            if !above.is_empty() && !groups.iter().any(known) {
                groups.push(Group {
                    contract: &floor.contract,
                    token,
                    floor,
                    above,
                });
            }
        }
    }
    let order: Vec<&str> = groups.iter().map(|g| g.contract).collect();
    let place = |contract: &str| order.iter().position(|c| *c == contract);
    groups.sort_by_key(|g| place(g.contract));
    groups
}

fn above<'a>(rows: &[&'a Row], floor: &Row) -> Vec<Above<'a>> {
    let subjects: Vec<_> = rows.iter().map(|row| &row.subject).collect();
    let mut above: Vec<Above<'a>> = rows
        .iter()
        .zip(names::distinct(&subjects))
        .filter_map(|(row, name)| {
            let (own, bare) = (time(row)?, time(floor)?);
            let ratio = estimate(&own.rounds, &bare.rounds, rows.len()).ok()?;
            let usable = ratio.ratio().is_finite() && ratio.ratio() > 0.0;
            usable.then_some(Above { row, name, ratio })
        })
        .collect();
    above.sort_by(|a, b| a.ratio.ratio().total_cmp(&b.ratio.ratio()));
    above
}

fn legend(groups: &[Group<'_>]) -> Markup {
    let all = groups.iter().flat_map(|g| &g.above);
    let languages = marks::languages(all.map(|a| a.row.subject.language.as_str()));
    marks::legend(
        languages
            .into_iter()
            .map(|l| (marks::of_language(l), names::language_of(l))),
    )
}

fn svg(groups: &[Group<'_>]) -> Markup {
    let all = || groups.iter().flat_map(|g| &g.above);
    let scale = LogScale::holding(all().map(|a| a.ratio.ratio()).chain([1.0]));
    let bottom = groups.len() as f64 * ROW + 4.0;
    let name = |tick: f64| format!("{} ×", units::times(tick));
    html! {
        svg.chart role="img" height=(bottom + AXIS)
            aria-label=(description(groups)) aria-details=(table_id(groups)) {
            (ticks(&scale.ticks(), |tick| scale.place(tick), [0.0, bottom], name))
            (upright("reference", scale.place(1.0), [0.0, bottom]))
            @for (index, group) in groups.iter().enumerate() {
                (row(group, index as f64 * ROW, scale))
            }
        }
    }
}

fn row(group: &Group<'_>, y: f64, scale: LogScale) -> Markup {
    let ends = group.above.first().zip(group.above.last());
    html! {
        svg y=(y + 31.0) {
            text class=(name_class(&group.token)) y="-15" { (cut(&group.token, NAME_CHARS_MAX)) }
            text.value x="100%" y="-15" {
                @if let Some((first, last)) = ends {
                    (units::times(first.ratio.ratio())) " ×"
                    tspan.effect { " " (cut(&first.name, 18)) }
                    @if group.above.len() > 1 {
                        " to " (units::times(last.ratio.ratio())) " ×"
                        tspan.effect { " " (cut(&last.name, 18)) }
                    }
                }
            }
            (marks::track())
            @for above in group.above.iter().rev() {
                @let words = format!("{}: {} × the primitive", above.name, units::times(above.ratio.ratio()));
                (Mark::of_series(marks::of_language(&above.row.subject.language))
                    .titled(scale.place(above.ratio.ratio()), 0.0, &words))
            }
        }
    }
}

fn table(groups: &[Group<'_>]) -> Markup {
    let times = groups
        .iter()
        .flat_map(|g| g.above.iter().map(|a| a.row).chain([g.floor]))
        .filter_map(|row| Some(time(row)?.median));
    let unit = Unit::for_times(times);
    let contract = groups[0].contract;
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (contract) " above the floor, table" } {
            table.figures #(table_id(groups)) {
                caption { (units::capitalised(contract)) ": above the bare primitive, times in " (unit.name) }
                thead { tr {
                    th.text scope="col" { "Token" }
                    th.text scope="col" { "Library" }
                    th scope="col" { "Times the floor " small { "95 % interval" } }
                    th scope="col" { "Added, " (unit.name) }
                    th scope="col" { "Time, " (unit.name) }
                    th scope="col" { "Floor, " (unit.name) }
                } }
                tbody {
                    @for group in groups { @for above in &group.above { (line(group, above, unit)) } }
                }
            }
        }
    }
}

fn line(group: &Group<'_>, above: &Above<'_>, unit: Unit) -> Markup {
    let [low, high] = above.ratio.interval();
    let median = |row: &Row| time(row).map_or(f64::NAN, |t| t.median);
    let (own, floor) = (median(above.row), median(group.floor));
    html! {
        tr {
            th scope="row" { (group.token) }
            td.text { (above.name) " " span.muted { "· " (names::language(&above.row.subject)) } }
            td {
                b { (units::ratio(above.ratio.ratio())) }
                " " small { (units::ratio(low)) " – " (units::ratio(high)) }
            }
            td { (unit.figure(own - floor)) }
            td { (unit.figure(own)) }
            td { (unit.figure(floor)) }
        }
    }
}

fn table_id(groups: &[Group<'_>]) -> String {
    format!("overhead-{}-table", names::anchor(0, groups[0].contract))
}

fn description(groups: &[Group<'_>]) -> String {
    format!(
        "Dot chart, {}: time of each library as a multiple of the bare primitive, for {}, on a log axis. The table below has every figure.",
        groups[0].contract,
        units::count(groups.len(), "kind of token", "kinds of token")
    )
}
