//! `--target`: a live endpoint in the place of the libraries.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jeton_lab::attack::{Demand, Message, Operator, Protocol, Reach, Target, TargetOptions};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::source::{self, Source, Text};
use crate::{input, json};

/// The longest key, or header, that is read, bytes.
const FILE_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Args)]
#[command(next_help_heading = "A live endpoint")]
pub(super) struct TargetArgs {
    /// Attack this endpoint in the place of the libraries, request after request, at most 10,000 of them
    /// in ten minutes: token introspection (RFC 7662, http://HOST:PORT/PATH), or a unary gRPC method
    /// (grpc://HOST:PORT/PACKAGE.SERVICE/METHOD) that takes the token in a string field
    #[arg(long, value_name = "URL", requires = "target_key", conflicts_with_all = ["seconds", "corpus", "subjects", "quick", "rounds", "budget"])]
    target: Option<String>,

    /// The JWK that signs what the endpoint accepts, private or symmetric, with its alg
    #[arg(long, value_name = "FILE", requires = "target")]
    target_key: Option<PathBuf>,

    /// What its tokens say, beside their times [default: the lab's claims]
    #[arg(long, value_name = "JSON|@FILE|-", requires = "target")]
    target_claims: Option<Source>,

    /// Like --target-claims, but always the text itself, even if a file has that name
    #[arg(
        long,
        value_name = "JSON",
        requires = "target",
        conflicts_with = "target_claims"
    )]
    target_claims_text: Option<Text>,

    /// Their typ [default: JWT]
    #[arg(long, value_name = "TYP", requires = "target")]
    target_typ: Option<String>,

    /// A file whose one line is sent as the Authorization header
    #[arg(long, value_name = "FILE", requires = "target")]
    target_authorization: Option<PathBuf>,

    /// What it demands of claims: iss, aud, exp; nothing is said of what is not demanded
    #[arg(long, value_name = "CLAIM", value_delimiter = ',', value_parser = demand, requires = "target")]
    target_demands: Vec<Demand>,

    /// How many seconds after its end, or before its beginning, it takes a token on purpose: nothing is
    /// then said of the borders [default: 0]
    #[arg(long, value_name = "SECONDS", requires = "target")]
    target_leeway: Option<u64>,

    /// The number of the field that takes the token in a gRPC method's message [default: 1]
    #[arg(long, value_name = "NUMBER", requires = "target")]
    target_token_field: Option<u32>,

    /// Another string field of that message; may be given again
    #[arg(long = "target-field", value_name = "NUMBER=TEXT", value_parser = field, requires = "target")]
    target_fields: Vec<(u32, String)>,

    /// The target is mine, and may be attacked though it is not on this machine
    #[arg(long, requires = "target")]
    i_own_this_target: bool,
}

impl TargetArgs {
    /// What is to be attacked, if it is a target.
    pub(super) fn options(
        &self,
        attacks: &[String],
        seed: u64,
        command: String,
    ) -> Result<Option<TargetOptions>, String> {
        let (Some(address), Some(key)) = (&self.target, &self.target_key) else {
            return Ok(None);
        };
        let reach = if self.i_own_this_target {
            Reach::Owned
        } else {
            Reach::Loopback
        };
        let target = Target::new(address, reach)?;
        let message = Message::new(
            self.target_token_field.unwrap_or(1),
            self.target_fields.clone(),
        )?;
        let says_fields = self.target_token_field.is_some() || !self.target_fields.is_empty();
        if says_fields && target.protocol != Protocol::Grpc {
            return Err(
                "only a gRPC method has fields: give a target grpc://HOST:PORT/…".to_owned(),
            );
        }
        let operator = Operator {
            jwk: line_of(key)?,
            claims: self.claims()?,
            typ: self.target_typ.clone(),
        };
        operator.check()?;
        let authorization = self.target_authorization.as_ref().map(|f| line_of(f));
        Ok(Some(TargetOptions {
            target,
            message,
            operator,
            authorization: authorization.transpose()?,
            demands: self.target_demands.clone(),
            leeway: Duration::from_secs(self.target_leeway.unwrap_or(0)),
            attacks: attacks.to_vec(),
            seed,
            command,
        }))
    }

    fn claims(&self) -> Result<Option<Map<String, Value>>, String> {
        let text = self.target_claims_text.as_ref();
        let Some(source) = source::given(self.target_claims.as_ref(), text) else {
            return Ok(None);
        };
        let text = source
            .text("--target-claims")
            .map_err(|failure| failure.message().to_owned())?;
        json::check(&text, jeton::Limits::default().json_depth)
            .map_err(|problem| format!("--target-claims: {problem}"))?;
        let claims = serde_json::from_str(&text);
        claims
            .map(Some)
            .map_err(|_| "--target-claims: no JSON object".to_owned())
    }
}

/// A file's text, without the end of its one line.
fn line_of(path: &std::path::Path) -> Result<Zeroizing<String>, String> {
    let bytes = input::key_bytes(path, FILE_BYTES_MAX).map_err(|f| f.message().to_owned())?;
    let text = std::str::from_utf8(input::without_line_end(&bytes));
    match text {
        Ok("") => Err(format!("{}: its line is empty", input::name_of(path))),
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(_) => Err(format!("{}: not UTF-8 text", input::name_of(path))),
    }
}

fn field(text: &str) -> Result<(u32, String), String> {
    let parts = text.split_once('=');
    let field = parts.and_then(|(number, text)| Some((number.parse().ok()?, text.to_owned())));
    field.ok_or_else(|| "NUMBER=TEXT, as in 2=api".to_owned())
}

fn demand(claim: &str) -> Result<Demand, String> {
    let known = Demand::of_claim(claim).filter(|d| *d != Demand::NotBefore);
    known.ok_or_else(|| "one of iss, aud, exp".to_owned())
}
