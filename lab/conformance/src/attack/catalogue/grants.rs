//! Grants of a token endpoint that take a token: as an assertion (RFC 7523), or as a subject token (RFC 8693). Only a
//! live endpoint is attacked with these (`--target-grant`).
//!
//! The control is a form with a valid token. An attack changes the form, or the claims that only grants read.

use serde_json::{Value, json};

use super::{Attack, Demand, Family, Kind};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jws::b64;
use crate::attack::trial::{Act, FormChange, Trial};

const FAMILY: Family = Family::Grant;
const EXCHANGE: &[Kind] = &[Kind::TokenExchange];
const BEARER: &[Kind] = &[Kind::JwtBearer];

/// A name of the attacker, which no endpoint knows.
const STRANGER: &str = "jeton-lab-stranger";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const JWT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

pub(super) const ATTACKS: &[Attack] = &[
    // The form.
    FAMILY.attack(
        "grant-type-absent",
        "the form has no `grant_type`, or an empty one",
        "`grant_type` is required",
        "RFC 7521 4.1",
        |s| {
            vec![
                form(s, "absent", vec![FormChange::Remove("grant_type")]),
                form(s, "empty", vec![set("grant_type", "")]),
            ]
        },
    ),
    FAMILY.attack(
        "grant-type-other",
        "`grant_type` is another grant, which needs a password, a code or a client",
        "only the grant that the form names takes the token",
        "RFC 6749 5.2",
        |s| {
            let others = [
                "password",
                "authorization_code",
                "refresh_token",
                "client_credentials",
                "urn:ietf:params:oauth:grant-type:saml2-bearer",
                "urn:ietf:params:oauth:grant-type:device_code",
            ];
            each(s, "grant_type", others)
        },
    ),
    FAMILY.attack(
        "grant-type-spelling",
        "`grant_type` in other case, or with other characters around it",
        "grants are compared exactly",
        "RFC 3986 6.2.1",
        |s| {
            vec![
                form(s, "upper case", vec![FormChange::UpperCase("grant_type")]),
                form(s, "space after", vec![append("grant_type", " ")]),
                form(s, "NUL after", vec![append("grant_type", "\0")]),
                form(s, "line end after", vec![append("grant_type", "\n")]),
            ]
        },
    ),
    FAMILY.attack(
        "grant-type-twice",
        "a second `grant_type`",
        "no parameter is repeated",
        "RFC 6749 3.2",
        |s| twice(s, "grant_type", "client_credentials"),
    ),
    FAMILY.attack(
        "grant-token-twice",
        "a second token, which the attacker signed",
        "a form has one token",
        "RFC 6749 3.2",
        |s| twice(s, FormChange::TOKEN, &s.other_keys().valid()),
    ),
    FAMILY.attack(
        "grant-token-absent",
        "the form has no token, or an empty one",
        "the token is required",
        "RFC 7523 2.1; RFC 8693 2.1",
        |s| {
            vec![
                form(s, "absent", vec![FormChange::Remove(FormChange::TOKEN)]),
                form(s, "empty", vec![set(FormChange::TOKEN, "")]),
            ]
        },
    ),
    FAMILY.attack(
        "grant-in-address",
        "the parameters are in the address, and the form is empty",
        "parameters in the address are not used",
        "RFC 6749 2.3.1, 3.2",
        |s| vec![form(s, "POST", vec![FormChange::InAddress])],
    ),
    FAMILY.attack(
        "grant-by-get",
        "a GET request with the parameters in its address",
        "only POST is accepted",
        "RFC 6749 3.2",
        |s| vec![form(s, "GET", vec![FormChange::Get])],
    ),
    FAMILY.attack(
        "grant-json-body",
        "the parameters are a JSON object",
        "a body in another format is not read",
        "RFC 6749 4.5",
        |s| vec![form(s, "application/json", vec![FormChange::Json])],
    ),
    FAMILY.attack(
        "grant-content-type",
        "the form is declared as plain text, or as nothing: a web page can send it to another site",
        "the content type is that of a form",
        "RFC 6749 4.5; Fetch standard",
        |s| {
            [
                "text/plain",
                "multipart/form-data; boundary=a",
                "application/octet-stream",
            ]
            .map(|declared| form(s, declared, vec![FormChange::ContentType(declared)]))
            .into()
        },
    ),
    FAMILY.attack(
        "grant-not-utf8",
        "a parameter is not UTF-8",
        "parameters are UTF-8",
        "RFC 6749 B",
        |s| {
            ["grant_type", FormChange::TOKEN, "scope"]
                .map(|name| form(s, shown(name), vec![FormChange::NotUtf8(name)]))
                .into()
        },
    ),
    // What the token may get.
    FAMILY.attack(
        "grant-scope-widened",
        "a scope that the token does not have",
        "a scope is granted by the endpoint, and not by the request",
        "RFC 6749 3.3, 6; RFC 8693 2.1",
        |s| {
            each(
                s,
                "scope",
                [STRANGER, "*", "openid offline_access admin", "root write"],
            )
        },
    ),
    FAMILY.attack(
        "grant-scope-malformed",
        "a scope with characters that no scope has",
        "a malformed scope is rejected",
        "RFC 6749 3.3",
        |s| {
            [
                ("quote", "a\"b"),
                ("backslash", "a\\b"),
                ("line end", "a\nb"),
                ("NUL", "a\0b"),
            ]
            .map(|(name, scope)| form(s, name, vec![set("scope", scope)]))
            .into()
        },
    ),
    FAMILY.attack(
        "grant-audience-other",
        "the audience is a service of the attacker",
        "an audience is one that the token may get",
        "RFC 8693 2.1, 2.2.2",
        |s| each(s, "audience", ["https://attacker.example", STRANGER, "*"]),
    ),
    FAMILY.attack(
        "grant-resource-other",
        "the resource is a service of the attacker",
        "a resource is one that the token may get",
        "RFC 8707 2",
        |s| each(s, "resource", ["https://attacker.example/"]),
    ),
    FAMILY.attack(
        "grant-resource-malformed",
        "the resource is relative, or has a fragment",
        "a resource is an absolute URI without a fragment",
        "RFC 8707 2",
        |s| {
            each(
                s,
                "resource",
                ["/admin", "../admin", "https://attacker.example/#a"],
            )
        },
    ),
    // The client.
    FAMILY.attack(
        "grant-wrong-secret",
        "a client secret that is wrong, besides a valid token",
        "wrong credentials are not ignored",
        "RFC 6749 5.2; RFC 7521 4.1",
        |s| {
            [
                (
                    "secret",
                    format!("Basic {}", base64(&format!("{STRANGER}:wrong"))),
                ),
                ("no base64", "Basic !".to_owned()),
                ("bearer token", format!("Bearer {}", s.other_keys().valid())),
            ]
            .map(|(name, value)| form(s, name, vec![FormChange::Authorization(value)]))
            .into()
        },
    ),
    FAMILY.attack(
        "grant-secret-in-form",
        "a client secret that is wrong, in the form",
        "credentials in the form are checked or refused",
        "RFC 6749 2.3.1",
        |s| {
            let client = set("client_id", STRANGER);
            vec![form(
                s,
                "wrong secret",
                vec![client, set("client_secret", "wrong")],
            )]
        },
    ),
    FAMILY.attack(
        "grant-client-unknown",
        "the name of a client without its credentials",
        "a name is no credential",
        "RFC 7521 4.1",
        |s| vec![form(s, "client_id", vec![set("client_id", STRANGER)])],
    ),
    FAMILY.attack(
        "grant-client-assertion-unsigned",
        "a client authenticates with an unsigned assertion",
        "the assertion of a client is verified",
        "RFC 7523 3",
        |s| {
            let claims = json!({"iss": STRANGER, "sub": STRANGER, "jti": "a", "exp": s.now_s + 60});
            let (header, claims) = (b64(r#"{"alg":"none"}"#), b64(claims.to_string()));
            vec![client_assertion(
                s,
                "alg none",
                JWT_ASSERTION,
                &format!("{header}.{claims}."),
            )]
        },
    ),
    FAMILY.attack(
        "grant-client-assertion-other",
        "a client authenticates with an assertion that the attacker signed",
        "a client has keys of its own",
        "RFC 7523 3",
        |s| {
            let token = s
                .other_keys()
                .with_claims(&[("iss", json!(STRANGER)), ("sub", json!(STRANGER))]);
            vec![client_assertion(s, "other key", JWT_ASSERTION, &token)]
        },
    ),
    FAMILY.attack(
        "grant-token-as-client-assertion",
        "a client authenticates with the token of the grant",
        "a token of a workload identifies no client",
        "RFC 7523 3; RFC 7521 4.2",
        |s| {
            vec![client_assertion(
                s,
                "the same token",
                JWT_ASSERTION,
                &s.valid(),
            )]
        },
    ),
    FAMILY.attack(
        "grant-client-assertion-type",
        "a client authenticates with an assertion of another type, or of none",
        "`client_assertion_type` is compared",
        "RFC 7521 4.2",
        |s| {
            let saml = "urn:ietf:params:oauth:client-assertion-type:saml2-bearer";
            vec![
                client_assertion(s, "SAML", saml, &s.valid()),
                client_assertion(s, "none", "", &s.valid()),
            ]
        },
    ),
    // Who acts for whom.
    FAMILY.attack(
        "grant-may-act-other",
        "`may_act` names another party",
        "only the party in `may_act` acts for the subject",
        "RFC 8693 4.4",
        |s| {
            let parties = [
                ("subject", json!({"sub": STRANGER})),
                (
                    "subject and issuer",
                    json!({"sub": STRANGER, "iss": s.claims()["iss"]}),
                ),
            ];
            claims(s, "may_act", parties)
        },
    ),
    FAMILY.attack(
        "grant-may-act-malformed",
        "`may_act` is not an object, or names nobody",
        "a malformed `may_act` allows nobody",
        "RFC 8693 4.4",
        |s| {
            let malformed = [
                ("text", json!(STRANGER)),
                ("number", json!(1)),
                ("list", json!([{"sub": STRANGER}])),
                ("empty", json!({})),
                ("subject that is a list", json!({"sub": [STRANGER]})),
            ];
            claims(s, "may_act", malformed)
        },
    ),
    FAMILY.attack(
        "grant-act-malformed",
        "`act` is not an object, or has something else inside",
        "a chain of actors consists of objects",
        "RFC 8693 4.1",
        |s| {
            let malformed = [
                ("text", json!(STRANGER)),
                ("list", json!([{"sub": STRANGER}])),
                ("inner text", json!({"sub": STRANGER, "act": "admin"})),
            ];
            claims(s, "act", malformed)
        },
    ),
    FAMILY.attack(
        "grant-act-too-long",
        "a chain of 28 actors",
        "the number of actors has a limit",
        "RFC 8693 4.1",
        |s| {
            let deeper = |inner: Value, _| json!({"sub": STRANGER, "act": inner});
            claims(
                s,
                "act",
                [("28", (1..28).fold(json!({"sub": STRANGER}), deeper))],
            )
        },
    ),
    // Used again.
    FAMILY
        .attack(
            "grant-replay",
            "a token that was used before; the endpoint accepts a token once",
            "a token is used once",
            "RFC 7523 3",
            |s| {
                let token = s.with_claims(&[("jti", json!(format!("{STRANGER}-{}", s.now_s)))]);
                vec![Trial::new(
                    "again",
                    token.clone(),
                    Act::Form(token, Vec::new()),
                )]
            },
        )
        .demanding(Demand::Once),
    FAMILY
        .attack(
            "grant-issued-token",
            "the issued access token, as an assertion",
            "an issued token is no assertion: it would never end",
            "RFC 7523 3",
            |s| {
                vec![form(
                    s,
                    "issued before",
                    vec![FormChange::Issued(FormChange::TOKEN)],
                )]
            },
        )
        .on(BEARER),
    // Token exchange only.
    FAMILY
        .attack(
            "exchange-type-absent",
            "no `subject_token_type`, or an empty one",
            "`subject_token_type` is required",
            "RFC 8693 2.1",
            |s| {
                let name = "subject_token_type";
                vec![
                    form(s, "absent", vec![FormChange::Remove(name)]),
                    form(s, "empty", vec![set(name, "")]),
                ]
            },
        )
        .on(EXCHANGE),
    FAMILY
        .attack(
            "exchange-type-other",
            "`subject_token_type` is a type of token that the subject token is not",
            "the type of the subject token is compared",
            "RFC 8693 3",
            |s| types(s, "subject_token_type"),
        )
        .on(EXCHANGE),
    FAMILY
        .attack(
            "exchange-requested-type",
            "`requested_token_type` is a type that the endpoint does not issue",
            "a requested type is issued or refused",
            "RFC 8693 2.1",
            |s| types(s, "requested_token_type"),
        )
        .on(EXCHANGE),
    FAMILY
        .attack(
            "exchange-actor-other-key",
            "an actor token that the attacker signed",
            "the actor token is verified",
            "RFC 8693 2.1",
            |s| vec![actor(s, "other key", &s.other_keys().valid())],
        )
        .on(EXCHANGE),
    FAMILY
        .attack(
            "exchange-actor-unsigned",
            "an actor token without a signature, or a name instead of it",
            "an actor is proved",
            "RFC 8693 1.1, 2.1",
            |s| {
                let claims = b64(s.claims().to_string());
                let none = format!("{}.{claims}.", b64(r#"{"alg":"none"}"#));
                vec![actor(s, "alg none", &none), actor(s, "name", "admin")]
            },
        )
        .on(EXCHANGE),
    FAMILY
        .attack(
            "exchange-actor-expired",
            "an actor token that has expired",
            "the times of the actor token are checked",
            "RFC 8693 2.1",
            |s| {
                let past = [
                    ("exp", json!(s.now_s - 86_400)),
                    ("iat", json!(s.now_s - 90_000)),
                ];
                vec![actor(s, "yesterday", &s.with_claims(&past))]
            },
        )
        .on(EXCHANGE),
    FAMILY
        .attack(
            "exchange-actor-other-audience",
            "an actor token for another service",
            "the audience of the actor token is checked",
            "RFC 8693 2.1",
            |s| {
                let other = [("aud", json!("https://attacker.example"))];
                vec![actor(s, "other audience", &s.with_claims(&other))]
            },
        )
        .on(EXCHANGE),
    FAMILY
        .attack(
            "exchange-actor-type-absent",
            "an actor token without its type",
            "`actor_token_type` is required with `actor_token`",
            "RFC 8693 2.1",
            |s| vec![form(s, "token alone", vec![set("actor_token", &s.valid())])],
        )
        .on(EXCHANGE),
    FAMILY
        .attack(
            "exchange-actor-type-alone",
            "the type of an actor token without the token",
            "`actor_token_type` is refused without `actor_token`",
            "RFC 8693 2.1",
            |s| {
                vec![form(
                    s,
                    "type alone",
                    vec![set("actor_token_type", ACCESS_TOKEN)],
                )]
            },
        )
        .on(EXCHANGE),
];

fn set(name: &'static str, value: &str) -> FormChange {
    FormChange::Set(name, value.to_owned())
}

fn append(name: &'static str, text: &str) -> FormChange {
    FormChange::Append(name, text.to_owned())
}

/// The name of a parameter for readers.
fn shown(name: &'static str) -> &'static str {
    match name {
        FormChange::TOKEN => "token",
        name => name,
    }
}

/// The form with a valid token and these changes.
fn form(s: &Stage, spelling: &str, changes: Vec<FormChange>) -> Trial {
    Trial::new(spelling, s.valid(), Act::Form(s.valid(), changes))
}

/// A form for each value of a parameter.
fn each<const N: usize>(s: &Stage, name: &'static str, values: [&str; N]) -> Vec<Trial> {
    let form = |value| form(s, value, vec![set(name, value)]);
    values.map(form).into()
}

/// A parameter with a second value, in both orders.
fn twice(s: &Stage, name: &'static str, value: &str) -> Vec<Trial> {
    let before = FormChange::Before(name, value.to_owned());
    let after = FormChange::After(name, value.to_owned());
    vec![
        form(s, "the other one first", vec![before]),
        form(s, "the other one last", vec![after]),
        form(s, "the same one twice", vec![FormChange::Again(name)]),
    ]
}

/// A token with one claim that is wrong.
fn claims<const N: usize>(s: &Stage, claim: &str, wrong: [(&str, Value); N]) -> Vec<Trial> {
    let trial = |(spelling, value)| {
        let token = s.with_claims(&[(claim, value)]);
        Trial::new(spelling, s.valid(), Act::Form(token, Vec::new()))
    };
    wrong.map(trial).into()
}

/// A form in which a client authenticates with an assertion.
fn client_assertion(s: &Stage, spelling: &str, typ: &str, assertion: &str) -> Trial {
    let changes = vec![
        set("client_assertion_type", typ),
        set("client_assertion", assertion),
        // The credentials of the operator, if there are any, would be a second kind.
        FormChange::NoAuthorization,
    ];
    form(s, spelling, changes)
}

fn actor(s: &Stage, spelling: &str, token: &str) -> Trial {
    let typ = set("actor_token_type", ACCESS_TOKEN);
    form(s, spelling, vec![set("actor_token", token), typ])
}

/// Other types of tokens.
fn types(s: &Stage, name: &'static str) -> Vec<Trial> {
    let others = [
        "urn:ietf:params:oauth:token-type:refresh_token",
        "urn:ietf:params:oauth:token-type:saml2",
        "urn:ietf:params:oauth:token-type:saml1",
        "access_token",
    ];
    each(s, name, others)
}

fn base64(text: &str) -> String {
    base64_simd::STANDARD.encode_to_string(text)
}
