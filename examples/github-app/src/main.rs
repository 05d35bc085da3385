//! Prints the `Authorization` header with which a GitHub App calls GitHub's API.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use jeton::Claims;
use jeton::key::{AnyKey, SigAlg};

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

/// Signs with any form of the key. If the file is something else, the error says what it is.
fn token(app_id: &str, key_file: &str) -> Result<String, Box<dyn Error>> {
    let key = AnyKey::from_bytes(&std::fs::read(key_file)?)?.signing(SigAlg::RS256)?;
    let claims = Claims::registered()
        .issuer(app_id)
        .issued_ago(CLOCK_DRIFT)
        .expires_in(LIFETIME);
    Ok(key.issue(&claims)?)
}
