//! Compares a stored part of a file with the recomputed one, member by member.

use serde::Serialize;
use serde_json::Value;

/// A stored and a recomputed figure may differ by the rounding of another compiler's logarithms.
const ROUNDING: f64 = 1e-6;

/// The longest text of a value in a message.
const SHOWN_MAX: usize = 120;

/// Returns the first member that differs: its name, what the file says, and what follows.
pub(super) fn difference(file: &impl Serialize, own: &impl Serialize) -> Option<String> {
    // Serialising these types cannot fail: the keys of all maps are strings.
    let (file, own) = (value(file), value(own));
    let (member, file, own) = first(&file, &own, "")?;
    Some(says(&named(&member), shown(file), shown(own)))
}

/// Formats a difference.
pub(super) fn says(
    member: &str,
    file: impl std::fmt::Display,
    own: impl std::fmt::Display,
) -> String {
    format!("the {member} is {file}; {own} follows from the rounds")
}

/// Reports whether two figures are equal, apart from rounding.
pub(super) fn close(file: f64, own: f64) -> bool {
    (file - own).abs() <= ROUNDING * own.abs().max(1e-9)
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

type Difference<'v> = (String, Option<&'v Value>, Option<&'v Value>);

fn first<'v>(file: &'v Value, own: &'v Value, at: &str) -> Option<Difference<'v>> {
    match (file, own) {
        (Value::Object(a), Value::Object(b)) => {
            let mut names: Vec<&String> = a.keys().collect();
            names.extend(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let at = match at {
                    "" => name.clone(),
                    at => format!("{at}.{name}"),
                };
                match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => first(a, b, &at),
                    (a, b) => Some((at, a, b)),
                }
            })
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len())).find_map(|i| {
            let at = format!("{at}[{i}]");
            match (a.get(i), b.get(i)) {
                (Some(a), Some(b)) => first(a, b, &at),
                (a, b) => Some((at, a, b)),
            }
        }),
        (Value::Number(a), Value::Number(b)) => {
            let same = match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => close(a, b),
                _ => a == b,
            };
            (!same).then(|| (at.to_owned(), Some(file), Some(own)))
        }
        _ => (file != own).then(|| (at.to_owned(), Some(file), Some(own))),
    }
}

/// Returns the name of a member for people.
fn named(member: &str) -> String {
    match member {
        "interval[0]" => "lower end of the interval".to_owned(),
        "interval[1]" => "upper end of the interval".to_owned(),
        "tier" => "group".to_owned(),
        "baseline_tier" => "group of the baseline".to_owned(),
        other => other.to_owned(),
    }
}

fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None => return "nothing".to_owned(),
        Some(Value::String(text)) => format!("\"{text}\""),
        Some(value) => value.to_string(),
    };
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
