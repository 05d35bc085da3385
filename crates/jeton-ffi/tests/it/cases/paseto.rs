//! The official PASETO vectors of versions 3 and 4, as claims.

use jeton::paserk::{Form, Kind, Paserk, PaserkVersion};
use serde_json::{Value, json};

use super::Case;
use super::make::{Label, key, members, read_json};

/// Before the claims of the vectors expire.
const BEFORE: i64 = 1_640_000_000;
const AFTER: i64 = 1_700_000_000;

pub(crate) fn cases() -> Vec<Case> {
    let versions = [("v3", PaserkVersion::V3), ("v4", PaserkVersion::V4)];
    versions
        .into_iter()
        .flat_map(|(name, version)| of_version(name, version))
        .collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

fn paserk(version: PaserkVersion, form: Form, hex: &str) -> String {
    Paserk::from_bytes(Kind::of(version, form), &unhex(hex))
        .unwrap()
        .to_text()
        .to_string()
}

fn of_version(name: &str, version: PaserkVersion) -> Vec<Case> {
    let mut cases = Vec::new();
    for vector in read_json(&format!("paseto/{name}.json"))["tests"]
        .as_array()
        .unwrap()
    {
        let text = |member: &str| vector.get(member).and_then(Value::as_str);
        let key_text = match (text("key"), text("public-key")) {
            (Some(hex), _) => paserk(version, Form::Local, hex),
            (None, Some(hex)) => paserk(version, Form::Public, hex),
            (None, None) => continue,
        };
        let footer = text("footer").unwrap_or_default();
        let assertion = text("implicit-assertion").unwrap_or_default();
        let mut options = json!({"format": "paseto", "any_issuer": true, "any_audience": true});
        if !footer.is_empty() {
            options["footer"] = footer.into();
        }
        if !assertion.is_empty() {
            options["implicit_assertion"] = assertion.into();
        }
        let case = Case {
            id: format!("paseto-{}", super::make::slug(text("name").unwrap())),
            action: "verify".into(),
            key: Some(key(key_text, json!({}))),
            options: members(options),
            now: Some(BEFORE),
            token: Some(text("token").unwrap().into()),
            ..Case::default()
        };
        if vector["expect-fail"] == true {
            cases.push(case.labelled(Label::Invalid));
            continue;
        }
        cases.extend(changed(&case));
        cases.push(case.labelled(Label::Valid));
    }
    cases
}

/// The same token later, with another context, and for another version.
fn changed(case: &Case) -> Vec<Case> {
    let with = |suffix: &str, change: &dyn Fn(&mut Case), label| {
        let mut changed = case.clone();
        changed.id = format!("{}-{suffix}", case.id);
        change(&mut changed);
        changed.labelled(label)
    };
    let token = case.token.clone().unwrap();
    vec![
        with(
            "expired",
            &|case| case.now = Some(AFTER),
            Label::Code("TOKEN_EXPIRED"),
        ),
        with(
            "another-assertion",
            &|case| {
                drop(
                    case.options
                        .insert("implicit_assertion".into(), json!("another")),
                )
            },
            Label::Code(if token.contains(".local.") {
                "TOKEN_DECRYPTION_FAILED"
            } else {
                "TOKEN_INVALID_SIGNATURE"
            }),
        ),
        with(
            "another-footer",
            &|case| drop(case.options.insert("footer".into(), json!("another"))),
            Label::Code("TOKEN_FOOTER_MISMATCH"),
        ),
        with(
            "another-version",
            &|case| {
                let other = if token.starts_with("v3") { "v4" } else { "v3" };
                case.token = Some(format!("{other}{}", &token[2..]));
            },
            Label::Code("TOKEN_ALGORITHM_MISMATCH"),
        ),
        with(
            "another-purpose",
            &|case| {
                case.token = Some(if token.contains(".local.") {
                    token.replacen(".local.", ".public.", 1)
                } else {
                    token.replacen(".public.", ".local.", 1)
                });
            },
            Label::Code("TOKEN_ALGORITHM_MISMATCH"),
        ),
        with(
            "u0165-for-e",
            &|case| {
                case.token = Some(
                    token
                        .replacen('e', "\u{165}", 1)
                        .replacen('w', "\u{177}", 1),
                )
            },
            Label::Invalid,
        ),
    ]
}
