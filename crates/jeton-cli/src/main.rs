//! The `jeton` command: issues and verifies security tokens.
//!
//! Results go to standard output, diagnostics to standard error. Exit codes: 0 success; 1 the token was rejected;
//! 2 invalid usage, or a file could not be read or written.

// Commands
mod admin;
#[cfg(test)]
mod bounds_pages;
mod doctor;
mod inspect;
mod jwe;
mod jws;
mod jwt;
mod key;
mod lab;
mod limit_args;
mod paseto;
mod serve;
mod token;
mod verify;

// Shared by the commands
mod algorithm;
mod allow;
mod atomic_file;
mod claims;
mod command_result;
mod connection;
mod fetch;
mod header_member;
mod header_style;
mod jose;
mod keyfile;
mod nearest;
mod pasted;
mod policy_args;
mod private_file;
mod rejection_hints;
mod token_argument;
mod verification;
mod verification_output;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
// Modules of this program name them as their own.
use jeton_terminal::{
    args, escape, exit, input, json, manual, output, redact, shell, source, time,
};

const EXAMPLES: &str = "\
Examples:
  jeton key new --alg ES256 -o private.jwk
  jeton key public private.jwk > public.jwk
  jeton jwt sign --key private.jwk --claims @claims.json --expires-in 15m
  jeton jwt verify --key public.jwk --audience api @token
  jeton jwe encrypt --key reader.jwk @document.pdf > document.jwe
  jeton inspect @token
  jeton doctor --key https://id.example/jwks.json @token
  jeton serve

Pass tokens, claims and payloads as text, as @FILE, or as - for standard input. In scripts, pass untrusted text \
with --text (or --claims-text for --claims): it is never read as a file name.

Results go to standard output, diagnostics to standard error.

Exit codes: 0 success; 1 the token was rejected; 2 invalid usage, or a file could not be read or written.";

/// Issue, verify and measure security tokens
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
    /// Create and convert keys
    Key(key::Key),
    /// Issue and verify JSON Web Tokens (JWT)
    Jwt(jwt::Jwt),
    /// Sign and verify arbitrary payloads (JWS)
    Jws(jws::Jws),
    /// Encrypt and decrypt arbitrary payloads (JWE)
    Jwe(jwe::Jwe),
    /// Issue and verify PASETOs
    Paseto(paseto::Paseto),
    Verify(verify::Verify),
    /// Show a token or key of any format, and verify it if keys are given
    #[command(visible_alias = "decode")]
    Inspect(inspect::Inspect),
    Doctor(doctor::Doctor),
    /// Run the token service over gRPC and HTTP
    Serve(serve::Serve),
    /// Issue, verify and revoke tokens with a running service
    Token(token::Token),
    Lab(lab::Lab),
    Admin(admin::Admin),
    #[command(after_help = "\
Examples:
  jeton completions bash > ~/.local/share/bash-completion/completions/jeton
  jeton completions zsh > ~/.zfunc/_jeton
  jeton completions fish > ~/.config/fish/completions/jeton.fish")]
    Completions(manual::Completions),
    #[command(after_help = "\
Examples:
  jeton man | man -l -
  jeton man --out ~/.local/share/man/man1")]
    Man(manual::Man),
}

fn main() -> ExitCode {
    let jeton: Jeton = match args::parse() {
        Ok(jeton) => jeton,
        Err(code) => return code,
    };
    match jeton.command {
        Command::Key(key) => output::report(key.run()),
        Command::Jwt(jwt) => output::report(jwt.run()),
        Command::Jws(jws) => output::report(jws.run()),
        Command::Jwe(jwe) => output::report(jwe.run()),
        Command::Paseto(paseto) => output::report(paseto.run()),
        Command::Verify(verify) => output::report(verify.run()),
        Command::Inspect(inspect) => output::report(inspect.run()),
        Command::Doctor(doctor) => output::report(doctor.run()),
        Command::Serve(serve) => output::report(serve.run()),
        Command::Token(token) => output::report(token.run()),
        Command::Lab(lab) => lab.run(),
        Command::Admin(admin) => output::report(admin.run()),
        Command::Completions(completions) => output::report(completions.run(Jeton::command())),
        Command::Man(man) => output::report(man.run(Jeton::command())),
    }
}
