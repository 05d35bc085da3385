//! The jeton command: mints, checks and measures security tokens.
//!
//! Data goes to standard output, talk to standard error. Exit 0: done; 1: the token was rejected;
//! 2: the call was wrong or a file could not be read or written.

// The nouns
mod admin;
mod doctor;
mod inspect;
mod jwe;
mod jws;
mod jwt;
mod key;
mod lab;
mod manual;
mod paseto;
mod serve;
mod token;

// What they share: arguments in, answers out
mod algorithm;
mod call;
mod claims;
mod demands;
mod doors;
mod exit;
mod header_style;
mod input;
mod jose;
mod json;
mod kept_back;
mod keyfile;
mod output;
mod printable;
mod private_file;
mod refusal;
mod shell;
mod source;
mod time;
mod verdict;
mod verification;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  jeton key new --alg ES256 -o private.jwk
  jeton key public private.jwk > public.jwk
  jeton jwt sign --key private.jwk --claims '{\"aud\":\"api\"}' --expires-in 15m > token
  jeton jwt verify --key public.jwk --audience api @token
  jeton jwe encrypt --key reader.pub.jwk --enc A256GCM @contract.pdf > contract.jwe
  jeton inspect @token
  jeton doctor --keys https://id.example/jwks.json @token
  jeton lab run --quick
  jeton serve

Tokens, claims and payloads are given as the text itself, as @FILE, or as - for standard input. A
script passes text that others chose with --text, or of an option such as --claims with
--claims-text: then nothing in it is read as the name of a file.

Data goes to standard output, talk to standard error. Exit code 0: done; 1: the token was rejected;
2: the call was wrong, or something could not be read or written.";

/// Mints, checks and measures security tokens.
#[derive(Debug, Parser)]
#[command(
    name = "jeton",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = EXAMPLES
)]
struct Jeton {
    #[command(subcommand)]
    noun: Noun,
}

#[derive(Debug, Subcommand)]
enum Noun {
    /// Make, show and convert keys
    Key(key::Key),
    /// Issue and verify JSON Web Tokens
    Jwt(jwt::Jwt),
    /// Sign any bytes, and verify them
    Jws(jws::Jws),
    /// Encrypt any bytes, and decrypt them
    Jwe(jwe::Jwe),
    /// Issue and verify PASETOs
    Paseto(paseto::Paseto),
    /// Look at a token or key of any format; nothing is verified
    Inspect(inspect::Inspect),
    Doctor(doctor::Doctor),
    /// Issue, verify and revoke tokens over gRPC and HTTP
    Serve(serve::Serve),
    /// Have a running service issue, verify and revoke tokens
    Token(token::Token),
    /// Measure token formats, algorithms and libraries side by side on this machine
    Lab(lab::Lab),
    Admin(admin::Admin),
    /// Write the completions of a shell
    Completions(manual::Completions),
    /// Write the manual's pages
    Man(manual::Man),
}

fn main() -> ExitCode {
    let jeton: Jeton = match call::read() {
        Ok(jeton) => jeton,
        Err(code) => return code,
    };
    match jeton.noun {
        Noun::Key(key) => exit::end(key.run()),
        Noun::Jwt(jwt) => exit::end(jwt.run()),
        Noun::Jws(jws) => exit::end(jws.run()),
        Noun::Jwe(jwe) => exit::end(jwe.run()),
        Noun::Paseto(paseto) => exit::end(paseto.run()),
        Noun::Inspect(inspect) => exit::end(inspect.run()),
        Noun::Doctor(doctor) => exit::end(doctor.run()),
        Noun::Serve(serve) => exit::end(serve.run()),
        Noun::Token(token) => exit::end(token.run()),
        Noun::Lab(lab) => lab.run(),
        Noun::Admin(admin) => exit::end(admin.run()),
        Noun::Completions(completions) => exit::end(completions.run(Jeton::command())),
        Noun::Man(man) => exit::end(man.run(Jeton::command())),
    }
}
