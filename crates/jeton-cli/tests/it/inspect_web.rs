//! Tests of the page of `inspect --web`: its content, its security and its file mode.

use std::fs;
use std::path::{Path, PathBuf};

use base64_simd::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::binary::{ends, jeton, keys, line, succeeds};

const AT: &str = "2027-01-15T08:05:00Z";

fn tokens() -> PathBuf {
    keys().join("../tokens")
}

/// Returns the page of a token or key at the time of these tests.
fn page(what: &str) -> String {
    let call = ["inspect", "--web", "-o", "-", "--at", AT, what];
    String::from_utf8(succeeds(&keys(), &call, b"")).unwrap()
}

fn page_of_token(name: &str) -> String {
    page(&format!("@{}", tokens().join(name).display()))
}

fn jws(header: &str, payload: &str) -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode_to_string(text.as_bytes());
    format!("{}.{}.AAAA", part(header), part(payload))
}

/// Splits a page into its tags, which contain no untrusted text, and the text between them.
fn tags_and_text(page: &str) -> (String, String) {
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (mut tags, mut text) = (String::new(), String::new());
    let mut in_tag = false;
    for c in format!("{head}{rest}").chars() {
        in_tag |= c == '<';
        if in_tag { &mut tags } else { &mut text }.push(c);
        in_tag &= c != '>';
    }
    let text = text
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    (tags.to_lowercase(), text)
}

fn text_of(page: &str) -> String {
    tags_and_text(page).1
}

/// Members of the JSON that the page has in its title and first sentence.
fn is_shown((name, _): &(&String, &Value)) -> bool {
    !matches!(name.as_str(), "verified" | "format")
}

/// Returns the strings and numbers in a value.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().flat_map(leaves).collect(),
        Value::Object(members) => {
            let shown = members.iter().filter(is_shown);
            shown.flat_map(|(_, value)| leaves(value)).collect()
        }
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

/// Asserts the properties of every page.
fn check(page: &str) {
    let (tags, _) = tags_and_text(page);
    for loads in [
        "<script",
        "<link",
        "<img",
        "<iframe",
        "<object",
        "<embed",
        "<base",
        "<form",
        "src=",
        "srcset",
        "javascript:",
        "style=",
        " on",
        "http:",
        "https:",
    ] {
        assert!(!tags.contains(loads), "{loads} is in a tag");
    }
    for target in tags.split("href=").skip(1) {
        assert!(target.starts_with("\"#"), "a link leads away");
    }
    let between = |start: &str, end: &str| {
        let (_, rest) = page.split_once(start).unwrap();
        rest.split_once(end).unwrap().0
    };
    let style = between("<style>", "</style>");
    assert!(!style.contains("url(") && !style.contains("@import"));
    let policy = between("http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let hash = STANDARD.encode_to_string(Sha256::digest(style));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"
        )
    );
    let mut ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split_once('"').unwrap().0)
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "duplicate id");
    for name in page.split("href=\"#").skip(1) {
        let name = name.split_once('"').unwrap().0;
        assert!(ids.contains(&name), "a link to nowhere: #{name}");
    }
}

/// Writes a page to the target folder for the browser test.
fn keep(name: &str, page: &str) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    fs::write(target.join(name), page).unwrap();
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
#[cfg(unix)]
fn web_page_is_private_and_never_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let token = fs::read_to_string(tokens().join("es256")).unwrap();
    let call = ["inspect", "--web", "-o", "page.html", token.trim()];
    let output = jeton(folder, &call, b"");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(output.stdout, b"page.html\n");
    assert_eq!(
        stderr,
        "not verified: anyone can create a token with this content\n\
         note: open the page in a browser; it contains the token, so delete it after use\n"
    );
    let path = folder.join("page.html");
    assert_eq!(mode(&path), 0o600);
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.ends_with("</html>"));

    ends(folder, &call, b"", 2, "page.html already exists");
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
}

#[test]
#[cfg(unix)]
fn web_page_without_name_is_a_private_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let call = |at: &Path| {
        let token = fs::read_to_string(tokens().join("es256")).unwrap();
        std::process::Command::new(env!("CARGO_BIN_EXE_jeton"))
            .args(["inspect", "--web", token.trim()])
            .env("TMPDIR", at)
            .output()
            .unwrap()
    };
    let mut seen = Vec::new();
    for _ in 0..2 {
        let output = call(folder);
        assert_eq!(output.status.code(), Some(0));
        let stdout = String::from_utf8(output.stdout).unwrap();
        let path = PathBuf::from(stdout.strip_suffix('\n').unwrap());
        assert_eq!(path.parent(), Some(folder));
        assert_eq!(mode(&path), 0o600);
        check(&fs::read_to_string(&path).unwrap());
        seen.push(path);
    }
    assert_ne!(seen[0], seen[1]);

    let output = call(&folder.join("missing"));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty());
    assert!(
        stderr.contains("error: cannot write to the temporary folder"),
        "{stderr}"
    );
}

#[test]
fn web_unknown_format_writes_no_page() {
    let folder = tempfile::tempdir().unwrap();
    let call = ["inspect", "--web", "-o", "page.html", "nonsense"];
    ends(folder.path(), &call, b"", 1, "rejected: unknown format");
    assert!(!folder.path().join("page.html").exists());
}

#[test]
fn web_page_shows_the_whole_report() {
    for entry in fs::read_dir(tokens()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let what = format!("@{}", path.display());
        let shown = jeton(&keys(), &["inspect", "--json", "--at", AT, &what], b"");
        if shown.status.code() != Some(0) {
            continue;
        }
        let page = page(&what);
        check(&page);
        let text = text_of(&page);
        let token = fs::read_to_string(&path).unwrap();
        assert!(text.contains(token.trim()), "{name}: not all of the token");
        let report: Value = serde_json::from_slice(&shown.stdout).unwrap();
        for (member, value) in report.as_object().unwrap().iter().filter(is_shown) {
            for leaf in leaves(value) {
                let leaf = match (member.as_str(), &*leaf) {
                    ("times", "null") => "not a valid time".to_owned(),
                    _ => leaf,
                };
                assert!(text.contains(&leaf), "{name}: {member} has {leaf:?}");
            }
        }
        for said in String::from_utf8(shown.stderr).unwrap().lines() {
            let said = said.strip_prefix("note: ").unwrap_or(said);
            assert!(text.contains(said), "{name}: {said}");
        }
    }
}

#[test]
fn web_jwt_has_explanations_and_times() {
    let page = page_of_token("es256");
    keep("inspect-jwt.html", &page);
    let text = text_of(&page);
    for said in [
        "not verified: anyone can create a token with this content",
        "RFC 7515, section 4.1.1",
        "RFC 7519, section 4.1.4",
        "2027-01-15T08:15:00Z",
        "Within its validity: expires in 10 minutes.",
        "5 minutes ago",
        "\"ratio\": 1.10",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(page.contains("<span class=\"header\">eyJ"));
    assert!(page.contains("aria-details=\"times-table\"") && page.contains("id=\"times-table\""));

    let late = [
        "inspect",
        "--web",
        "-o",
        "-",
        "--at",
        "2030-01-01T00:00:00Z",
    ];
    let token = format!("@{}", tokens().join("es256").display());
    let call: Vec<&str> = late.into_iter().chain([&*token]).collect();
    let late = String::from_utf8(succeeds(&keys(), &call, b"")).unwrap();
    assert!(late.contains("Expired (exp: 2 years ago)."));
    assert!(!late.contains("Within its validity"));
}

#[test]
fn web_every_format_is_valid_for_a_browser() {
    for name in [
        "jwe",
        "jwe-general.json",
        "jws-general.json",
        "v4-s-2",
        "es256-duplicate",
    ] {
        let page = page_of_token(name);
        check(&page);
        let name = name.trim_end_matches(".json");
        keep(&format!("inspect-{name}.html"), &page);
    }
    let set = page("@jwks-private.json");
    check(&set);
    keep("inspect-keys.html", &set);
}

#[test]
fn web_untrusted_content_is_escaped() {
    let hostile = "</code></pre><script>alert(1)</script><img src=x onerror=alert(2)>&amp;";
    let reversed = "\u{202e}\u{1b}[2J";
    let header = serde_json::json!({"alg": "ES256", "kid": hostile}).to_string();
    let payload = serde_json::json!({"iss": hostile, hostile: [hostile], "sub": reversed});
    let payload = payload.to_string().replace("\\u001b", "\\u001b\u{7f}");
    let long = format!("x{}", "<b>".repeat(40));
    let pages = [
        page(&jws(&header, &payload)),
        page(&jws(&header, &format!("{hostile}{reversed}"))),
        page(&format!(
            "v4.public.{}.{}",
            URL_SAFE_NO_PAD.encode_to_string(format!("{payload}{}", "s".repeat(64))),
            URL_SAFE_NO_PAD.encode_to_string(format!("{{\"kid\":{}}}", Value::from(hostile)))
        )),
        page(
            &serde_json::json!({"payload": "e30", "signature": "AA", "header": {"kid": hostile, "x": long}})
                .to_string(),
        ),
        page(&serde_json::json!({"kty": "oct", "kid": hostile, "alg": reversed, "k": "AA"}).to_string()),
    ];
    for page in &pages {
        check(
            &page
                .replace("&quot;", "")
                .replace("src=x onerror=alert(2)", ""),
        );
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(!page.contains(['\u{202e}', '\u{1b}', '\u{7f}']));
    }
    assert!(text_of(&pages[1]).contains("\\u202e\\u001b[2J"));
}

#[test]
fn web_answer_and_claims_come_first() {
    let page = page_of_token("es256");
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    let order = [
        "not verified: anyone can create a token with this content",
        "Within its validity",
        "id=\"payload\"",
        "id=\"times\"",
        "id=\"header\"",
        "id=\"token\"",
        "id=\"facts\"",
    ];
    assert!(order.map(at).is_sorted(), "{:?}", order.map(at));
}

#[test]
fn web_verdict_is_that_of_the_command() {
    let token = format!("@{}", tokens().join("es256").display());
    let tampered = format!("@{}", tokens().join("es256-tampered").display());
    let call = |token: &str, more: &[&str]| {
        let call = [
            "inspect",
            "--web",
            "-o",
            "-",
            "--at",
            AT,
            "--key",
            "es256.pub.jwk",
        ];
        let output = jeton(&keys(), &[&call[..], more, &[token]].concat(), b"");
        let page = String::from_utf8(output.stdout).unwrap();
        check(&page);
        (page, output.status.code().unwrap())
    };
    let (page, code) = call(&token, &[]);
    assert_eq!(code, 0);
    let text = text_of(&page);
    for said in [
        "verified: jeton jwt verify accepts it.",
        "issuer and audience were not checked",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(!text.contains("not verified"));
    keep("inspect-verified.html", &page);
    let required = ["--issuer", "https://id.example", "--audience", "api"];
    let (page, code) = call(&token, &required);
    assert_eq!(code, 0);
    assert!(!text_of(&page).contains("not checked"));
    let (page, code) = call(&token, &["--audience", "web"]);
    assert_eq!(code, 1);
    assert!(text_of(&page).contains("rejected: jeton jwt verify: "));
    let (page, code) = call(&tampered, &[]);
    assert_eq!(code, 1);
    assert!(text_of(&page).contains("rejected: jeton jwt verify: the signature is not valid"));
    keep("inspect-rejected.html", &page);
}

#[test]
fn web_invisible_characters_are_marked_with_their_names() {
    let payload = "{\"sub\":\"ad\u{200b}min\",\"aud\":\"\\u202Eipa\",\"x\":\"a\u{a0}b\"}";
    let page = page(&jws(r#"{"alg":"ES256"}"#, payload));
    check(&page);
    for mark in [
        "ad<mark title=\"U+200B zero width space\">\\u200b</mark>min",
        "<mark title=\"U+202E right-to-left override\">\\u202E</mark>ipa",
        "a<mark title=\"U+00A0 no-break space\">[U+00A0]</mark>b",
    ] {
        assert!(page.contains(mark), "{mark}");
    }
    let note = "payload: contains characters that are invisible or change the direction of text: U+200B zero width space, U+202E right-to-left override, U+00A0 no-break space.";
    assert!(text_of(&page).contains(note));
    keep("inspect-invisible.html", &page);
}

#[test]
fn inspect_with_a_key_verifies_and_shows_the_token() {
    let token = format!("@{}", tokens().join("es256").display());
    let call = ["inspect", "--key", "es256.pub.jwk", "--at", AT];
    let output = jeton(&keys(), &[&call[..], &[&token]].concat(), b"");
    let (stdout, stderr) = (output.stdout, output.stderr);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(stdout).unwrap();
    assert!(
        text.contains("verified: jeton jwt verify accepts it\n"),
        "{text}"
    );
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(
        stderr.starts_with("note: issuer and audience were not checked"),
        "{stderr}"
    );

    let json = |more: &[&str], code: i32| -> Value {
        let call = [&call[..], &["--json"], more, &[&token]].concat();
        let output = jeton(&keys(), &call, b"");
        assert_eq!(output.status.code(), Some(code));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let accepted = json(&[], 0);
    assert_eq!(accepted["verified"], true);
    assert_eq!(accepted["verdict"], "verified: jeton jwt verify accepts it");
    let rejected = json(&["--audience", "web"], 1);
    assert_eq!(rejected["verified"], false);
    assert!(rejected["payload"].is_object());

    let paseto = format!("@{}", tokens().join("v4-s-2").display());
    let call = [
        "inspect",
        "--key",
        "k4.public",
        "--allow",
        "no-expiry",
        "--at",
        AT,
        &paseto,
    ];
    let output = jeton(&keys(), &call, b"");
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(text.contains("jeton paseto verify"), "{text}");
    // A key that cannot be used is an error of the call.
    let call = ["inspect", "--key", "rsa.pub.pem", &token];
    assert_eq!(jeton(&keys(), &call, b"").status.code(), Some(2));
}

#[test]
fn web_key_is_not_on_the_page() {
    for name in ["es256.jwk", "rs256.jwk", "hs256.jwk", "jwks-private.json"] {
        let text = fs::read_to_string(keys().join(name)).unwrap();
        let page = page(&format!("@{name}"));
        check(&page);
        assert!(page.contains("this key is secret"));
        let mut secrets = Vec::new();
        let value: Value = serde_json::from_str(&text).unwrap();
        let each = match value.get("keys").and_then(Value::as_array) {
            Some(keys) => keys.clone(),
            None => vec![value],
        };
        for key in each {
            for member in ["d", "p", "q", "dp", "dq", "qi", "k", "priv"] {
                secrets.extend(key[member].as_str().map(ToOwned::to_owned));
            }
        }
        assert!(!secrets.is_empty());
        for secret in secrets {
            assert!(!page.contains(&secret), "{name}");
        }
    }
    let paserk = fs::read_to_string(keys().join("k4.secret")).unwrap();
    let shown = page("@k4.secret");
    assert!(shown.contains("this key is secret") && !shown.contains(paserk.trim()));
}

#[test]
fn web_every_byte_of_a_part_is_shown() {
    let bytes: Vec<u8> = (0..=255).collect();
    let part = URL_SAFE_NO_PAD.encode_to_string(&bytes);
    let header = URL_SAFE_NO_PAD.encode_to_string(br#"{"alg":"ES256"}"#);
    let shown = page(&format!("{header}.{part}.AA"));
    let hexadecimal: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(shown.contains(&hexadecimal.join(" ")));
    assert!(line(&keys(), &["inspect", &format!("{header}.{part}.AA")]).contains(" …"));
}
