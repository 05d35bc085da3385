//! A simulated disk that keeps flushed data and an arbitrary part of the rest.

use std::io;
use std::sync::{Arc, Mutex};

use jeton_store::StorageBackend;

/// How the disk flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Makes everything written so far durable.
    Done,
    /// Reports success and does nothing: a store acknowledges before data is durable.
    Forgotten,
}

/// A disk in memory. Clones share it.
#[derive(Debug, Clone)]
pub struct Disk(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    flush: Flush,
    /// Current contents.
    cached: Vec<u8>,
    /// Contents that survive a power cut.
    flushed: Vec<u8>,
    /// Writes since the last flush.
    since: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
}

impl Disk {
    pub fn new(flush: Flush) -> Disk {
        Disk::of(flush, Vec::new())
    }

    fn of(flush: Flush, bytes: Vec<u8>) -> Disk {
        Disk(Arc::new(Mutex::new(State {
            flush,
            cached: bytes.clone(),
            flushed: bytes,
            since: Vec::new(),
        })))
    }

    /// Copies the contents to a disk that flushes differently.
    pub fn with(&self, flush: Flush) -> Disk {
        Disk::of(flush, self.0.lock().unwrap().cached.clone())
    }

    /// Returns the disk after a power cut: flushed data, and each unflushed write or not, chosen by `seed`.
    /// Disks reorder writes.
    pub fn after_power_cut(&self, seed: u64) -> Disk {
        let state = self.0.lock().unwrap();
        let mut bytes = state.flushed.clone();
        let mut dice = crate::threads::Dice::new(seed);
        for change in &state.since {
            // A disk that ignores flushes loses writes. It does not tear them.
            if state.flush == Flush::Done && dice.below(2) == 0 {
                apply(&mut bytes, change);
            }
        }
        Disk::of(state.flush, bytes)
    }

    fn change(&self, change: Change) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        apply(&mut state.cached, &change);
        state.since.push(change);
        Ok(())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().cached.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.0.lock().unwrap();
        let from = usize::try_from(offset).unwrap();
        let bytes = state.cached.get(from..from + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(Change::Length(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut guard = self.0.lock().unwrap();
        let state = &mut *guard;
        if state.flush == Flush::Done {
            for change in state.since.drain(..) {
                apply(&mut state.flushed, &change);
            }
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(Change::Write(offset, data.to_vec()))
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Length(length) => bytes.resize(usize::try_from(*length).unwrap(), 0),
        Change::Write(offset, data) => {
            let from = usize::try_from(*offset).unwrap();
            if bytes.len() < from + data.len() {
                bytes.resize(from + data.len(), 0);
            }
            bytes[from..from + data.len()].copy_from_slice(data);
        }
    }
}
