//! Keys to import: in every encoding, weak, malformed, and data that is not a key.

use serde_json::{Value, json};

use super::Case;
use super::make::{Label, key, read, read_json, slug, vectors};

fn import(id: &str, data: impl Into<String>, options: Value, label: Label<'_>) -> Case {
    Case {
        id: format!("key-{id}"),
        action: "import".into(),
        key: Some(key(data, options)),
        ..Case::default()
    }
    .labelled(label)
}

pub(crate) fn cases() -> Vec<Case> {
    [rfcs(), files(), jwks(), paserks(), secrets()].concat()
}

fn rfcs() -> Vec<Case> {
    let a = |number: &str| read(&format!("rfc7515/rfc7515_{number}.jwk"));
    vec![
        import(
            "rfc7515-hs256",
            a("A.1"),
            json!({"alg": "HS256"}),
            Label::Valid,
        ),
        import(
            "rfc7515-hs512-too-short",
            json!({"kty": "oct", "k": "AAAA"}).to_string(),
            json!({"alg": "HS512"}),
            Label::Code("KEY_TOO_WEAK"),
        ),
        import(
            "rfc7515-without-alg",
            a("A.1"),
            json!({}),
            Label::Code("KEY_ALGORITHM_NEEDED"),
        ),
        import(
            "rfc7515-rs256",
            a("A.2"),
            json!({"alg": "RS256"}),
            Label::Valid,
        ),
        import(
            "rfc7515-ps256",
            a("A.2"),
            json!({"alg": "PS256"}),
            Label::Valid,
        ),
        import(
            "rfc7515-rsa-oaep",
            a("A.2"),
            json!({"alg": "RSA-OAEP"}),
            Label::Valid,
        ),
        import(
            "rfc7515-rsa-without-alg",
            a("A.2"),
            json!({}),
            Label::Code("KEY_ALGORITHM_NEEDED"),
        ),
        import(
            "rfc7515-rsa-as-es256",
            a("A.2"),
            json!({"alg": "ES256"}),
            Label::Code("KEY_TYPE_MISMATCH"),
        ),
        import(
            "rfc7515-rsa-as-hs256",
            a("A.2"),
            json!({"alg": "HS256"}),
            Label::Invalid,
        ),
        import("rfc7515-es256", a("A.3"), json!({}), Label::Valid),
        import(
            "rfc7515-p256-as-es384",
            a("A.3"),
            json!({"alg": "ES384"}),
            Label::Code("KEY_TYPE_MISMATCH"),
        ),
        import(
            "rfc7515-p256-ecdh",
            a("A.3"),
            json!({"alg": "ECDH-ES"}),
            Label::Valid,
        ),
        import("rfc7515-es512", a("A.4"), json!({}), Label::Valid),
    ]
}

/// The text files of `vectors/inputs`. The result of the library is recorded.
fn files() -> Vec<Case> {
    let mut found = Vec::new();
    let mut folders: Vec<_> = std::fs::read_dir(vectors("inputs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    for folder in folders.iter().filter(|path| path.is_dir()) {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap();
            let is_key = [".pem", ".jwk", ".paserk"]
                .iter()
                .any(|end| name.ends_with(end));
            let Ok(text) = std::fs::read_to_string(&file) else {
                continue;
            };
            if !is_key {
                continue;
            }
            let folder = folder.file_name().unwrap().to_str().unwrap();
            let case = Case {
                id: format!("key-file-{}-{}", slug(folder), slug(name)),
                action: "import".into(),
                key: Some(key(text, json!({}))),
                ..Case::default()
            };
            found.push(Case {
                expect: super::run_rust::run(&case),
                ..case
            });
        }
    }
    assert!(found.iter().any(|case| case.expect.code.is_none()));
    found
}

/// JWKs with one error each.
fn jwks() -> Vec<Case> {
    let good: Value = serde_json::from_str(&read("rfc7515/rfc7515_A.3.jwk")).unwrap();
    let with = |id: &str, change: &dyn Fn(&mut Value), label| {
        let mut jwk = good.clone();
        change(&mut jwk);
        import(&format!("jwk-{id}"), jwk.to_string(), json!({}), label)
    };
    let set = |jwk: &mut Value, name: &str, value: Value| jwk[name] = value;
    let text = good.to_string();
    vec![
        with("good", &|_| {}, Label::Valid),
        with(
            "public",
            &|jwk| drop(jwk.as_object_mut().unwrap().remove("d")),
            Label::Valid,
        ),
        with(
            "without-y",
            &|jwk| drop(jwk.as_object_mut().unwrap().remove("y")),
            Label::Code("KEY_MEMBER_MISSING"),
        ),
        with(
            "without-kty",
            &|jwk| drop(jwk.as_object_mut().unwrap().remove("kty")),
            Label::Invalid,
        ),
        with("x-number", &|jwk| set(jwk, "x", json!(1)), Label::Invalid),
        with(
            "x-padding",
            &|jwk| set(jwk, "x", json!(format!("{}=", good["x"].as_str().unwrap()))),
            Label::Code("KEY_NOT_BASE64URL"),
        ),
        with(
            "x-short",
            &|jwk| set(jwk, "x", json!("AAAA")),
            Label::Code("KEY_WRONG_LENGTH"),
        ),
        with(
            "not-on-the-curve",
            &|jwk| set(jwk, "x", good["y"].clone()),
            Label::Invalid,
        ),
        with(
            "halves-do-not-match",
            &|jwk| set(jwk, "d", good["x"].clone()),
            Label::Code("KEY_PAIR_MISMATCH"),
        ),
        with(
            "alg-of-another-curve",
            &|jwk| set(jwk, "alg", json!("ES384")),
            Label::Invalid,
        ),
        with(
            "alg-unknown",
            &|jwk| set(jwk, "alg", json!("ES999")),
            Label::Code("KEY_ALGORITHM_MISMATCH"),
        ),
        with(
            "use-enc",
            &|jwk| set(jwk, "use", json!("enc")),
            Label::Code("KEY_USE_MISMATCH"),
        ),
        with(
            "key-ops-verify-only",
            &|jwk| set(jwk, "key_ops", json!(["verify"])),
            Label::Invalid,
        ),
        with("kid", &|jwk| set(jwk, "kid", json!("k1")), Label::Valid),
        with(
            "kid-number",
            &|jwk| set(jwk, "kid", json!(1)),
            Label::Invalid,
        ),
        with(
            "curve-unknown",
            &|jwk| set(jwk, "crv", json!("P-257")),
            Label::Invalid,
        ),
        import(
            "jwk-duplicate-member",
            text.replacen('{', r#"{"kty":"EC","#, 1),
            json!({}),
            Label::Code("KEY_DUPLICATE_MEMBER"),
        ),
        import(
            "jwk-trailing-text",
            format!("{text}x"),
            json!({}),
            Label::Invalid,
        ),
        import(
            "jwk-in-a-list",
            format!("[{text}]"),
            json!({}),
            Label::Invalid,
        ),
        import(
            "rsa-1024",
            read_json("weak-rsa/keys.json")["keys"][0]["jwk"].to_string(),
            json!({"alg": "RS256"}),
            Label::Code("KEY_TOO_WEAK"),
        ),
        import("empty", "", json!({}), Label::Invalid),
        import("text", "not a key", json!({}), Label::Invalid),
    ]
}

fn paserks() -> Vec<Case> {
    let mut cases = Vec::new();
    for file in [
        "k3.local",
        "k3.public",
        "k3.secret",
        "k4.local",
        "k4.public",
        "k4.secret",
    ] {
        for vector in read_json(&format!("paseto/PASERK/{file}.json"))["tests"]
            .as_array()
            .unwrap()
        {
            let Some(text) = vector["paserk"].as_str() else {
                continue;
            };
            let case = Case {
                id: format!("key-paserk-{}", slug(vector["name"].as_str().unwrap())),
                action: "import".into(),
                key: Some(key(text, json!({}))),
                ..Case::default()
            };
            // Some vectors test the text only, and are not keys: ERRATA.json lists them.
            cases.push(Case {
                expect: super::run_rust::run(&case),
                ..case
            });
        }
    }
    cases
}

fn secrets() -> Vec<Case> {
    let options = |alg: &str| json!({"format": "secret", "alg": alg});
    let weak = Label::Code("KEY_TOO_WEAK");
    vec![
        import(
            "secret-hs256",
            "x".repeat(32),
            options("HS256"),
            Label::Valid,
        ),
        import(
            "secret-hs384",
            "x".repeat(48),
            options("HS384"),
            Label::Valid,
        ),
        import(
            "secret-hs512",
            "x".repeat(64),
            options("HS512"),
            Label::Valid,
        ),
        import("secret-hs384-short", "x".repeat(47), options("HS384"), weak),
        import("secret-hs512-short", "x".repeat(63), options("HS512"), weak),
    ]
}
