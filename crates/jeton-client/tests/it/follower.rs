//! A follower of revocations against a fake server.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jeton_proto::v1::revocation_rule::Kind;
use jeton_proto::v1::{RevocationRule, RevocationUpdate};
use tokio::time::sleep;

use crate::fake_server::{block_on, follow};

const YEAR: i64 = 366 * 24 * 3600;

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap()
}

#[test]
#[allow(clippy::needless_update, reason = "members are added")]
fn follower_keeps_revocations_when_the_server_clock_jumps() {
    block_on(async {
        let (sender, mut follower) = follow(RevocationUpdate {
            at: now(),
            rules: vec![RevocationRule {
                kind: Kind::Subject.into(),
                name: "s".to_owned(),
                not_before: now(),
                until: now() + 1530,
                ..RevocationRule::default()
            }],
            ..RevocationUpdate::default()
        })
        .await;
        assert!(follower.is_subject_revoked("s", None, Some(now() - 1)));
        for at in [now() + YEAR, now()] {
            let update = RevocationUpdate {
                at,
                ..RevocationUpdate::default()
            };
            sender.send(update).unwrap();
            assert!(!follower.next().await.unwrap());
            assert!(follower.is_subject_revoked("s", None, Some(now() - 1)));
        }
    });
}

#[test]
fn follower_age_includes_waiting_updates() {
    block_on(async {
        let update = |age_ms: u64, clock_ms: u64| RevocationUpdate {
            at: now(),
            age_ms: Some(age_ms),
            clock_ms: Some(clock_ms),
            ..RevocationUpdate::default()
        };
        let (sender, mut follower) = follow(update(7_000, 0)).await;
        let old = Duration::from_secs(7);
        assert!(follower.age() >= old, "{:?}", follower.age());
        // The update has age zero when it is sent, and is read a second later.
        sender.send(update(0, 0)).unwrap();
        sleep(Duration::from_secs(1)).await;
        follower.next().await.unwrap();
        let waited = Duration::from_millis(900);
        assert!(follower.age() >= waited, "{:?}", follower.age());
    });
}
