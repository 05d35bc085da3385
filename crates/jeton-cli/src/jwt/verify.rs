use clap::Args;
use jeton::jwe::Decrypter;
use jeton::{Verified, danger, jwt};
use serde::de::IgnoredAny;

use crate::demands::Demands;
use crate::doors::{self, Door, Open};
use crate::exit::Outcome;
use crate::keyfile::{TokenDecryptionKeyFile, VerifyingKeyFile};
use crate::refusal::{self, Verb};
use crate::source::TokenArgument;
use crate::verdict::{self, Shown};

/// The doors that lead somewhere here.
const HERE: [Door; 5] = [
    Door::NoExpiry,
    Door::WeakKeys,
    Door::Rsa1_5,
    Door::Pbes2,
    Door::Zip,
];

#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| doors::among(allow, &HERE)), after_help = "\
Examples:
  jeton jwt verify --key public.jwk --issuer https://id.example --audience api eyJhbGciOi…
  jeton jwt verify --key jwks.json --at 2026-11-20T09:00:00Z @token.txt
  jeton jwt verify --key public.pem --alg PS256 --typ at+jwt -
  jeton jwt verify --key author.pub.jwk --decrypt-key private.jwk --audience api @nested

Prints the claims exactly as they stand in the token. Exit code 0: verified; 1: rejected, with the
reason on standard error; 2: the call was wrong, or a key or file could not be used.

The key decides which algorithm is right; what the token's header says is only compared with it. With
--decrypt-key the token must be a signed JWT inside of an encrypted one (RFC 7519, section 11.2).
--allow opens one door each time.")]
pub(super) struct Verify {
    #[command(flatten)]
    key: VerifyingKeyFile,

    #[command(flatten)]
    decryption: TokenDecryptionKeyFile,

    #[command(flatten)]
    demands: Demands,

    /// Take tokens of this media type (typ) only [default: JWT, or none]
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    /// Print the verdict as JSON, also of a token that is rejected
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    token: TokenArgument,
}

impl Verify {
    pub(super) fn run(self) -> Outcome {
        let doors = self.demands.open(&HERE)?;
        let verifier = self.verifier(&doors)?;
        let decrypter = self.decrypter(&doors)?;
        let verifier = match decrypter {
            None => AnyVerifier::Signed(verifier),
            Some(decrypter) => AnyVerifier::Nested(jwt::NestedVerifier::new(decrypter, verifier)),
        };
        let verdict = self.token.read().and_then(|token| verifier.verify(&token));
        let shown = if self.json { Shown::Json } else { Shown::Line };
        verdict::show(verdict, &self.demands, shown)
    }

    fn verifier(&self, doors: &Open) -> Outcome<jwt::Verifier> {
        let keys = self.key.load(doors)?;
        let mut policy = self.demands.policy();
        if let Some(typ) = &self.typ {
            policy = policy.typ(typ.clone());
        }
        let verifier = jwt::Verifier::new(keys, policy);
        Ok(match self.demands.clock() {
            None => verifier,
            Some(clock) => verifier.clock(clock),
        })
    }

    fn decrypter(&self, doors: &Open) -> Outcome<Option<Decrypter>> {
        let Some(keys) = self.decryption.load(doors)? else {
            return Ok(None);
        };
        let mut decrypter = Decrypter::new(keys);
        if let Some(enc) = self.decryption.enc() {
            decrypter = decrypter.allow_only(&[enc]);
        }
        if doors.has(Door::Zip) {
            decrypter = danger::allow_zip(decrypter);
        }
        Ok(Some(decrypter))
    }
}

/// Of a token that is signed, or signed and then encrypted.
enum AnyVerifier {
    Signed(jwt::Verifier),
    Nested(jwt::NestedVerifier),
}

impl AnyVerifier {
    fn verify(&self, token: &str) -> Outcome<Verified<IgnoredAny>> {
        match self {
            AnyVerifier::Signed(verifier) => {
                (verifier.verify(token)).map_err(|error| refusal::of(error, token, Verb::JwtVerify))
            }
            AnyVerifier::Nested(verifier) => (verifier.verify(token))
                .map_err(|error| refusal::of(error, token, Verb::JwtDecrypt)),
        }
    }
}
