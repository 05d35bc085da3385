//! Backs up a server while it revokes, and restores the backups: no acknowledged revocation is lost.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jeton_client::{Connection, IssueRequest, RevokeRequest, VerifyRequest, revoke_request::What};
use serde_json::Value;

use super::running::Running;
use crate::binary::{ends, succeeds};
use crate::data_folder::{ISS, json};
use crate::serving::Serving;

const ROUNDS: usize = 20;
const WRITERS: usize = 4;
/// Longer than a revocation takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn revoke(what: What) -> RevokeRequest {
    RevokeRequest {
        issuer: ISS.to_owned(),
        what: Some(what),
    }
}

/// What the server has acknowledged, in this order.
#[derive(Clone, Default)]
struct Acknowledged {
    subjects: Arc<Mutex<Vec<String>>>,
    tokens: Arc<Mutex<Vec<String>>>,
}

impl Acknowledged {
    /// Waits until the server has revoked another subject.
    fn wait_for_more(&self) {
        let count = || self.subjects.lock().unwrap().len();
        let (before, begun) = (count(), Instant::now());
        while count() == before {
            assert!(begun.elapsed() < TIMEOUT, "nothing more is revoked");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Revokes subjects and tokens until it is told to stop.
async fn load(address: String, writer: usize, done: Acknowledged, stop: Arc<AtomicBool>) {
    let client = Connection::to(address).connect().await.unwrap();
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let subject = format!("user-{writer}-{number}");
        let what = What::Subject(subject.clone());
        client.revoke(revoke(what)).await.unwrap();
        done.subjects.lock().unwrap().push(subject);
        let request = IssueRequest {
            profile: "access".to_owned(),
            subject: "alice".to_owned(),
            ..IssueRequest::default()
        };
        let issued = client.issue(request).await.unwrap();
        let what = What::Token(issued.token.clone());
        client.revoke(revoke(what)).await.unwrap();
        done.tokens.lock().unwrap().push(issued.token);
    }
}

/// The subjects that a restored folder has revoked.
fn revoked_subjects(folder: &Path, data: &str) -> Vec<String> {
    let key = "jeton-data/key-encryption-key";
    let list = ["admin", "revoke", "list", ISS, "--json", "--data", data];
    let rules = json(
        folder,
        &[&list[..], &["--key-encryption-key", key]].concat(),
    );
    let name = |rule: &Value| rule["name"].as_str().unwrap().to_owned();
    rules.as_array().unwrap().iter().map(name).collect()
}

#[test]
fn restored_backups_have_every_acknowledged_revocation() {
    let running = Running::start();
    let folder = running.path();
    let (done, stop) = (Acknowledged::default(), Arc::new(AtomicBool::new(false)));
    let address = running.server.address();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let load = load(address.clone(), writer, done.clone(), stop.clone());
            std::thread::spawn(move || runtime().block_on(load))
        })
        .collect();
    let mut last_tokens = Vec::new();
    let mut later = 0;
    for round in 0..ROUNDS {
        done.wait_for_more();
        let subjects = done.subjects.lock().unwrap().clone();
        last_tokens = done.tokens.lock().unwrap().clone();
        let (backup, data) = (format!("{round}.backup"), format!("restored-{round}"));
        running.admin(&["backup", "-o", &backup], b"");
        succeeds(folder, &["admin", "restore", &backup, "--data", &data], b"");
        succeeds(folder, &["admin", "verify", "--data", &data], b"");
        let restored = revoked_subjects(folder, &data);
        let lost: Vec<_> = subjects
            .iter()
            .filter(|subject| !restored.contains(subject))
            .collect();
        assert!(lost.is_empty(), "round {round} lost {lost:?}");
        done.wait_for_more();
        later += done.subjects.lock().unwrap().len() - subjects.len();
        if round + 1 < ROUNDS {
            fs::remove_dir_all(folder.join(data)).unwrap();
        }
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.join().unwrap();
    }
    // The server was revoking all the time.
    assert!(later >= ROUNDS, "{later}");

    // A server on the restored folder rejects the revoked tokens and accepts others.
    let key = "jeton-data/key-encryption-key";
    let last = format!("restored-{}", ROUNDS - 1);
    fs::copy(
        folder.join(key),
        folder.join(&last).join("key-encryption-key"),
    )
    .unwrap();
    let restored = Serving::any_port(folder, &["--data", &last]);
    let address = restored.address();
    runtime().block_on(async {
        let client = Connection::to(address).connect().await.unwrap();
        let verify = async |token: String| {
            let request = VerifyRequest {
                audience: "api".to_owned(),
                token,
                ..VerifyRequest::default()
            };
            client.verify(request).await
        };
        assert!(!last_tokens.is_empty());
        for token in last_tokens {
            let rejected = verify(token).await.unwrap_err();
            assert!(rejected.is_rejection(), "{rejected}");
        }
        let request = IssueRequest {
            profile: "access".to_owned(),
            ..IssueRequest::default()
        };
        let issued = client.issue(request).await.unwrap();
        verify(issued.token).await.unwrap();
    });
}

#[test]
fn bad_backups_of_a_server_are_clear_errors() {
    let running = Running::start();
    let folder = running.path();
    running.admin(&["backup", "-o", "whole"], b"");
    let whole = fs::read_to_string(folder.join("whole")).unwrap();
    let restore = |bytes: &str, said: &str| {
        let args = ["admin", "restore", "-", "--data", "never"];
        ends(folder, &args, bytes.as_bytes(), 2, said);
        assert!(!folder.join("never").exists(), "{said}");
    };
    // Cut short at every tenth of its length.
    for part in 1..10 {
        restore(&whole[..whole.len() * part / 10], "is truncated");
    }
    let newer = whole.replacen("\"jeton_backup\":1", "\"jeton_backup\":9", 1);
    restore(&newer, "has version 9");

    // Under another key-encryption key.
    let args = ["admin", "restore", "whole", "--data", "restored"];
    succeeds(folder, &args, b"");
    crate::data_folder::private(&folder.join("other"), &"7".repeat(64));
    let list = ["admin", "key", "list", ISS, "--data", "restored"];
    let other = [&list[..], &["--key-encryption-key", "other"]].concat();
    ends(folder, &other, b"", 2, "key-encryption key");
    let config = "data = 'restored'\nkey_encryption_key_file = 'other'\n";
    fs::write(folder.join("other.toml"), config).unwrap();
    let (code, said) = Serving::any_port(folder, &["--config", "other.toml"]).end();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("key-encryption key"), "{said}");

    // A server that ends during the backup leaves no file.
    running.server.signal("-KILL");
    let args = ["admin", "backup", "-o", "half", "--server", &running.url];
    ends(folder, &args, b"", 2, "cannot reach the server");
    assert!(!folder.join("half").exists());
}
