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

/// The attacks of the lab on the two grants that take a token of an outside issuer.
#[test]
fn token_endpoint_passes_the_attacks_of_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let commands = "jeton key new --alg ES256 --kid one > key.jwk\n\
         chmod 600 key.jwk\n\
         jeton key public key.jwk > public.jwk\n\
         printf '{\"keys\":[%s]}' \"$(cat public.jwk)\" > keys.json";
    run(at, "", commands);
    let configuration = r#"
[[issuer]]
iss = "https://id.example"
profiles = [{name = "access", alg = "ES256", typ = "at+jwt", lifetime_seconds = 900, audiences = ["api"]}]

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
    fs::write(at.join("jeton.toml"), configuration).unwrap();
    let serving = Serving::any_port(at, &["--config", "jeton.toml"]);
    let target = format!("{}/token", serving.address());
    let claims =
        r#"{"iss": "https://outside.example", "aud": "https://id.example", "sub": "workload-7"}"#;
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
            claims,
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
        assert!(refused >= 60, "{grant}: {refused} of {}", rows.len());
    }
    let log = serving.said();
    assert!(!log.contains("ERROR"), "{log}");
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
