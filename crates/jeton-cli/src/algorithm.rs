//! Algorithm names on the command line. They are exact, and `none` is not one.

use std::ffi::OsStr;
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use jeton::danger::{self, Pbes2Alg};
use jeton::key::{Alg, ContentEnc, KeyManagementAlg, KeyWrapAlg, MacAlg, SigAlg};

/// What a key can be for, by the name in a header's `alg` or, for a key of direct encryption, `enc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// Signs, or makes MACs.
    Sign(Alg),
    /// Brings a content key to the owner of a private key.
    Manage(KeyManagementAlg),
    /// Wraps a content key with a shared one.
    Wrap(KeyWrapAlg),
    /// Wraps a content key with a password.
    Password(Pbes2Alg),
    /// Is the content key itself.
    Content(ContentEnc),
    /// Is the content key itself, for an encryption that is named elsewhere.
    Direct,
}

impl Algorithm {
    /// The algorithm of exactly that name.
    pub(crate) fn of(name: &str) -> Option<Algorithm> {
        all().into_iter().find(|alg| alg.name() == name)
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

/// Reads names of one kind; a shell that completes is told all of them.
#[derive(Clone)]
pub(crate) struct Names<T> {
    all: fn() -> Vec<&'static str>,
    parse: fn(&str) -> Result<T, String>,
}

/// `--alg` of a key that signs.
pub(crate) fn signing() -> Names<Alg> {
    Names {
        all: || names(Algorithm::signs),
        parse: |name| match Algorithm::of(name) {
            Some(Algorithm::Sign(alg)) => Ok(alg),
            Some(_) => Err(format!(
                "{name} encrypts, and here a token is signed; choose one of {}",
                names(Algorithm::signs).join(", ")
            )),
            None => Err(unknown(name, &names(Algorithm::signs))),
        },
    }
}

/// `--alg` of a key that encrypts.
pub(crate) fn encrypting() -> Names<Algorithm> {
    Names {
        all: || names(|alg| !alg.signs()),
        parse: |name| match Algorithm::of(name) {
            Some(Algorithm::Sign(_)) => Err(format!(
                "{name} signs, and here a token is encrypted; choose one of {}",
                names(|alg| !alg.signs()).join(", ")
            )),
            Some(alg) => Ok(alg),
            None => Err(unknown(name, &names(|alg| !alg.signs()))),
        },
    }
}

/// `--alg` of a key for anything.
pub(crate) fn any() -> Names<Algorithm> {
    Names {
        all: || names(|_| true),
        parse: |name| Algorithm::of(name).ok_or_else(|| unknown(name, &names(|_| true))),
    }
}

/// `--enc`.
pub(crate) fn content_encryption() -> Names<ContentEnc> {
    fn all() -> Vec<&'static str> {
        ContentEnc::ALL.into_iter().map(ContentEnc::name).collect()
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
    let macs = MacAlg::ALL.into_iter().map(Alg::Mac);
    let signatures = SigAlg::ALL.into_iter().map(Alg::Sig);
    macs.chain(signatures)
        .map(Algorithm::Sign)
        .chain(KeyManagementAlg::ALL.into_iter().map(Algorithm::Manage))
        .chain([Algorithm::Manage(danger::RSA1_5)])
        .chain(KeyWrapAlg::ALL.into_iter().map(Algorithm::Wrap))
        .chain([Algorithm::Direct])
        .chain(ContentEnc::ALL.into_iter().map(Algorithm::Content))
        .chain(Pbes2Alg::ALL.into_iter().map(Algorithm::Password))
        .collect()
}

fn names(wanted: impl Fn(Algorithm) -> bool) -> Vec<&'static str> {
    let wanted = all().into_iter().filter(|alg| wanted(*alg));
    wanted.map(Algorithm::name).collect()
}

/// What is said of a name that is none of these.
fn unknown(name: &str, all: &[&'static str]) -> String {
    if let Some(known) = all.iter().find(|known| known.eq_ignore_ascii_case(name)) {
        return format!("names are exact: did you mean {known}?");
    }
    match nearest(name, all) {
        Some(known) => format!("not an algorithm that jeton knows: did you mean {known}?"),
        None => format!(
            "not an algorithm that jeton knows; choose one of {}",
            all.join(", ")
        ),
    }
}

/// The name that was probably meant: at most two slips away, or a third of its length.
fn nearest(name: &str, all: &[&'static str]) -> Option<&'static str> {
    let upper = name.to_ascii_uppercase();
    let slips = |known: &str| strsim::osa_distance(&upper, &known.to_ascii_uppercase());
    let nearest = all.iter().min_by_key(|known| slips(known))?;
    let few = 2.min(name.chars().count() / 3);
    (slips(nearest) <= few).then_some(*nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_from_another_name() {
        let signing = names(Algorithm::signs);
        assert_eq!(nearest("RS265", &signing), Some("RS256"));
        assert_eq!(nearest("none", &signing), None);
        assert_eq!(nearest("HS", &signing), None);
        let contents: Vec<_> = ContentEnc::ALL.into_iter().map(ContentEnc::name).collect();
        assert_eq!(nearest("A256GMC", &contents), Some("A256GCM"));
        assert_eq!(nearest("A256-GCM", &contents), Some("A256GCM"));
        assert_eq!(nearest("AES", &contents), None);
    }

    #[test]
    fn every_name_is_read_back() {
        for alg in all() {
            assert_eq!(Algorithm::of(alg.name()), Some(alg));
        }
        assert_eq!(Algorithm::of("none"), None);
    }
}
