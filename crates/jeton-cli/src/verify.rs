//! `jeton verify`: detects the format of a token and verifies it.

use clap::Args;

use crate::allow::{self, Allowed, InsecureOption};
use crate::exit::Outcome;
use crate::jose::{self, Token};
use crate::jws::JwsVerification;
use crate::jwt::{JwtVerification, JwtVerifyArgs};
use crate::output;
use crate::paseto::{self, ContextArgs, PasetoVerification};
use crate::rejection_hints::Command;
use crate::token_argument::{GivenToken, PastedToken, TokenInput};
use crate::verification_output;

/// The features that --allow enables here: those of the commands for each format.
const SUPPORTED: [InsecureOption; 8] = InsecureOption::ALL;

/// Verify a token of any format (JWT, JWS, PASETO) and print its content
#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton verify --key public.jwk --audience api eyJhbGciOi…
  jeton verify --key jwks.json @token.txt
  jeton verify --key public.paserk --audience api v4.public.…
  jeton verify --key jwks.json --member id_token @answer.json

The token is found in pasted text: an Authorization header, a JSON answer, a cookie, a URL, quotes, wrapped lines. \
What is removed is printed on standard error. In scripts, use one of the commands below: they take a token exactly.

The text of the token selects one of these commands. The key selects the algorithm.
  jeton jwt verify      a JWT, also nested in a JWE with --decrypt-key
  jeton jws verify      a JWS whose payload is not a JSON object, or in JSON
  jeton paseto verify   a signed PASETO
  jeton paseto decrypt  an encrypted PASETO

With --issuer, --audience, --typ or --decrypt-key, a JWS must be a JWT.

Exit codes: 0 verified; 1 rejected, with the reason on standard error; 2 invalid usage, or a key or file \
could not be read.")]
pub(crate) struct Verify {
    #[command(flatten)]
    args: JwtVerifyArgs,

    #[command(flatten)]
    context: ContextArgs,

    #[command(flatten)]
    token: PastedToken,
}

impl Verify {
    pub(crate) fn run(mut self) -> Outcome {
        self.args.require_discovered_issuer();
        let allowed = self.args.policy_args.allowed(&SUPPORTED)?;
        let given = self.token.read(&self.args.limits.limits());
        let given = if self.args.json {
            verification_output::print_rejection(given, &[])?
        } else {
            given?
        };
        let command = self.command_for(&given);
        let token = TokenInput::Found(given);
        match command {
            Command::PasetoVerify | Command::PasetoDecrypt => self.paseto(command, &allowed, token),
            Command::JwsVerify => self.jws(allowed, token),
            Command::JwtVerify | Command::JwtDecrypt | Command::JweDecrypt => {
                self.jwt(allowed, token)
            }
        }
    }

    /// Returns the command for a token.
    fn command_for(&self, token: &GivenToken) -> Command {
        match token.as_bytes() {
            [b'v', b'1'..=b'4', b'.', b'l', ..] => return Command::PasetoDecrypt,
            [b'v', b'1'..=b'4', b'.', ..] => return Command::PasetoVerify,
            _ => {}
        }
        let needs_claims = self.args.policy_args.requires_claims()
            || !self.args.typ.is_empty()
            || self.args.decryption.is_given();
        match Token::read(token) {
            Some(Token::Jws(jws)) if !needs_claims => {
                let payload = jws.payload.as_deref().and_then(jose::decode_json);
                let is_object = payload.is_some_and(|json| json.get().starts_with('{'));
                if is_object && !jose::is_json(token) {
                    Command::JwtVerify
                } else {
                    Command::JwsVerify
                }
            }
            _ => Command::JwtVerify,
        }
    }

    fn jwt(&self, allowed: Allowed, token: TokenInput<'_>) -> Outcome {
        JwtVerification {
            args: &self.args,
            allowed,
            token,
        }
        .run()
    }

    fn jws(&self, allowed: Allowed, token: TokenInput<'_>) -> Outcome {
        JwsVerification {
            key: &self.args.key,
            allowed,
            content: None,
            limits: self.args.limits.limits(),
            json: self.args.json,
            token,
        }
        .run()?;
        output::note("the payload is not claims: only the signature was verified");
        Ok(())
    }

    fn paseto(&self, command: Command, allowed: &Allowed, token: TokenInput<'_>) -> Outcome {
        let file = self.args.key.file()?;
        let key = match command {
            Command::PasetoDecrypt => paseto::decrypting(&file, allowed)?,
            _ => paseto::verifying(&file, allowed)?,
        };
        PasetoVerification {
            key: &*key,
            command,
            context: &self.context,
            policy_args: &self.args.policy_args,
            limits: self.args.limits.limits(),
            json: self.args.json,
            token,
        }
        .run()
    }
}
