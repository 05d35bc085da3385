//! What is said of a key that is refused: the file, the member at fault, and what to do.

use jeton::error::KeyProblem;
use jeton::key::KeyManagementAlg;
use jeton::{Limits, limits};

use super::{Form, KeyFile, Kind, Shape, problem_of};
use crate::algorithm::Algorithm;
use crate::doors::{Door, Open};
use crate::exit::Failure;
use crate::jose;
use crate::json::{self, Members, Problem};

/// Why a key is refused.
pub(crate) enum Refused {
    /// By the library.
    Key(jeton::Error),
    /// By the library, unless a door is opened that the caller could open.
    Shut(jeton::Error),
    /// By the library's rules, seen here first.
    Problem(KeyProblem),
    /// Because the call and the key contradict each other in that member.
    Member(&'static str, String),
    /// Because such a key has no place here.
    Call(Failure),
}

impl From<jeton::Error> for Refused {
    fn from(error: jeton::Error) -> Self {
        Refused::Key(error)
    }
}

impl Refused {
    /// A key that is too weak, which there may be a door to.
    pub(super) fn too_weak(error: jeton::Error, doors: &Open) -> Refused {
        match doors.could(Door::WeakKeys) {
            true => Refused::Shut(error),
            false => Refused::Key(error),
        }
    }

    pub(crate) fn problem(problem: KeyProblem) -> Refused {
        Refused::Problem(problem)
    }

    pub(crate) fn member(member: &'static str, message: String) -> Refused {
        Refused::Member(member, message)
    }
}

impl KeyFile {
    /// What the library calls a contradiction; both sides are named if one of them is the call.
    pub(super) fn against(&self, refused: Refused, called: Option<&str>) -> Refused {
        let is_about_alg = match &refused {
            Refused::Key(jeton::Error::Key(error)) => {
                error.problem() == KeyProblem::Contradiction && error.member() == Some("alg")
            }
            _ => false,
        };
        let (true, Some(called)) = (is_about_alg, called) else {
            return refused;
        };
        let own = match self.form() {
            Form::Jwk(text) => Shape::of(text).alg,
            _ => None,
        };
        Refused::member(
            "alg",
            match own.and_then(|own| Algorithm::of(&own)) {
                Some(own) if own.name() != called => {
                    format!("the key says {}, and the call {called}", own.name())
                }
                _ => format!("the call says {called}, which a key of this type is not for"),
            },
        )
    }

    /// Of a key that does not sign: that it encrypts, if it does.
    pub(super) fn unless_it_encrypts(&self, refused: Refused) -> Refused {
        let alg = KeyManagementAlg::EcdhEs;
        let encrypts = || self.decryption(alg).is_ok() || self.public(alg).is_ok();
        match refused.known_problem() {
            Some(KeyProblem::Unsupported) if encrypts() => self.of_another_use(
                "the key is one to encrypt with, and neither signs nor verifies",
                "one that does: jeton key new --alg Ed25519",
            ),
            _ => refused,
        }
    }

    /// Of a key that does not encrypt: that it signs, if it does.
    pub(super) fn unless_it_signs(&self, refused: Refused) -> Refused {
        let closed = Open::default();
        let signs = || self.signing(None).is_ok() || self.verifying(None, &closed).is_ok();
        match refused.known_problem() {
            Some(KeyProblem::Unsupported) if signs() => self.of_another_use(
                "the key is one to sign with, and neither encrypts nor decrypts",
                "one that does: jeton key new --alg ECDH-ES+A256KW --curve X25519",
            ),
            _ => refused,
        }
    }

    fn of_another_use(&self, what: &str, instead: &str) -> Refused {
        Refused::Call(
            Failure::wrong(format!("{}: key rejected: {what}", self.name())).hint(instead),
        )
    }

    /// The failure to end with.
    pub(crate) fn refusal(&self, refused: Refused) -> Failure {
        let name = self.name();
        let problem = refused.known_problem();
        let shut = matches!(refused, Refused::Shut(_));
        let failure = match refused {
            Refused::Call(failure) => return failure,
            Refused::Key(_) if problem == Some(KeyProblem::Duplicate) => {
                let member = self.duplicate().unwrap_or_else(|| "a member".to_owned());
                Failure::wrong(format!("{name}: key rejected: {member}: duplicate member"))
            }
            Refused::Key(error) | Refused::Shut(error) => match self.measured(error) {
                Some(measured) => Failure::wrong(format!("{name}: key rejected: {measured}")),
                None => Failure::wrong(format!("{name}: {error}")),
            },
            Refused::Problem(problem @ KeyProblem::AlgorithmNeeded) => {
                Failure::wrong(format!("{name}: key rejected: alg: {problem}"))
            }
            Refused::Problem(problem) => Failure::wrong(format!("{name}: key rejected: {problem}")),
            Refused::Member(member, message) => {
                Failure::wrong(format!("{name}: key rejected: {member}: {message}"))
            }
        };
        let advice = match shut {
            true => Some(self.way_in()),
            false => problem.and_then(|problem| self.advice(problem)),
        };
        match advice {
            Some(advice) => failure.hint(advice),
            None => failure,
        }
    }

    /// The name of the member that stands twice, which the library does not tell.
    fn duplicate(&self) -> Option<String> {
        let (Form::Jwk(text) | Form::Set(text)) = self.form() else {
            return None;
        };
        match Members::strict(text, Limits::default().json_depth) {
            Err(Problem::Twice(name)) => Some(name),
            _ => None,
        }
    }

    /// What a member of a JWK has, and what it must have, where the library only says that they differ.
    fn measured(&self, error: jeton::Error) -> Option<String> {
        let (Form::Jwk(text), jeton::Error::Key(error)) = (self.form(), error) else {
            return None;
        };
        let member = error.member()?;
        let Members(members) = Members::loose(text)?;
        let (_, value) = members.iter().find(|(name, _)| name == member)?;
        match (error.problem(), member) {
            (KeyProblem::WrongType, _) => {
                let given = json::kind_of(value.get());
                Some(format!("`{member}` is {given}, and must be a string")).filter(|_| {
                    ["kid", "alg", "kty", "crv", "use", "x", "y", "n", "e"].contains(&member)
                })
            }
            (KeyProblem::WrongLength, "kid") => {
                let kid: String = serde_json::from_str(value.get()).ok()?;
                Some(match kid.len() {
                    0 => "`kid` is empty".to_owned(),
                    bytes => format!("`kid` has {bytes} bytes, limit {}", limits::KEY_ID_BYTES),
                })
            }
            (KeyProblem::WrongLength, "x" | "y") => {
                let shape = Shape::of(text);
                let curve = shape.crv.as_deref()?;
                let needed = coordinate_bytes(curve)?;
                let encoded: String = serde_json::from_str(value.get()).ok()?;
                let bytes = jose::decode(&encoded)?;
                let zeros = match bytes.len() {
                    // A number that is written without its leading zeros is shorter in one of 256 cases.
                    given if given + 1 == needed => ": a leading zero was removed",
                    given if given + 3 >= needed && given < needed => {
                        ": leading zeros were removed"
                    }
                    given if given == needed + 1 && bytes[0] == 0 => ": a leading zero was added",
                    _ => "",
                };
                Some(format!(
                    "{member} has {} bytes, {curve} needs {needed}{zeros}",
                    bytes.len()
                ))
            }
            _ => None,
        }
    }

    /// What to do about a weak key where a door leads to such keys.
    fn way_in(&self) -> String {
        match self.kind() {
            Kind::Symmetric => "make a new one: jeton key new --alg NAME; to sign and verify with one that cannot be changed: --allow weak-keys",
            _ => "to verify what an old system signs: --allow weak-keys",
        }
        .to_owned()
    }

    fn advice(&self, problem: KeyProblem) -> Option<String> {
        Some(match problem {
            KeyProblem::PrivateGiven => {
                format!("take its public half: jeton key public {}", self.file)
            }
            KeyProblem::PublicGiven => "its private half is needed here".to_owned(),
            KeyProblem::AlgorithmNeeded => {
                let shape = match self.form() {
                    Form::Jwk(text) => Shape::of(text),
                    _ => Shape::default(),
                };
                let symmetric = shape.kty.as_deref() == Some("oct");
                let encrypts = shape.intended.as_deref() == Some("enc");
                match (symmetric, encrypts) {
                    (true, false) => "say which: --alg HS256, HS384 or HS512",
                    (true, true) => "say which: --alg A256KW, A256GCMKW, A256GCM, …",
                    (false, false) => {
                        "say which: --alg RS256, or RS384, RS512, PS256, PS384, PS512"
                    }
                    (false, true) => {
                        "say which: --alg RSA-OAEP-256, RSA-OAEP, RSA-OAEP-384 or RSA-OAEP-512"
                    }
                }
                .to_owned()
            }
            KeyProblem::TooWeak => match self.kind() {
                Kind::Private | Kind::Symmetric => "make a new one: jeton key new --alg NAME",
                Kind::Public => "whoever has its private half makes a new one: jeton key new --alg NAME",
            }
            .to_owned(),
            KeyProblem::Unsupported => match self.form() {
                Form::Pem(text) if text.contains("ENCRYPTED") => {
                    "an encrypted key is not read; decrypt it first: openssl pkey -in FILE -out NEW_FILE"
                        .to_owned()
                }
                Form::Pem(text) if text.contains("BEGIN CERTIFICATE") => {
                    "take the key out of the certificate: openssl x509 -in FILE -pubkey -noout"
                        .to_owned()
                }
                _ => return None,
            },
            KeyProblem::Malformed => match self.form() {
                Form::Pem(_) => {
                    "one PEM block, not encrypted: PRIVATE KEY, EC PRIVATE KEY, RSA PRIVATE KEY, PUBLIC KEY or RSA PUBLIC KEY"
                        .to_owned()
                }
                Form::Der(_) => "DER is read as PKCS#8, PKCS#1 or SEC1 (private), and as SPKI or PKCS#1 (public)".to_owned(),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// How long a coordinate, or a key that is one, on that curve is (RFC 7518, section 6.2.1; RFC 8037, section 2).
fn coordinate_bytes(curve: &str) -> Option<usize> {
    Some(match curve {
        "P-256" | "secp256k1" | "Ed25519" | "X25519" => 32,
        "P-384" => 48,
        "P-521" => 66,
        _ => return None,
    })
}

impl Refused {
    /// What is wrong with the key, if that is what it is about.
    pub(crate) fn known_problem(&self) -> Option<KeyProblem> {
        match self {
            Refused::Key(error) | Refused::Shut(error) => problem_of(*error),
            Refused::Problem(problem) => Some(*problem),
            _ => None,
        }
    }
    /// Whether the key is well formed, and of a kind that is not supported.
    pub(crate) fn is_unsupported(&self) -> bool {
        self.known_problem() == Some(KeyProblem::Unsupported)
    }
}
