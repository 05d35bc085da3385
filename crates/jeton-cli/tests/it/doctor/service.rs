//! `jeton doctor` with the configuration of the service says what the token endpoint says.

use serde_json::{Value, json};

use super::{Fixture, NOW, NOW_S};
use crate::binary::{jeton, line};

const SERVICE: &str = "https://id.example";
const OUTSIDE: &str = "https://token.actions.githubusercontent.com";

/// A configuration with a client and two trust entries, whose keys are fetched or in a file.
fn configuration(keys: &str) -> String {
    let trust = |name: &str, sub: &str, more: &str| {
        format!(
            "[[trust]]\nname = '{name}'\nissuer = '{SERVICE}'\niss = '{OUTSIDE}'\naudience = '{SERVICE}'\n{keys}\n\
             claims = {{sub = '{sub}', repository_owner_id = '1234'}}\ntokens = [{{profile = 'access'}}]\n\
             maximum_lifetime_seconds = 600\n{more}\n"
        )
    };
    format!(
        "[[issuer]]\niss = '{SERVICE}'\nprofiles = [{{name = 'access', alg = 'ES256', lifetime_seconds = 900, \
         audiences = ['api']}}]\n\
         [[client]]\nname = 'ci'\nkeys_file = 'set.json'\nmay = ['token']\nissuers = ['{SERVICE}']\n\
         tokens = [{{profile = 'access'}}]\n{}{}",
        trust("github", "repo:acme/*:ref:refs/heads/main", ""),
        trust("release", "repo:acme/app:environment:release", ""),
    )
}

fn fixture(keys: &str) -> Fixture {
    let fixture = Fixture::new();
    fixture.write("jeton.toml", &configuration(keys));
    fixture
}

fn with(base: Value, changes: &Value) -> Value {
    let mut claims = base;
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

fn outside(changes: &Value) -> Value {
    let claims = json!({
        "iss": OUTSIDE, "aud": SERVICE, "sub": "repo:acme/app:ref:refs/heads/main",
        "repository_owner_id": "1234", "iat": NOW_S, "exp": NOW_S + 300,
    });
    with(claims, changes)
}

fn assertion(changes: &Value) -> Value {
    let claims = json!({
        "iss": "ci", "sub": "ci", "aud": format!("{SERVICE}/token"), "jti": "1", "exp": NOW_S + 60,
    });
    with(claims, changes)
}

#[test]
fn doctor_names_the_claim_that_a_trust_entry_refuses() {
    let fixture = fixture("keys_file = 'set.json'");
    let check = |changes: Value| {
        let token = fixture.token("one.jwk", &outside(&changes));
        fixture.doctor(&["--trust", "jeton.toml", "--at", NOW, &token])
    };
    let (said, code) = check(json!({}));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("trust github\n  accepted"), "{said}");
    assert!(said.contains("? refused (claims): `sub`"), "{said}");
    for (changes, expected) in [
        (
            json!({"sub": "repo:acme@1234/app@5678:ref:refs/heads/main"}),
            "! refused (claims): `sub`: does not match `claims` of the entry; found \
             \"repo:acme@1234/app@5678:ref:refs/heads/main\", expected \"repo:acme/*:ref:refs/heads/main\"",
        ),
        (
            json!({"repository_owner_id": null}),
            "! refused (claims): `repository_owner_id`: is missing",
        ),
        (
            json!({"aud": "https://other.example"}),
            "! refused (audience): `aud`: does not contain",
        ),
        (
            json!({"exp": NOW_S - 100}),
            "! refused (TOKEN_EXPIRED): `exp`: ",
        ),
        (
            json!({"act": {"sub": "x"}}),
            "! refused (act): has an actor (`act`)",
        ),
        (
            json!({"iss": "https://other.example"}),
            "! refused (trust): `iss`: is in no trust entry",
        ),
    ] {
        let (said, code) = check(changes);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    let (said, _) = check(json!({"sub": "repo:acme@1234/app@5678:ref:refs/heads/main"}));
    assert!(said.contains("newer repositories of GitHub"), "{said}");
    let token = fixture
        .token("two.jwk", &outside(&json!({})))
        .replace('.', "A.");
    let (said, code) = fixture.doctor(&["--trust", "jeton.toml", "--at", NOW, &token]);
    assert_eq!(code, 1, "{said}");
}

#[test]
fn doctor_names_the_entries_of_a_malformed_outside_token() {
    let fixture = fixture("keys_file = 'set.json'");
    let check = |claims: &str| {
        let token = line(fixture.path(), &["jws", "sign", "--key", "one.jwk", claims]);
        let (said, code) = fixture.doctor(&["--trust", "jeton.toml", "--at", NOW, &token]);
        assert_eq!(code, 1, "{said}");
        said
    };
    let duplicate = outside(&json!({}))
        .to_string()
        .replacen('{', r#"{"x":1,"x":2,"#, 1);
    let invalid = "! refused (TOKEN_INVALID_CLAIMS)";
    for (claims, rule, name) in [
        (
            outside(&json!({"exp": NOW_S * 1000})).to_string(),
            invalid,
            "`exp`",
        ),
        (outside(&json!({"sub": 7})).to_string(), invalid, "`sub`"),
        (duplicate, "! refused (TOKEN_DUPLICATE_MEMBER)", ""),
    ] {
        let said = check(&claims);
        for entry in ["trust github\n", "trust release\n"] {
            let (_, section) = said.split_once(entry).unwrap_or_else(|| panic!("{said}"));
            let finding = section.trim_start().lines().next().unwrap();
            assert!(finding.starts_with(rule), "{rule}\n{said}");
            assert!(finding.contains(name), "{name}\n{said}");
        }
    }
    let unknown = outside(&json!({"iss": "https://other.example", "sub": 7}));
    let said = check(&unknown.to_string());
    assert!(said.contains("trust\n"), "{said}");
}

/// The keys of such an entry are fetched by the service. The doctor sends no request.
#[test]
fn doctor_checks_claims_of_an_entry_without_its_keys() {
    let fixture = fixture("");
    let check = |more: &[&str], changes: Value| {
        let token = fixture.token("one.jwk", &outside(&changes));
        let call = [&["--trust", "jeton.toml", "--at", NOW], more, &[&token]].concat();
        fixture.doctor(&call)
    };
    let (said, code) = check(&[], json!({}));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("? the signature was not checked"), "{said}");
    let (said, code) = check(&[], json!({"exp": NOW_S - 100}));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("TOKEN_EXPIRED"), "{said}");
    let (said, code) = check(&["--key", "set.json"], json!({}));
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("not checked"), "{said}");
    let (said, code) = check(&["--key", "two.pub"], json!({}));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("! refused (TOKEN_"), "{said}");
}

#[test]
fn doctor_names_the_fault_of_a_client_assertion() {
    let fixture = fixture("keys_file = 'set.json'");
    let call = |client: &str, token: &str| {
        let config = ["--config", "jeton.toml", "--at", NOW, token];
        fixture.doctor(&[&["--client", client], &config[..]].concat())
    };
    let check = |changes: Value| call("ci", &fixture.token("one.jwk", &assertion(&changes)));
    let (said, code) = check(json!({}));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("client ci\n  accepted"), "{said}");
    for (changes, expected) in [
        (
            json!({"aud": "https://other.example"}),
            "refused (audience): `aud`",
        ),
        (json!({"aud": [SERVICE, "x"]}), "refused (audience): `aud`"),
        (json!({"sub": "another"}), "refused (subject): `sub`"),
        (json!({"jti": null}), "refused (once): `jti`: is missing"),
        (json!({"exp": NOW_S + 86_400}), "refused (lifetime): `exp`"),
        (
            json!({"exp": NOW_S - 100}),
            "refused (TOKEN_EXPIRED): `exp`",
        ),
        (json!({"exp": null}), "refused (TOKEN_INVALID_CLAIMS): "),
        (
            json!({"iss": "nobody"}),
            "refused (client): `iss`: names no client",
        ),
    ] {
        let (said, code) = check(changes);
        assert_eq!(code, 1, "{said}");
        assert!(
            said.contains(&format!("! {expected}")),
            "{expected}\n{said}"
        );
    }
    let (said, code) = call("nobody", &fixture.token("one.jwk", &assertion(&json!({}))));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("no client has this name"), "{said}");
    // Found values are those of the token.
    let (said, _) = check(json!({"sub": "another"}));
    assert!(said.contains("found \"another\""), "{said}");
    let at = fixture.path();
    let output = jeton(at, &["doctor", "--client", "ci", "abc"], b"");
    assert_eq!(output.status.code(), Some(2), "--config is required");
}

#[test]
fn spiffe_bundle_verifies_with_its_use() {
    let fixture = Fixture::new();
    let with_use = |name: &str, key_use: &str| {
        let jwk = fixture.read(name);
        jwk.trim()
            .replacen('{', &format!("{{\"use\":\"{key_use}\","), 1)
    };
    let bundle = format!(
        "{{\"spiffe_sequence\":1,\"keys\":[{},{}]}}",
        with_use("two.pub", "x509-svid"),
        with_use("one.pub", "jwt-svid")
    );
    fixture.write("bundle.json", &bundle);
    let token = |key: &str| {
        let claims = outside(&json!({})).to_string();
        line(
            fixture.path(),
            &["jws", "sign", "--typ", "JOSE", "--key", key, &claims],
        )
    };
    let verify = |key: &str, more: &[&str]| {
        let token = token(key);
        let call = ["jwt", "verify", "--key", "bundle.json", "--at", NOW];
        let output = jeton(fixture.path(), &[&call[..], more, &[&token]].concat(), b"");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), said)
    };
    let with_use = ["--key-use", "jwt-svid"];
    let (code, said) = verify("one.jwk", &with_use);
    assert_eq!(code, 0, "{said}");
    assert_eq!(verify("two.jwk", &with_use).0, 1);
    let (code, said) = verify("one.jwk", &[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("`use` is x509-svid, sig expected"), "{said}");
    let (code, said) = verify("one.jwk", &["--key-use", "tls"]);
    assert!(
        code == 2 && said.contains("none of the 2 keys has the `use` tls"),
        "{said}"
    );
    assert_eq!(verify("one.jwk", &["--key-use", "enc"]).0, 2);
    let call = ["--key", "bundle.json", "--key-use", "jwt-svid", "--at", NOW];
    let (said, code) = fixture.doctor(&[&call[..], &[&token("one.jwk")]].concat());
    assert_eq!(code, 0, "{said}");
}

#[test]
fn signing_commands_add_header_members() {
    let fixture = Fixture::new();
    let header = |token: &str| {
        let header = token.split('.').next().unwrap();
        let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(header).unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    let members = ["--header", "x5t=AAAA", "--header", "x5c=[\"MIIB\"]"];
    let jwt = [
        "jwt",
        "sign",
        "--key",
        "one.jwk",
        "--claims",
        "{}",
        "--no-expiry",
    ];
    let jws = ["jws", "sign", "--key", "one.jwk"];
    for (call, payload) in [(&jwt[..], &[][..]), (&jws, &["x"])] {
        let token = line(fixture.path(), &[call, &members, payload].concat());
        let header = header(&token);
        assert_eq!(header["x5t"], "AAAA", "{header}");
        assert_eq!(header["x5c"], json!(["MIIB"]), "{header}");
        for refused in ["alg=none", "b64=false", "crit=[\"b64\"]", "x5t", "x5c=["] {
            let call = [call, &["--header", refused], payload].concat();
            let output = jeton(fixture.path(), &call, b"");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{refused}: {said}");
            if let Some(name) = ["alg", "b64", "crit"]
                .iter()
                .find(|name| refused.starts_with(**name))
            {
                assert!(
                    said.contains(&format!("`{name}` cannot be added")),
                    "{said}"
                );
            }
        }
    }
}

#[test]
fn client_hash_notes_characters_that_clients_encode() {
    let fixture = Fixture::new();
    let hash = |secret: &str| {
        let call = ["admin", "client", "hash", "--secret-file", "-"];
        let output = jeton(fixture.path(), &call, secret.as_bytes());
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout.starts_with(b"$argon2id$"));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = hash("aa+b%c=d&e/f");
    assert!(said.contains("the secret contains + % = &"), "{said}");
    assert!(!said.contains("aa+b"), "{said}");
    assert_eq!(hash("abcdef0123"), "");
}
