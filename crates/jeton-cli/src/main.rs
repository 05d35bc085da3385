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
mod args;
mod claims;
mod policy_args;
mod allow;
mod exit;
mod header_style;
mod input;
mod jose;
mod json;
mod redact;
mod keyfile;
mod output;
mod escape;
mod private_file;
mod rejection_hints;
mod shell;
mod source;
mod time;
mod verification_output;
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
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
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
    let jeton: Jeton = match args::parse() {
        Ok(jeton) => jeton,
        Err(code) => return code,
    };
    match jeton.command {
        Command::Key(key) => exit::report(key.run()),
        Command::Jwt(jwt) => exit::report(jwt.run()),
        Command::Jws(jws) => exit::report(jws.run()),
        Command::Jwe(jwe) => exit::report(jwe.run()),
        Command::Paseto(paseto) => exit::report(paseto.run()),
        Command::Inspect(inspect) => exit::report(inspect.run()),
        Command::Doctor(doctor) => exit::report(doctor.run()),
        Command::Serve(serve) => exit::report(serve.run()),
        Command::Token(token) => exit::report(token.run()),
        Command::Lab(lab) => lab.run(),
        Command::Admin(admin) => exit::report(admin.run()),
        Command::Completions(completions) => exit::report(completions.run(Jeton::command())),
        Command::Man(man) => exit::report(man.run(Jeton::command())),
    }
}
