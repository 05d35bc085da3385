//! Runs the lines of docs/service.md that begin with `grpcurl`, with another port and token. The server has reflection,
//! so no `.proto` file is needed.
//!
//! `cargo xtask test --only grpcurl` builds grpcurl and sets `JETON_GRPCURL`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::serving::Serving;

/// The grpcurl program and the server that it calls.
struct Grpcurl {
    /// The folder of the program, for `PATH`.
    folder: String,
    address: String,
}

impl Grpcurl {
    /// Runs a line of the documentation.
    fn run(&self, line: &str, token: &str) -> Output {
        let line = line.replace("127.0.0.1:8420", &self.address);
        let path = std::env::var("PATH").unwrap();
        Command::new("sh")
            .args(["-c", &line.replace('…', token)])
            .env("PATH", format!("{}:{path}", self.folder))
            .output()
            .unwrap()
    }

    fn answer(&self, line: &str, token: &str) -> Value {
        let output = self.run(line, token);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn lines_of_the_book() -> Vec<String> {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/service.md");
    let book = fs::read_to_string(book).unwrap();
    let lines = book.lines().filter(|line| line.starts_with("grpcurl "));
    lines.map(str::to_owned).collect()
}

#[test]
#[ignore = "needs grpcurl: cargo xtask test --only grpcurl"]
fn docs_grpcurl_commands_issue_verify_and_revoke() {
    let program = std::env::var("JETON_GRPCURL");
    let program = program.expect("cargo xtask test --only grpcurl says where it is");
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::any_port(folder.path(), &[]);
    let grpcurl = Grpcurl {
        folder: Path::new(&program).parent().unwrap().display().to_string(),
        address: server.address().replace("http://", ""),
    };
    let lines = lines_of_the_book();
    let [issue, verify, revoke, status] = &lines[..] else {
        panic!("four lines: {lines:?}");
    };
    let issued = grpcurl.answer(issue, "");
    let token = issued["token"].as_str().unwrap();
    let verified = grpcurl.answer(verify, token);
    assert_eq!(verified["subject"], "alice");
    assert_eq!(verified["tokenId"], issued["tokenId"]);
    grpcurl.answer(revoke, token);
    let refused = grpcurl.run(verify, token);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "it is revoked");
    assert!(said.contains("FailedPrecondition"), "{said}");
    assert!(said.contains("the token is revoked"), "{said}");
    assert!(said.contains("TOKEN_REVOKED"), "{said}");
    assert!(!said.contains(token), "it repeats the token");

    // The printed command for AdminService works, and fails without the token.
    let said = server.wait_for("AdminService/Status");
    let printed = said.lines().find(|line| line.contains("grpcurl")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let at = server.admin_address().replace("http://", "");
    assert_eq!(printed.trim(), status.replace("127.0.0.1:8421", &at));
    let run = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(folder.path());
        shell
            .env("PATH", format!("{}:{path}", grpcurl.folder))
            .output()
            .unwrap()
    };
    let status = run(printed);
    let told = String::from_utf8_lossy(&status.stderr).into_owned();
    assert!(status.status.success(), "{printed}: {told}");
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["isReady"], true);
    let refused = run(&printed.replace("Bearer ", "Bearer x"));
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        told.contains("Unauthenticated") && told.contains("admin-token"),
        "{told}"
    );

    // An unknown host name is an error.
    let named = grpcurl.run(
        &issue.replace("-plaintext", "-plaintext -authority jeton.internal"),
        "",
    );
    let told = String::from_utf8_lossy(&named.stderr);
    assert!(
        told.contains("PermissionDenied") && told.contains("`hosts`"),
        "{told}"
    );

    let listed = grpcurl.run("grpcurl -plaintext 127.0.0.1:8420 list", "");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        listed.lines().any(|line| line == "jeton.v1.TokenService"),
        "{listed}"
    );
}
