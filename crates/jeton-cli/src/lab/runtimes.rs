//! `--runtimes`: what the drivers run on.

use clap::{Args, ValueEnum};
use jeton_lab::driver::Driver;
use jeton_lab::driver::runtime::{self, Equipped, Places, Runtimes};

/// For a run, which can measure a subject on several runtimes.
#[derive(Debug, Args)]
pub(super) struct Several {
    /// The Go, Node, JDK and CPython that the drivers run on
    #[arg(long = "runtimes", value_enum, value_name = "WHICH", default_value_t = Which::Path)]
    which: Which,
}

/// For a verb that asks each library once.
#[derive(Debug, Args)]
pub(super) struct One {
    /// The Go, Node, JDK and CPython that the drivers run on
    #[arg(long = "runtimes", value_enum, value_name = "WHICH", default_value_t = OneOf::Path)]
    which: OneOf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Which {
    /// The commands on PATH
    Path,
    /// Of each language the newest that still gets fixes, wherever it is found
    Newest,
    /// Every one that is found, each a subject of its own
    All,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OneOf {
    /// The commands on PATH
    Path,
    /// Of each language the newest that still gets fixes, wherever it is found
    Newest,
}

impl Several {
    pub(super) fn equip(&self, drivers: &[Driver]) -> Equipped {
        equip(
            drivers,
            match self.which {
                Which::Path => Runtimes::Path,
                Which::Newest => Runtimes::Newest,
                Which::All => Runtimes::All,
            },
        )
    }
}

impl One {
    pub(super) fn equip(&self, drivers: &[Driver]) -> Equipped {
        equip(
            drivers,
            match self.which {
                OneOf::Path => Runtimes::Path,
                OneOf::Newest => Runtimes::Newest,
            },
        )
    }
}

fn equip(drivers: &[Driver], which: Runtimes) -> Equipped {
    let today = runtime::day(jiff::Timestamp::now());
    runtime::equip(drivers, which, &Places::here(), &today)
}
