//! Tests the files of `jeton-lab export` for other tools. The files are in `tests/cmd/export-*`.
#![cfg(unix)]

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const LAB: &str = env!("CARGO_BIN_EXE_jeton-lab");

fn lab(arguments: &[&str]) -> Output {
    Command::new(LAB).args(arguments).output().unwrap()
}

fn export(arguments: &[&str]) -> String {
    let out = lab(&[&["export"][..], arguments].concat());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{said}");
    String::from_utf8(out.stdout).unwrap()
}

/// Returns an address without a listener.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn export_ghz_has_total_concurrency_and_known_method() {
    let config: Value = serde_json::from_str(&export(&[
        "ghz",
        "--target",
        "a:1",
        "--alg",
        "ES256",
        "--connections",
        "3",
        "--in-flight",
        "7",
    ]))
    .unwrap();
    assert_eq!(
        (&config["connections"], &config["concurrency"]),
        (&3.into(), &21.into())
    );
    assert_eq!(config["data"]["algorithm"], "ES256");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let proto = fs::read_to_string(root.join(config["proto"].as_str().unwrap())).unwrap();
    let call = config["call"].as_str().unwrap();
    let (service, method) = call.rsplit_once('.').unwrap();
    let (package, service) = service.rsplit_once('.').unwrap();
    for line in [
        format!("package {package};"),
        format!("service {service} {{"),
        format!("rpc {method}("),
    ] {
        assert!(proto.contains(&line), "{line}");
    }
}

/// Runs the command lines of the manifest's pods, and merges their files.
#[test]
fn export_kubernetes_loaders_can_be_merged() {
    let target = nobody();
    let manifest = export(&[
        "kubernetes",
        "--target",
        &target,
        "--image",
        "x",
        "--loaders",
        "2",
        "--connections",
        "1",
        "--in-flight",
        "2",
        "--rate",
        "10.5",
        "--seconds",
        "0.2",
    ]);
    let line = manifest
        .lines()
        .map(str::trim)
        .find_map(|l| l.strip_prefix("args: "));
    let arguments: Vec<String> = serde_json::from_str(line.unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for index in ["0", "1"] {
        let arguments = arguments.iter().map(|argument| {
            let mounted = argument.replace("/results", &folder.path().to_string_lossy());
            mounted.replace("$(JOB_COMPLETION_INDEX)", index)
        });
        let out = Command::new(LAB).args(arguments).output().unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        files.push(
            folder
                .path()
                .join(format!("load-{index}.json"))
                .display()
                .to_string(),
        );
    }
    let merged = lab(&["load", "merge", &files[0], &files[1]]);
    let merged: Value = serde_json::from_slice(&merged.stdout).unwrap();
    assert_eq!(
        (&merged["loaders"], &merged["rate"]),
        (&2.into(), &10.5.into())
    );
}

#[test]
fn export_invalid_target_or_image_is_an_error() {
    for target in ["a\"b:1", "a b:1", "'+x+':1", "a:1\n", "a"] {
        let out = lab(&["export", "k6", "--target", target]);
        assert_eq!(out.status.code(), Some(2), "{target}");
        assert!(out.stdout.is_empty());
    }
    let manifest = export(&[
        "kubernetes",
        "--target",
        "a:1",
        "--image",
        "x\"\n  evil: {args}",
    ]);
    assert!(
        manifest.contains("image: \"x\\\"\\n  evil: {args}\""),
        "{manifest}"
    );
}
