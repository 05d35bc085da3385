//! The machine of docs/operating.md: one server on loopback, without clients.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jeton_testkit::{until, until_some};
use rustix::process::{Pid, Signal, kill_process};

use super::{Drills, Scrape};
use crate::admin::audit;
use crate::operating::{Machine, blocks, chapter, manual};
use crate::serve::bounds::raise_open_files;

pub(super) const ON: &str = "--config /etc/jeton/jeton.toml --server http://127.0.0.1:8421";

pub(super) fn scrape(machine: &Machine) -> Scrape {
    let text = machine.run("curl --fail --silent http://127.0.0.1:8421/metrics || true");
    Scrape::of("one", (!text.is_empty()).then_some(text.as_str()))
}

/// Two scrapes, and what happens between them.
pub(super) fn around(machine: &Machine, happens: &str) -> Vec<Scrape> {
    let first = scrape(machine);
    machine.run(happens);
    vec![first, scrape(machine)]
}

/// A machine that follows the first chapters of the manual, until the server runs.
pub(super) fn started() -> Machine {
    let machine = Machine::new();
    for (language, block) in blocks(&chapter(&manual(), "Configure")) {
        if language == "sh" {
            machine.run(&block);
        }
    }
    machine
}

/// Adds a line at the top of the configuration, or replaces it.
pub(super) fn set(machine: &Machine, key: &str, value: &str) {
    machine.run(&format!(
        "sed -i '/^{key} = /d' /etc/jeton/jeton.toml\nsed -i '1i {key} = {value}' /etc/jeton/jeton.toml"
    ));
}

#[test]
#[ignore = "needs promtool: cargo xtask test --only etcd"]
fn runbooks_of_one_machine() {
    let machine = started();
    let mut drills = Drills::of("one_machine");
    requests_are_blocked(&machine, &mut drills);
    tokens_are_rejected(&machine, &mut drills);
    calls_are_shed(&machine, &mut drills);
    cpu_time_is_short(&machine, &mut drills);
    server_restarts(&machine, &mut drills);
    audit_log_is_large(&machine, &mut drills);
    connections_are_too_many(&machine, &mut drills);
    drills.judge();
}

/// A name that the configuration does not have.
fn requests_are_blocked(machine: &Machine, drills: &mut Drills) {
    let ask = "curl --silent --output answer --header 'host: tokens.example' 'http://127.0.0.1:8420/livez?[1-20]'";
    let before = around(
        machine,
        "curl --silent --output answer 'http://127.0.0.1:8420/livez?[1-20]'",
    );
    let during = around(machine, ask);
    set(machine, "hosts", "[\"tokens.example\"]");
    machine.run("systemctl reload jeton");
    until("the name is known", || {
        machine.run("curl --silent --output answer --write-out '%{http_code}' --header 'host: tokens.example' http://127.0.0.1:8420/livez") == "200"
    });
    let after = around(machine, ask);
    let done = &["add the host name to `hosts`", "`systemctl reload jeton`"];
    drills.add(&["JetonRequestsBlocked"], done, [&before, &during, &after]);
}

/// A client sends tokens that another key has signed.
fn tokens_are_rejected(machine: &Machine, drills: &mut Drills) {
    machine.run(
        "jeton token issue --server http://127.0.0.1:8420 --profile access --subject alice > token\n\
         jeton key new --alg ES256 --output other.jwk\n\
         jeton jwt sign --key other.jwk --issuer https://id.example --audience api --subject alice --expires-in 10m > other",
    );
    let verify = "jeton token verify --server http://127.0.0.1:8420 --audience api";
    let good = format!("{verify} @token > claims\n").repeat(2);
    let before = around(machine, &good);
    let during = around(machine, &format!("{good}! {verify} @other 2> refused\n"));
    let by_reason = |reason: &str| {
        let label = format!("reason=\"{reason}\"");
        let rejected = |scrape: &Scrape| scrape.sum("jeton_tokens_rejected_total", &[&label]);
        rejected(&during[1]) - rejected(&during[0])
    };
    assert_eq!(by_reason("TOKEN_UNKNOWN_KEY"), 1.0);
    let after = around(machine, &good);
    let done = &["`jeton_tokens_rejected` by reason", "`TOKEN_UNKNOWN_KEY`"];
    drills.add(&["JetonManyRejections"], done, [&before, &during, &after]);
}

/// Lets a process run for a moment now and then, until this is dropped.
struct Throttled {
    pid: Pid,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Throttled {
    fn new(machine: &Machine, stopped: Duration) -> Throttled {
        let pid = Pid::from_raw(machine.process()).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = is_over.clone();
        let thread = thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                kill_process(pid, Signal::STOP).unwrap();
                thread::sleep(stopped);
                kill_process(pid, Signal::CONT).unwrap();
                thread::sleep(Duration::from_millis(3));
            }
        });
        Throttled {
            pid,
            is_over,
            thread: Some(thread),
        }
    }
}

impl Drop for Throttled {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
        let _ = kill_process(self.pid, Signal::CONT);
    }
}

/// The workers are late for so long that they refuse calls. With one issuer, `/token` is its endpoint.
fn calls_are_shed(machine: &Machine, drills: &mut Drills) {
    let ask = "curl --silent --parallel --parallel-max 20 --data grant_type=client_credentials --output answer \
               $(printf 'http://127.0.0.1:8420/token %.0s' $(seq 40)) || true";
    let shed = |scrape: &Scrape| scrape.sum("jeton_calls_total", &["overloaded"]);
    let calm = || {
        until_some("calls are answered", || {
            let seen = around(machine, ask);
            (shed(&seen[1]) == shed(&seen[0])).then_some(seen)
        })
    };
    let before = calm();
    let throttled = Throttled::new(machine, Duration::from_millis(300));
    let mut during = vec![scrape(machine)];
    until("calls are shed", || {
        machine.run(ask);
        during.truncate(1);
        during.push(scrape(machine));
        shed(&during[1]) > shed(&during[0]) + 16.0
    });
    drop(throttled);
    drills.add(
        &["JetonOverloaded"],
        MORE_CPU_TIME,
        [&before, &during, &calm()],
    );
}

/// The server gets a fiftieth of a processor.
fn cpu_time_is_short(machine: &Machine, drills: &mut Drills) {
    let issue = "for number in $(seq 8); do\n\
                 jeton token issue --server http://127.0.0.1:8420 --issuer https://rsa.example --profile access > token &\ndone\nwait";
    // Signatures that take so long that a pause meets one.
    machine.run(
        "cat >> /etc/jeton/jeton.toml <<'EOF'\n\n[[issuer]]\niss = \"https://rsa.example\"\n\
         profiles = [{ name = \"access\", alg = \"RS512\", lifetime_seconds = 900, audiences = [\"api\"] }]\nEOF\n\
         systemctl reload jeton",
    );
    until("it has the issuer", || {
        machine
            .run(&format!("jeton admin issuer list {ON}"))
            .contains("rsa.example")
    });
    let calls = |scrape: &Scrape, bucket: &str| {
        scrape.sum("jeton_call_seconds_bucket", &["call=\"issue\"", bucket])
    };
    let slow = |scrape: &Scrape| calls(scrape, "+Inf") - calls(scrape, "le=\"0.1\"");
    let late = |scrape: &Scrape| scrape.sum("jeton_worker_delay_milliseconds", &[]);
    // A busy machine can be slow for a moment.
    let calm = || {
        until_some("calls are fast", || {
            let seen = around(machine, issue);
            let is_calm = slow(&seen[1]) == slow(&seen[0]) && late(&seen[1]) < 50.0;
            is_calm.then_some(seen)
        })
    };
    let before = calm();
    let throttled = Throttled::new(machine, Duration::from_millis(150));
    let mut during = Vec::new();
    until("a call is slow, and workers are late", || {
        // One slow call of few is more than one of a hundred.
        during = around(machine, issue);
        slow(&during[1]) > slow(&during[0]) && late(&during[1]) > 100.0
    });
    drop(throttled);
    let after = calm();
    let alerts = &["JetonWorkersLate", "JetonSlowCalls"];
    drills.add(alerts, MORE_CPU_TIME, [&before, &during, &after]);
}

const MORE_CPU_TIME: &[&str] = &["give the server more CPU time"];

/// Somebody ends the server, and the unit starts it.
fn server_restarts(machine: &Machine, drills: &mut Drills) {
    let started_at = |scrape: &Scrape| scrape.sum("process_start_time_seconds", &[]);
    let before = around(machine, "true");
    let mut during = before.clone();
    while during.len() < 6 {
        machine.run("systemctl restart jeton");
        let seen = scrape(machine);
        // The metric has whole seconds.
        if started_at(&seen) > started_at(during.last().unwrap()) {
            during.push(seen);
        }
    }
    let log = machine.run("journalctl --unit jeton");
    assert!(log.matches("\"stopping\"").count() >= 4, "{log}");
    let after = around(machine, "true");
    drills.add(
        &["JetonRestarts"],
        &["the log before each start"],
        [&before, &during, &after],
    );
}

/// 20,000 entries stand for a million: five segments, of which an export drops one.
fn audit_log_is_large(machine: &Machine, drills: &mut Drills) {
    let before = around(machine, "true");
    machine.run("systemctl stop jeton\ncommand -p chown --recursive \"$(id -u)\" /var/lib/jeton");
    audit::fill(&machine.path("lib/data"), 5);
    machine.run("chown --recursive jeton:jeton /var/lib/jeton\nsystemctl start jeton");
    let during = around(machine, "true");
    machine.run(&format!(
        "jeton admin audit export /var/backups/jeton/audit --drop {ON}"
    ));
    let after = around(machine, "true");
    let done = &["export the audit log", "drop what was exported"];
    let drill = drills.add(&["JetonAuditLogLarge"], done, [&before, &during, &after]);
    drill.smaller = Some(("> 1000000\n", "> 20000\n"));
}

/// A client opens connections and sends nothing.
fn connections_are_too_many(machine: &Machine, drills: &mut Drills) {
    raise_open_files();
    set(machine, "workers", "1");
    machine.drop_in("prlimit --nofile=800:800");
    machine.run("systemctl restart jeton");
    let before = around(machine, "true");
    let hold = || -> Vec<TcpStream> {
        let hold = |_| {
            let mut stream = TcpStream::connect(machine.address()).unwrap();
            let _ = stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
            stream
        };
        (0..700).map(hold).collect()
    };
    let files =
        |scrape: &Scrape| scrape.sum("process_open_fds", &[]) / scrape.sum("process_max_fds", &[]);
    let rejected = |scrape: &Scrape| scrape.sum("jeton_connections_rejected_total", &[]);
    let held = hold();
    let mut during = vec![before[1].clone()];
    until("it is at its limit", || {
        during.truncate(1);
        during.push(scrape(machine));
        files(&during[1]) > 0.8 && rejected(&during[1]) > rejected(&during[0])
    });
    drop(held);
    machine.drop_in("");
    machine.run("systemctl restart jeton");
    let _held = hold();
    let after = around(machine, "true");
    let done = &["raise `limits.connections` and `LimitNOFILE`"];
    let alerts = &["JetonConnectionsRejected", "JetonFileDescriptors"];
    drills.add(alerts, done, [&before, &during, &after]);
}
