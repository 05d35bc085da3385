//! Verifiers for several issuers: an issuer must not sign for another.

use serde_json::{Value, json};

use super::{Attack, Family};
use crate::attack::fixtures::{AUDIENCE, Stage};
use crate::attack::trial::{Setup, Step, Trial};
use jeton_lab_model::protocol::{Extra, Trusted};

const FAMILY: Family = Family::Issuers;

const A: &str = "https://a.example";
const B: &str = "https://b.example";

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "issuers-other-key",
        "a token in the name of an issuer, signed with the key of another",
        "an issuer cannot sign for another",
        "RFC 8725 3.8",
        |s| {
            let signed = |kid: &[(&str, Value)]| s.under(s.header(kid), &naming(s, B));
            against(
                s,
                ["a", "b"],
                [
                    ("its own `kid`", signed(&[("kid", json!("a"))])),
                    ("no `kid`", signed(&[])),
                ],
            )
        },
    ),
    FAMILY.attack(
        "issuers-other-kid",
        "the same, with the `kid` of the other issuer",
        "a `kid` does not replace the key",
        "RFC 7515 4.1.4",
        |s| against(s, ["a", "b"], [("kid b", token(s, "b", &naming(s, B)))]),
    ),
    FAMILY.attack(
        "issuers-same-kid",
        "the same, and the keys of both issuers have the same `kid`",
        "a `kid` is unique only for one issuer",
        "RFC 7517 4.5",
        |s| against(s, ["k", "k"], [("kid k", token(s, "k", &naming(s, B)))]),
    ),
    FAMILY.attack(
        "issuers-unknown",
        "a token in the name of an unknown issuer, signed with a known key",
        "an unknown issuer is rejected",
        "RFC 8725 3.8",
        |s| {
            ["https://c.example", "", "a.example", "*"]
                .into_iter()
                .flat_map(|name| one(s, name, &naming(s, name)))
                .collect()
        },
    ),
    FAMILY.attack(
        "issuers-object-member",
        "the issuer is the name of a member that every object of the language has",
        "issuers are not looked up in an object with inherited members",
        "CWE-1321",
        |s| {
            [
                "__proto__",
                "constructor",
                "toString",
                "__class__",
                "hashCode",
            ]
            .into_iter()
            .flat_map(|name| one(s, name, &naming(s, name)))
            .collect()
        },
    ),
    FAMILY.attack(
        "issuers-unknown-key",
        "a token in the name of a known issuer, with its `kid`, signed with an unknown key",
        "each issuer has its own keys",
        "RFC 8725 3.8",
        |s| {
            let unknown = s.another().map(|key| token(&key, "a", &naming(s, A)));
            let unknown = unknown.unwrap_or_default();
            against(s, ["a", "b"], [("a third key", unknown)])
        },
    ),
    FAMILY.attack(
        "issuers-absent",
        "a token without `iss`",
        "a token for one of several issuers has `iss`",
        "RFC 8725 3.8",
        |s| one(s, "no `iss`", &claims(s, &Value::Null)),
    ),
    FAMILY.attack(
        "issuers-spelling",
        "the name of a known issuer in another spelling, signed with its key",
        "names of several issuers are compared exactly",
        "RFC 7519 2: StringOrURI; RFC 8414 2",
        |s| {
            [
                "https://a.example/",
                "https://a.example:443",
                "https://A.example",
                "HTTPS://a.example",
                "http://a.example",
                "https://a.example ",
                " https://a.example",
                "https://a.example.",
                "https://a.example#",
                "https://%61.example",
                "https://b.example@a.example",
                "https://a.example\0",
                "https://\u{ff41}.example",
                "https://a.example\u{200b}",
            ]
            .into_iter()
            .flat_map(|name| one(s, &format!("{name:?}"), &naming(s, name)))
            .collect()
        },
    ),
    FAMILY.attack(
        "issuers-list",
        "`iss` is a list or an object with the name of a known issuer",
        "`iss` of one of several issuers is a string",
        "RFC 7519 4.1.1",
        |s| {
            [
                json!([A]),
                json!([A, B]),
                json!([B, A]),
                json!({A: true}),
                json!(true),
            ]
            .into_iter()
            .flat_map(|value| one(s, &value.to_string(), &claims(s, &value)))
            .collect()
        },
    ),
    FAMILY.attack(
        "issuers-twice",
        "two members `iss`, one of each issuer",
        "the issuer that selects the keys is the one that is verified",
        "RFC 7519 4",
        |s| {
            let without = claims(s, &Value::Null);
            let rest = String::from_utf8(without).unwrap_or_default();
            let rest = rest.trim_start_matches('{').to_owned();
            [[A, B], [B, A]]
                .into_iter()
                .flat_map(|[x, y]| {
                    let text = format!(r#"{{"iss":"{x}","iss":"{y}",{rest}"#);
                    one(s, &format!("{x}, {y}"), text.as_bytes())
                })
                .collect()
        },
    ),
    FAMILY.attack(
        "issuers-in-header",
        "`iss` in the header names the signer, and `iss` in the claims another issuer",
        "a replicated claim does not select the keys",
        "RFC 7519 5.3",
        |s| {
            let header = s.header(&[("kid", json!("a")), ("iss", json!(A))]);
            let token = s.under(header, &naming(s, B));
            against(s, ["a", "b"], [("`iss` twice", token)])
        },
    ),
    FAMILY.attack(
        "issuers-other-audience",
        "a token of an issuer for the audience that another issuer has",
        "each issuer has its own policy",
        "RFC 8725 3.9",
        |s| {
            let with = |aud: &str| {
                let mut claims = s.claims();
                (claims["iss"], claims["aud"]) = (json!(A), json!(aud));
                claims.to_string().into_bytes()
            };
            let mut issuers = vec![trusted(s, A, "a"), trusted(s.other_keys(), B, "b")];
            issuers[1].policy.audience = "other".into();
            let issuers = Extra::Issuers(issuers);
            let step = |aud: &str, is_control| Step {
                setup: Setup::Extra(issuers.clone()),
                verifier: 0,
                token: if usable(s) {
                    token(s, "a", &with(aud))
                } else {
                    String::new()
                },
                is_control,
            };
            let steps = vec![step(AUDIENCE, true), step("other", false)];
            vec![Trial::steps("audience of b", steps)]
        },
    ),
];

/// Returns whether the lab tries these keys: key sets are for public keys.
fn usable(stage: &Stage) -> bool {
    matches!(stage.alg.as_str(), "RS256" | "ES256")
}

fn trusted(stage: &Stage, issuer: &str, kid: &str) -> Trusted {
    Trusted {
        keys: stage.keys_named(kid),
        ..stage.trusted(issuer, AUDIENCE)
    }
}

fn claims(stage: &Stage, issuer: &Value) -> Vec<u8> {
    let mut claims = stage.claims();
    claims["iss"] = issuer.clone();
    if issuer.is_null() {
        claims.as_object_mut().map(|members| members.remove("iss"));
    }
    claims.to_string().into_bytes()
}

fn naming(stage: &Stage, issuer: &str) -> Vec<u8> {
    claims(stage, &json!(issuer))
}

fn token(stage: &Stage, kid: &str, claims: &[u8]) -> String {
    stage.under(stage.header(&[("kid", json!(kid))]), claims)
}

/// One token that the key of the first issuer signs.
fn one(stage: &Stage, spelling: &str, claims: &[u8]) -> Vec<Trial> {
    against(stage, ["a", "b"], [(spelling, token(stage, "a", claims))])
}

/// Tokens of both issuers must be accepted, and then these must be rejected. `kids` are the names of their keys.
fn against<'a>(
    stage: &Stage,
    kids: [&str; 2],
    tokens: impl IntoIterator<Item = (&'a str, String)>,
) -> Vec<Trial> {
    if !usable(stage) {
        return Vec::new();
    }
    let other = stage.other_keys();
    let issuers = Extra::Issuers(vec![trusted(stage, A, kids[0]), trusted(other, B, kids[1])]);
    let step = |token: String, is_control| Step {
        setup: Setup::Extra(issuers.clone()),
        verifier: 0,
        token,
        is_control,
    };
    let trials = tokens.into_iter().map(|(spelling, attack)| {
        let steps = vec![
            step(token(stage, kids[0], &naming(stage, A)), true),
            step(token(other, kids[1], &naming(other, B)), true),
            step(attack, false),
        ];
        Trial::steps(spelling, steps)
    });
    trials.collect()
}
