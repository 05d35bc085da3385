//! Tokens in the shapes of ten outside issuers, signed with keys of the test. `outside_shapes.json` has them. GitHub has
//! two shapes: that of repositories created after 2026-07-15, and the one before.

use std::fmt::Write as _;
use std::fs;

use jeton::key::{SigAlg, SigningKey};
use serde_json::{Map, Value, json};

use super::federation::bearer;
use super::{OAuth, access_token, assert_error, claims_of, key_set, merge, sign};
use crate::harness::ISS;

const SHAPES: &str = include_str!("outside_shapes.json");

#[test]
fn token_of_each_outside_issuer_is_accepted_as_its_entry_says() {
    let shapes: Value = serde_json::from_str(SHAPES).unwrap();
    let shapes = shapes["issuers"].as_array().unwrap();
    assert_eq!(shapes.len(), 11);
    // RSA, as nearly all of these issuers use.
    let rsa = SigningKey::generate(SigAlg::RS256).unwrap();
    let rsa = rsa.with_key_id("rsa").unwrap();
    let ec = SigningKey::generate(SigAlg::ES256).unwrap();
    let ec = ec.with_key_id("ec").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    fs::write(file("keys.json"), key_set(&[&rsa, &ec])).unwrap();
    let mut without_alg: Value = serde_json::from_str(&key_set(&[&rsa])).unwrap();
    merge(&mut without_alg["keys"][0], &json!({"alg": null}));
    fs::write(file("without-alg.json"), without_alg.to_string()).unwrap();
    let mut config = String::new();
    for (index, shape) in shapes.iter().enumerate() {
        let (keys, alg) = match shape.get("without_alg") {
            Some(_) => ("without-alg.json", "default_alg = \"RS256\""),
            None => ("keys.json", ""),
        };
        let claims = shape["trust"]["claims"].as_object().unwrap();
        let subject = shape["trust"].get("subject");
        let subject = subject.map(|subject| format!("subject = {subject}"));
        writeln!(
            config,
            "[[trust]]\nname = \"outside-{index}\"\nissuer = \"{ISS}\"\niss = {}\naudience = \"{ISS}\"\n\
             keys_file = '{}'\n{alg}\nclaims = {}\n{}\ntokens = [{{profile = \"access\"}}]\n\
             maximum_lifetime_seconds = 600",
            shape["iss"],
            file(keys).display(),
            inline_table(claims),
            subject.unwrap_or_default(),
        )
        .unwrap();
    }
    let oauth = OAuth::with(&config);
    for (index, shape) in shapes.iter().enumerate() {
        let name = shape["name"].as_str().unwrap();
        let key = if shape.get("alg").is_some() {
            &ec
        } else {
            &rsa
        };
        let mut claims = shape["claims"].clone();
        claims
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        let times = json!({
            "iss": shape["iss"], "aud": ISS, "iat": oauth.now(), "nbf": oauth.now(), "exp": oauth.now() + 300,
        });
        merge(&mut claims, &times);
        let answer = bearer(&oauth, &sign(key, &claims), &[]);
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
        let issued = claims_of(&access_token(&answer));
        assert_eq!(issued["client_id"], format!("outside-{index}"), "{name}");
        let is_named = shape["trust"].get("subject").is_some();
        let subject = issued["sub"].as_str().unwrap();
        assert_eq!(
            subject.starts_with("outside-"),
            !is_named,
            "{name}: {subject}"
        );

        let mut other = claims.clone();
        merge(&mut other, &shape["other"]);
        assert_error(
            &bearer(&oauth, &sign(key, &other), &[]),
            400,
            "invalid_grant",
            name,
        );
        // For another service.
        let mut other = claims.clone();
        merge(&mut other, &json!({"aud": "https://other.example"}));
        assert_error(
            &bearer(&oauth, &sign(key, &other), &[]),
            400,
            "invalid_grant",
            name,
        );
        // Of another issuer that has the same key.
        let mut other = claims;
        merge(&mut other, &json!({"iss": "https://other.example"}));
        assert_error(
            &bearer(&oauth, &sign(key, &other), &[]),
            400,
            "invalid_grant",
            name,
        );
    }
}

fn inline_table(claims: &Map<String, Value>) -> String {
    let members: Vec<String> = claims
        .iter()
        .map(|(name, value)| format!("{} = {value}", Value::from(name.as_str())))
        .collect();
    format!("{{{}}}", members.join(", "))
}
