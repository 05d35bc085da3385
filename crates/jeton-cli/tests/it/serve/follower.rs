//! A client that follows revocations, and loses its connection or its server.

use std::fs;

use jeton_client::{Client, Connection, Error, Follower, RevokeRequest, revoke_request::What};

use crate::binary::succeeds;
use crate::data_folder::ISS;
use crate::serving::Serving;

const CONFIG: &str = r#"
[[issuer]]
iss = "https://id.example"
profiles = [{ name = "access", alg = "ES256", lifetime_seconds = 900, audiences = ["api"] }]
"#;

async fn connect(server: &Serving) -> Client {
    Connection::to(server.address()).connect().await.unwrap()
}

async fn revoke(client: &Client, subject: &str) {
    let request = RevokeRequest {
        what: Some(What::Subject(subject.to_owned())),
        ..RevokeRequest::default()
    };
    client.revoke(request).await.unwrap();
}

fn rejected(follower: &Follower) -> Vec<&'static str> {
    let subjects = ["alice", "bob", "carol"];
    let is_rejected = |subject: &&str| follower.is_subject_revoked(subject, None, None);
    subjects.into_iter().filter(is_rejected).collect()
}

#[test]
fn follower_resumes_and_sees_that_a_revocation_was_ended() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("jeton.toml"), CONFIG).unwrap();
    let start = || {
        let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
        server.wait_for("ready");
        server
    };
    let server = start();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let mut follower = runtime.block_on(async {
        let client = connect(&server).await;
        revoke(&client, "alice").await;
        let mut follower = client.follow_revocations(ISS).await.unwrap();
        assert_eq!(rejected(&follower), ["alice"]);
        // Another connection, and what came since.
        revoke(&client, "bob").await;
        let other = connect(&server).await;
        assert!(other.resume_revocations(&mut follower).await.unwrap());
        assert_eq!(rejected(&follower), ["alice", "bob"]);
        follower
    });
    let admin = server.admin_address();
    let end = [
        "admin", "revoke", "end", "subject", ISS, "alice", "--server", &admin,
    ];
    succeeds(folder.path(), &end, b"");
    runtime.block_on(async {
        while rejected(&follower) != ["bob"] {
            follower.next().await.unwrap();
        }
    });
    // The server stops, and revocations end and begin.
    server.signal("-TERM");
    assert_eq!(server.end().0, Some(0));
    runtime.block_on(async {
        let ended = loop {
            if let Err(ended) = follower.next().await {
                break ended;
            }
        };
        assert!(
            matches!(ended, Error::Unavailable(_) | Error::Unreachable(_)),
            "{ended}"
        );
        assert_eq!(rejected(&follower), ["bob"]);
    });
    succeeds(
        folder.path(),
        &["admin", "revoke", "end", "subject", ISS, "bob"],
        b"",
    );
    succeeds(
        folder.path(),
        &["admin", "revoke", "subject", ISS, "carol"],
        b"",
    );
    let server = start();
    runtime.block_on(async {
        let client = connect(&server).await;
        // The server does not have what was missed, so everything is loaded again.
        assert!(!client.resume_revocations(&mut follower).await.unwrap());
        assert_eq!(rejected(&follower), ["carol"]);
        assert!(client.resume_revocations(&mut follower).await.unwrap());
        assert_eq!(rejected(&follower), ["carol"]);
    });
}
