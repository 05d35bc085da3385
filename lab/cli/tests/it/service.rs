//! The attacks on a running token service. It needs the program `jeton`, which is built with the workspace.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::binary::jeton;
use crate::serving::Serving;

const ISS: &str = "https://id.example";
const SETTINGS: &str = r#"{"iss": "https://id.example", "profiles": [
    {"name": "access", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["api"]}]}"#;

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
    let output = Command::new("sh")
        .args(["-e", "-c", commands])
        .env("PATH", path_with_programs())
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs `jeton`.
fn succeeds(folder: &Path, args: &[&str]) -> Vec<u8> {
    let output = jeton_testkit::run(&jeton_testkit::program("jeton"), folder, args, b"");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    output.stdout
}

fn path_with_programs() -> OsString {
    let programs = jeton_testkit::program("jeton");
    let path = env::var_os("PATH").unwrap();
    let folders = env::split_paths(&path);
    env::join_paths(
        [programs.parent().unwrap().to_path_buf()]
            .into_iter()
            .chain(folders),
    )
    .unwrap()
}

fn only_for_owner(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn serve_passes_the_attacks_of_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    succeeds(at, &["admin", "issuer", "add", SETTINGS]);
    let new = ["key", "new", "--alg", "ES256", "--kid", "imported"];
    let jwk = succeeds(at, &new);
    fs::write(at.join("key.jwk"), &jwk).unwrap();
    only_for_owner(&at.join("key.jwk"));
    let import = ["admin", "key", "import", ISS, "key.jwk"];
    succeeds(at, &import);
    let server = Serving::any_port(at, &[]);
    let address = server.address();
    let http = format!("{address}/introspect");
    let grpc = address.replace("http:", "grpc:") + "/jeton.v1.TokenService/Verify";
    let claims = r#"{"iss": "https://id.example", "aud": "api", "sub": "alice", "jti": "one"}"#;
    let asked = ["--target-key", "key.jwk", "--target-claims", claims];
    let demands = [
        "--target-demands",
        "iss,exp",
        "--target-leeway=30",
        "--fail-on=accepted,crashed,hung",
    ];
    let message = ["--target-token-field=3", "--target-field=2=api"];
    for (target, more) in [(&http, &[][..]), (&grpc, &message[..])] {
        let out = ["attack", "--json", "--target", target];
        let call = [&out[..], &asked, &demands, more].concat();
        let output = jeton(at, &call, b"");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{target}: {said}");
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = result["rows"].as_array().unwrap();
        let refused = rows
            .iter()
            .filter(|row| row["outcome"] == "refused")
            .count();
        assert!(
            refused >= 60,
            "{target}: {refused} refused of {}",
            rows.len()
        );
    }
    let log = server.said();
    assert!(!log.contains("ERROR"), "{log}");
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
