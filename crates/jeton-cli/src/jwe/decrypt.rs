use clap::Args;
use jeton::danger;
use jeton::jwe::Decrypted;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::allow::{self, AllowArgs, InsecureOption};
use crate::exit::Outcome;
use crate::jose::{self, Token};
use crate::keyfile::{ContentEncryption, DecryptionKeyFile, Loaded};
use crate::limit_args::TokenLimits;
use crate::rejection_hints::{self, Command};
use crate::token_argument::{Checked, PastedHint, TokenArgument, TokenInput};
use crate::{output, verification, verification_output};

/// The features that --allow enables here.
const SUPPORTED: [InsecureOption; 4] = [
    InsecureOption::Rsa1_5,
    InsecureOption::Zip,
    InsecureOption::Pbes2,
    InsecureOption::UnprotectedAlg,
];

const ENC_HELP: &str =
    "Required content encryption (`enc`); also selects the algorithm of a `dir` key";

#[derive(Debug, Args)]
#[command(mut_arg("enc", |enc| enc.help(ENC_HELP)))]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton jwe decrypt --key private.jwk eyJhbGciOi…
  jeton jwe decrypt --key rsa.pem --alg RSA-OAEP-256 @token > document.pdf
  jeton jwe decrypt --key secret.jwk --alg dir --enc A256GCM - < token
  jeton jwe decrypt --key jwks.json --json @token.json
  jeton jwe decrypt --password-file password --allow pbes2 @token

Prints exactly the bytes of the plaintext and does not interpret them.

The key selects the algorithm. The header of the token is only compared with it.

Accepts every serialization. If a token has several recipients, --json prints the index of the one that was \
decrypted.

Exit codes: 0 decrypted; 1 rejected, with the reason on standard error; 2 invalid usage, or a key or file \
could not be read.")]
pub(super) struct Decrypt {
    #[command(flatten)]
    key: DecryptionKeyFile,

    #[command(flatten)]
    content: ContentEncryption,

    /// Print the result as JSON, also for a rejected token
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: TokenLimits,

    #[command(flatten)]
    allow: AllowArgs,

    #[command(flatten)]
    token: TokenArgument,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Accepted<'a> {
    valid: bool,
    recipient_index: usize,
    alg: &'static str,
    enc: &'static str,
    kid: Option<String>,
    /// The id of the key that decrypted the token.
    key_id: Option<&'a str>,
    header: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unprotected: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipient: Option<&'a RawValue>,
    /// base64url
    #[serde(skip_serializing_if = "Option::is_none")]
    aad: Option<String>,
    /// base64url
    plaintext: String,
}

impl Decrypt {
    pub(super) fn run(self) -> Outcome {
        let allowed = self.allow.check(&SUPPORTED)?;
        let Loaded { keys, skipped } = self.key.load(self.content.enc, &allowed)?;
        let skipped = skipped.list_if(self.key.is_verbose());
        let mut decrypter =
            verification::decrypter(keys, self.content.enc, self.limits.limits(), &allowed);
        if allowed.has(InsecureOption::UnprotectedAlg) {
            decrypter = danger::allow_unprotected_enc(decrypter);
        }
        let input = TokenInput::Exact {
            argument: &self.token,
            hint: PastedHint::Inspect,
            limits: self.limits.limits(),
        };
        let Checked { result, token, .. } = input.check(|token| {
            verification::decrypt(&decrypter, token).map_err(|error| {
                rejection_hints::failure_with_keys(error, token, Command::JweDecrypt, &skipped)
            })
        });
        if !self.json {
            return output::payload(result?.plaintext());
        }
        let decrypted = verification_output::print_rejection(result, &[])?;
        output::json(&accepted(&token, &decrypted))
    }
}

fn accepted<'a>(token: &'a str, decrypted: &'a Decrypted) -> Accepted<'a> {
    let encode = |bytes: &[u8]| base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes);
    let mut accepted = Accepted {
        valid: true,
        recipient_index: decrypted.recipient_index(),
        alg: decrypted.alg(),
        enc: decrypted.enc().name(),
        kid: None,
        key_id: decrypted.key_id(),
        header: None,
        unprotected: None,
        recipient: None,
        aad: decrypted.aad().map(encode),
        plaintext: encode(decrypted.plaintext()),
    };
    if let Some(Token::Jwe(jwe)) = Token::read(token)
        && let Some(recipient) = jwe.recipients.get(decrypted.recipient_index())
    {
        accepted.kid = jwe.headers(recipient).text("kid");
        accepted.header = jwe.protected.as_deref().and_then(jose::decode_json);
        accepted.unprotected = jwe.unprotected;
        accepted.recipient = recipient.header;
    }
    accepted
}
