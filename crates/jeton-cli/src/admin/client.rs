//! `jeton admin client`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jeton_server::{ClientSecret, Config, SecretHash};
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::{input, output, private_file};

/// What a client may be allowed.
const RIGHTS: [&str; 5] = ["issue", "verify", "revoke", "admin", "metrics"];
/// Rights that a client uses with a bearer token. The others are also for requests with its secret.
const RIGHTS_BY_TOKEN: [&str; 3] = ["issue", "admin", "metrics"];

/// The longest secret from elsewhere, bytes.
const SECRET_BYTES: usize = 1024;

/// Create credentials for clients of the token endpoint
///
/// The configuration of the server lists the clients, with hashes of their secrets. These commands create secrets and
/// hashes. They do not use the data folder.
#[derive(Debug, Args)]
pub(super) struct Client {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(New),
    Hash(Hash),
}

/// Create a client with a random secret, and print its entry for the configuration
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin client new ci --profile access -o ci.secret >> jeton.toml
  jeton admin client new ci --profile access --scope read -o ci.secret
  jeton admin client new ops --may admin --profile ops -o ops.secret

With --may issue, admin or metrics, the tokens that the client gets are its credential: \
`jeton token get --client ops --secret-file ops.secret > ops.token`, then \
`jeton admin status --server URL --bearer ops.token`. The configuration needs [bearer] with the audience of the profile.

The entry contains the SHA-256 of the secret. The secret has 256 random bits and is only in the file. The server \
reads its configuration again at SIGHUP.")]
struct New {
    /// Name of the client, its `client_id`
    #[arg(value_name = "NAME")]
    name: String,

    /// Issuer whose tokens the client gets, by its `iss`; `*` means all
    #[arg(long, value_name = "ISS", default_value = "*")]
    issuer: String,

    /// Profile of its tokens
    #[arg(long, value_name = "NAME")]
    profile: String,

    /// Scope that its tokens may have (repeatable)
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,

    /// Audience that its tokens may have (repeatable) [default: the audiences of the profile]
    #[arg(long = "audience", value_name = "TEXT")]
    audiences: Vec<String>,

    /// Right besides `token`, to get tokens for itself (repeatable)
    #[arg(long = "may", value_name = "RIGHT", value_parser = RIGHTS)]
    rights: Vec<String>,

    /// New file for the secret, readable only by its owner
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Hash an existing secret, and print the hash for the configuration
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin client hash --secret-file old.secret
  jeton admin client hash --secret-file - < old.secret

The hash is Argon2id (RFC 9106), because an existing secret may be guessable. Add it to `secrets` of the \
client.

Clients must percent-encode + % = and & of a secret in HTTP Basic (RFC 6749, section 2.3.1), and many do not. The \
server compares both forms, which takes a second computation. To avoid it, use a secret of letters and digits.")]
struct Hash {
    /// File with the secret on one line (- for standard input)
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,
}

impl Client {
    pub(super) fn run(self) -> Outcome {
        match self.command {
            Command::New(new) => new.run(),
            Command::Hash(hash) => hash.run(),
        }
    }
}

impl New {
    fn run(self) -> Outcome {
        let secret = ClientSecret::generate().map_err(failure)?;
        let entry = self.entry(&secret.hash());
        // The server reads the entry with the same code.
        let bearer = "[bearer]\nissuer = \"i\"\naudience = \"a\"\n";
        Config::from_toml(&format!("{bearer}{entry}"))
            .map_err(|error| Failure::error(error.to_string()))?;
        let line = Zeroizing::new(format!("{}\n", secret.text()));
        private_file::create(
            &self.output,
            line.as_bytes(),
            "secrets are never overwritten",
        )?;
        output::text(&entry)
    }

    fn entry(&self, hash: &SecretHash) -> String {
        let list = |texts: &[String]| {
            let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
            format!("[{}]", texts.join(", "))
        };
        let mut token = format!("profile = {}", quoted(&self.profile));
        for (key, texts) in [("scopes", &self.scopes), ("audiences", &self.audiences)] {
            if !texts.is_empty() {
                token.push_str(&format!(", {key} = {}", list(texts)));
            }
        }
        let name = quoted(&self.name);
        let mut rights = vec!["token".to_owned()];
        rights.extend(self.rights.iter().cloned());
        let is_by_token = |right: &String| RIGHTS_BY_TOKEN.contains(&right.as_str());
        let subject = if rights.iter().any(is_by_token) {
            format!("bearer_subject = {name}\n")
        } else {
            String::new()
        };
        format!(
            "\n[[client]]\nname = {name}\nsecrets = [\"{hash}\"]\n{subject}may = {}\nissuers = [{}]\n\
             tokens = [{{{token}}}]\n",
            list(&rights),
            quoted(&self.issuer)
        )
    }
}

impl Hash {
    fn run(self) -> Outcome {
        let secret = input::password(&self.secret_file, SECRET_BYTES)?;
        note_encoded(&secret);
        let hash = SecretHash::of_imported(&secret).map_err(failure)?;
        output::line(&hash.to_string())
    }
}

/// Notes the characters that some clients percent-encode and others do not.
fn note_encoded(secret: &str) {
    let found = ["+", "%", "=", "&"].into_iter();
    let found: Vec<&str> = found.filter(|char| secret.contains(char)).collect();
    if !found.is_empty() {
        output::note(format_args!(
            "the secret contains {}: clients must percent-encode it in HTTP Basic, and many do not; the server \
             compares both forms, which takes a second computation",
            found.join(" ")
        ));
    }
}

/// A TOML string. JSON escapes all that TOML requires to be escaped, except one character.
pub(super) fn quoted(text: &str) -> String {
    serde_json::json!(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}

fn failure(error: jeton_server::SecretError) -> Failure {
    Failure::error(error.to_string())
}
