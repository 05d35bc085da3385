//! Attacks on JWTs with the fixed secret, and with keys of the vectors. Each is rejected. The untampered token is
//! accepted.

use serde_json::json;

use super::Case;
use super::make::{
    HEADER, Label, NOW, SECRET, base64url, hs256, hs256_over, key, policy, read_json, verify,
};

fn payload() -> String {
    format!(
        r#"{{"iss":"https://id.example","aud":"api","exp":{},"admin":true}}"#,
        NOW + 60
    )
}

fn good() -> String {
    hs256(HEADER, payload().as_bytes())
}

fn attack(id: &str, token: impl Into<String>, label: Label<'_>) -> Case {
    verify(&format!("attack-{id}"), token.into(), policy()).labelled(label)
}

/// A token with this header and a valid MAC.
fn header(id: &str, header: &str, label: Label<'_>) -> Case {
    let input = format!(
        "{}.{}",
        base64url(header.as_bytes()),
        base64url(payload().as_bytes())
    );
    attack(&format!("header-{id}"), hs256_over(&input), label)
}

pub(crate) fn cases() -> Vec<Case> {
    let control = attack("untampered", good(), Label::Valid);
    [
        vec![control],
        text(),
        algorithms(),
        headers(),
        macs(),
        literal(),
        as_secret(),
        other_issuers(),
    ]
    .concat()
}

/// The key of one issuer signs a token that names another. The policy, the keys, or the absent flag refuse it.
fn other_issuers() -> Vec<Case> {
    let jwk =
        |kid: &str, k: &[u8]| json!({"kty": "oct", "alg": "HS256", "kid": kid, "k": base64url(k)});
    let (a, b) = (jwk("a", SECRET.as_bytes()), jwk("b", &[7; 32]));
    // The fixed secret is the key of A, and the token names B.
    let claims = format!(
        r#"{{"iss":"https://b.example","aud":"api","exp":{}}}"#,
        NOW + 60
    );
    let with = |id: &str, issuer: serde_json::Value, keys: &[&serde_json::Value], label| {
        let token = hs256(r#"{"alg":"HS256","kid":"a"}"#, claims.as_bytes());
        let options = json!({"issuer": issuer, "audience": "api"});
        let mut case = verify(&format!("attack-issuer-{id}"), token, options);
        case.key = None;
        case.keys = Some(key(json!({"keys": keys}).to_string(), json!({})));
        case.labelled(label)
    };
    vec![
        with(
            "of-its-own-verifier",
            json!("https://a.example"),
            &[&a],
            Label::Code("TOKEN_ISSUER_MISMATCH"),
        ),
        with(
            "of-the-other-verifier",
            json!("https://b.example"),
            &[&b],
            Label::Code("TOKEN_UNKNOWN_KEY"),
        ),
        with(
            "of-both-in-one-verifier",
            json!(["https://a.example", "https://b.example"]),
            &[&a, &b],
            Label::Code("INVALID_OPTION"),
        ),
    ]
}

/// Tokens with changed text.
fn text() -> Vec<Case> {
    let good = good();
    let parts: Vec<&str> = good.split('.').collect();
    let [head, body, mac] = parts[..] else {
        panic!("three parts")
    };
    let mut cases = Vec::new();
    // A language that drops the high byte of each letter reads the valid token in these.
    for (id, from, to) in [
        ("u0165-for-e", 'e', '\u{165}'),
        ("u0145-for-capital-e", 'E', '\u{145}'),
        ("fullwidth-y", 'y', '\u{ff59}'),
        ("cyrillic-e", 'e', '\u{435}'),
        ("u012e-for-dot", '.', '\u{12e}'),
        ("ideographic-full-stop", '.', '\u{3002}'),
    ] {
        cases.push(attack(
            id,
            good.replace(from, &to.to_string()),
            Label::Invalid,
        ));
        let one = good.replacen(from, &to.to_string(), 1);
        cases.push(attack(&format!("{id}-once"), one, Label::Invalid));
    }
    // The last character of the MAC has bits that no byte uses.
    let last = mac.chars().last().unwrap();
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let next = alphabet
        .chars()
        .nth(alphabet.find(last).unwrap() ^ 1)
        .unwrap();
    let malleable = format!("{}{next}", &good[..good.len() - 1]);
    let malformed = Label::Code("TOKEN_MALFORMED");
    for (id, token) in [
        ("empty", String::new()),
        ("two-dots", "..".into()),
        ("one-part", head.into()),
        ("two-parts", format!("{head}.{body}")),
        ("four-parts", format!("{good}.{mac}")),
        ("five-parts", format!("{good}.{mac}.{mac}")),
        ("thousands-of-dots", ".".repeat(5000)),
        ("dot-at-start", format!(".{good}")),
        ("dot-at-end", format!("{good}.")),
        ("padding", format!("{good}=")),
        ("padding-of-header", format!("{head}=.{body}.{mac}")),
        ("line-feed-at-end", format!("{good}\n")),
        ("line-feed-inside", format!("{head}.\n{body}.{mac}")),
        ("carriage-return-inside", format!("{head}.{body}\r.{mac}")),
        ("space-at-start", format!(" {good}")),
        ("tab-at-end", format!("{good}\t")),
        ("zero-byte-at-end", format!("{good}\0")),
        ("zero-byte-inside", format!("{head}.{body}\0.{mac}")),
        ("plus-for-minus", format!("{head}.{body}.+{}", &mac[1..])),
        (
            "slash-for-underscore",
            format!("{head}.{body}./{}", &mac[1..]),
        ),
        ("byte-order-mark", format!("\u{feff}{good}")),
        ("bearer-prefix", format!("Bearer {good}")),
        ("quotes", format!("\"{good}\"")),
        ("last-character-malleable", malleable),
        ("percent-encoded-dot", good.replace('.', "%2e")),
        ("twice", format!("{good}{good}")),
        ("empty-header", format!(".{body}.{mac}")),
        ("empty-payload", format!("{head}..{mac}")),
    ] {
        cases.push(attack(id, token, Label::Invalid));
    }
    cases.push(attack(
        "one-letter-more",
        format!("{good}A"),
        Label::Invalid,
    ));
    cases.push(attack(
        "json-in-place-of-token",
        "{\"payload\":\"e30\"}",
        malformed,
    ));
    cases
}

/// Tokens with another `alg`. Their other parts are valid.
fn algorithms() -> Vec<Case> {
    let body = base64url(payload().as_bytes());
    let mut cases = Vec::new();
    for (id, alg) in [
        ("none", "none"),
        ("none-capital", "None"),
        ("none-upper-case", "NONE"),
        ("none-mixed-case", "nOnE"),
        ("none-space-after", "none "),
        ("none-space-before", " none"),
        ("none-zero-byte", "none\\u0000"),
        ("empty", ""),
    ] {
        let head = base64url(format!(r#"{{"alg":"{alg}","typ":"JWT"}}"#).as_bytes());
        cases.push(attack(
            &format!("alg-{id}-no-mac"),
            format!("{head}.{body}."),
            Label::Invalid,
        ));
        let mac = hs256_over(&format!("{head}.{body}"));
        cases.push(attack(&format!("alg-{id}-valid-mac"), mac, Label::Invalid));
    }
    for alg in [
        "HS384",
        "HS512",
        "hs256",
        "HS256 ",
        "RS256",
        "ES256",
        "EdDSA",
        "dir",
        "PBES2-HS256+A128KW",
        "HMAC",
    ] {
        let label = Label::Code("TOKEN_ALGORITHM_MISMATCH");
        let id = format!("alg-{}", super::make::slug(alg));
        let id = match alg {
            "hs256" => "alg-lower-case".into(),
            "HS256 " => "alg-space-after".into(),
            _ => id,
        };
        cases.push(header(
            &id,
            &format!(r#"{{"alg":"{alg}","typ":"JWT"}}"#),
            label,
        ));
    }
    cases
}

fn headers() -> Vec<Case> {
    let malformed = Label::Code("TOKEN_MALFORMED");
    let duplicate = Label::Code("TOKEN_DUPLICATE_MEMBER");
    let critical = Label::Code("TOKEN_CRITICAL_EXTENSION");
    let public = r#"{"kty":"oct","k":"AAAA"}"#;
    let long = "k".repeat(20_000);
    vec![
        header("alg-missing", r#"{"typ":"JWT"}"#, Label::Invalid),
        header("alg-upper-case-name", r#"{"ALG":"HS256"}"#, Label::Invalid),
        header("alg-number", r#"{"alg":256}"#, malformed),
        header("alg-null", r#"{"alg":null}"#, malformed),
        header("alg-list", r#"{"alg":["HS256"]}"#, malformed),
        header("alg-escaped", r#"{"\u0061lg":"HS256"}"#, Label::Valid),
        header("alg-twice", r#"{"alg":"HS256","alg":"none"}"#, duplicate),
        header(
            "alg-twice-escaped",
            r#"{"alg":"HS256","\u0061lg":"none"}"#,
            duplicate,
        ),
        header(
            "alg-twice-case",
            r#"{"alg":"HS256","ALG":"none"}"#,
            Label::Valid,
        ),
        header(
            "duplicate-nested",
            r#"{"alg":"HS256","x":{"y":1,"y":2}}"#,
            duplicate,
        ),
        header("not-json", "HS256", malformed),
        header("list", r#"["HS256"]"#, malformed),
        header("trailing-text", r#"{"alg":"HS256"}}"#, malformed),
        header("space-around", " {\"alg\":\"HS256\"}\n", Label::Valid),
        header("byte-order-mark", "\u{feff}{\"alg\":\"HS256\"}", malformed),
        header(
            "crit-unknown",
            r#"{"alg":"HS256","crit":["x"],"x":1}"#,
            critical,
        ),
        header("crit-empty", r#"{"alg":"HS256","crit":[]}"#, Label::Invalid),
        header(
            "crit-text",
            r#"{"alg":"HS256","crit":"x","x":1}"#,
            Label::Invalid,
        ),
        header(
            "crit-null",
            r#"{"alg":"HS256","crit":null}"#,
            Label::Invalid,
        ),
        header(
            "crit-absent-member",
            r#"{"alg":"HS256","crit":["x"]}"#,
            Label::Invalid,
        ),
        header(
            "crit-registered",
            r#"{"alg":"HS256","crit":["alg"]}"#,
            Label::Invalid,
        ),
        header(
            "crit-twice",
            r#"{"alg":"HS256","crit":["x","x"],"x":1}"#,
            Label::Invalid,
        ),
        header(
            "b64-without-crit",
            r#"{"alg":"HS256","b64":false}"#,
            Label::Invalid,
        ),
        header(
            "b64-with-crit",
            r#"{"alg":"HS256","b64":false,"crit":["b64"]}"#,
            Label::Invalid,
        ),
        header("kid-number", r#"{"alg":"HS256","kid":1}"#, malformed),
        header("kid-null", r#"{"alg":"HS256","kid":null}"#, Label::Invalid),
        header(
            "kid-path",
            r#"{"alg":"HS256","kid":"../../dev/null"}"#,
            Label::Valid,
        ),
        header(
            "kid-sql",
            r#"{"alg":"HS256","kid":"' OR '1'='1"}"#,
            Label::Valid,
        ),
        header(
            "kid-too-long",
            &format!(r#"{{"alg":"HS256","kid":"{long}"}}"#),
            Label::Code("TOKEN_TOO_LARGE"),
        ),
        header(
            "jwk-of-attacker-secret",
            &format!(r#"{{"alg":"HS256","jwk":{public}}}"#),
            Label::Invalid,
        ),
        header(
            "jku",
            r#"{"alg":"HS256","jku":"http://127.0.0.1:9/jwks.json"}"#,
            Label::Valid,
        ),
        header(
            "x5u",
            r#"{"alg":"HS256","x5u":"http://127.0.0.1:9/cert.pem"}"#,
            Label::Valid,
        ),
        header(
            "deep",
            &format!(
                r#"{{"alg":"HS256","x":{}1{}}}"#,
                "[".repeat(200),
                "]".repeat(200)
            ),
            Label::Code("TOKEN_TOO_LARGE"),
        ),
        header("zip", r#"{"alg":"HS256","zip":"DEF"}"#, Label::Valid),
        header("cty-jwt", r#"{"alg":"HS256","cty":"JWT"}"#, Label::Valid),
    ]
}

fn macs() -> Vec<Case> {
    let input = format!(
        "{}.{}",
        base64url(HEADER.as_bytes()),
        base64url(payload().as_bytes())
    );
    let good = hs256_over(&input);
    let mac = good.rsplit('.').next().unwrap();
    let with = |mac: &str| format!("{input}.{mac}");
    let forged = Label::Code("TOKEN_INVALID_SIGNATURE");
    let blank = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, b"");
    let blank = base64url(aws_lc_rs::hmac::sign(&blank, input.as_bytes()).as_ref());
    let expired = payload().replace(&(NOW + 60).to_string(), &(NOW - 60).to_string());
    let other_payload = format!(
        "{}.{}.{mac}",
        base64url(HEADER.as_bytes()),
        base64url(expired.as_bytes())
    );
    vec![
        attack("mac-empty", with(""), forged),
        attack("mac-zeros", with(&base64url(&[0; 32])), forged),
        attack("mac-truncated", with(&base64url(&[0; 16])), forged),
        attack("mac-longer", with(&base64url(&[0; 33])), forged),
        attack("mac-of-empty-secret", with(&blank), forged),
        attack(
            "mac-first-byte",
            with(&format!(
                "{}{}",
                if mac.starts_with('A') { "B" } else { "A" },
                &mac[1..]
            )),
            forged,
        ),
        // The signature is checked first.
        attack("mac-forged-and-expired", other_payload, forged),
        attack(
            "mac-of-an-expired-token",
            hs256(HEADER, expired.as_bytes()),
            Label::Code("TOKEN_EXPIRED"),
        ),
    ]
}

/// Literal tokens of public test suites.
fn literal() -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, test) in read_json("attack-tokens/literal.json")["tests"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        let (Some(token), Some("reject")) = (test["input"].as_str(), test["expect"].as_str())
        else {
            continue;
        };
        let id = format!(
            "literal-{}-{index}",
            super::make::slug(test["name"].as_str().unwrap())
        );
        cases.push(attack(&id, token, Label::Invalid));
    }
    cases
}

/// Public keys and other text as the secret of an HMAC.
fn as_secret() -> Vec<Case> {
    let pem = super::make::read("inputs/crit-and-b64/p.pem");
    let jwk = super::make::read("inputs/crit-and-b64/p.jwk");
    let as_key = |id: &str, data: &str, label| {
        let mut case = verify(&format!("secret-{id}"), good(), policy());
        case.key = Some(key(data, json!({"format": "secret", "alg": "HS256"})));
        case.labelled(label)
    };
    let is_key = Label::Code("KEY_AS_SECRET");
    let weak = Label::Code("KEY_TOO_WEAK");
    vec![
        as_key("control", SECRET, Label::Valid),
        as_key("pem", &pem, is_key),
        as_key("pem-crlf", &pem.replace('\n', "\r\n"), is_key),
        as_key("pem-without-final-line-feed", pem.trim_end(), is_key),
        as_key("pem-lower-case", &pem.to_lowercase(), is_key),
        as_key("jwk", &jwk, is_key),
        as_key(
            "ssh",
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC user@example",
            is_key,
        ),
        as_key(
            "known-hosts",
            "id.example ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJx",
            is_key,
        ),
        as_key("empty", "", weak),
        as_key("one-byte", "x", weak),
        as_key("31-bytes", &"x".repeat(31), weak),
        as_key(
            "32-bytes-of-another",
            &"x".repeat(32),
            Label::Code("TOKEN_INVALID_SIGNATURE"),
        ),
    ]
}
