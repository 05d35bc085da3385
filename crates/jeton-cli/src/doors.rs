//! `--allow NAME`: the doors of `danger`, each opened by name and announced on standard error.
//!
//! A verb says which of them lead somewhere, once: its help lists exactly those, and no advice names
//! another.

use clap::{Arg, Args};

use crate::exit::{Failure, Outcome};
use crate::output;

/// The doors that the caller opened.
#[derive(Debug, Args)]
pub(crate) struct Doors {
    // Its help and its names are the verb's: [`among`].
    #[arg(long, value_name = "NAME", value_parser = any)]
    allow: Vec<Door>,
}

/// A door of `danger`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// Tokens without `exp`.
    NoExpiry,
    /// RSAES-PKCS1-v1_5 as key management.
    Rsa1_5,
    /// Compression before encryption.
    Zip,
    /// Passwords.
    Pbes2,
    /// Keys under today's minimum.
    WeakKeys,
    /// A JWS whose `alg`, or a JWE whose `enc`, is not in the protected header.
    UnprotectedAlg,
    /// PASETO version 1.
    PasetoV1,
    /// PASETO version 2.
    PasetoV2,
}

impl Door {
    const ALL: [Door; 8] = [
        Door::NoExpiry,
        Door::Rsa1_5,
        Door::Zip,
        Door::Pbes2,
        Door::WeakKeys,
        Door::UnprotectedAlg,
        Door::PasetoV1,
        Door::PasetoV2,
    ];

    const fn name(self) -> &'static str {
        match self {
            Door::NoExpiry => "no-expiry",
            Door::Rsa1_5 => "rsa1_5",
            Door::Zip => "zip",
            Door::Pbes2 => "pbes2",
            Door::WeakKeys => "weak-keys",
            Door::UnprotectedAlg => "unprotected-alg",
            Door::PasetoV1 => "paseto-v1",
            Door::PasetoV2 => "paseto-v2",
        }
    }

    /// How it stands in a verb's help.
    const fn listed(self) -> &'static str {
        match self {
            Door::NoExpiry => "no-expiry (tokens without exp)",
            door => door.name(),
        }
    }

    /// What is now accepted.
    const fn opened(self) -> &'static str {
        match self {
            Door::NoExpiry => "tokens without exp are accepted",
            Door::Rsa1_5 => "RSA1_5 is accepted, whose padding has been a decryption oracle",
            Door::Zip => "compression is accepted, which gives away content by its length",
            Door::Pbes2 => "passwords are accepted, which whoever has the token can try to guess",
            Door::WeakKeys => "keys under today's minimum are accepted",
            Door::UnprotectedAlg => {
                "an alg or enc outside the protected header is accepted, which anybody can exchange"
            }
            Door::PasetoV1 => "PASETO version 1 is accepted, which was superseded",
            Door::PasetoV2 => "PASETO version 2 is accepted, which was superseded",
        }
    }
}

/// Opened doors, announced, for the code behind them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Open {
    opened: Vec<Door>,
    here: &'static [Door],
}

/// The argument of a verb where these doors lead somewhere.
pub(crate) fn among(allow: Arg, here: &'static [Door]) -> Arg {
    let names: Vec<_> = here.iter().map(|door| door.listed()).collect();
    allow
        .help(format!(
            "Accept what is otherwise refused, and say so: {}",
            names.join(", ")
        ))
        .value_parser(move |name: &str| door(name, here))
}

impl Doors {
    /// Opens them, if they are all among those that lead somewhere here.
    pub(crate) fn open(&self, here: &'static [Door]) -> Outcome<Open> {
        open(&self.allow, here)
    }
}

/// Opens these doors, if they are all among those that lead somewhere here.
pub(crate) fn open(doors: &[Door], here: &'static [Door]) -> Outcome<Open> {
    if let Some(door) = doors.iter().find(|door| !here.contains(door)) {
        return Err(Failure::wrong(format!(
            "--allow {} opens nothing here; there is {}",
            door.name(),
            list(here)
        )));
    }
    for door in here.iter().filter(|door| doors.contains(door)) {
        output::note(format_args!("{} (--allow {})", door.opened(), door.name()));
    }
    Ok(Open {
        opened: doors.to_vec(),
        here,
    })
}

impl Open {
    pub(crate) fn has(&self, door: Door) -> bool {
        self.opened.contains(&door)
    }

    /// Whether a door is shut that the caller could open.
    pub(crate) fn could(&self, door: Door) -> bool {
        self.here.contains(&door) && !self.has(door)
    }

    /// The failure of a call that needs a door which is shut.
    pub(crate) fn need(&self, door: Door, what: &str) -> Outcome {
        if self.has(door) {
            return Ok(());
        }
        let name = door.name();
        Err(
            Failure::wrong(format!("{what} is refused unless --allow {name} is given"))
                .hint(format!("to open that door knowingly: --allow {name}")),
        )
    }
}

/// A door by its name, wherever it leads.
pub(crate) fn any(name: &str) -> Result<Door, String> {
    door(name, &Door::ALL)
}

/// A door by its name, where these lead somewhere.
fn door(name: &str, here: &[Door]) -> Result<Door, String> {
    if let Some(door) = Door::ALL.into_iter().find(|door| door.name() == name) {
        return Ok(door);
    }
    Err(format!("there is no such door; there is {}", list(here)))
}

fn list(doors: &[Door]) -> String {
    let names: Vec<_> = doors.iter().map(|door| door.name()).collect();
    names.join(", ")
}
