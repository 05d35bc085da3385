//! Key sets that are fetched.

use serde::Deserialize;

use super::KeyFile;
use crate::exit::{Failure, Outcome};
use crate::fetch::{Fetched, Problem, RemoteKeys, SHOWN_BYTES};
use crate::output;

impl KeyFile {
    /// Fetches the keys to verify with.
    pub(crate) fn fetch(remote: &RemoteKeys) -> Outcome<KeyFile> {
        let name = remote.name();
        let fetched = remote
            .fetch()
            .and_then(|fetched| KeyFile::of_response(&name, &fetched));
        let file = fetched.map_err(|Problem { what, how }| {
            let failure = Failure::error(format!("{name}: {what}"));
            if how.is_empty() {
                failure
            } else {
                failure.hint(how)
            }
        })?;
        for key in file.set_keys()?.iter().flatten() {
            if key.is_secret() {
                let name = key.name();
                output::note(format_args!(
                    "skipped: {name}: the key is secret, and anyone can read it"
                ));
            }
        }
        let file = file.without_secrets()?;
        let file = file.ok_or_else(|| {
            Failure::error(format!(
                "{name}: all keys are secret, and anyone can read them"
            ))
        })?;
        file.note_ignored();
        Ok(file)
    }

    /// Returns the key set, or what the response is instead.
    pub(crate) fn of_response(name: &str, response: &Fetched) -> Result<KeyFile, Problem> {
        response.check_status()?;
        if response.body.trim_ascii_start().starts_with(b"<") {
            return Err(Problem::new(
                "the response is an HTML page, not a key set",
                "check the URL: a login page or a proxy may have answered",
            ));
        }
        if let Some(metadata) = Metadata::of(&response.body) {
            return Err(Problem::new(
                "the response is provider metadata, not a key set",
                format!("use the URL in jwks_uri: {}", metadata.jwks_uri),
            ));
        }
        KeyFile::of(name, &response.body).map_err(|_| {
            Problem::new(
                "the response is not a key set",
                "a key set is a JSON object with the member keys (RFC 7517, section 5)",
            )
        })
    }
}

/// Provider metadata (RFC 8414).
#[derive(Deserialize)]
struct Metadata {
    jwks_uri: String,
}

impl Metadata {
    fn of(body: &[u8]) -> Option<Metadata> {
        let metadata: Metadata = serde_json::from_slice(body).ok()?;
        (metadata.jwks_uri.len() <= SHOWN_BYTES).then_some(metadata)
    }
}
