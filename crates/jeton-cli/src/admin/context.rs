//! `jeton admin context`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::client::quoted;
use super::display;
use crate::connection::{ClientFile, Context, client_file_path};
use crate::exit::{Failure, Outcome};
use crate::private_file::unwritable;
use crate::{input, output, redact};

/// The longest name of a new context, bytes.
const NAME_BYTES: usize = 64;

/// Show and add contexts of the client file: servers, and the credentials for them
///
/// The client file is `$XDG_CONFIG_HOME/jeton/client.toml` (`~/.config/jeton/client.toml`), or the file that
/// JETON_CLIENT_FILE names. It contains no secrets, only names of files. `jeton admin` and `jeton token` use the context
/// that --context or JETON_CONTEXT names, or the current one. Options and the environment come before the context:
/// JETON_SERVER, JETON_ADMIN_SERVER, JETON_CA, JETON_CLIENT_CERTIFICATE, JETON_CLIENT_KEY, JETON_BEARER.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin context set local --admin-server http://127.0.0.1:8421
  jeton admin context use local
  jeton admin context list
  jeton admin status --context local")]
pub(super) struct ContextCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the contexts; a * is before the current one
    List,
    /// Show the members of a context
    Show(Show),
    /// Add a context to the client file, which is created if it is missing
    Set(Set),
    /// Make a context the current one
    Use(Use),
}

#[derive(Debug, Args)]
struct Show {
    /// Name of the context [default: the current one]
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, Args)]
struct Use {
    /// Name of the context
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(Debug, Args)]
struct Set {
    /// Name of the context: letters, digits, - and _
    #[arg(value_name = "NAME")]
    name: String,

    /// URL of the data listener, for `jeton token`
    #[arg(long, value_name = "URL", required_unless_present = "admin_server")]
    server: Option<String>,

    /// URL of the admin listener, for `jeton admin`
    #[arg(long, value_name = "URL")]
    admin_server: Option<String>,

    /// PEM file with the certificate authorities that verify the server
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// PEM file with the client certificate
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_certificate: Option<PathBuf>,

    /// PEM file with the private key of --client-certificate
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    client_key: Option<PathBuf>,

    /// File with the bearer token
    #[arg(long, value_name = "FILE")]
    bearer: Option<PathBuf>,

    /// Data folder of a server without clients on this machine, which has the admin token
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl ContextCommand {
    pub(super) fn run(self) -> Outcome {
        match self.command {
            Command::List => list(),
            Command::Show(show) => show.run(),
            Command::Set(set) => set.run(),
            Command::Use(chosen) => chosen.run(),
        }
    }
}

fn list() -> Outcome {
    let file = ClientFile::read()?;
    if file.contexts.is_empty() {
        output::note(format_args!("{} has no contexts", file.name()));
        return Ok(());
    }
    let row = |(name, context): (&String, &Context)| {
        let mark = if file.current.as_ref() == Some(name) {
            "*"
        } else {
            ""
        };
        let url = |url: &Option<String>| url.clone().unwrap_or_else(|| "-".to_owned());
        [
            mark.to_owned(),
            name.clone(),
            url(&context.server),
            url(&context.admin_server),
        ]
    };
    let rows: Vec<_> = file.contexts.iter().map(row).collect();
    output::text(&display::table(&rows))
}

impl Show {
    fn run(self) -> Outcome {
        let file = ClientFile::read()?;
        let (name, of) = match (&self.name, &file.current) {
            (Some(name), _) => (name, "NAME"),
            (None, Some(current)) => (current, "`current`"),
            (None, None) => {
                return Err(Failure::error("no context is the current one")
                    .hint("to list them, run `jeton admin context list`"));
            }
        };
        let members = file.context(name, of)?.members();
        let rows = members.into_iter();
        let rows: Vec<_> = rows.map(|(name, value)| [name.to_owned(), value]).collect();
        output::text(&display::table(&rows))
    }
}

impl Set {
    fn run(self) -> Outcome {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !(1..=NAME_BYTES).contains(&self.name.len()) || !self.name.chars().all(is_plain) {
            return Err(Failure::error(format!(
                "NAME: {} bytes, expected 1 to {NAME_BYTES} letters, digits, - and _",
                self.name.len()
            )));
        }
        let text = self.entry()?;
        let path = path()?;
        let before = existing(&path)?;
        if !before.is_empty() && ClientFile::read()?.contexts.contains_key(&self.name) {
            return Err(Failure::error(format!(
                "{} has the context {:?} already",
                redact::name_of(&path),
                self.name
            ))
            .hint("to change it, edit the file"));
        }
        let separator = if before.is_empty() || before.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        replace(&path, &format!("{before}{separator}{text}"))?;
        output::status(format_args!(
            "added the context {} to {}; to use it in every call, run `jeton admin context use {}`",
            self.name,
            redact::name_of(&path),
            self.name
        ));
        Ok(())
    }

    fn entry(&self) -> Outcome<String> {
        let mut text = format!("\n[context.{}]\n", self.name);
        for (member, url) in [
            ("server", &self.server),
            ("admin_server", &self.admin_server),
        ] {
            let Some(url) = url else { continue };
            let is_url = url.starts_with("https://") || url.starts_with("http://");
            if !is_url || url.parse::<http::Uri>().is_err() {
                return Err(Failure::error(format!(
                    "--{}: {} bytes are not a URL; expected http://HOST:PORT or https://HOST",
                    member.replace('_', "-"),
                    url.len()
                )));
            }
            text.push_str(&format!("{member} = {}\n", quoted(url)));
        }
        for (member, file) in [
            ("ca", &self.ca),
            ("client_certificate", &self.client_certificate),
            ("client_key", &self.client_key),
            ("bearer", &self.bearer),
            ("data", &self.data),
        ] {
            let Some(file) = file else { continue };
            input::must_be_a_name(file)?;
            let absolute = std::path::absolute(file).map_err(|error| {
                Failure::error(format!("--{}: {error}", member.replace('_', "-")))
            })?;
            let Some(absolute) = absolute.to_str() else {
                let what = format!("--{}: not UTF-8 text", member.replace('_', "-"));
                return Err(Failure::error(what));
            };
            text.push_str(&format!("{member} = {}\n", quoted(absolute)));
        }
        Ok(text)
    }
}

impl Use {
    fn run(self) -> Outcome {
        let file = ClientFile::read()?;
        file.context(&self.name, "NAME")?;
        let path = path()?;
        replace(&path, &with_current(&existing(&path)?, &self.name))?;
        output::status(format_args!("{} is the current context", self.name));
        Ok(())
    }
}

fn path() -> Outcome<PathBuf> {
    client_file_path().ok_or_else(|| {
        Failure::error("no folder for the client file: HOME is not set")
            .hint("set JETON_CLIENT_FILE to the path of the file")
    })
}

/// The text of the file. Empty if there is no file.
fn existing(path: &Path) -> Outcome<String> {
    if !path.exists() {
        return Ok(String::new());
    }
    fs::read_to_string(path)
        .map_err(|error| Failure::error(format!("cannot read {}: {error}", redact::name_of(path))))
}

/// The text with another value of `current`. Comments stay.
fn with_current(text: &str, name: &str) -> String {
    let line = format!("current = {}", quoted(name));
    let is_current = |line: &str| {
        let key = line.split_once('=').map(|(key, _)| key.trim());
        key == Some("current")
    };
    let mut top = text
        .lines()
        .take_while(|line| !line.trim_start().starts_with('['));
    match top.position(is_current) {
        Some(at) => {
            let lines = text.lines().enumerate();
            let lines = lines.map(|(index, old)| if index == at { &*line } else { old });
            lines.map(|line| format!("{line}\n")).collect()
        }
        None => format!("{line}\n{text}"),
    }
}

/// Replaces the file, readable only by its owner, if the new text is valid.
fn replace(path: &Path, text: &str) -> Outcome {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let written = || -> io::Result<_> {
        let mut folders = fs::DirBuilder::new();
        folders.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
        folders.create(folder)?;
        let mut file = tempfile::Builder::new()
            .prefix(".jeton-")
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    let file = written().map_err(|error| unwritable(path, &error))?;
    ClientFile::at(file.path().to_owned())?;
    let persisted = file.persist(&target);
    persisted
        .map(drop)
        .map_err(|error| unwritable(path, &error.error))
}

#[cfg(test)]
mod tests {
    use super::with_current;

    #[test]
    fn current_is_replaced_or_added_and_comments_stay() {
        let context = "[context.a]\nserver = \"http://a\" # current = 1\n";
        let added = with_current(context, "a");
        assert_eq!(added, format!("current = \"a\"\n{context}"));
        let text = format!("# mine\ncurrent = \"b\"\n\n{context}");
        let expected = format!("# mine\ncurrent = \"a\"\n\n{context}");
        assert_eq!(with_current(&text, "a"), expected);
    }
}
