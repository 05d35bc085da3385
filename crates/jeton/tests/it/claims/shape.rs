//! Claims that do not match the caller's type: the error names the field of the type.

use std::collections::BTreeMap;

use jeton::error::{Claim, JsonType, Rejection, ShapeMismatch};
use jeton::key::{MacAlg, MacKey};
use jeton::{Claims, Error, Policy, Scratch, WithRegistered, jwt::JwtVerifier};
use serde::Deserialize;
use serde::de::DeserializeOwned;

fn verified<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let key = MacKey::new(MacAlg::HS256, &[7; 32]).unwrap();
    let claims = Claims::from_json(text).unwrap().without_expiry();
    let token = key.issue(&claims.without_issued_at())?;
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    let verifier = JwtVerifier::new(&key, policy.without_expiry());
    let mut scratch = Scratch::new();
    let borrowed = verifier.verify_in::<T>(&token, &mut scratch).err();
    let owned = verifier.verify::<T>(&token);
    assert_eq!(owned.as_ref().err(), borrowed.as_ref());
    owned.map(|verified| verified.into_claims())
}

fn mismatch<T: DeserializeOwned>(text: &str) -> Option<ShapeMismatch> {
    match verified::<T>(text).err()? {
        Error::Rejected(Rejection::ClaimsShape(mismatch)) => Some(mismatch),
        other => unreachable!("{other}"),
    }
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Visit {
    page: String,
    #[serde(rename = "n")]
    count: u8,
    #[serde(alias = "mail")]
    email: Option<String>,
    inner: Option<Inner>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Inner {
    deep: bool,
}

fn wrong(field: &'static str, found: JsonType) -> ShapeMismatch {
    ShapeMismatch::WrongType { field, found }
}

#[test]
fn missing_or_wrong_field_is_named() {
    use ShapeMismatch::MissingField;
    assert_eq!(mismatch::<Visit>(r#"{"page":"/","n":1}"#), None);
    for (text, expected) in [
        ("{}", MissingField("page")),
        (r#"{"n":1}"#, MissingField("page")),
        (r#"{"page":"/"}"#, MissingField("n")),
        (r#"{"page":7,"n":1}"#, wrong("page", JsonType::Number)),
        (r#"{"page":null,"n":1}"#, wrong("page", JsonType::Null)),
        (r#"{"page":"/","n":256}"#, wrong("n", JsonType::Number)),
        (r#"{"page":"/","n":1.0}"#, wrong("n", JsonType::Number)),
        (
            r#"{"page":"/","n":1,"email":7}"#,
            wrong("email", JsonType::Number),
        ),
        (
            r#"{"page":"/","n":1,"inner":{}}"#,
            wrong("inner", JsonType::Object),
        ),
        (
            r#"{"page":"/","n":1,"inner":{"deep":1}}"#,
            wrong("inner", JsonType::Object),
        ),
    ] {
        let expected = Some(expected);
        assert_eq!(mismatch::<Visit>(text), expected, "{text}");
        assert_eq!(mismatch::<WithRegistered<Visit>>(text), expected);
    }
}

#[test]
fn field_is_named_among_many_claims() {
    let others: Vec<String> = (0..40).map(|n| format!("\"m{n}\":{n}")).collect();
    let text = format!(r#"{{{},"page":7,"n":1}}"#, others.join(","));
    assert_eq!(
        mismatch::<Visit>(&text),
        Some(wrong("page", JsonType::Number))
    );
    let text = format!(r#"{{{},"n":1}}"#, others.join(","));
    assert_eq!(
        mismatch::<Visit>(&text),
        Some(ShapeMismatch::MissingField("page"))
    );
    // A name with escapes, or more than 64 KiB: the error is the same, without a name.
    let long = format!(r#"{{"n":1,"x":"{}"}}"#, "x".repeat(70_000));
    for text in [r#"{"n":1,"\u0061":1}"#, &long] {
        assert_eq!(mismatch::<Visit>(text), Some(ShapeMismatch::Unnamed));
    }
}

#[test]
fn unknown_field_is_not_named_unless_registered() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Closed {
        page: String,
    }
    let unknown = |claim| Some(ShapeMismatch::UnknownField(claim));
    assert_eq!(
        mismatch::<Closed>(r#"{"page":"/","hunter2":1}"#),
        unknown(None)
    );
    assert_eq!(
        mismatch::<Closed>(r#"{"page":"/","iss":"i"}"#),
        unknown(Some(Claim::Issuer))
    );
    let error = verified::<Closed>(r#"{"page":"/","hunter2":"hunter3"}"#).unwrap_err();
    assert!(!error.to_string().contains("hunter"), "{error}");
}

#[test]
fn flattened_type_names_what_serde_tells() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Flat {
        page: String,
        #[serde(flatten)]
        others: BTreeMap<String, u8>,
    }
    assert_eq!(mismatch::<Flat>(r#"{"page":"/","a":1}"#), None);
    assert_eq!(
        mismatch::<Flat>(r#"{"a":1}"#),
        Some(ShapeMismatch::MissingField("page"))
    );
    assert_eq!(
        mismatch::<Flat>(r#"{"page":1,"a":1}"#),
        Some(ShapeMismatch::Unnamed)
    );
}

#[test]
fn type_that_is_no_struct_has_no_name() {
    for text in ["{}", r#"{"page":"/"}"#] {
        assert_eq!(mismatch::<Vec<u8>>(text), Some(ShapeMismatch::Unnamed));
        assert_eq!(mismatch::<String>(text), Some(ShapeMismatch::Unnamed));
    }
    let map = mismatch::<BTreeMap<String, u8>>(r#"{"page":"/"}"#);
    assert_eq!(map, Some(ShapeMismatch::Unnamed));
}

#[test]
fn message_names_the_field_and_no_value() {
    let message = |text| verified::<Visit>(text).unwrap_err().to_string();
    assert_eq!(
        message("{}"),
        "the claims do not match the expected type: the field `page` is missing"
    );
    assert_eq!(
        message(r#"{"page":{"hunter2":"hunter3"},"n":1}"#),
        "the claims do not match the expected type: the type of the field `page` does not accept an object"
    );
    let error = verified::<Vec<u8>>("{}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the claims do not match the expected type"
    );
}
