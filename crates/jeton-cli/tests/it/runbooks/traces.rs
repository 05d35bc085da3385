//! A server that sends spans to a collector.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use jeton_testkit::{free_port, until};

use super::one_machine::{around, scrape, started};
use super::{Drills, Scrape};

/// Takes every request, like a collector that works.
fn collect(port: u16) {
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer(&stream.unwrap()));
        }
    });
}

fn answer(stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line == "\r\n" {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        reader.read_exact(&mut vec![0; length]).ok()?;
        let mut stream = stream;
        let empty =
            b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(empty).ok()?;
    }
}

#[test]
#[ignore = "needs promtool: cargo xtask test --only etcd"]
fn runbooks_of_traces() {
    let machine = started();
    let mut drills = Drills::of("traces");
    let port = free_port();
    machine.run(&format!(
        "cat >> /etc/jeton/jeton.toml <<'EOF'\n\n[traces]\nendpoint = \"http://127.0.0.1:{port}\"\n\
         sample_ratio = 1.0\nsampled_parents_per_minute = 1\nEOF\nsystemctl restart jeton"
    ));
    let before = around(&machine, "true");
    let dropped = |scrape: &Scrape| scrape.sum("jeton_trace_spans_dropped_total", &[]);
    let exported = |scrape: &Scrape| scrape.sum("jeton_trace_spans_exported_total", &[]);
    // More than a batch, so that it is sent at once.
    let ask = "curl --silent --output answer 'http://127.0.0.1:8420/livez?[1-600]'";
    let mut during = around(&machine, ask);
    until("they are dropped", || {
        during[1] = scrape(&machine);
        dropped(&during[1]) > dropped(&during[0])
    });
    let log = machine.run("journalctl --unit jeton");
    assert!(log.contains("cannot export traces"), "{log}");
    collect(port);
    until("the collector takes spans", || {
        machine.run(ask);
        exported(&scrape(&machine)) > 0.0
    });
    let mut after = around(&machine, ask);
    until("it takes all", || {
        let seen = scrape(&machine);
        let has_grown = exported(&seen) > exported(&after[0]);
        after[1] = seen;
        has_grown
    });
    let done = &["the log has the cause", "check the collector"];
    drills.add(
        &["JetonTraceSpansDropped"],
        done,
        [&before, &during, &after],
    );

    let sampled = "curl --silent --output answer \
                   --header 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' \
                   'http://127.0.0.1:8420/livez?[1-40]'";
    let limited = around(&machine, sampled);
    machine.run(
        "sed -i 's/^sampled_parents_per_minute = .*/sampled_parents_per_minute = 6000/' /etc/jeton/jeton.toml\n\
         systemctl restart jeton",
    );
    let raised = around(&machine, sampled);
    let done = &["raise `sampled_parents_per_minute`"];
    drills.add(
        &["JetonTraceParentsLimited"],
        done,
        [&before, &limited, &raised],
    );
    drills.judge();
}
