//! The output of `lab compare` and `lab gate`.

use crate::multi_run::{
    Change, ControlsShow, Difference, Farthest, Gate, Judged, Kind, Outcome, Ruling, RunComparison,
    SetBy, ShiftKept, joined,
};

use super::table::NAME_WIDTH_MAX;
use super::{BOLD, DIM, section};
use crate::grouped::distinct;
use crate::section::Section;
use crate::table::{Table, Value, columns};
use crate::words::{colour, microseconds, percent, plural, significant};

/// Formats a comparison of two results as styled text.
#[must_use]
pub fn comparison(compared: &RunComparison, names: &[String; 2], columns: usize) -> String {
    let sides = [("before", &compared.before), ("after", &compared.after)];
    let mut head = Section::default();
    for ((word, side), name) in sides.into_iter().zip(names) {
        let floor = side.noise_floor.map_or("not measured".into(), percent);
        let (rounds, started) = (plural(side.rounds as usize, "round"), &side.started);
        let line = format!("{BOLD}{word}{BOLD:#} {name}: {started}, {rounds}, noise floor {floor}");
        head = head.say(line);
        if !side.disturbed.is_empty() {
            head = head.say(format!("DISTURBED RUN: {}", side.disturbed.join("; ")));
        }
    }
    let same = format!(
        "{BOLD}SAME RUN{BOLD:#}: both files hold the same run. They show nothing about a change."
    );
    let settings = joined(&compared.settings);
    let settings =
        (!settings.is_empty()).then(|| format!("{BOLD}Also different{BOLD:#}: {settings}."));
    let said = compared.same_run.then_some(same).into_iter();
    let said = said
        .chain(other_machine(&compared.another_machine))
        .chain(settings);
    let notes = between_runs(&compared.between_runs).into_iter();
    let about = "Two runs are not interleaved: the intervals are unpaired, and a difference inside ± band does not count. Times in µs; =: control (unchanged code).";
    let says = said.fold(Section::default(), Section::say);
    let says = notes.fold(says, Section::note).note(about);
    let changes: Vec<Line<'_>> = compared.changes.iter().map(of_change).collect();
    let table = match changes.as_slice() {
        [] => "The results have no subject in common.\n".to_owned(),
        changes => table(changes, true, "verdict", columns),
    };
    let unjudged = compared.unjudged.iter();
    let unjudged = unjudged.map(|one| format!("{}: {}", one.what, one.reason));
    let unjudged = Section::new("Not compared").items(unjudged);
    let unjudged = (!compared.unjudged.is_empty()).then_some(unjudged);
    let unjudged = shown(&Section::default().parts(unjudged), columns);
    format!("{}\n{table}{unjudged}", shown(&head.parts([says]), columns))
}

fn shown(whole: &Section, columns: usize) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = section(whole, columns, &mut out);
    out
}

fn other_machine(differences: &[Difference]) -> Option<String> {
    let text = "The ratios include the difference between the machines.";
    let text = format!(
        "{BOLD}DIFFERENT MACHINES{BOLD:#}: {}. {text}",
        joined(differences)
    );
    (!differences.is_empty()).then_some(text)
}

/// Says how far the runs themselves differ, as the controls show.
fn between_runs(shown: &[ControlsShow]) -> Vec<String> {
    if shown.is_empty() {
        let text = "No controls: no subject has unchanged code, so the difference between the runs is unknown.";
        return vec![text.to_owned()];
    }
    let said = shown.iter().map(|one| {
        let on = match one.threads {
            1 => String::new(),
            threads => format!(" on {threads} threads"),
        };
        let how = match one.shift {
            shift if shift > 1.0 => format!("{} slower", percent(shift - 1.0)),
            shift => format!("{} faster", percent(1.0 - shift)),
        };
        let kept = one.shift_kept.map(|why| match why {
            ShiftKept::TooFewControls => "too few controls: they may agree by chance".to_owned(),
            ShiftKept::TooLarge => "too large for one machine".to_owned(),
            ShiftKept::NoOwnControl => format!("no control of the same kind{on}"),
            ShiftKept::OwnControlDiffers => {
                format!("the control of the same kind{on} does not show it")
            }
        });
        let shift = match (one.shift_removed, kept) {
            (true, _) => format!(" The later run is {how}; this shift is removed from the ratios."),
            (false, Some(why)) => format!(
                " The later run is {how}; this shift is not removed from the ratios ({why})."
            ),
            (false, None) => String::new(),
        };
        let judged = kind(one.judged);
        let controls = plural(one.controls, "control");
        let of = kind(one.of);
        let spread = width(one.spread);
        format!("For {judged} subjects{on}: {controls} ({of}) differ by up to {spread}.{shift}")
    });
    said.collect()
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Compiled => "compiled",
        Kind::Managed => "managed",
        Kind::Any => "compiled or managed",
    }
}

/// Formats a band; very wide bands get no digits.
fn width(band: f64) -> String {
    if band >= 100.0 {
        "> 9999 %".to_owned()
    } else {
        percent(band)
    }
}

/// Describes what set a band.
#[must_use]
pub fn describe_set_by(set_by: &SetBy) -> String {
    let farthest = |one: &Farthest| {
        let ([low, high], ratio) = (one.interval.map(significant), significant(one.ratio));
        format!("{}, ratio {ratio} ({low} – {high})", one.what)
    };
    match set_by {
        SetBy::PracticalDifference => "the smallest difference of interest".to_owned(),
        SetBy::NoNoiseFloor { run, threads } => format!(
            "the {run} run has no noise floor on {}: no A/A pair was measured on as many",
            plural(*threads as usize, "thread")
        ),
        SetBy::NoiseFloor { run, pair } => {
            let pair = farthest(pair);
            format!("the noise floor of the {run} run; the widest A/A pair is {pair}")
        }
        SetBy::Controls { count, of, control } => {
            let (controls, of, control) = (plural(*count, "control"), kind(*of), farthest(control));
            format!("{controls} ({of}); the largest difference is {control}")
        }
    }
}

/// One line of a table: the name, the medians, ratio and band, what set the band, and the verdict.
struct Line<'a> {
    name: String,
    times: [f64; 2],
    ratio: (f64, [f64; 2]),
    band: f64,
    /// Controls have no verdict, so their band needs no letter.
    set_by: Option<&'a SetBy>,
    word: String,
}

fn of_change(change: &Change) -> Line<'_> {
    let (style, word) = match change.verdict {
        Some(verdict) => (colour(verdict), verdict.label()),
        None if change.unchanged => (DIM, "control"),
        None => (DIM, "different machines"),
    };
    let mut word = format!("{style}{word}{style:#}");
    let [before, after] = &change.versions;
    if before != after {
        word.push_str(&format!(", {before} → {after}"));
    }
    if let [Some(before), Some(after)] = change.allocs_per_op
        && (before - after).abs() >= 0.05
    {
        word.push_str(&format!(", {before:.1} → {after:.1} allocations"));
    }
    Line {
        name: format!(
            "{} {}",
            if change.unchanged { '=' } else { ' ' },
            change.what()
        ),
        times: change.median_ns,
        ratio: (change.ratio, change.interval),
        band: change.band,
        set_by: Some(&change.band_set_by).filter(|_| !change.unchanged),
        word,
    }
}

fn of_judged(row: &Judged) -> Line<'_> {
    let word = match row.ruling {
        Ruling::Slower => "regression",
        Ruling::NotSlower => "not slower",
        Ruling::Undecided => "undecided",
        Ruling::SameCode => "control",
    };
    Line {
        name: format!("  {}", row.what),
        times: [f64::NAN; 2],
        ratio: (row.ratio, row.interval),
        band: row.band,
        set_by: Some(&row.band_set_by).filter(|_| !row.is_control),
        word: word.to_owned(),
    }
}

/// Formats a table, and below it what set each band. There may be more bands than letters.
fn table(rows: &[Line<'_>], is_timed: bool, last: &str, columns: usize) -> String {
    let names = rows.iter().map(|row| row.name.chars().count());
    let width = names.max().unwrap_or(0).min(NAME_WIDTH_MAX + 2);
    let bands = distinct(rows.iter().filter_map(|row| row.set_by));
    let bands = bands.into_iter().enumerate();
    let bands = bands.map(|(index, band)| (('a'..='z').nth(index), band));
    let bands: Vec<(Option<char>, &SetBy)> = bands.collect();
    let letter = |row: &Line<'_>| {
        let own = bands.iter().find(|(_, band)| Some(*band) == row.set_by);
        own.map_or_else(String::new, |(letter, _)| letter.unwrap_or('?').to_string())
    };
    let mut all = columns![Line<'_>: text("") |row| Value::text(&row.name), .wide(width);];
    if is_timed {
        all.extend(columns![Line<'_>:
            number("before") |row| Value::text(microseconds(row.times[0])), .wide(9);
            number("after") |row| Value::text(microseconds(row.times[1])), .wide(8);
        ]);
    }
    all.extend(columns![Line<'_>:
        number("ratio") |row| Value::text(significant(row.ratio.0)), .wide(if is_timed { 7 } else { 8 });
        text(" interval") |row| {
            let [low, high] = row.ratio.1.map(significant);
            Value::text(format!(" {low} – {high}"))
        }, .wide(14);
        number("band") |row| Value::text(self::width(row.band)), .wide(9);
        number("") |row| Value::text(letter(row)), .wide(2);
        text(last) |row| Value::text(&row.word);
    ]);
    let lines = bands.iter().filter_map(|(letter, band)| {
        Some(format!("band {}: {}", (*letter)?, describe_set_by(band)))
    });
    let table = Section::default().table(Table::new("", "", &all, rows));
    shown(&table, columns) + &shown(&Section::default().items(lines), columns)
}

/// Formats the findings of a gate: every row with its ruling, and the summary.
#[must_use]
pub fn gate_summary(gate: &Gate, columns: usize) -> String {
    let mut whole = Section::default();
    whole = other_machine(&gate.another_machine)
        .into_iter()
        .fold(whole, Section::say);
    if gate.rows.len() > gate.controls {
        whole = between_runs(&gate.between_runs)
            .into_iter()
            .fold(whole, Section::note);
    }
    // Controls that did not change are only counted.
    let rows = gate.rows.iter();
    let rows = rows.filter(|row| row.ruling != Ruling::SameCode);
    let rows: Vec<Line<'_>> = rows.map(of_judged).collect();
    let table = match rows.as_slice() {
        [] => String::new(),
        rows => table(rows, false, "ruling", columns),
    };
    let unjudged = gate.unjudged.iter();
    let unjudged = unjudged.map(|one| format!("not compared: {one}"));
    let answer = match gate.outcome {
        Outcome::NoRegression => "no regression".into(),
        Outcome::Regression => plural(gate.regressions.len(), "regression"),
        Outcome::Undecided => "undecided".into(),
    };
    let is_slow_control = |row: &&Judged| row.is_control && row.ruling == Ruling::Undecided;
    let slow_controls = gate.rows.iter().filter(is_slow_control).count();
    let undecided = match gate.undecided - slow_controls {
        0 => String::new(),
        some => format!("; {some} undecided: noise band or interval wider than the threshold"),
    };
    let slow = match slow_controls {
        0 => String::new(),
        some => {
            let controls = plural(some, "control");
            format!("; {controls} undecided: unchanged code takes 50 % longer or more")
        }
    };
    let passed = plural(gate.passed, "subject");
    let controls = plural(gate.controls, "control");
    let threshold = percent(gate.threshold);
    let text = format!(
        "{answer}; {passed} not slower by more than {threshold}{undecided}{slow}; {controls}"
    );
    let tail = unjudged
        .chain([text])
        .fold(Section::default(), Section::say);
    shown(&whole, columns) + &table + &shown(&tail, columns)
}
