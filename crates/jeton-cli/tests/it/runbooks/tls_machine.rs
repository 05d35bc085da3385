//! The machine of docs/guide/production.md: TLS, clients, and Prometheus with its own certificate.

use std::fs;

use jeton_testkit::{SmallDisk, until, until_some};

use super::{Drills, Scrape};
use crate::operating::{Machine, blocks, page};

/// The command of the page, with the credentials in a folder.
fn scrape_with(machine: &Machine, folder: &str) -> Scrape {
    let text = machine.run(&format!(
        "curl --fail --silent --cacert authority/authority.pem --cert {folder}/prometheus.pem \
         --key {folder}/prometheus.key https://127.0.0.1:8421/metrics || true"
    ));
    Scrape::of("one", (!text.is_empty()).then_some(text.as_str()))
}

fn scrape(machine: &Machine) -> Scrape {
    scrape_with(machine, "authority")
}

/// Two scrapes, and what happens between them.
fn around(machine: &Machine, happens: &str) -> Vec<Scrape> {
    let first = scrape(machine);
    machine.run(happens);
    vec![first, scrape(machine)]
}

/// Two scrapes after a metric has this value, and what happens between them.
fn once(
    machine: &Machine,
    what: &str,
    holds: impl Fn(&Scrape) -> bool,
    happens: &str,
) -> Vec<Scrape> {
    until(what, || holds(&scrape(machine)));
    around(machine, happens)
}

/// The blocks of a chapter or a task of the page.
fn follow(machine: &Machine, text: &str) -> String {
    let mut said = String::new();
    for (language, block) in blocks(text) {
        if language == "sh" {
            said = machine.run(&block);
        }
    }
    said
}

fn task(machine: &Machine, heading: &str) -> String {
    let page = page("guide/production.md");
    let (_, rest) = page.split_once(&format!("\n### {heading}\n")).unwrap();
    follow(machine, rest.split("\n### ").next().unwrap())
}

/// Sets a machine up as the page says.
fn set_up(machine: &Machine) {
    let page = page("guide/production.md");
    let (setup, _) = page.split_once("\n## Tasks\n").unwrap();
    for chapter in setup.split("\n## ").skip(1) {
        // The backup is not the subject of an alert.
        if !chapter.starts_with("5. ") {
            follow(machine, chapter);
        }
    }
}

const NOTHING: &str = "true";

#[test]
#[ignore = "needs promtool: cargo xtask test --only etcd"]
fn runbooks_of_tls_machine() {
    let machine = crate::production::machine(false);
    fs::remove_dir(machine.path("lib")).unwrap();
    let Some(disk) = SmallDisk::mount(&machine.path("lib")).unwrap() else {
        return;
    };
    machine.run("chown jeton:jeton /var/lib/jeton");
    set_up(&machine);
    let mut drills = Drills::of("tls_machine");
    server_is_down(&machine, &mut drills);
    handshakes_fail(&machine, &mut drills);
    certificate_ends(&machine, &mut drills);
    client_fails(&machine, &mut drills);
    revocations_are_refused(&machine, &mut drills);
    disk_is_full(&machine, &disk, &mut drills);
    drills.judge();
}

fn server_is_down(machine: &Machine, drills: &mut Drills) {
    let before = around(machine, NOTHING);
    machine.run("systemctl status jeton; kill -KILL \"$(cat ROOT/pid)\"");
    until("it is gone", || {
        machine
            .run("systemctl status jeton 2>&1 || echo gone")
            .contains("gone")
    });
    let during = around(machine, NOTHING);
    machine.run("systemctl start jeton");
    let after = around(machine, NOTHING);
    let done = &["`systemctl status jeton`", "`systemctl start jeton`"];
    drills.add(&["JetonDown"], done, [&before, &during, &after]);
}

/// Prometheus and another client have certificates of another authority.
fn handshakes_fail(machine: &Machine, drills: &mut Drills) {
    let before = around(machine, NOTHING);
    machine.run(
        "mkdir old; cp authority/certify authority/prometheus.* old\n\
         openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 3650 \
         -subj '/CN=another authority' -keyout old/authority.key -out old/authority.pem\n\
         old/certify prometheus",
    );
    let failed = "jeton_tls_handshakes_failed_total";
    let begun = scrape(machine);
    let old = vec![scrape_with(machine, "old"), scrape_with(machine, "old")];
    let many = "for number in $(seq 20); do\n\
                ! curl --fail --silent --cacert authority/authority.pem --cert old/prometheus.pem \
                --key old/prometheus.key https://127.0.0.1:8421/metrics\ndone";
    machine.run(many);
    let last = until_some("they are counted", || {
        let last = scrape(machine);
        (last.sum(failed, &[]) >= begun.sum(failed, &[]) + 20.0).then_some(last)
    });
    machine.run("authority/certify prometheus");
    let after = around(machine, NOTHING);
    let done = &["certificate of the scraper"];
    drills.add(&["JetonDown"], done, [&before, &old, &after]);
    let done = &["renew it, or add the authority to `tls.client_ca`"];
    drills.add(
        &["JetonTlsHandshakesFail"],
        done,
        [&before, &[begun, last], &after],
    );
}

fn certificate_ends(machine: &Machine, drills: &mut Drills) {
    let left = |scrape: &Scrape| scrape.sum("jeton_certificate_seconds_left", &[]);
    let days = 86_400.0;
    let before = around(machine, NOTHING);
    let certify = |days: u32| {
        machine.run(&format!(
            "openssl x509 -req -in authority/server.csr -copy_extensions copy -CA authority/authority.pem \
             -CAkey authority/authority.key -days {days} -out authority/server.pem\n\
             cp authority/server.pem /etc/jeton/server.pem\nsystemctl reload jeton"
        ));
    };
    certify(5);
    let soon = once(
        machine,
        "it ends in days",
        |seen| left(seen) < 7.0 * days,
        NOTHING,
    );
    certify(1);
    let ends = once(
        machine,
        "it ends in hours",
        |seen| left(seen) < days,
        NOTHING,
    );
    task(machine, "Renew the certificates");
    let after = once(
        machine,
        "it is renewed",
        |seen| left(seen) > 80.0 * days,
        NOTHING,
    );
    let done = &["renew the certificate", "`systemctl reload jeton`"];
    drills.add(
        &["JetonCertificateEndsSoon"],
        done,
        [&before, &soon, &after],
    );
    drills.add(&["JetonCertificateEnds"], done, [&soon, &ends, &after]);
}

/// The application asks for a scope that it may not have.
fn client_fails(machine: &Machine, drills: &mut Drills) {
    let get = "jeton token get --client shop --secret-file operator/shop.secret > token\n";
    let before = around(machine, get);
    let fails = "! jeton token get --client shop --secret-file operator/shop.secret --scope none 2> /dev/null\n";
    let during = around(machine, &fails.repeat(3));
    let mut said = String::new();
    until("the log names it", || {
        said = task(machine, "Find the failing client");
        !said.is_empty()
    });
    assert!(said.contains("shop") && said.contains("scope"), "{said}");
    let after = around(machine, get);
    drills.add(
        &["JetonClientFails"],
        &["find out why"],
        [&before, &during, &after],
    );
}

/// An operator's program revokes more than it may.
fn revocations_are_refused(machine: &Machine, drills: &mut Drills) {
    machine.run(
        "sed -i '/^name = \"operator\"/a revocations_per_day = 2' /etc/jeton/jeton.toml\nsystemctl reload jeton",
    );
    let revoke = "jeton admin revoke token https://tokens.example";
    let before = around(machine, &format!("{revoke} one two"));
    let during = around(machine, &format!("! {revoke} three 2> refused"));
    let refused = fs::read_to_string(machine.path("work/refused")).unwrap();
    let log = machine.run("journalctl --unit jeton");
    let line = log
        .lines()
        .rev()
        .find(|line| line.contains("\"refused\""))
        .unwrap_or_else(|| panic!("{refused}\n{log}"));
    assert!(line.contains("operator"), "{line}");
    machine.run("sed -i 's/^revocations_per_day = .*/revocations_per_day = 1000/' /etc/jeton/jeton.toml\nsystemctl reload jeton");
    let again = format!("{revoke} three");
    until("it may revoke more", || {
        machine.run(&format!("{again} > /dev/null 2>&1 && echo done || true")) == "done\n"
    });
    let after = around(machine, &again);
    let done = &[
        "The log names the client",
        "`revocations_per_day`",
        "`systemctl reload jeton`",
    ];
    drills.add(
        &["JetonRevocationsRefused"],
        done,
        [&before, &during, &after],
    );
}

fn disk_is_full(machine: &Machine, disk: &SmallDisk, drills: &mut Drills) {
    let writable = |scrape: &Scrape| scrape.sum("jeton_store_writable", &[]);
    let revoke = "jeton admin revoke subject https://tokens.example";
    let before = around(machine, &format!("{revoke} user-1"));
    disk.fill();
    // A small write may find room.
    until("a revocation fails", || {
        machine.run(&format!("{revoke} user-2 > /dev/null 2>&1 || echo failed")) == "failed\n"
    });
    let fails = format!("! {revoke} user-3 2> failed\n").repeat(4);
    let during = once(
        machine,
        "it is noticed",
        |seen| writable(seen) == 0.0,
        &fails,
    );
    let status = machine.run("jeton admin status");
    assert!(status.contains("no space left for the store"), "{status}");
    let failed = fs::read_to_string(machine.path("work/failed")).unwrap();
    assert!(failed.contains("no space left"), "{failed}");
    let log = machine.run("journalctl --unit jeton");
    assert!(log.contains("store_full"), "{log}");
    disk.free().unwrap();
    let again = format!("{revoke} user-3");
    let after = once(machine, "it is over", |seen| writable(seen) == 1.0, &again);
    let alerts = &["JetonStoreNotWritable", "JetonStoreWriteFailures"];
    drills.add(alerts, &["free 4 MiB or more"], [&before, &during, &after]);
    drills.add(
        &["JetonServerErrors"],
        &["the log has the cause"],
        [&before, &during, &after],
    );
}
