use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::set_file::SetFile;
use crate::exit::{Failure, Outcome};
use crate::keyfile::{Form, Half, KEY_ERROR_PREFIX, KeyFile};
use crate::{escape, output};

/// The longest key id in the table, characters. A thumbprint has 43.
const KID_SHOWN: usize = 43;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key set list jwks.json
  jeton key set list --json jwks.json | jq -r '.[].kid'

The table shortens a long key id, and --json prints it in full.

Exit codes: 0 success; 1 two keys have the same key id; 2 invalid usage, or the file could not be read.")]
pub(super) struct List {
    /// File with the key set (- for standard input)
    #[arg(value_name = "SET")]
    set: PathBuf,

    /// Print the keys as JSON
    #[arg(long)]
    json: bool,
}

/// The members of a JWK that are not key material.
#[derive(Default, Deserialize)]
struct Members {
    kid: Option<String>,
    alg: Option<String>,
    kty: Option<String>,
    crv: Option<String>,
    #[serde(rename = "use")]
    intended: Option<String>,
}

/// One key of the list.
#[derive(Serialize)]
struct Row {
    kid: Option<String>,
    alg: Option<String>,
    kty: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crv: Option<String>,
    #[serde(rename = "use")]
    intended: Option<String>,
    secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thumbprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl List {
    pub(super) fn run(self) -> Outcome {
        let set = SetFile::read(&self.set)?;
        let rows: Vec<Row> = set.keys().iter().map(Row::of).collect();
        match self.json {
            true => output::json(&rows)?,
            false if rows.is_empty() => output::note("the set has no key"),
            false => output::text(&table(&rows))?,
        }
        if rows.iter().any(|row| row.secret) {
            output::note("the set has a secret key; do not publish it");
        }
        set.check_ids(Failure::finding)
    }
}

impl Row {
    fn of(file: &KeyFile) -> Row {
        let members: Members = match file.form() {
            Form::Jwk(text) => serde_json::from_str(text).unwrap_or_default(),
            _ => Members::default(),
        };
        let key = file.any_algorithm();
        let (secret, thumbprint, error) = match &key {
            // The thumbprint of a symmetric key is a hash of the secret.
            Ok(key) if key.half() == Half::Symmetric => (true, None, None),
            Ok(key) => (key.half() == Half::Private, Some(key.thumbprint()), None),
            Err(failure) => {
                let message = failure.message();
                let reason = message.split_once(KEY_ERROR_PREFIX);
                let reason = reason.map_or(message, |(_, reason)| reason);
                (file.has_secret(), None, Some(reason.to_owned()))
            }
        };
        Row {
            kid: members.kid,
            alg: members.alg,
            kty: members.kty,
            crv: members.crv,
            intended: members.intended,
            secret,
            thumbprint,
            error,
        }
    }

    fn cells(&self) -> [String; 5] {
        let text = |value: &Option<String>| value.as_deref().map_or("-".to_owned(), shown);
        let kind = match (&self.kty, &self.crv) {
            (Some(kty), Some(crv)) => shown(&format!("{kty} {crv}")),
            (kty, _) => text(kty),
        };
        let state = match (&self.error, self.secret) {
            (Some(error), _) => format!("unusable: {}", escape::line(error)),
            (None, true) => "secret".to_owned(),
            (None, false) => String::new(),
        };
        [
            text(&self.kid),
            text(&self.alg),
            kind,
            text(&self.intended),
            state,
        ]
    }
}

/// Escapes and shortens a value.
fn shown(value: &str) -> String {
    match value.char_indices().nth(KID_SHOWN) {
        Some((end, _)) => format!("{}…", escape::line(&value[..end])),
        None => escape::line(value).to_string(),
    }
}

fn table(rows: &[Row]) -> String {
    let titles = ["KID", "ALG", "TYPE", "USE", ""].map(str::to_owned);
    let rows: Vec<[String; 5]> = [titles]
        .into_iter()
        .chain(rows.iter().map(Row::cells))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..4).filter_map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a String cannot fail.
            let _ = write!(line, "{cell:width$}  ");
        }
        line.push_str(&row[4]);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
