//! `jeton admin issuer`.

use clap::{Args, Subcommand};
use jeton_issuer::IssuerSettings;
use serde::Serialize;

use super::display::{self, KeyRow};
use super::failure::failure;
use super::target::TargetArgs;
use crate::exit::Outcome;
use crate::output;
use crate::source::{self, Source, Text};

const SETTINGS: &str = "\
Settings are one JSON object:
  {
    \"iss\": \"https://id.example\",
    \"profiles\": [
      {
        \"name\": \"access\",
        \"alg\": \"ES256\",
        \"lifetime_seconds\": 900,
        \"audiences\": [\"api\"]
      }
    ],
    \"publish_before_use_seconds\": 3600,
    \"max_age_seconds\": 300,
    \"rotate_every_seconds\": 2592000
  }

The last three members are optional, and have these values by default.

A profile describes one kind of token. Its alg is a JWS algorithm such as ES256 or HS256, or v4.public, \
v4.local, v3.public or v3.local. The member typ is optional: JWT, or at+jwt for access tokens (RFC 9068).

A new key is published for publish_before_use_seconds before it signs. Verifiers may cache the key set for \
max_age_seconds, which is at most half of that.";

const ALL_SETTINGS: &str = "All settings, a JSON object: as text, @FILE, or - for standard input";

/// Add, change, list and show issuers
#[derive(Debug, Args)]
pub(super) struct Issuer {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add an issuer with its first keys; the first issuer creates the data folder
    Add(Add),
    /// Replace the settings of an issuer; keys for new algorithms are published at once
    Set(Set),
    /// List the issuers
    List(List),
    /// Show the settings and keys of an issuer
    Show(Show),
}

#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  jeton admin issuer add @issuer.json
  jeton admin issuer add --data /var/lib/jeton - < issuer.json

{SETTINGS}"))]
struct Add {
    #[command(flatten)]
    settings: SettingsArgument,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("settings", |settings| settings.help(ALL_SETTINGS)), after_help = format!("\
Examples:
  jeton admin issuer show https://id.example --json | jq .settings > issuer.json
  jeton admin issuer set @issuer.json

The key for a new algorithm signs after the pre-publication period. Keys that no profile uses are retired.

{SETTINGS}"))]
struct Set {
    #[command(flatten)]
    settings: SettingsArgument,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
struct SettingsArgument {
    /// Settings, a JSON object: as text, @FILE, or - for standard input
    #[arg(value_name = "SETTINGS|@FILE|-", required_unless_present = "text")]
    settings: Option<Source>,

    /// Settings as text, never read as @FILE or -
    #[arg(long, value_name = "JSON", conflicts_with = "settings")]
    text: Option<Text>,
}

#[derive(Debug, Args)]
struct List {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
struct Show {
    /// Issuer, by its `iss`
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// Print the result as JSON, without private keys
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Serialize)]
struct IssuerJson<'i> {
    settings: &'i IssuerSettings,
    keys: Vec<KeyRow<'i>>,
}

impl Issuer {
    pub(super) fn run(self) -> Outcome {
        match self.command {
            Command::Add(add) => add.run(),
            Command::Set(set) => set.run(),
            Command::List(list) => list.run(),
            Command::Show(show) => show.run(),
        }
    }
}

impl Add {
    fn run(self) -> Outcome {
        let settings = self.settings.read()?;
        let iss = settings.iss().to_owned();
        let target = self.target.open_or_create()?;
        target.create_issuer(settings)?;
        let added = target.issuer(&iss)?;
        output::status(format_args!("added {iss} to {}", target.name()));
        output::text(&display::keys(&added.keys))
    }
}

impl Set {
    fn run(self) -> Outcome {
        let settings = self.settings.read()?;
        let target = self.target.open()?;
        target.set_issuer(&settings)?;
        let set = target.issuer(settings.iss())?;
        output::text(&display::keys(&set.keys))
    }
}

impl List {
    fn run(self) -> Outcome {
        let issuers = self.target.open()?.issuers()?;
        if self.json {
            return output::json(&issuers);
        }
        issuers.iter().try_for_each(|iss| output::line(iss))
    }
}

impl Show {
    fn run(self) -> Outcome {
        let shown = self.target.open()?.issuer(&self.iss)?;
        if self.json {
            return output::json(&IssuerJson {
                settings: &shown.settings,
                keys: shown.keys.iter().map(KeyRow::of).collect(),
            });
        }
        output::text(&display::settings(&shown.settings))?;
        output::text(&display::keys(&shown.keys))
    }
}

impl SettingsArgument {
    fn read(&self) -> Outcome<IssuerSettings> {
        let settings = self.settings.as_ref();
        let source = source::required(
            settings,
            self.text.as_ref(),
            "no settings: pass them as an argument",
        )?;
        IssuerSettings::from_json(&source.text("settings")?).map_err(|error| {
            failure(error).hint("to see an example, run `jeton admin issuer add --help`")
        })
    }
}
