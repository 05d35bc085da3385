//! `--runtimes`: selects the language runtimes of drivers and servers.

use clap::{Args, ValueEnum};
use jeton_lab_harness::driver::runtime::{self, Places, Runtime};
use jeton_lab_harness::driver::{self, Driver, Equipped, Runtimes};
use jeton_lab_load::Server;

/// The option for runs, which can measure a subject on several runtimes.
#[derive(Debug, Args)]
pub(super) struct Several {
    /// Runtimes (Go, Node, JDK, CPython) to run the drivers on
    #[arg(long = "runtimes", value_enum, value_name = "WHICH", default_value_t = Which::Path)]
    which: Which,
}

/// The option for commands that use one runtime per language.
#[derive(Debug, Args)]
pub(super) struct One {
    /// Runtimes (Go, Node, JDK, CPython) to use
    #[arg(long = "runtimes", value_enum, value_name = "WHICH", default_value_t = OneOf::Path)]
    which: OneOf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Which {
    /// The commands on PATH
    Path,
    /// The newest supported runtime of each language that is installed
    Newest,
    /// Every installed runtime, each as its own subject
    All,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OneOf {
    /// The commands on PATH
    Path,
    /// The newest supported runtime of each language that is installed
    Newest,
}

impl Several {
    /// For programs that run once: of several runtimes, the newest.
    pub(super) fn one(&self) -> One {
        let which = match self.which {
            Which::Path => OneOf::Path,
            Which::Newest | Which::All => OneOf::Newest,
        };
        One { which }
    }

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
        equip(drivers, self.which())
    }

    /// Gives each server the runtime of its language.
    pub(super) fn give_to(&self, servers: &mut [Server]) {
        let mut languages: Vec<&str> = servers
            .iter()
            .map(|server| server.manifest.language.as_str())
            .collect();
        languages.sort_unstable();
        languages.dedup();
        let runtimes = driver::one_of_each(&languages, self.which(), &Places::here(), &today());
        for server in servers {
            let own = |runtime: &&Runtime| runtime.language == server.manifest.language;
            server.runtime = runtimes.iter().find(own).cloned();
        }
    }

    fn which(&self) -> Runtimes {
        match self.which {
            OneOf::Path => Runtimes::Path,
            OneOf::Newest => Runtimes::Newest,
        }
    }
}

fn equip(drivers: &[Driver], which: Runtimes) -> Equipped {
    driver::equip(drivers, which, &Places::here(), &today())
}

fn today() -> String {
    runtime::day(jiff::Timestamp::now())
}
