//! `jeton admin issuer`.

use clap::{Args, Subcommand};
use jeton_issuer::IssuerSettings;
use serde::Serialize;

use super::folder::{Administered, failure};
use super::display::{self, KeyRow};
use crate::exit::Outcome;
use crate::output;
use crate::source::{self, Source, Text};

const SETTINGS: &str = "\
Settings are JSON:
  {
    \"iss\": \"https://id.example\",
    \"profiles\": [
      {\"name\": \"access\", \"alg\": \"ES256\", \"lifetime_seconds\": 900, \"audiences\": [\"api\"]}
    ],
    \"lead_seconds\": 3600,
    \"max_age_seconds\": 300,
    \"rotate_every_seconds\": 2592000
  }
The last three are the defaults. A profile is one kind of token: alg is a JWS algorithm, HS256, or
v4.public, v4.local, v3.public, v3.local. A key is published for lead_seconds before it signs, and
verifiers may cache the key set for max_age_seconds, at most half of that.";

const ALL_SETTINGS: &str = "All settings: JSON, @FILE, or - for standard input";

/// Add, change, list and show issuers
#[derive(Debug, Args)]
pub(super) struct Issuer {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add an issuer, with its first keys; the first issuer makes the folder
    Add(Add),
    /// Give an issuer other settings; keys that its profiles need are published at once
    Set(Set),
    /// List the issuers
    List(List),
    /// Show an issuer's settings and keys
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
    folder: Administered,
}

#[derive(Debug, Args)]
#[command(mut_arg("settings", |settings| settings.help(ALL_SETTINGS)), after_help = format!("\
Examples:
  jeton admin issuer show https://id.example --json | jq .settings > issuer.json
  jeton admin issuer set @issuer.json

An algorithm that is new to the issuer signs after the lead. Keys that no profile uses any more
retire.

{SETTINGS}"))]
struct Set {
    #[command(flatten)]
    settings: SettingsArgument,

    #[command(flatten)]
    folder: Administered,
}

#[derive(Debug, Args)]
struct SettingsArgument {
    /// The settings: JSON, @FILE, or - for standard input
    #[arg(value_name = "SETTINGS|@FILE|-", required_unless_present = "text")]
    settings: Option<Source>,

    /// Like SETTINGS, but always the text itself, even if a file has that name
    #[arg(long, value_name = "JSON", conflicts_with = "settings")]
    text: Option<Text>,
}

#[derive(Debug, Args)]
struct List {
    /// Print them as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    folder: Administered,
}

#[derive(Debug, Args)]
struct Show {
    /// The issuer: its iss
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// Print settings and keys as JSON; private keys are not in it
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    folder: Administered,
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
        let opened = self.folder.open_or_make()?;
        let added = opened.node.create_issuer(&opened.actor, settings);
        added.map_err(failure)?;
        let (_, keyring) = opened.node.issuer(&iss).map_err(failure)?;
        output::status(format_args!(
            "added {iss} to {}",
            opened.folder.path().display()
        ));
        output::text(&display::keys(keyring.keys(), display::now()))
    }
}

impl Set {
    fn run(self) -> Outcome {
        let settings = self.settings.read()?;
        let opened = self.folder.open()?;
        let set = opened.node.set_issuer(&opened.actor, &settings);
        set.map_err(failure)?;
        let (_, keyring) = opened.node.issuer(settings.iss()).map_err(failure)?;
        output::text(&display::keys(keyring.keys(), display::now()))
    }
}

impl List {
    fn run(self) -> Outcome {
        let opened = self.folder.open()?;
        let issuers = opened.node.status().issuers;
        if self.json {
            return output::json(&issuers);
        }
        issuers.iter().try_for_each(|iss| output::line(iss))
    }
}

impl Show {
    fn run(self) -> Outcome {
        let opened = self.folder.open()?;
        let (settings, keyring) = opened.node.issuer(&self.iss).map_err(failure)?;
        let now = display::now();
        if self.json {
            return output::json(&IssuerJson {
                settings: &settings,
                keys: keyring
                    .keys()
                    .iter()
                    .map(|key| KeyRow::of(key, now))
                    .collect(),
            });
        }
        output::text(&display::settings(&settings))?;
        output::text(&display::keys(keyring.keys(), now))
    }
}

impl SettingsArgument {
    fn read(&self) -> Outcome<IssuerSettings> {
        let settings = self.settings.as_ref();
        let source = source::required(settings, self.text.as_ref(), "give the settings")?;
        IssuerSettings::from_json(&source.text("settings")?)
            .map_err(|error| failure(error).hint("`jeton admin issuer add --help` shows settings"))
    }
}
