//! The log lines of all servers of these tests. A test finds its own by a name that no other test has.

use std::io;
use std::sync::{Mutex, Once};

use serde_json::Value;
use tracing_subscriber::fmt;

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Lines;

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Collects the lines. Call it before a server starts, which would write them to standard error.
pub(crate) fn collect() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        fmt()
            .json()
            .with_max_level(tracing::Level::INFO)
            .with_writer(|| Lines)
            .try_init()
            .unwrap();
    });
}

/// The fields of the lines about refusals that contain a text, in their order.
pub(crate) fn refusals_with(text: &str) -> Vec<Value> {
    let lines = LINES.lock().unwrap();
    let lines = std::str::from_utf8(&lines).unwrap().lines();
    let lines = lines.filter(|line| line.contains(text));
    lines
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["fields"].clone())
        .filter(|fields| fields["message"] == "refused")
        .collect()
}

/// The refusals of a client or a trust entry.
pub(crate) fn refusals_of(name: &str) -> Vec<Value> {
    let mut all = refusals_with(name);
    all.retain(|fields| fields["client"] == name || fields["trust"] == name);
    all
}
