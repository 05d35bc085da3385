//! Algorithm names on the command line. Names are case-sensitive, and `none` is not among them.

use std::ffi::OsStr;
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use jeton::danger::{self, Pbes2Alg};
use jeton::key::{Alg, ContentEnc, KeyManagementAlg, KeyWrapAlg, MacAlg, SigAlg};

use crate::nearest::nearest;

/// The purpose of a key: the name in the header's `alg`, or in `enc` for a key of direct encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// Signature or MAC.
    Sign(Alg),
    /// Key management with a public key.
    Manage(KeyManagementAlg),
    /// Key wrapping with a symmetric key.
    Wrap(KeyWrapAlg),
    /// Key wrapping with a password.
    Password(Pbes2Alg),
    /// Direct encryption with this content encryption.
    Content(ContentEnc),
    /// Direct encryption; another argument names the content encryption.
    Direct,
}

impl Algorithm {
    /// Returns the algorithm of exactly this name.
    pub(crate) fn of(name: &str) -> Option<Algorithm> {
        all().into_iter().find(|alg| alg.name() == name)
    }

    /// Returns whether its keys are public and private, so that no secret fits.
    pub(crate) fn is_asymmetric(self) -> bool {
        matches!(self, Algorithm::Sign(Alg::Sig(_)) | Algorithm::Manage(_))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Algorithm::Sign(alg) => alg.name(),
            Algorithm::Manage(alg) => alg.name(),
            Algorithm::Wrap(alg) => alg.name(),
            Algorithm::Password(alg) => alg.name(),
            Algorithm::Content(enc) => enc.name(),
            Algorithm::Direct => "dir",
        }
    }

    fn signs(self) -> bool {
        matches!(self, Algorithm::Sign(_))
    }
}

/// Parses the names of one kind of algorithm, and lists them for shell completion.
#[derive(Clone)]
pub(crate) struct Names<T> {
    all: fn() -> Vec<&'static str>,
    parse: fn(&str) -> Result<T, String>,
}

/// Returns the names of the algorithms for which a key can be created without --allow, by kind.
pub(crate) fn by_kind() -> [(&'static str, Vec<&'static str>); 5] {
    let managing = |family: &str| {
        let is_of =
            |alg: Algorithm| matches!(alg, Algorithm::Manage(_)) && alg.name().starts_with(family);
        names(is_of)
    };
    [
        ("Signature, MAC", names(Algorithm::signs)),
        ("Key encryption", managing("RSA-OAEP")),
        ("Key agreement", managing("ECDH-ES")),
        (
            "Key wrapping",
            names(|alg| matches!(alg, Algorithm::Wrap(_))),
        ),
        (
            "Direct encryption",
            names(|alg| matches!(alg, Algorithm::Content(_))),
        ),
    ]
}

/// Parses `--alg` of a key that signs.
pub(crate) fn signing() -> Names<Alg> {
    Names {
        all: || names(Algorithm::signs),
        parse: |name| match Algorithm::of(name) {
            Some(Algorithm::Sign(alg)) => Ok(alg),
            Some(_) => Err(format!(
                "{name} is for encryption, expected a signature algorithm: {}",
                names(Algorithm::signs).join(", ")
            )),
            None => Err(unknown(name, &names(Algorithm::signs))),
        },
    }
}

/// Parses `--alg` of a key that encrypts.
pub(crate) fn encrypting() -> Names<Algorithm> {
    Names {
        all: || names(|alg| !alg.signs()),
        parse: |name| match Algorithm::of(name) {
            Some(Algorithm::Sign(_)) => Err(format!(
                "{name} is for signatures, expected a key management algorithm: {}",
                names(|alg| !alg.signs()).join(", ")
            )),
            Some(alg) => Ok(alg),
            None => Err(unknown(name, &names(|alg| !alg.signs()))),
        },
    }
}

/// Parses `--alg` of a key for any use.
pub(crate) fn any() -> Names<Algorithm> {
    Names {
        all: || names(|_| true),
        parse: |name| Algorithm::of(name).ok_or_else(|| unknown(name, &names(|_| true))),
    }
}

/// Parses `--enc`.
pub(crate) fn content_encryption() -> Names<ContentEnc> {
    fn all() -> Vec<&'static str> {
        ContentEnc::ALL
            .iter()
            .copied()
            .map(ContentEnc::name)
            .collect()
    }
    Names {
        all,
        parse: |name| ContentEnc::from_str(name).map_err(|_| unknown(name, &all())),
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Names<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = (self.all)();
        Some(Box::new(all.into_iter().map(PossibleValue::new)))
    }
}

fn all() -> Vec<Algorithm> {
    let macs = MacAlg::ALL.iter().copied().map(Alg::Mac);
    let signatures = SigAlg::ALL.iter().copied().map(Alg::Sig);
    macs.chain(signatures)
        .map(Algorithm::Sign)
        .chain(KeyManagementAlg::ALL.iter().copied().map(Algorithm::Manage))
        .chain([Algorithm::Manage(danger::RSA1_5)])
        .chain(KeyWrapAlg::ALL.iter().copied().map(Algorithm::Wrap))
        .chain([Algorithm::Direct])
        .chain(ContentEnc::ALL.iter().copied().map(Algorithm::Content))
        .chain(Pbes2Alg::ALL.iter().copied().map(Algorithm::Password))
        .collect()
}

fn names(wanted: impl Fn(Algorithm) -> bool) -> Vec<&'static str> {
    let wanted = all().into_iter().filter(|alg| wanted(*alg));
    wanted.map(Algorithm::name).collect()
}

/// Returns the message for an unknown name.
fn unknown(name: &str, all: &[&'static str]) -> String {
    if let Some(known) = all.iter().find(|known| known.eq_ignore_ascii_case(name)) {
        return format!("names are case-sensitive; did you mean {known}?");
    }
    match nearest(name, all) {
        Some(known) => format!("unknown algorithm; did you mean {known}?"),
        None => format!("unknown algorithm; expected one of: {}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithm_names_are_parsed_back() {
        for alg in all() {
            assert_eq!(Algorithm::of(alg.name()), Some(alg));
        }
        assert_eq!(Algorithm::of("none"), None);
    }
}
