//! The error for a key that cannot be used: the file, the member at fault, and a hint.

use jeton::Limits;
use jeton::error::KeyProblem;
use jeton::key::KeyManagementAlg;

use super::{Form, KeyFile, Kind, Shape, problem_of};
use crate::allow::{Allowed, InsecureOption};
use crate::exit::Failure;
use crate::json::{Members, Problem};

/// What an error about a key begins with, behind the name of the file.
pub(crate) const PREFIX: &str = "key rejected: ";

/// Why a key cannot be used.
pub(crate) enum LoadError {
    /// The library rejects it.
    Key(jeton::Error),
    /// The library rejects it, and the caller can enable it with --allow.
    Allowable(jeton::Error),
    /// It breaks a rule of the library that is checked here first.
    Problem(KeyProblem),
    /// The call and the key contradict each other in this member.
    Member(&'static str, String),
    /// This command does not take such a key.
    Failure(Failure),
}

impl From<jeton::Error> for LoadError {
    fn from(error: jeton::Error) -> Self {
        LoadError::Key(error)
    }
}

impl LoadError {
    /// Creates the error for a key that is too weak.
    pub(super) fn too_weak(error: jeton::Error, allowed: &Allowed) -> LoadError {
        if allowed.is_available(InsecureOption::WeakKeys) {
            LoadError::Allowable(error)
        } else {
            LoadError::Key(error)
        }
    }

    pub(crate) fn problem(problem: KeyProblem) -> LoadError {
        LoadError::Problem(problem)
    }

    pub(crate) fn member(member: &'static str, message: String) -> LoadError {
        LoadError::Member(member, message)
    }
}

impl KeyFile {
    fn shape(&self) -> Shape<'_> {
        match self.form() {
            Form::Jwk(text) => Shape::of(text),
            _ => Shape::default(),
        }
    }

    /// For a key that cannot sign, explains that it is an encryption key, if it is one.
    pub(super) fn explain_encryption_key(&self, error: LoadError) -> LoadError {
        let alg = KeyManagementAlg::EcdhEs;
        let encrypts = || self.decryption(alg).is_ok() || self.public(alg).is_ok();
        let is_for_encryption = || self.shape().intended.as_deref() == Some("enc");
        let is_wrong_use = match error.key_problem() {
            Some(KeyProblem::Unsupported) => encrypts(),
            Some(KeyProblem::AlgorithmNeeded) => is_for_encryption(),
            _ => false,
        };
        if is_wrong_use {
            self.wrong_use(
                "the key is for encryption, not for signatures",
                "to make a signing key, run `jeton key new --alg Ed25519`",
            )
        } else {
            error
        }
    }

    /// For a key that cannot encrypt, explains that it is a signing key, if it is one.
    pub(super) fn explain_signing_key(&self, error: LoadError) -> LoadError {
        let closed = Allowed::default();
        let signs = || self.signing(None).is_ok() || self.verifying(None, &closed).is_ok();
        match error.key_problem() {
            Some(KeyProblem::Unsupported) if signs() => self.wrong_use(
                "the key is for signatures, not for encryption",
                "to make an encryption key, run `jeton key new --alg ECDH-ES+A256KW --curve X25519`",
            ),
            _ => error,
        }
    }

    fn wrong_use(&self, what: &str, hint: &str) -> LoadError {
        LoadError::Failure(Failure::error(format!("{}: {PREFIX}{what}", self.name())).hint(hint))
    }

    /// Returns the failure for this error.
    pub(crate) fn failure(&self, error: LoadError) -> Failure {
        let name = self.name();
        let problem = error.key_problem();
        let is_allowable = matches!(error, LoadError::Allowable(_));
        let failure = match error {
            LoadError::Failure(failure) => return failure,
            LoadError::Key(_) if problem == Some(KeyProblem::Duplicate) => {
                let member = self
                    .duplicate()
                    .map_or(String::new(), |name| format!(" {name}"));
                Failure::error(format!("{name}: {PREFIX}duplicate member{member}"))
            }
            LoadError::Key(error) | LoadError::Allowable(error) => {
                Failure::error(format!("{name}: {}", message_of(error)))
            }
            LoadError::Problem(problem @ KeyProblem::AlgorithmNeeded) => {
                Failure::error(format!("{name}: {PREFIX}alg: {problem}"))
            }
            LoadError::Problem(problem) => Failure::error(format!("{name}: {PREFIX}{problem}")),
            LoadError::Member(member, message) => {
                Failure::error(format!("{name}: {PREFIX}{member}: {message}"))
            }
        };
        let hint = if is_allowable {
            Some(self.allow_hint())
        } else {
            problem.and_then(|problem| self.hint(problem))
        };
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// Returns the name of the duplicate member, which the library's error does not contain.
    fn duplicate(&self) -> Option<String> {
        let (Form::Jwk(text) | Form::Set(text)) = self.form() else {
            return None;
        };
        match Members::strict(text, Limits::default().json_depth) {
            Err(Problem::Duplicate(name)) => Some(name),
            _ => None,
        }
    }

    /// Returns the hint for a weak key that --allow enables.
    fn allow_hint(&self) -> String {
        match self.kind() {
            Kind::Symmetric => "to make a new key, run `jeton key new --alg NAME`; to use this one, add `--allow weak-keys`",
            _ => "to verify tokens of an old system, add `--allow weak-keys`",
        }
        .to_owned()
    }

    fn hint(&self, problem: KeyProblem) -> Option<String> {
        Some(match problem {
            KeyProblem::PrivateGiven => {
                let loaded = self.load_any(None).err();
                let problem = loaded.and_then(|error| error.key_problem());
                let alg = match problem {
                    Some(KeyProblem::AlgorithmNeeded) => " --alg NAME",
                    _ => "",
                };
                format!("to get the public key, run `jeton key public {}{alg}`", self.file)
            }
            KeyProblem::ExplicitCurve => {
                let public = match self.kind() {
                    Kind::Public => "-pubin ",
                    Kind::Private | Kind::Symmetric => "",
                };
                let file = &self.file;
                format!(
                    "to convert it, run `openssl ec {public}-in {file} -param_enc named_curve -out NEW_FILE`"
                )
            }
            KeyProblem::PublicGiven => "this command needs the private key".to_owned(),
            KeyProblem::AlgorithmNeeded => {
                let shape = self.shape();
                let symmetric = shape.kty.as_deref() == Some("oct");
                let encrypts = shape.intended.as_deref() == Some("enc");
                match (symmetric, encrypts) {
                    (true, false) => "add `--alg HS256`, HS384 or HS512",
                    (true, true) => "add `--alg A256KW`, A256GCMKW, A256GCM, …",
                    (false, false) => {
                        "add `--alg RS256`, RS384, RS512, PS256, PS384 or PS512"
                    }
                    (false, true) => {
                        "add `--alg RSA-OAEP-256`, RSA-OAEP, RSA-OAEP-384 or RSA-OAEP-512"
                    }
                }
                .to_owned()
            }
            KeyProblem::TooWeak => match self.kind() {
                Kind::Private | Kind::Symmetric => "to make a new key, run `jeton key new --alg NAME`",
                Kind::Public => "the owner of the private key can make a new one with `jeton key new --alg NAME`",
            }
            .to_owned(),
            KeyProblem::Malformed => match self.form() {
                Form::Der(..) => "expected PKCS#8, PKCS#1 or SEC1 (private), or SPKI or PKCS#1 (public)".to_owned(),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Returns the message of an error, with this program's prefix if it is about a key.
pub(super) fn message_of(error: jeton::Error) -> String {
    let text = error.to_string();
    match (error, text.split_once(": ")) {
        (jeton::Error::Key(_), Some((_, detail))) => format!("{PREFIX}{detail}"),
        _ => text,
    }
}

impl LoadError {
    /// Returns the problem of the key, if there is one.
    pub(crate) fn key_problem(&self) -> Option<KeyProblem> {
        match self {
            LoadError::Key(error) | LoadError::Allowable(error) => problem_of(error),
            LoadError::Problem(problem) => Some(problem.clone()),
            _ => None,
        }
    }

    /// Returns whether the key is well-formed and its kind is not supported.
    pub(crate) fn is_unsupported(&self) -> bool {
        self.key_problem() == Some(KeyProblem::Unsupported)
    }
}
