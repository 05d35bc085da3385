//! `--allow NAME`: the allowed of `danger`, each opened by name and announced on standard error.
//!
//! A verb says which of them lead somewhere, once: its help lists exactly those, and no advice names
//! another.

use clap::{Arg, Args};

use crate::exit::{Failure, Outcome};
use crate::output;

/// The allowed that the caller opened.
#[derive(Debug, Args)]
pub(crate) struct AllowArgs {
    // Its help and its names are the verb's: [`among`].
    #[arg(long, value_name = "NAME", value_parser = any)]
    allow: Vec<InsecureOption>,
}

/// A door of `danger`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InsecureOption {
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

impl InsecureOption {
    const ALL: [InsecureOption; 8] = [
        InsecureOption::NoExpiry,
        InsecureOption::Rsa1_5,
        InsecureOption::Zip,
        InsecureOption::Pbes2,
        InsecureOption::WeakKeys,
        InsecureOption::UnprotectedAlg,
        InsecureOption::PasetoV1,
        InsecureOption::PasetoV2,
    ];

    const fn name(self) -> &'static str {
        match self {
            InsecureOption::NoExpiry => "no-expiry",
            InsecureOption::Rsa1_5 => "rsa1_5",
            InsecureOption::Zip => "zip",
            InsecureOption::Pbes2 => "pbes2",
            InsecureOption::WeakKeys => "weak-keys",
            InsecureOption::UnprotectedAlg => "unprotected-alg",
            InsecureOption::PasetoV1 => "paseto-v1",
            InsecureOption::PasetoV2 => "paseto-v2",
        }
    }

    /// How it stands in a verb's help.
    const fn listed(self) -> &'static str {
        match self {
            InsecureOption::NoExpiry => "no-expiry (tokens without exp)",
            door => door.name(),
        }
    }

    /// What is now accepted.
    const fn opened(self) -> &'static str {
        match self {
            InsecureOption::NoExpiry => "tokens without exp are accepted",
            InsecureOption::Rsa1_5 => "RSA1_5 is accepted, whose padding has been a decryption oracle",
            InsecureOption::Zip => "compression is accepted, which gives away content by its length",
            InsecureOption::Pbes2 => "passwords are accepted, which whoever has the token can try to guess",
            InsecureOption::WeakKeys => "keys under today's minimum are accepted",
            InsecureOption::UnprotectedAlg => {
                "an alg or enc outside the protected header is accepted, which anybody can exchange"
            }
            InsecureOption::PasetoV1 => "PASETO version 1 is accepted, which was superseded",
            InsecureOption::PasetoV2 => "PASETO version 2 is accepted, which was superseded",
        }
    }
}

/// Opened allowed, announced, for the code behind them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed {
    opened: Vec<InsecureOption>,
    here: &'static [InsecureOption],
}

/// The argument of a verb where these allowed lead somewhere.
pub(crate) fn among(allow: Arg, here: &'static [InsecureOption]) -> Arg {
    let names: Vec<_> = here.iter().map(|door| door.listed()).collect();
    allow
        .help(format!(
            "Accept what is otherwise refused, and say so: {}",
            names.join(", ")
        ))
        .value_parser(move |name: &str| door(name, here))
}

impl AllowArgs {
    /// Opens them, if they are all among those that lead somewhere here.
    pub(crate) fn open(&self, here: &'static [InsecureOption]) -> Outcome<Allowed> {
        open(&self.allow, here)
    }
}

/// Opens these allowed, if they are all among those that lead somewhere here.
pub(crate) fn open(allowed: &[InsecureOption], here: &'static [InsecureOption]) -> Outcome<Allowed> {
    if let Some(door) = allowed.iter().find(|door| !here.contains(door)) {
        return Err(Failure::error(format!(
            "--allow {} opens nothing here; there is {}",
            door.name(),
            list(here)
        )));
    }
    for door in here.iter().filter(|door| allowed.contains(door)) {
        output::note(format_args!("{} (--allow {})", door.opened(), door.name()));
    }
    Ok(Allowed {
        opened: allowed.to_vec(),
        here,
    })
}

impl Allowed {
    pub(crate) fn has(&self, door: InsecureOption) -> bool {
        self.opened.contains(&door)
    }

    /// Whether a door is shut that the caller could open.
    pub(crate) fn could(&self, door: InsecureOption) -> bool {
        self.here.contains(&door) && !self.has(door)
    }

    /// The failure of a call that needs a door which is shut.
    pub(crate) fn need(&self, door: InsecureOption, what: &str) -> Outcome {
        if self.has(door) {
            return Ok(());
        }
        let name = door.name();
        Err(
            Failure::error(format!("{what} is refused unless --allow {name} is given"))
                .hint(format!("to open that door knowingly: --allow {name}")),
        )
    }
}

/// A door by its name, wherever it leads.
pub(crate) fn any(name: &str) -> Result<InsecureOption, String> {
    door(name, &InsecureOption::ALL)
}

/// A door by its name, where these lead somewhere.
fn door(name: &str, here: &[InsecureOption]) -> Result<InsecureOption, String> {
    if let Some(door) = InsecureOption::ALL.into_iter().find(|door| door.name() == name) {
        return Ok(door);
    }
    Err(format!("there is no such door; there is {}", list(here)))
}

fn list(allowed: &[InsecureOption]) -> String {
    let names: Vec<_> = allowed.iter().map(|door| door.name()).collect();
    names.join(", ")
}
