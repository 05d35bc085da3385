//! `--target`: attacks a live endpoint instead of the libraries.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jeton_lab_conformance::attack::{
    Demand, Grant, Message, Operator, Protocol, Reach, Target, TargetOptions,
};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::source::{self, Source, Text};
use crate::{input, json};

/// Largest key or header file, in bytes.
const FILE_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Args)]
#[command(next_help_heading = "A live endpoint")]
pub(super) struct TargetArgs {
    /// Attack this endpoint instead of the libraries, with at most 10,000 sequential requests in ten
    /// minutes: token introspection (RFC 7662, http://HOST:PORT/PATH), a token endpoint (with
    /// --target-grant), or a unary gRPC method
    /// (grpc://HOST:PORT/PACKAGE.SERVICE/METHOD) with the token in a string field
    #[arg(long, value_name = "URL", requires = "target_key", conflicts_with_all = ["seconds", "corpus", "subjects", "quick", "rounds", "budget"])]
    target: Option<String>,

    /// Private or symmetric JWK, with `alg`, whose tokens the endpoint accepts
    #[arg(long, value_name = "FILE", requires = "target")]
    target_key: Option<PathBuf>,

    /// Claims of the tokens, without the time claims [default: the lab's claims]
    #[arg(long, value_name = "JSON|@FILE|-", requires = "target")]
    target_claims: Option<Source>,

    /// Like --target-claims, but the value is always JSON text, never a file
    #[arg(
        long,
        value_name = "JSON",
        requires = "target",
        conflicts_with = "target_claims"
    )]
    target_claims_text: Option<Text>,

    /// Header parameter `typ` of the tokens [default: JWT]
    #[arg(long, value_name = "TYP", requires = "target")]
    target_typ: Option<String>,

    /// File with the value of the Authorization header on one line
    #[arg(long, value_name = "FILE", requires = "target")]
    target_authorization: Option<PathBuf>,

    /// Claims that the endpoint must check: iss, aud, exp, or jti if it accepts a token once; other claims are not tested
    #[arg(long, value_name = "CLAIM", value_delimiter = ',', value_parser = demand, requires = "target")]
    target_demands: Vec<Demand>,

    /// Clock skew that the endpoint allows, in seconds; tokens within it are not tested [default: 0]
    #[arg(long, value_name = "SECONDS", requires = "target")]
    target_leeway: Option<u64>,

    /// Grant of a token endpoint that takes the token: jwt-bearer (RFC 7523) or token-exchange (RFC 8693)
    #[arg(long, value_name = "GRANT", value_parser = grant, requires = "target")]
    target_grant: Option<Grant>,

    /// Field number of the token in the gRPC request message [default: 1]
    #[arg(long, value_name = "NUMBER", requires = "target")]
    target_token_field: Option<u32>,

    /// Another string field of the gRPC request message (repeatable)
    #[arg(long = "target-field", value_name = "NUMBER=TEXT", value_parser = field, requires = "target")]
    target_fields: Vec<(u32, String)>,

    /// Confirm that you may attack this target; required if it is not on this machine
    #[arg(long, requires = "target")]
    i_own_this_target: bool,
}

impl TargetArgs {
    /// Returns the options for the target, if one was given.
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
                "--target-token-field and --target-field require a gRPC target (grpc://HOST:PORT/…)"
                    .to_owned(),
            );
        }
        if self.target_grant.is_some() && target.protocol != Protocol::Introspection {
            return Err(
                "--target-grant requires a token endpoint (http://HOST:PORT/PATH)".to_owned(),
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
            grant: self.target_grant,
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
            .map_err(|_| "--target-claims: not a JSON object".to_owned())
    }
}

/// Reads the single line of a file, without the line end.
fn line_of(path: &std::path::Path) -> Result<Zeroizing<String>, String> {
    let bytes = input::key_bytes(path, FILE_BYTES_MAX).map_err(|f| f.message().to_owned())?;
    let text = std::str::from_utf8(input::without_line_end(&bytes));
    match text {
        Ok("") => Err(format!("{}: the line is empty", input::name_of(path))),
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(_) => Err(format!("{}: not UTF-8 text", input::name_of(path))),
    }
}

fn field(text: &str) -> Result<(u32, String), String> {
    let parts = text.split_once('=');
    let field = parts.and_then(|(number, text)| Some((number.parse().ok()?, text.to_owned())));
    field.ok_or_else(|| "expected NUMBER=TEXT, for example 2=api".to_owned())
}

fn grant(name: &str) -> Result<Grant, String> {
    match name {
        "jwt-bearer" => Ok(Grant::JwtBearer),
        "token-exchange" => Ok(Grant::TokenExchange),
        _ => Err("expected one of: jwt-bearer, token-exchange".to_owned()),
    }
}

fn demand(claim: &str) -> Result<Demand, String> {
    let known = Demand::named(claim).filter(|d| *d != Demand::NotBefore);
    known.ok_or_else(|| "expected one of: iss, aud, exp, jti".to_owned())
}
