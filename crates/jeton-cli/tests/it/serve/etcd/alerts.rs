//! The runbooks of alerts whose faults need an etcd, see `crate::runbooks`.

use std::fs;

use jeton_testkit::until;

use super::went_back::copy;
use super::{CONFIG, Cluster, get, is_ready};
use crate::data_folder::json;
use crate::runbooks::{Drills, Scrape};
use crate::serve::chaos::libfaketime;
use crate::serving::Serving;

fn scrape(server: &Serving) -> Scrape {
    let (status, text) = get(&format!("{}/metrics", server.admin_address()));
    Scrape::of("one", (status == "200").then_some(text.as_str()))
}

/// Two scrapes, and what happens between them.
fn around(server: &Serving, happens: impl FnOnce()) -> Vec<Scrape> {
    let first = scrape(server);
    happens();
    vec![first, scrape(server)]
}

/// A wrapper that changes the clock of a program. libfaketime reads its file once a second.
fn with_clock(variables: &[&str]) -> Vec<String> {
    let library = libfaketime().expect("libfaketime is installed: `cargo xtask setup` does it");
    let always = [
        "env",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
        "FAKETIME_CACHE_DURATION=1",
    ];
    let mut program: Vec<String> = always.map(str::to_owned).into();
    program.push(format!("LD_PRELOAD={library}"));
    program.extend(variables.iter().map(|&one| one.to_owned()));
    program
}

impl Cluster {
    fn serve_with_clock(&self, variables: &[&str]) -> Serving {
        let program = with_clock(variables);
        let program: Vec<&str> = program.iter().map(String::as_str).collect();
        self.serve_by(&program, &self.etcd.url("/tokens"))
    }

    /// Kills the etcd, and starts it with the files of an earlier time.
    fn go_back(&mut self, kept: &std::path::Path) {
        self.etcd.kill_member(0);
        fs::remove_dir_all(self.data()).unwrap();
        copy(kept, &self.data());
        self.etcd.start_member(0).unwrap();
    }
}

#[test]
#[ignore = "needs etcd and promtool: cargo xtask test --only etcd"]
fn etcd_runbooks_of_alerts() {
    // A server that refuses to verify when it is stale gives no stale response.
    let settings = "store_comparison_seconds = 10\nwhen_stale = \"verify\"";
    let config = format!("{settings}\n{CONFIG}");
    let mut cluster = Cluster::with(tempfile::tempdir().unwrap(), 1, &[], &config);
    let mut drills = Drills::of("etcd");
    let server = cluster.serve();
    until("it is ready", || is_ready(&server));
    etcd_does_not_answer(&cluster, &server, &mut drills);
    let server = clocks_differ(&cluster, server, &mut drills);
    store_goes_back(&mut cluster, server, &mut drills);
    drills.judge();
}

fn etcd_does_not_answer(cluster: &Cluster, server: &Serving, drills: &mut Drills) {
    let compared = |scrape: &Scrape| scrape.sum("jeton_store_comparisons_total", &[]);
    let compares = || {
        let begun = compared(&scrape(server));
        until("it compares", || compared(&scrape(server)) > begun);
    };
    let token = cluster.issue(server);
    let before = around(server, || {
        assert_eq!(cluster.verify(server, &token).0, Some(0));
        compares();
    });
    cluster.etcd.pause_member(0).unwrap();
    let contact = |scrape: &Scrape| scrape.sum("jeton_store_last_contact_milliseconds", &[]);
    until("it is silent", || contact(&scrape(server)) > 10_000.0);
    let incomplete = |scrape: &Scrape| scrape.sum("jeton_store_comparisons_incomplete_total", &[]);
    let during = around(server, || {
        assert_eq!(cluster.verify(server, &token).0, Some(0));
        let begun = incomplete(&scrape(server));
        until("a comparison fails", || incomplete(&scrape(server)) > begun);
    });
    let admin = server.admin_address();
    let status = ["admin", "status", "--server", &admin, "--json"];
    let status = json(cluster.folder.path(), &status);
    assert_eq!(status["cause"], "store_silent", "{status}");
    cluster.etcd.resume_member(0).unwrap();
    until("it is ready", || is_ready(server));
    let after = around(server, || {
        assert_eq!(cluster.verify(server, &token).0, Some(0));
        compares();
    });
    let phases = [&*before, &during, &after];
    drills.add(&["JetonNotReady"], &["`jeton admin status` names"], phases);
    let alerts = &[
        "JetonStoreContactLost",
        "JetonStaleResponses",
        "JetonStoreNotCompared",
    ];
    drills.add(alerts, &["check the network to the etcd"], phases);
}

/// Ends a server, and starts it again.
fn restarted(cluster: &Cluster, server: Serving) -> Serving {
    server.signal("-TERM");
    assert_eq!(server.end().0, Some(0));
    let server = cluster.serve_at_last();
    until("it is ready", || is_ready(&server));
    server
}

fn clocks_differ(cluster: &Cluster, server: Serving, drills: &mut Drills) -> Serving {
    let clock = cluster.folder.path().join("clock");
    fs::write(&clock, "+0\n").unwrap();
    let file = format!("FAKETIME_TIMESTAMP_FILE={}", clock.display());
    let other = cluster.serve_with_clock(&[&file]);
    let metric = |name: &str| scrape(&server).sum(name, &[]);
    let state = || {
        (
            metric("jeton_clock_difference_seconds"),
            metric("jeton_clock_warning"),
        )
    };
    until("both are known", || {
        is_ready(&other) && metric("jeton_nodes") >= 2.0
    });
    until("the clocks agree", || state().0 < 60.0 && state().1 == 0.0);
    let before = around(&server, || {});
    let token = cluster.issue(&server);
    fs::write(&clock, "+300\n").unwrap();
    until("they differ", || state().0 > 60.0 && state().1 == 1.0);
    let during = around(&server, || {
        // The audit log has the time of the wrong clock.
        assert_eq!(cluster.revoke(&other, &token).0, Some(0));
    });
    // The admin token is that of the server that started last.
    until("the difference is listed", || {
        let nodes = cluster.nodes(&other);
        let mut nodes = nodes["nodes"].as_array().unwrap().iter();
        nodes.any(|node| {
            node["ahead_seconds"].as_i64() < Some(-250) && node["ahead_seconds"].is_i64()
        })
    });
    fs::write(&clock, "+0\n").unwrap();
    until("the clocks agree again", || state().0 < 60.0);
    other.signal("-TERM");
    other.end();
    // It remembers that entry. The newest one must have a right time when it starts.
    assert_eq!(state().1, 1.0);
    let token = cluster.issue(&server);
    assert_eq!(cluster.revoke(&server, &token).0, Some(0));
    let server = restarted(cluster, server);
    let after = around(&server, || {});
    let done = &[
        "synchronize the clocks",
        "`jeton admin nodes` lists them",
        "restart it",
    ];
    let alerts = &["JetonClockWarning", "JetonClockDifference"];
    drills.add(alerts, done, [&before, &during, &after]);
    server
}

fn store_goes_back(cluster: &mut Cluster, server: Serving, drills: &mut Drills) {
    let revoke_some = |cluster: &Cluster, server: &Serving| {
        for number in 0..8 {
            cluster.revoke_subject(server, &format!("lost-{number}"));
        }
    };
    cluster.revoke_subject(&server, "first");
    cluster.etcd.kill_member(0);
    let kept = cluster.folder.path().join("kept");
    copy(&cluster.data(), &kept);
    cluster.etcd.start_member(0).unwrap();
    let before = around(&server, || revoke_some(cluster, &server));
    cluster.go_back(&kept);
    server.wait_for("the store went back");
    until("it is ready", || is_ready(&server));
    let during = around(&server, || {});
    // The runbook: revoke again, and restart the servers.
    revoke_some(cluster, &server);
    let server = restarted(cluster, server);
    let after = around(&server, || {});
    let done = &[
        "Revoke again what was revoked since then",
        "Then restart the servers",
    ];
    drills.add(&["JetonStoreWentBack"], done, [&before, &during, &after]);

    // While no server ran, so that only a token shows it.
    let before = around(&server, || revoke_some(cluster, &server));
    let old = cluster.issue_to(&server, "user-7");
    server.signal("-TERM");
    server.end();
    cluster.go_back(&kept);
    let lost = |scrape: &Scrape| scrape.sum("jeton_lost_history_tokens_total", &[]);
    // A token that is younger than the view proves nothing.
    let later = ["FAKETIME=+200s"];
    let server = cluster.serve_with_clock(&later);
    until("it is ready", || is_ready(&server));
    let during = around(&server, || {
        let said = cluster.verify(&server, &old);
        assert_eq!(said.0, Some(0), "{}", said.1);
    });
    assert!(lost(&during[1]) > lost(&during[0]));
    cluster.revoke_subject(&server, "user-7");
    server.signal("-TERM");
    server.end();
    let server = cluster.serve_with_clock(&later);
    until("it is ready", || is_ready(&server));
    let fresh = cluster.issue_to(&server, "user-8");
    let after = around(&server, || {
        assert_eq!(cluster.verify(&server, &fresh).0, Some(0));
        assert_eq!(cluster.verify(&server, &old).0, Some(1));
    });
    drills.add(&["JetonHistoryLost"], done, [&before, &during, &after]);
}
