//! Prints the `Authorization` header with which a GitHub App calls GitHub's API.

use std::process::ExitCode;
use std::time::Duration;

use jeton::error::{Error, KeyProblem};
use jeton::key::SigAlg;
use jeton::{Claims, jwt};

/// GitHub's clock may be behind this one.
const CLOCK_DRIFT: Duration = Duration::from_secs(60);
/// GitHub accepts at most 10 minutes.
const LIFETIME: Duration = Duration::from_secs(10 * 60);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [app_id, key_file] = arguments.as_slice() else {
        eprintln!("usage: github-app APP_ID KEY_FILE");
        return ExitCode::from(2);
    };
    match token(app_id, key_file) {
        Ok(token) => println!("Authorization: Bearer {token}"),
        Err(why) => {
            eprintln!("error: {key_file}: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn token(app_id: &str, key_file: &str) -> Result<String, String> {
    let pem = std::fs::read_to_string(key_file).map_err(|error| error.to_string())?;
    let key = jwt::SigningKey::from_pem_as(&pem, SigAlg::RS256).map_err(explain)?;
    let claims = Claims::registered()
        .issuer(app_id)
        .issued_ago(CLOCK_DRIFT)
        .expires_in(LIFETIME);
    key.issue(&claims).map_err(|error| error.to_string())
}

/// Says what the file is: the library's error names neither the expected key nor the given one.
fn explain(error: Error) -> String {
    let problem = match error {
        Error::Key(key) => key.problem(),
        other => return other.to_string(),
    };
    let why = match problem {
        KeyProblem::PublicGiven => "a public key; the private key is needed",
        KeyProblem::Malformed => "not a private key in PEM, or damaged; download it again",
        KeyProblem::Unsupported => "not an unencrypted private key; use the file as downloaded",
        _ => return error.to_string(),
    };
    why.to_owned()
}
