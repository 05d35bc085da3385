use clap::{Args, ValueEnum};
use jeton::danger::{self, paseto_v1::V1, paseto_v2::V2};
use jeton::key::{
    Alg, ContentEnc, ContentKey, DecryptionKey, KeyManagementAlg, MacKey, RsaSize, SigningKey,
    WrappingKey,
};
use jeton::paserk::{Form, Kind};
use jeton::paseto::{LocalKey, SecretKey, Version, v3::V3, v4::V4};
use zeroize::Zeroizing;

use super::destination::Destination;
use super::kid::KeyIdArgs;
use crate::algorithm::{self, Algorithm};
use crate::allow::{self, AllowArgs, InsecureOption};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{AnyKey, Half};
use crate::output;

/// The features that --allow enables here.
const SUPPORTED: [InsecureOption; 3] = [
    InsecureOption::Rsa1_5,
    InsecureOption::PasetoV1,
    InsecureOption::PasetoV2,
];

const EXAMPLES: &str = "\
Examples:
  jeton key new --alg ES256 --kid 2026-11 -o private.jwk
  jeton key new --alg HS256 > secret.jwk
  jeton key new --alg PS384 --bits 3072 -o rsa.jwk
  jeton key new --alg ECDH-ES+A256KW --curve X25519 -o private.jwk
  jeton key new --alg A256GCM > content.jwk
  jeton key new --paseto v4.public -o secret.paserk
";

const NOTES: &str = "\
The key id (`kid`) is the thumbprint (RFC 7638). Tokens contain it, and verifiers select the key by it. A \
symmetric key gets no key id by default, because its thumbprint is a hash of the secret.

The key is written to standard output. With -o it is written to a new file that only its owner can read.";

/// Returns the examples, all algorithms by kind, and the notes.
fn help() -> String {
    let mut algorithms = String::new();
    for (kind, names) in algorithm::by_kind() {
        let mut line = format!("  {kind:20}");
        for name in names {
            if line.len() + name.len() > HELP_WIDTH {
                algorithms.extend([line.trim_end(), "\n"]);
                line = " ".repeat(22);
            }
            line.extend([name, " "]);
        }
        algorithms.extend([line.trim_end(), "\n"]);
    }
    format!("{EXAMPLES}\nAlgorithms:\n{algorithms}\n{NOTES}")
}

/// The maximum length of a line with names of algorithms.
const HELP_WIDTH: usize = 75;

#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)),
    mut_arg("kid", |kid| kid.conflicts_with("paseto")),
    mut_arg("no_kid", |no_kid| no_kid.conflicts_with("paseto")), after_help = help())]
pub(super) struct New {
    #[command(flatten)]
    key_type: KeyType,

    #[command(flatten)]
    key_id: KeyIdArgs,

    /// RSA key size in bits: 2048, 3072, 4096 or 8192 [default: 2048]
    #[arg(long, value_name = "BITS", conflicts_with = "paseto", value_parser = rsa_size)]
    bits: Option<RsaSize>,

    /// Curve of an ECDH-ES key [default: P-256]
    #[arg(long, value_name = "CURVE", conflicts_with = "paseto")]
    curve: Option<Curve>,

    /// Content encryption of a `dir` key
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "paseto",
        value_parser = algorithm::content_encryption(),
        hide_possible_values = true
    )]
    enc: Option<ContentEnc>,

    #[command(flatten)]
    allow: AllowArgs,

    #[command(flatten)]
    destination: Destination,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct KeyType {
    /// Create a private JWK for this algorithm, for example HS256, ES256, Ed25519, RSA-OAEP-256 or A256KW
    #[arg(long, value_name = "NAME", value_parser = algorithm::any(), hide_possible_values = true)]
    alg: Option<Algorithm>,

    /// Create a PASERK for PASETOs of this version and purpose
    #[arg(long, value_name = "KIND")]
    paseto: Option<Purpose>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Purpose {
    /// Signed tokens, with a k4.secret key
    #[value(name = "v4.public")]
    V4Public,
    /// Encrypted tokens, with a k4.local key
    #[value(name = "v4.local")]
    V4Local,
    /// Signed tokens with NIST algorithms, with a k3.secret key
    #[value(name = "v3.public")]
    V3Public,
    /// Encrypted tokens with NIST algorithms, with a k3.local key
    #[value(name = "v3.local")]
    V3Local,
    /// Superseded, requires --allow paseto-v2: k2.secret key
    #[value(name = "v2.public")]
    V2Public,
    /// Superseded, requires --allow paseto-v2: k2.local key
    #[value(name = "v2.local")]
    V2Local,
    /// Superseded, requires --allow paseto-v1: k1.secret key
    #[value(name = "v1.public")]
    V1Public,
    /// Superseded, requires --allow paseto-v1: k1.local key
    #[value(name = "v1.local")]
    V1Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Curve {
    #[value(name = "P-256")]
    P256,
    #[value(name = "P-384")]
    P384,
    #[value(name = "P-521")]
    P521,
    #[value(name = "X25519")]
    X25519,
}

impl New {
    pub(super) fn run(self) -> Outcome {
        let (mut text, what) = match (self.key_type.alg, self.key_type.paseto) {
            (Some(alg), _) => self.jwk(alg)?,
            (None, Some(purpose)) => {
                let allowed = self
                    .allow
                    .check(&[InsecureOption::PasetoV1, InsecureOption::PasetoV2])?;
                match purpose {
                    Purpose::V1Public | Purpose::V1Local => {
                        allowed.require(InsecureOption::PasetoV1, "PASETO version 1")?;
                    }
                    Purpose::V2Public | Purpose::V2Local => {
                        allowed.require(InsecureOption::PasetoV2, "PASETO version 2")?;
                    }
                    _ => {}
                }
                paserk(purpose).map_err(failed)?
            }
            (None, None) => return Err(Failure::error("no key type: pass --alg or --paseto")),
        };
        text.push('\n');
        self.destination.text(&text)?;
        if let Some(path) = self.destination.file() {
            output::status(format_args!("wrote {}: {what}", path.display()));
        }
        Ok(())
    }

    /// Creates a JWK, and describes it.
    fn jwk(&self, alg: Algorithm) -> Outcome<(Zeroizing<String>, String)> {
        let key = self.key_id.set(self.make(alg)?)?;
        let what = match key.half() {
            Half::Symmetric => format!("a secret JWK for {}", alg.name()),
            _ => format!(
                "a private JWK for {}, thumbprint {}",
                alg.name(),
                key.thumbprint()
            ),
        };
        Ok((key.to_jwk().map_err(failed)?, what))
    }

    fn make(&self, alg: Algorithm) -> Outcome<AnyKey> {
        let allowed = self.allow.check(&[InsecureOption::Rsa1_5])?;
        self.check(alg)?;
        let made = match alg {
            Algorithm::Sign(Alg::Mac(alg)) => MacKey::generate(alg).map(AnyKey::Mac),
            Algorithm::Sign(Alg::Sig(alg)) => match self.bits {
                None => SigningKey::generate(alg),
                Some(size) => SigningKey::generate_rsa(alg, size),
            }
            .map(AnyKey::Signing),
            Algorithm::Manage(alg) => {
                if alg == danger::RSA1_5 {
                    allowed.require(InsecureOption::Rsa1_5, "RSA1_5")?;
                }
                self.decryption(alg).map(AnyKey::Decryption)
            }
            Algorithm::Wrap(alg) => WrappingKey::generate(alg).map(AnyKey::Wrapping),
            Algorithm::Content(enc) => ContentKey::generate(enc).map(AnyKey::Content),
            Algorithm::Direct => {
                let enc = self.enc.ok_or_else(|| {
                    Failure::error("--alg dir requires the content encryption")
                        .hint("add `--enc A256GCM`")
                })?;
                ContentKey::generate(enc).map(AnyKey::Content)
            }
            Algorithm::Password(_) => {
                return Err(Failure::error(format!("{} uses a password, not a key", alg.name())).hint(
                    "PBES2 uses a password: pass --password-file, as in `jeton jwe encrypt --password-file FILE --allow pbes2 PAYLOAD`",
                ));
            }
            // `Alg` is non-exhaustive; every current variant is handled above.
            Algorithm::Sign(_) => return Err(Failure::error("this algorithm is not supported")),
        };
        made.map_err(failed)
    }

    fn decryption(&self, alg: KeyManagementAlg) -> jeton::Result<DecryptionKey> {
        match (self.bits, self.curve) {
            (Some(size), _) => DecryptionKey::generate_rsa(alg, size),
            (None, None | Some(Curve::P256)) => DecryptionKey::generate(alg),
            (None, Some(Curve::P384)) => DecryptionKey::generate_p384(alg),
            (None, Some(Curve::P521)) => DecryptionKey::generate_p521(alg),
            (None, Some(Curve::X25519)) => DecryptionKey::generate_x25519(alg),
        }
    }

    /// Rejects an option that has no effect for this algorithm.
    fn check(&self, alg: Algorithm) -> Outcome {
        let name = alg.name();
        let rsa = ["RS", "PS"].iter().any(|family| name.starts_with(family));
        let unused = |option: &str, family: &str| {
            Err(Failure::error(format!(
                "{option} is only for {family} keys, not for {name}"
            )))
        };
        if self.bits.is_some() && !rsa {
            return unused("--bits", "RSA");
        }
        if self.curve.is_some() && !name.starts_with("ECDH-ES") {
            return unused("--curve", "ECDH-ES");
        }
        if self.enc.is_some() && alg != Algorithm::Direct {
            return unused("--enc", "dir");
        }
        Ok(())
    }
}

fn failed(error: jeton::Error) -> Failure {
    Failure::error(error.to_string())
}

fn rsa_size(bits: &str) -> Result<RsaSize, String> {
    let size = bits.parse().ok().and_then(RsaSize::from_bits);
    size.ok_or_else(|| "expected one of: 2048, 3072, 4096, 8192".to_owned())
}

fn paserk(purpose: Purpose) -> jeton::Result<(Zeroizing<String>, String)> {
    match purpose {
        Purpose::V1Public => secret::<V1>(),
        Purpose::V1Local => local::<V1>(),
        Purpose::V2Public => secret::<V2>(),
        Purpose::V2Local => local::<V2>(),
        Purpose::V3Public => secret::<V3>(),
        Purpose::V3Local => local::<V3>(),
        Purpose::V4Public => secret::<V4>(),
        Purpose::V4Local => local::<V4>(),
    }
}

fn secret<V: Version>() -> jeton::Result<(Zeroizing<String>, String)> {
    let key = SecretKey::<V>::generate()?;
    let kind = Kind::of(V::VERSION, Form::Secret);
    let what = format!("a {kind}, public key {}", key.public_key().id());
    Ok((key.to_paserk()?, what))
}

fn local<V: Version>() -> jeton::Result<(Zeroizing<String>, String)> {
    let key = LocalKey::<V>::generate()?;
    let kind = Kind::of(V::VERSION, Form::Local);
    Ok((key.to_paserk(), format!("a {kind}, {}", key.id())))
}
