//! Conformance suite of the engines, and broken engines that it must detect.
//!
//! A case is a function over a [`Subject`]: a store, and a way to cut its power. A new engine is one more
//! line in `ENGINES`. `broken` tests the suite itself: each engine there breaks one guarantee, and the case
//! for it must fail.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod broken;
mod cases;
mod disk;
mod engines;
mod etcd;
mod power_cut;
mod threads;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use jeton_store::Store;
use libtest_mimic::{Arguments, Trial};

/// A new store of one engine under test.
pub trait Subject: Send + Sync {
    /// The open store.
    fn store(&self) -> Arc<dyn Store>;

    /// Cuts the power and opens the store on what the disk has.
    fn cut_power(&mut self) -> Result<Power, Failed>;

    /// Makes the store compact its oldest history.
    fn compact(&self) {
        cases::fill_history(&*self.store());
    }

    /// Makes the store compact part of its history, but nothing that a follower had no time to receive.
    fn forget_a_part(&self) {
        cases::fill_a_part_of_history(&*self.store());
    }

    /// How long a watch may report no progress, on a busy machine.
    fn progress_timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Power cuts per case. Starting a server takes time.
    fn cuts(&self) -> u64 {
        12
    }
}

/// The result of a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// The reopened store.
    Back,
    /// Nothing: the engine does not claim durability.
    NothingPromised,
}

/// Creates a subject.
pub type Make = fn() -> Box<dyn Subject>;

/// The finding of a case.
#[derive(Debug)]
pub struct Failed(String);

/// A case's result.
pub type Checked = Result<(), Failed>;

impl From<jeton_store::Error> for Failed {
    fn from(error: jeton_store::Error) -> Self {
        Failed(format!("store error: {error}"))
    }
}

/// Fails with a message unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err($crate::Failed(format!($($what)+)));
        }
    };
}

const ENGINES: &[(&str, Make)] = &[
    ("redb", engines::redb),
    ("memory", engines::memory),
    ("etcd", etcd::etcd),
];

/// The server of etcd must be installed.
fn is_absent(engine: &str) -> bool {
    engine == "etcd" && !jeton_testkit::Etcd::is_here()
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (engine, make) in ENGINES {
        for (name, case) in cases::ALL {
            trials.push(
                Trial::test(format!("{engine}::{name}"), move || {
                    case(&mut *make()).map_err(|Failed(what)| what.into())
                })
                .with_ignored_flag(is_absent(engine)),
            );
        }
    }
    // Only root may mount an image.
    let cannot_cut = is_absent("etcd") || !power_cut::is_possible();
    for (name, case, is_ignored) in [
        (
            "other_cluster_is_refused",
            etcd::other_cluster_is_refused as fn() -> Checked,
            is_absent("etcd"),
        ),
        (
            "unfinished_store_is_refused",
            etcd::unfinished_store_is_refused,
            is_absent("etcd"),
        ),
        (
            "acknowledged_commits_survive_a_power_cut",
            power_cut::acknowledged_commits_survive,
            cannot_cut,
        ),
        (
            "unflushed_commits_are_lost_in_a_power_cut",
            power_cut::unflushed_commits_are_lost,
            cannot_cut,
        ),
    ] {
        trials.push(
            Trial::test(format!("etcd::{name}"), move || {
                case().map_err(|Failed(what)| what.into())
            })
            .with_ignored_flag(is_ignored),
        );
    }
    trials.extend(broken::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
