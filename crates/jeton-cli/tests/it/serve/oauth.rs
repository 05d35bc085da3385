//! The commands of the guide to the token endpoint run as they are written, against a real server.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::binary::jeton;
use crate::serving::Serving;

/// The blocks of a page in this language, without the indentation of lists.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(indentation) = line.strip_suffix(&format!("```{language}")) else {
            continue;
        };
        let block = lines.by_ref().take_while(|line| line.trim() != "```");
        let block: Vec<&str> = block
            .map(|line| line.strip_prefix(indentation).unwrap_or(line))
            .collect();
        blocks.push(block.join("\n"));
    }
    blocks
}

fn run(folder: &Path, id: &str, command: &str) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_jeton")).parent().unwrap();
    let path = env::var_os("PATH").unwrap();
    let paths = [binaries.to_path_buf()].into_iter();
    let path = env::join_paths(paths.chain(env::split_paths(&path))).unwrap();
    let output = Command::new("sh")
        .args(["-e", "-c", command])
        .env("PATH", path)
        .env("ID", id)
        .current_dir(folder)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}\n{stdout}{stderr}");
    stdout
}

#[test]
fn token_guide_commands_run() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/get-tokens.md");
    let page = fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let commands = blocks(&page, "sh");
    let (before, after) = commands.split_at(3);
    for command in before {
        run(folder.path(), "", command);
    }
    let serving = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let id = serving.address();
    let mut said = String::new();
    for command in after {
        said.push_str(&run(folder.path(), &id, command));
    }
    assert!(said.contains("\"active\":true"), "{said}");
    assert!(said.contains("$argon2id$v=19$"), "{said}");
    let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    assert_eq!(read("token").trim().split('.').count(), 3);
    let secret = read("ci.secret");
    for text in [read("jeton.toml"), serving.said(), said] {
        assert!(!text.contains(secret.trim()), "{text}");
    }
}

/// A client signs an assertion (`private_key_jwt`) for each token. Keys of other kinds get none.
#[test]
fn client_with_a_key_gets_and_uses_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    run(
        at,
        "",
        "jeton key new --alg ES256 --kid one > ci.jwk\n\
         jeton key new --alg ES256 --kid one > other.jwk\n\
         jeton key new --alg HS256 > secret.jwk\n\
         chmod 600 *.jwk\n\
         jeton key public ci.jwk > public.jwk\n\
         printf '{\"keys\":[%s]}' \"$(cat public.jwk)\" > keys.json",
    );
    let configuration = r#"
[[issuer]]
iss = "https://id.example/tenant"
profiles = [{name = "access", alg = "ES256", typ = "at+jwt", lifetime_seconds = 900, audiences = ["api"]}]

[[client]]
name = "ci"
keys_file = "keys.json"
may = ["token", "verify"]
issuers = ["*"]
tokens = [{profile = "access", scopes = ["read"]}]
"#;
    fs::write(at.join("jeton.toml"), configuration).unwrap();
    let serving = Serving::any_port(at, &["--config", "jeton.toml"]);
    let server = serving.address();
    let get = |key: &str, issuer: &str| {
        let call = [
            "token",
            "get",
            "--server",
            &server,
            "--client",
            "ci",
            "--signing-key",
            key,
        ];
        jeton(at, &[&call[..], &["--issuer", issuer]].concat(), b"")
    };
    for _ in 0..2 {
        let output = get("ci.jwk", "https://id.example/tenant");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let token = String::from_utf8(output.stdout).unwrap();
        assert_eq!(token.trim().split('.').count(), 3, "{token}");
    }
    let output = get("other.jwk", "https://id.example/tenant");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("invalid_client") && said.contains("--signing-key FILE"),
        "{said}"
    );
    let output = get("secret.jwk", "https://id.example/tenant");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("secret.jwk: a symmetric key"), "{said}");
    assert!(!serving.said().contains("eyJ"), "{}", serving.said());
}

/// A service that trusts an outside issuer. The trust entry is last.
const OUTSIDE: &str = r#"[[issuer]]
iss = "https://id.example"
profiles = [{name = "access", alg = "ES256", typ = "at+jwt", lifetime_seconds = 900, audiences = ["api"]}]

[[client]]
name = "ci"
secrets = ["sha256:0000000000000000000000000000000000000000000000000000000000000000"]
may = ["token"]
issuers = ["*"]
tokens = [{profile = "access", scopes = ["read"]}]

[[trust]]
name = "outside"
issuer = "https://id.example"
iss = "https://outside.example"
keys_file = "keys.json"
audience = "https://id.example"
claims = {sub = "workload-*"}
tokens = [{profile = "access"}]
maximum_lifetime_seconds = 600
requests_per_minute = 1000000
"#;
const OUTSIDE_CLAIMS: &str =
    r#"{"iss": "https://outside.example", "aud": "https://id.example", "sub": "workload-7"}"#;

/// Writes the keys of that outside issuer.
fn write_outside_keys(folder: &Path) {
    let commands = "jeton key new --alg ES256 --kid one > key.jwk\n\
         chmod 600 key.jwk\n\
         jeton key public key.jwk > public.jwk\n\
         printf '{\"keys\":[%s]}' \"$(cat public.jwk)\" > keys.json";
    run(folder, "", commands);
}

/// The attacks of the lab on the two grants that take a token of an outside issuer.
#[test]
fn token_endpoint_passes_the_attacks_of_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_outside_keys(at);
    fs::write(at.join("jeton.toml"), OUTSIDE).unwrap();
    let serving = Serving::any_port(at, &["--config", "jeton.toml"]);
    let target = format!("{}/token", serving.address());
    let mut attacks = BTreeSet::new();
    for grant in ["jwt-bearer", "token-exchange"] {
        let call = [
            "lab",
            "attack",
            "--json",
            "--target",
            &target,
            "--target-grant",
            grant,
            "--target-key",
            "key.jwk",
            "--target-claims",
            OUTSIDE_CLAIMS,
            "--target-demands",
            "iss,aud,exp",
            "--target-leeway=60",
            "--fail-on=accepted,crashed,hung",
        ];
        let output = jeton(at, &call, b"");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{grant}: {said}");
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = result["rows"].as_array().unwrap();
        let refused = rows.iter().filter(|row| row["outcome"] == "refused");
        let refused = refused.count();
        assert!(refused >= 90, "{grant}: {refused} of {}", rows.len());
        // Those on the form, the client and the actors: none is void or without a verdict, except where the
        // service accepts a token more than once.
        let grants = rows.iter().filter(|row| row["family"] == "grants");
        let (refused, others): (Vec<_>, Vec<_>) =
            grants.partition(|row| row["outcome"] == "refused");
        let others: Vec<_> = others.iter().map(|row| &row["attack"]).collect();
        assert_eq!(others, ["grant-replay"], "{grant}");
        assert!(refused.len() >= 28, "{grant}: {}", refused.len());
        assert!(refused.iter().all(|row| row["void"] == 0), "{grant}");
        attacks.extend(
            refused
                .iter()
                .map(|row| row["attack"].as_str().unwrap().to_owned()),
        );
    }
    assert!(attacks.len() >= 30, "{attacks:?}");
    let log = serving.said();
    assert!(!log.contains("ERROR"), "{log}");
}

/// Against an endpoint that accepts a token once, only the attack that makes new tokens is meaningful.
#[test]
fn token_endpoint_rejects_a_replayed_token_of_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_outside_keys(at);
    // The token that is tried first has an id, too.
    let claims = OUTSIDE_CLAIMS.replace('}', r#", "jti": "first"}"#);
    for (single_use, expected) in [("true", "refused"), ("false", "accepted")] {
        let data = format!("data = \"{single_use}\"\n");
        let configuration = format!("{data}{OUTSIDE}single_use = {single_use}\n");
        fs::write(at.join("jeton.toml"), configuration).unwrap();
        let serving = Serving::any_port(at, &["--config", "jeton.toml"]);
        let target = format!("{}/token", serving.address());
        let call = [
            "lab",
            "attack",
            "--json",
            "--target",
            &target,
            "--target-grant",
            "jwt-bearer",
            "--target-key",
            "key.jwk",
            "--target-claims",
            &claims,
            "--target-demands",
            "jti",
            "--attack",
            "grant-replay",
        ];
        let output = jeton(at, &call, b"");
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = result["rows"].as_array().unwrap();
        let outcomes: Vec<_> = rows.iter().map(|row| &row["outcome"]).collect();
        assert_eq!(outcomes, [expected], "{single_use}");
    }
}

/// The other examples are valid configurations.
#[test]
fn token_guide_configurations_are_valid() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/get-tokens.md");
    let page = fs::read_to_string(page).unwrap();
    let configurations = blocks(&page, "toml");
    assert_eq!(configurations.len(), 3);
    for text in configurations {
        jeton_server::Config::from_toml(&text).unwrap();
    }
}
