//! The commands of the guide to the token endpoint run as they are written, against a real server.

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

/// The other examples are valid configurations.
#[test]
fn token_guide_configurations_are_valid() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/get-tokens.md");
    let page = fs::read_to_string(page).unwrap();
    let configurations = blocks(&page, "toml");
    assert_eq!(configurations.len(), 4);
    for text in configurations {
        jeton_server::Config::from_toml(&text).unwrap();
    }
}
