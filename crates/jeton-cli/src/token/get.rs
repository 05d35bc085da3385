use std::path::{Path, PathBuf};
use std::time::Duration;

use base64ct::{Base64, Base64UrlUnpadded, Encoding as _};
use clap::{ArgGroup, Args};
use jeton::Claims;
use jeton::key::Alg;
use serde_json::Value;
use zeroize::Zeroizing;

use super::server::Address;
use crate::allow::Allowed;
use crate::connection::http_post::{self, Response};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{KeyFile, Signer};
use crate::{algorithm, input, output};

/// The longest client secret, bytes.
const SECRET_BYTES: usize = 1024;
/// How long an assertion of the client is valid: once, for one request.
const ASSERTION_LIFETIME: Duration = Duration::from_secs(60);
/// The longest token, bytes.
const TOKEN_BYTES: usize = 2 * 1024 * 1024;

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const CLIENT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton token get --client ci --secret-file ci.secret --scope read > token
  jeton token get --client ci --issuer https://id.example --signing-key ci.jwk
  jeton token get --client-certificate ci.pem --client-key ci.key
  jeton token get --issuer https://id.example/tenant --assertion-file github.jwt
  jeton token get --client a --secret-file a.key --subject-token-file token

A client authenticates with a secret, with a signature (private_key_jwt), or with a certificate.

Without --assertion-file and --subject-token-file, the client gets a token for itself (RFC 6749, section 4.4). An assertion \
is a token of an outside issuer that the server trusts (RFC 7523). A subject token is exchanged (RFC 8693).")]
#[command(group = ArgGroup::new("client_credential").args(["secret_file", "signing_key"]))]
pub(super) struct Get {
    #[command(flatten)]
    server: Address,

    /// Name of the client, its `client_id`
    #[arg(long, value_name = "NAME", requires = "client_credential")]
    client: Option<String>,

    /// File with the secret of the client on one line (- for standard input)
    #[arg(long, value_name = "FILE", requires = "client")]
    secret_file: Option<PathBuf>,

    /// Private key file of the client, with which it signs an assertion: JWK, PEM or DER (- for standard input); requires --issuer
    #[arg(long, value_name = "FILE", requires_all = ["client", "issuer"])]
    signing_key: Option<PathBuf>,

    /// Algorithm of --signing-key, required if the key has no `alg` (RSA)
    #[arg(long, value_name = "NAME", value_parser = algorithm::signing(), hide_possible_values = true, requires = "signing_key")]
    alg: Option<Alg>,

    /// Scope of the token (repeatable) [default: all scopes of the client]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,

    /// Audience of the token, as a name [default: the first audience of the client]
    #[arg(long, value_name = "TEXT", conflicts_with = "resource")]
    audience: Option<String>,

    /// Audience of the token, as a URL (RFC 8707)
    #[arg(long, value_name = "URL")]
    resource: Option<String>,

    /// File with a token of an outside issuer (- for standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "subject_token_file")]
    assertion_file: Option<PathBuf>,

    /// File with the token to exchange (- for standard input)
    #[arg(long, value_name = "FILE")]
    subject_token_file: Option<PathBuf>,

    /// File with the token of the acting party (- for standard input)
    #[arg(long, value_name = "FILE", requires = "subject_token_file")]
    actor_token_file: Option<PathBuf>,

    /// Print the whole response as JSON
    #[arg(long)]
    json: bool,
}

impl Get {
    pub(super) fn run(self) -> Outcome {
        let form = self.form()?;
        let authorization = self.authorization()?;
        let path = format!("{}/token", self.issuer_path());
        let authorization = authorization.as_ref().map(|value| value.as_str());
        let settings = self.server.settings(None)?;
        let response = http_post::post(&settings, &path, form, authorization)?;
        let body = json_of(&response)?;
        match (self.json, body.get("access_token").and_then(Value::as_str)) {
            (_, None) => Err(Failure::error("the response has no `access_token`")),
            (true, _) => output::json(&body),
            (false, Some(token)) => output::line(token),
        }
    }

    /// The path of the issuer's URL, without a slash at the end.
    fn issuer_path(&self) -> String {
        let issuer = self.server.issuer.as_deref().unwrap_or_default();
        let rest = issuer
            .strip_prefix("https://")
            .or_else(|| issuer.strip_prefix("http://"));
        let path = match rest {
            Some(rest) => rest.find('/').map_or("", |start| &rest[start..]),
            None if issuer.is_empty() => "",
            None => return format!("/{issuer}"),
        };
        path.trim_end_matches('/').to_owned()
    }

    fn form(&self) -> Outcome<Zeroizing<String>> {
        let assertion = self.client_assertion()?;
        let scope = self.scopes.join(" ");
        let mut form = form_urlencoded::Serializer::new(String::new());
        if let Some(file) = &self.assertion_file {
            form.append_pair("grant_type", JWT_BEARER);
            form.append_pair("assertion", &token(file)?);
        } else if let Some(file) = &self.subject_token_file {
            form.append_pair("grant_type", EXCHANGE);
            form.append_pair("subject_token", &token(file)?);
            form.append_pair("subject_token_type", ACCESS_TOKEN);
            if let Some(file) = &self.actor_token_file {
                form.append_pair("actor_token", &token(file)?);
                form.append_pair("actor_token_type", ACCESS_TOKEN);
            }
        } else {
            form.append_pair("grant_type", "client_credentials");
        }
        let more = [
            (
                "scope",
                Some(scope.as_str()).filter(|scope| !scope.is_empty()),
            ),
            ("audience", self.audience.as_deref()),
            ("resource", self.resource.as_deref()),
        ];
        for (name, value) in more {
            if let Some(value) = value {
                form.append_pair(name, value);
            }
        }
        if let Some(assertion) = assertion {
            form.append_pair("client_assertion_type", CLIENT_ASSERTION);
            form.append_pair("client_assertion", &assertion);
        }
        Ok(Zeroizing::new(form.finish()))
    }

    /// Signs the assertion of the client (RFC 7523, section 3).
    fn client_assertion(&self) -> Outcome<Option<Zeroizing<String>>> {
        let (Some(client), Some(file), Some(issuer)) =
            (&self.client, &self.signing_key, &self.server.issuer)
        else {
            return Ok(None);
        };
        let key = KeyFile::read(file)?.to_sign(self.alg, None, &Allowed::default())?;
        let Signer::Private(key) = key else {
            let what = format!(
                "{}: a symmetric key (kty oct) cannot sign",
                input::name_of(file)
            );
            return Err(
                Failure::error(what).hint("to create a key, run `jeton key new --alg ES256`")
            );
        };
        let claims = Claims::new(())
            .issuer(client.as_str())
            .subject(client.as_str())
            .audience(issuer.as_str())
            .token_id(random_id()?)
            .expires_in(ASSERTION_LIFETIME);
        let assertion = key.issue(&claims);
        let assertion = assertion.map_err(|error| Failure::error(error.to_string()))?;
        Ok(Some(Zeroizing::new(assertion)))
    }

    /// HTTP Basic authentication, with both parts encoded as in a form (RFC 6749, section 2.3.1).
    fn authorization(&self) -> Outcome<Option<Zeroizing<String>>> {
        let (Some(client), Some(file)) = (&self.client, &self.secret_file) else {
            return Ok(None);
        };
        let secret = input::password(file, SECRET_BYTES)?;
        let encode = |text: &str| {
            let encoded: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
            Zeroizing::new(encoded)
        };
        let (client, secret) = (encode(client), encode(&secret));
        let pair = Zeroizing::new(format!("{}:{}", *client, *secret));
        let encoded = Zeroizing::new(Base64::encode_string(pair.as_bytes()));
        Ok(Some(Zeroizing::new(format!("Basic {}", *encoded))))
    }
}

/// An id that no other assertion has.
fn random_id() -> Outcome<String> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes)
        .map_err(|_| Failure::error("the random generator of the system failed"))?;
    Ok(Base64UrlUnpadded::encode_string(&bytes))
}

/// Reads a file with a token.
fn token(file: &Path) -> Outcome<Zeroizing<String>> {
    let bytes = input::key_bytes(file, TOKEN_BYTES)?;
    match std::str::from_utf8(&bytes).map(str::trim) {
        Ok("") => Err(Failure::error(format!("{} is empty", input::name_of(file)))),
        Ok(token) => Ok(Zeroizing::new(token.to_owned())),
        Err(_) => Err(Failure::error(format!(
            "{}: not a token: not UTF-8 text",
            input::name_of(file)
        ))),
    }
}

/// The body of a successful response, or the error of RFC 6749, section 5.2.
fn json_of(response: &Response) -> Outcome<Value> {
    let status = response.status.as_u16();
    let body: Option<Value> = serde_json::from_slice(&response.body).ok();
    if response.status.is_success() {
        return body.ok_or_else(|| Failure::error("the response is not JSON"));
    }
    let text = |name: &str| body.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let message = match (text("error"), text("error_description")) {
        (Some(error), Some(what)) => format!("{error}: {what}"),
        (Some(error), None) => error,
        _ => {
            format!("the server responded with status {status}: is this the address of an issuer?")
        }
    };
    let failure = match text("error").as_deref() {
        Some("invalid_grant") => Failure::rejected(message),
        _ => Failure::error(message),
    };
    Err(match status {
        401 => failure.hint(
            "to authenticate, add `--client NAME` with `--secret-file FILE` or `--signing-key FILE`, or \
             `--client-certificate FILE --client-key FILE`",
        ),
        503 => failure.hint("try again; the log of the server has the cause"),
        _ => failure,
    })
}
