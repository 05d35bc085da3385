use clap::Args;
use jeton::error::{Part, Rejection};
use jeton::jws::{JwsVerifier, VerifiedPayload};
use jeton::{Limits, danger};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::allow::{self, AllowArgs, Allowed, InsecureOption};
use crate::exit::Outcome;
use crate::jose::{self, Token};
use crate::keyfile::{Loaded, VerifyingKeyFile};
use crate::limit_args::SignedTokenLimits;
use crate::rejection_hints::{self, Command};
use crate::source::{self, Source, Text};
use crate::token_argument::{Checked, PastedHint, TokenArgument, TokenInput};
use crate::{output, verification_output};

/// The features that --allow enables here.
const SUPPORTED: [InsecureOption; 2] = [InsecureOption::WeakKeys, InsecureOption::UnprotectedAlg];

#[derive(Debug, Args)]
#[command(mut_arg("discover", |discover| discover.help("Discover the key set of this issuer")))]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton jws verify --key public.jwk eyJhbGciOi…
  jeton jws verify --key jwks.json @document.jws > document.pdf
  jeton jws verify --key https://id.example/jwks.json @document.jws
  jeton jws verify --key public.jwk --detached @document.pdf @document.sig
  jeton jws verify --key rsa.pem --alg PS256 --json - < token.json

Prints exactly the bytes of the payload and does not interpret them. For claims with an expiry, use jeton jwt.

Accepts every serialization. If a token has several signatures, one must be valid with a key of --key; --json \
prints its index.

Exit codes: 0 verified; 1 rejected, with the reason on standard error; 2 invalid usage, or a key or file \
could not be read.")]
pub(super) struct Verify {
    #[command(flatten)]
    key: VerifyingKeyFile,

    /// Payload of a detached token: as text, @FILE, or - for standard input
    #[arg(long, value_name = "PAYLOAD|@FILE|-")]
    detached: Option<Source>,

    /// Payload of a detached token as text, never read as @FILE or -
    #[arg(long, value_name = "TEXT", conflicts_with = "detached")]
    detached_text: Option<Text>,

    /// Print the result as JSON, also for a rejected token
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: SignedTokenLimits,

    #[command(flatten)]
    allow: AllowArgs,

    #[command(flatten)]
    token: TokenArgument,
}

/// The output of `--json`. The header belongs to the verified signature.
#[derive(Serialize)]
struct Accepted<'a> {
    valid: bool,
    signature_index: usize,
    alg: Option<String>,
    kid: Option<String>,
    /// The id of the key that verified the token.
    key_id: Option<&'a str>,
    header: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unprotected: Option<&'a RawValue>,
    /// base64url
    payload: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    input_notes: &'a [String],
}

impl Verify {
    pub(super) fn run(self) -> Outcome {
        let content = source::given(self.detached.as_ref(), self.detached_text.as_ref());
        let hint = match content {
            None => PastedHint::Verify,
            Some(_) => PastedHint::Inspect,
        };
        JwsVerification {
            key: &self.key,
            allowed: self.allow.check(&SUPPORTED)?,
            content,
            limits: self.limits.limits(),
            json: self.json,
            token: TokenInput::Exact {
                argument: &self.token,
                hint,
                limits: self.limits.limits(),
            },
        }
        .run()
    }
}

/// The verification of a JWS, for each command that does it.
pub(crate) struct JwsVerification<'a> {
    pub(crate) key: &'a VerifyingKeyFile,
    pub(crate) allowed: Allowed,
    /// The payload of a detached token.
    pub(crate) content: Option<&'a Source>,
    pub(crate) limits: Limits,
    pub(crate) json: bool,
    pub(crate) token: TokenInput<'a>,
}

impl JwsVerification<'_> {
    /// Verifies the token and prints the result.
    pub(crate) fn run(self) -> Outcome {
        let allowed = self.allowed;
        let Loaded { keys, skipped } = self.key.load(&allowed)?;
        let skipped = skipped.list_if(self.key.is_verbose());
        let content = self.content.map(Source::bytes).transpose()?;
        let content = content.as_ref().map(|bytes| bytes.as_slice());
        let mut limits = self.limits;
        // The caller's own payload may be longer than the limit for tokens.
        limits.token_bytes = limits.token_bytes.max(content.map_or(0, <[u8]>::len));
        let mut verifier = JwsVerifier::new(keys).limits(limits);
        if allowed.has(InsecureOption::UnprotectedAlg) {
            verifier = danger::allow_unprotected_alg(verifier);
        }
        let Checked {
            result,
            token,
            input_notes,
        } = self.token.check(|token| {
            let verified = match (jose::is_json(token), content) {
                (false, None) => verifier.verify(token),
                (false, Some(content)) => verifier.verify_detached(token, content),
                (true, None) => verifier.verify_json(token),
                (true, Some(content)) => verifier.verify_json_detached(token, content),
            };
            match verified {
                Ok(verified) => Ok(verified),
                Err(error) => Err(match (error.rejection(), content) {
                    (Some(Rejection::Malformed(Part::Payload)), Some(_)) => {
                        rejection_hints::failure(error, token, Command::JwsVerify)
                            .hint("the token contains its payload; remove `--detached`")
                    }
                    (Some(Rejection::Signature), Some(_)) => rejection_hints::failure_with_keys(
                        error,
                        token,
                        Command::JwsVerify,
                        &skipped,
                    )
                    .hint("the payload must be exactly the signed bytes, including line breaks"),
                    (rejection, _) => {
                        let is_signature = rejection == Some(&Rejection::Signature);
                        let failure = rejection_hints::failure_with_keys(
                            error,
                            token,
                            Command::JwsVerify,
                            &skipped,
                        );
                        self.key.suggest_doctor(is_signature, failure)
                    }
                }),
            }
        });
        if !self.json {
            return output::payload(result?.payload());
        }
        let verified = verification_output::print_rejection(result, &input_notes)?;
        output::json(&accepted(&token, &verified, &input_notes))
    }
}

fn accepted<'a>(
    token: &'a str,
    verified: &'a VerifiedPayload,
    input_notes: &'a [String],
) -> Accepted<'a> {
    let index = verified.signature_index();
    let signature = match Token::read(token) {
        Some(Token::Jws(mut jws)) if index < jws.signatures.len() => {
            Some(jws.signatures.swap_remove(index))
        }
        _ => None,
    };
    let headers = signature.as_ref().map(|signature| signature.headers());
    let text = |name| headers.as_ref().and_then(|headers| headers.text(name));
    let protected = signature
        .as_ref()
        .and_then(|signature| signature.protected.as_deref());
    Accepted {
        valid: true,
        signature_index: index,
        alg: text("alg"),
        kid: text("kid"),
        key_id: verified.key_id(),
        header: protected.and_then(jose::decode_json),
        unprotected: signature.as_ref().and_then(|signature| signature.header),
        payload: base64_simd::URL_SAFE_NO_PAD.encode_to_string(verified.payload()),
        input_notes,
    }
}
