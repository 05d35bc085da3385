//! Compares a stored part of a file with the recomputed one, member by member.

use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

/// A stored and a recomputed figure may differ by the rounding of another compiler's logarithms.
const ROUNDING: f64 = 1e-6;

/// The longest text of a value in a message.
const SHOWN_MAX: usize = 120;

/// Returns the first member that differs: its name, what the file says, and what follows.
pub(super) fn difference(file: &impl Serialize, own: &impl Serialize) -> Option<String> {
    // Serialising these types cannot fail: the keys of all maps are strings.
    let file = serde_json::to_value(file).unwrap_or_default();
    let own = serde_json::to_value(own).unwrap_or_default();
    let (member, file, own) = first(&file, &own, "")?;
    let named = match member.as_str() {
        "interval[0]" => "lower end of the interval",
        "interval[1]" => "upper end of the interval",
        "tier" => "group",
        "baseline_tier" => "group of the baseline",
        other => other,
    };
    Some(says(named, shown(file), shown(own)))
}

/// Formats a difference.
pub(super) fn says(member: &str, file: impl Display, own: impl Display) -> String {
    format!("the {member} is {file}; {own} follows from the rounds")
}

/// Reports whether two figures are equal, apart from rounding.
pub(super) fn close(file: f64, own: f64) -> bool {
    (file - own).abs() <= ROUNDING * own.abs().max(1e-9)
}

type Difference<'v> = (String, Option<&'v Value>, Option<&'v Value>);

fn first<'v>(file: &'v Value, own: &'v Value, at: &str) -> Option<Difference<'v>> {
    let both = |at: String, file: Option<&'v Value>, own: Option<&'v Value>| match (file, own) {
        (Some(a), Some(b)) => first(a, b, &at),
        (a, b) => Some((at, a, b)),
    };
    let is_same = match (file, own) {
        (Value::Object(a), Value::Object(b)) => {
            let more = b.keys().filter(|name| !a.contains_key(*name));
            return a.keys().chain(more).find_map(|name| {
                let at = if at.is_empty() {
                    name.clone()
                } else {
                    format!("{at}.{name}")
                };
                both(at, a.get(name), b.get(name))
            });
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut all = 0..a.len().max(b.len());
            return all.find_map(|i| both(format!("{at}[{i}]"), a.get(i), b.get(i)));
        }
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => close(a, b),
            _ => a == b,
        },
        _ => file == own,
    };
    (!is_same).then(|| (at.to_owned(), Some(file), Some(own)))
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
