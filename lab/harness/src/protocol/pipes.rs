//! The threads for a driver's three pipes, so that a driver cannot block the lab.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};

use jeton_lab_model::protocol::MAX_LINE_BYTES;

/// A message of the reader thread.
#[derive(Debug)]
pub(super) enum Received {
    Line(Vec<u8>),
    TooLong,
    End,
}

/// The end of the driver's standard error.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Returns the most useful line.
    pub(super) fn last_words(&self) -> Option<String> {
        let talk = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = talk.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines = || text.lines().map(str::trim).filter(|l| !l.is_empty());
        // Go and Rust print the reason first and then the trace; other languages print the reason last.
        let telling = |l: &&str| {
            ["panic", "error", "Error", "fatal"]
                .iter()
                .any(|w| l.contains(w))
        };
        let line = lines().find(telling).or_else(|| lines().next_back())?;
        Some(line.chars().take(200).collect())
    }
}

pub(super) fn write_requests(mut stdin: impl Write, requests: &Receiver<Vec<u8>>) {
    while let Ok(line) = requests.recv() {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

pub(super) fn read_answers(stdout: impl Read, received: &SyncSender<Received>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let mut limited = stdout.by_ref().take(MAX_LINE_BYTES as u64 + 1);
        let what = match limited.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Received::End,
            Ok(n) if n > MAX_LINE_BYTES => Received::TooLong,
            Ok(_) => Received::Line(line),
        };
        let last = !matches!(what, Received::Line(_));
        if received.send(what).is_err() || last {
            return;
        }
    }
}

pub(super) fn keep_tail(mut stderr: impl Read, tail: &Tail) {
    const KEPT_BYTES: usize = 4096;
    let mut chunk = [0; 4096];
    while let Ok(read) = stderr.read(&mut chunk) {
        if read == 0 {
            return;
        }
        let mut tail = tail.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(&chunk[..read]);
        let surplus = tail.len().saturating_sub(KEPT_BYTES);
        tail.drain(..surplus);
    }
}
