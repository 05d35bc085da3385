//! What every engine passes, and what broken ones do not.
//!
//! A case is a function over a [`Subject`]: a store, and a way to cut its power. A new engine is one
//! more line in `ENGINES`. The suite itself is held to account in `broken`: each engine there breaks
//! one promise, and the case that guards it must say so.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod broken;
mod cases;
mod disk;
mod engines;
#[cfg(feature = "etcd")]
mod etcd;
mod threads;

use std::process::ExitCode;
use std::sync::Arc;

use jeton_store::Store;
use libtest_mimic::{Arguments, Trial};

/// What is under test: a fresh store of one engine.
pub trait Subject: Send + Sync {
    /// The store, as it is open now.
    fn store(&self) -> Arc<dyn Store>;

    /// Cuts the power in the middle of whatever goes on, and opens the store again on what the disk
    /// really has.
    fn cut_power(&mut self) -> Result<Power, Failed>;

    /// Makes the store forget its oldest history.
    fn compact(&self) {
        cases::fill_history(&*self.store());
    }

    /// Makes the store forget some of its history: after ten times all that it was, and never what a follower
    /// has not had time to be told.
    fn forget_a_part(&self) {
        cases::fill_a_part_of_history(&*self.store());
    }

    /// How often the power is cut in a row: a server takes its time to come back.
    fn cuts(&self) -> u64 {
        12
    }
}

/// What a power cut left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// A store that opened again.
    Back,
    /// Nothing, and nothing was promised.
    NothingPromised,
}

/// How a subject is made.
pub type Make = fn() -> Box<dyn Subject>;

/// A case found something.
#[derive(Debug)]
pub struct Failed(String);

/// A case's result.
pub type Checked = Result<(), Failed>;

impl From<jeton_store::Error> for Failed {
    fn from(error: jeton_store::Error) -> Self {
        Failed(format!("the store said: {error}"))
    }
}

/// Says what is wrong unless that holds.
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
    #[cfg(feature = "etcd")]
    ("etcd", etcd::etcd),
];

/// etcd is a server, and must be there.
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
    trials.extend(broken::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
