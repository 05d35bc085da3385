//! A server with its keys in SoftHSM, as docs/operating.md says.

use std::thread;

use jeton_testkit::until;
use rustix::process::{Pid, Signal, kill_process};

use super::one_machine::{ON, around, scrape, started};
use super::{Drills, Scrape};
use crate::operating::{Machine, blocks, chapter, manual};
use crate::serve::chaos::libfaketime;

const ISSUE: &str = "jeton token issue --server http://127.0.0.1:8420 --issuer https://hsm.example --profile access";

/// Calls of so many clients that arrive at once: the server is stopped until all have sent theirs.
fn burst(machine: &Machine) {
    let server = Pid::from_raw(machine.process()).unwrap();
    kill_process(server, Signal::STOP).unwrap();
    thread::scope(|scope| {
        let calls = scope.spawn(|| {
            machine.run(&format!(
                "for number in $(seq 16); do {ISSUE} > token 2> refused & done; wait"
            ))
        });
        // All have started by then, or most of them.
        thread::sleep(std::time::Duration::from_secs(1));
        kill_process(server, Signal::CONT).unwrap();
        calls.join().unwrap();
    });
}

#[test]
#[ignore = "needs promtool: cargo xtask test --only etcd"]
fn runbooks_of_hsm() {
    let machine = started();
    let mut drills = Drills::of("hsm");
    let chapter = chapter(&manual(), "Keys in an HSM");
    // The last block rotates.
    let steps = blocks(&chapter);
    for (_, block) in &steps[..2] {
        machine.run(block);
    }
    machine.run("sed -i 's/^pin_file = .*/&\\nsessions = 1\\nqueue = 1/' /etc/jeton/jeton.toml");
    machine.run(&steps[2].1);

    let available = |scrape: &Scrape| scrape.sum("jeton_hsm_available", &[]);
    let before = around(&machine, ISSUE);
    machine.run("mv ROOT/tokens ROOT/away");
    until("it is noticed", || {
        machine.run(&format!("{ISSUE} 2> refused || true"));
        available(&scrape(&machine)) == 0.0
    });
    let during = around(&machine, "true");
    let status = machine.run(&format!("jeton admin status {ON}"));
    assert!(status.contains(" no: "), "{status}");
    machine.run("mv ROOT/away ROOT/tokens");
    until("it signs again", || available(&scrape(&machine)) == 1.0);
    let after = around(&machine, ISSUE);
    let done = &["`jeton admin status` has the reason", "Check the HSM"];
    drills.add(&["JetonHsmUnavailable"], done, [&before, &during, &after]);

    let refused = |scrape: &Scrape| scrape.sum("jeton_hsm_calls_refused_total", &[]);
    let mut during = vec![scrape(&machine)];
    until("calls are refused", || {
        burst(&machine);
        during.truncate(1);
        during.push(scrape(&machine));
        refused(&during[1]) > refused(&during[0])
    });
    machine.run(
        "sed -i 's/^sessions = 1/sessions = 16/' /etc/jeton/jeton.toml\nsystemctl restart jeton",
    );
    let first = scrape(&machine);
    burst(&machine);
    let after = [first, scrape(&machine)];
    let done = &["raise `pkcs11.sessions`", "restart"];
    drills.add(&["JetonHsmOverloaded"], done, [&before, &during, &after]);
    keys_are_overdue(&machine, &mut drills, &steps[3].1);
    drills.judge();
}

/// A month later. Other keys rotate by themselves, and for one in an HSM the operator must create the next.
fn keys_are_overdue(machine: &Machine, drills: &mut Drills, rotate: &str) {
    let library = libfaketime().expect("libfaketime is installed: `cargo xtask setup` does it");
    let of_hsm = |scrape: &Scrape, name: &str| scrape.sum(name, &["https://hsm.example"]);
    let left = |scrape: &Scrape| of_hsm(scrape, "jeton_key_signing_seconds_left");
    let successors = |scrape: &Scrape| of_hsm(scrape, "jeton_key_successors");
    let before = around(machine, "true");
    machine.drop_in(&format!(
        "env FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME=+31d LD_PRELOAD={library}"
    ));
    machine.run("systemctl restart jeton");
    let during = around(machine, "true");
    assert!(left(&during[1]) < 0.0 && successors(&during[1]) == 0.0);
    let status = machine.run(&format!("jeton admin status {ON}"));
    assert!(status.contains("due for rotation"), "{status}");
    machine.run(rotate);
    until("the next key is published", || {
        successors(&scrape(machine)) == 1.0
    });
    let after = around(machine, "true");
    let done = &["`jeton admin status`", "[a new key pair](#keys-in-an-hsm)"];
    let alerts = &["JetonKeyRotationOverdue", "JetonKeyWithoutSuccessor"];
    drills.add(alerts, done, [&before, &during, &after]);
}
