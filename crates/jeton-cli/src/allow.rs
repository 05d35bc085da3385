//! `--allow NAME`: enables an insecure or legacy feature of `jeton::danger`, with a note on standard error.
//!
//! Each command declares the features that it supports. Its help lists exactly those, and no hint names
//! another one.

use clap::{Arg, Args};

use crate::exit::{Failure, Outcome};
use crate::output;

/// The features that the caller enables.
#[derive(Debug, Args)]
pub(crate) struct AllowArgs {
    // The command sets its help and its value parser: see `allow_arg`.
    #[arg(long, value_name = "NAME", value_parser = parse)]
    allow: Vec<InsecureOption>,
}

/// An insecure or legacy feature of `jeton::danger`.
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
    /// Keys below today's minimum size.
    WeakKeys,
    /// A JWS whose `alg`, or a JWE whose `enc`, is not in the protected header.
    UnprotectedAlg,
    /// PASETO version 1.
    PasetoV1,
    /// PASETO version 2.
    PasetoV2,
}

impl InsecureOption {
    pub(crate) const ALL: [InsecureOption; 8] = [
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

    /// Returns the note for a run that enables it.
    const fn warning(self) -> &'static str {
        match self {
            InsecureOption::NoExpiry => "tokens without exp are accepted",
            InsecureOption::Rsa1_5 => {
                "RSA1_5 is enabled: its padding is open to decryption oracle attacks"
            }
            InsecureOption::Zip => {
                "compression is enabled: the length of a token can reveal its content"
            }
            InsecureOption::Pbes2 => {
                "passwords are enabled: anyone who has the token can try to guess the password"
            }
            InsecureOption::WeakKeys => "keys below today's minimum size are accepted",
            InsecureOption::UnprotectedAlg => {
                "an alg or enc outside the protected header is accepted: anyone can change it"
            }
            InsecureOption::PasetoV1 => "PASETO version 1 is enabled: it is superseded",
            InsecureOption::PasetoV2 => "PASETO version 2 is enabled: it is superseded",
        }
    }
}

/// The features that are enabled in this run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed {
    enabled: Vec<InsecureOption>,
    supported: &'static [InsecureOption],
}

/// Returns the argument of a command that supports these features.
pub(crate) fn allow_arg(allow: Arg, supported: &'static [InsecureOption]) -> Arg {
    allow
        .help(format!(
            "Enable an insecure or legacy feature (repeatable) [possible values: {}]",
            list(supported)
        ))
        .value_parser(move |name: &str| parse_supported(name, supported))
}

impl AllowArgs {
    /// Returns the enabled features, if the command supports all of them.
    pub(crate) fn check(&self, supported: &'static [InsecureOption]) -> Outcome<Allowed> {
        check(&self.allow, supported)
    }
}

/// Returns the enabled features, if the command supports all of them.
pub(crate) fn check(
    enabled: &[InsecureOption],
    supported: &'static [InsecureOption],
) -> Outcome<Allowed> {
    if let Some(option) = enabled.iter().find(|option| !supported.contains(option)) {
        return Err(Failure::error(format!(
            "--allow {} is not supported by this command (supported: {})",
            option.name(),
            list(supported)
        )));
    }
    for option in supported.iter().filter(|option| enabled.contains(option)) {
        output::note(format_args!(
            "{} (--allow {})",
            option.warning(),
            option.name()
        ));
    }
    Ok(Allowed {
        enabled: enabled.to_vec(),
        supported,
    })
}

impl Allowed {
    pub(crate) fn has(&self, option: InsecureOption) -> bool {
        self.enabled.contains(&option)
    }

    /// Returns whether a feature is off that the caller could enable.
    pub(crate) fn is_available(&self, option: InsecureOption) -> bool {
        self.supported.contains(&option) && !self.has(option)
    }

    /// Fails if a feature is off that the call needs.
    pub(crate) fn require(&self, option: InsecureOption, what: &str) -> Outcome {
        if self.has(option) {
            return Ok(());
        }
        let name = option.name();
        Err(Failure::error(format!("{what} requires --allow {name}"))
            .hint(format!("to enable it, add `--allow {name}`")))
    }
}

/// Parses the name of any feature.
pub(crate) fn parse(name: &str) -> Result<InsecureOption, String> {
    parse_supported(name, &InsecureOption::ALL)
}

/// Parses the name of any feature; an error lists the supported ones.
fn parse_supported(name: &str, supported: &[InsecureOption]) -> Result<InsecureOption, String> {
    let mut all = InsecureOption::ALL.into_iter();
    all.find(|option| option.name() == name)
        .ok_or_else(|| format!("unknown value; expected one of: {}", list(supported)))
}

fn list(options: &[InsecureOption]) -> String {
    let names: Vec<_> = options.iter().map(|option| option.name()).collect();
    names.join(", ")
}
