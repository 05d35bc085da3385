//! The subset of JSON Schema (2020-12) that `docs/result.schema.json` uses. An unknown keyword is a
//! failure, so that everything in the schema is checked.

use serde_json::Value;

/// Returns the violations of the schema, as `place: what`.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    if schema == &Value::Bool(false) {
        found.push(format!("{place}: unexpected member"));
        return;
    }
    for (keyword, rule) in schema.as_object().unwrap() {
        let mut wrong = |what: &str| found.push(format!("{place}: {what}"));
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                let target = root.pointer(pointer).unwrap();
                check(root, target, value, place, found);
            }
            "const" if value != rule => wrong("has the wrong value"),
            "enum" if !rule.as_array().unwrap().contains(value) => {
                wrong("is not one of the values")
            }
            "type" => {
                let names = rule.as_array().cloned();
                let names = names.unwrap_or_else(|| vec![rule.clone()]);
                if !names.iter().any(|name| is_a(name.as_str().unwrap(), value)) {
                    wrong("has the wrong type");
                }
            }
            "minimum" if value.as_f64().is_some_and(|v| v < rule.as_f64().unwrap()) => {
                wrong("is too small");
            }
            "exclusiveMinimum" if value.as_f64().is_some_and(|v| v <= rule.as_f64().unwrap()) => {
                wrong("is too small");
            }
            "maximum" if value.as_f64().is_some_and(|v| v > rule.as_f64().unwrap()) => {
                wrong("is too large");
            }
            "pattern"
                if value
                    .as_str()
                    .is_some_and(|v| !matches(rule.as_str().unwrap(), v)) =>
            {
                wrong("does not match the pattern");
            }
            "const" | "enum" | "minimum" | "exclusiveMinimum" | "maximum" | "pattern" => {}
            "required" => {
                for name in rule.as_array().unwrap() {
                    let name = name.as_str().unwrap();
                    if value.is_object() && value.get(name).is_none() {
                        found.push(format!("{place}: has no {name}"));
                    }
                }
            }
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(member) = value.get(name) {
                        check(root, rule, member, &format!("{place}/{name}"), found);
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (name, member) in value.as_object().into_iter().flatten() {
                    if known.is_none_or(|k| !k.contains_key(name)) {
                        check(root, rule, member, &format!("{place}/{name}"), found);
                    }
                }
            }
            "minItems" => {
                let least = rule.as_u64().unwrap() as usize;
                if value.as_array().is_some_and(|v| v.len() < least) {
                    wrong("has too few items");
                }
            }
            "prefixItems" => {
                let rules = rule.as_array().unwrap();
                for (i, (rule, item)) in rules.iter().zip(items(value)).enumerate() {
                    check(root, rule, item, &format!("{place}/{i}"), found);
                }
            }
            "items" => {
                let before = schema.get("prefixItems").map_or(0, |p| items(p).len());
                for (i, item) in items(value).iter().enumerate().skip(before) {
                    check(root, rule, item, &format!("{place}/{i}"), found);
                }
            }
            "anyOf" => {
                let fits = |rule: &Value| {
                    let mut found = Vec::new();
                    check(root, rule, value, place, &mut found);
                    found.is_empty()
                };
                if !rule.as_array().unwrap().iter().any(fits) {
                    wrong("matches no alternative");
                }
            }
            "allOf" => {
                for rule in items(rule) {
                    check(root, rule, value, place, found);
                }
            }
            "if" => {
                let mut unlike = Vec::new();
                check(root, rule, value, place, &mut unlike);
                if unlike.is_empty() {
                    check(root, &schema["then"], value, place, found);
                }
            }
            "then" => assert!(schema.get("if").is_some(), "a then without an if"),
            "not" => {
                let mut unlike = Vec::new();
                check(root, rule, value, place, &mut unlike);
                if unlike.is_empty() {
                    wrong("matches a forbidden form");
                }
            }
            other => panic!("this test does not support the schema keyword {other:?}"),
        }
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_a(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("unknown type {other:?}"),
    }
}

/// Matches the two patterns of the schema.
fn matches(pattern: &str, text: &str) -> bool {
    if pattern.starts_with("^[0-9a-f]{64}$") {
        text.len() == 64
            && text
                .bytes()
                .all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
    } else if pattern.starts_with("^[0-9]{4}-") {
        text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
    } else {
        panic!("this test does not support the pattern {pattern:?}")
    }
}
