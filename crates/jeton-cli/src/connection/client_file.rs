//! The client file: named contexts, each with a server and the credentials for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jeton_server::read_toml;
use serde::Deserialize;

use super::settings::{Listener, variable};
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::nearest::nearest;
use crate::redact;
use crate::shell::quoted;

/// The environment variable with the path of the client file.
const FILE_VARIABLE: &str = "JETON_CLIENT_FILE";
/// The largest client file, bytes.
const FILE_BYTES: u64 = 1024 * 1024;
/// The names of members, as the file has them.
const MEMBERS: [&str; 9] = [
    "current",
    "context",
    "server",
    "admin_server",
    "ca",
    "client_certificate",
    "client_key",
    "bearer",
    "data",
];

/// The contexts of the client file. A missing file has none.
#[derive(Debug)]
pub(crate) struct ClientFile {
    path: PathBuf,
    pub(crate) current: Option<String>,
    pub(crate) contexts: BTreeMap<String, Context>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    current: Option<String>,
    #[serde(default)]
    context: BTreeMap<String, Context>,
}

/// A server, and the credentials for it. Relative paths start at the folder of the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Context {
    /// URL of the data listener.
    pub(crate) server: Option<String>,
    /// URL of the admin listener.
    pub(crate) admin_server: Option<String>,
    /// PEM file with certificate authorities.
    pub(crate) ca: Option<PathBuf>,
    pub(crate) client_certificate: Option<PathBuf>,
    pub(crate) client_key: Option<PathBuf>,
    /// File with a bearer token.
    pub(crate) bearer: Option<PathBuf>,
    /// Data folder of a server on this machine. It has the admin token.
    pub(crate) data: Option<PathBuf>,
}

impl Context {
    /// The URL of a listener.
    pub(crate) fn server(&self, listener: Listener) -> Option<&str> {
        match listener {
            Listener::Data => self.server.as_deref(),
            Listener::Admin => self.admin_server.as_deref(),
        }
    }

    /// The members with text, in the order of the documentation.
    pub(crate) fn members(&self) -> Vec<(&'static str, String)> {
        let text = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let members = [
            ("server", self.server.clone()),
            ("admin_server", self.admin_server.clone()),
            ("ca", text(&self.ca)),
            ("client_certificate", text(&self.client_certificate)),
            ("client_key", text(&self.client_key)),
            ("bearer", text(&self.bearer)),
            ("data", text(&self.data)),
        ];
        let members = members.into_iter();
        members
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// The members that name files with secrets.
    fn secrets(&self) -> impl Iterator<Item = &'static str> {
        let members = [
            ("client_key", self.client_key.is_some()),
            ("bearer", self.bearer.is_some()),
        ];
        let set = members.into_iter().filter(|(_, is_set)| *is_set);
        set.map(|(name, _)| name)
    }

    fn resolve_paths(&mut self, folder: &Path) {
        let paths = [
            &mut self.ca,
            &mut self.client_certificate,
            &mut self.client_key,
            &mut self.bearer,
            &mut self.data,
        ];
        for path in paths.into_iter().flatten() {
            *path = folder.join(&path);
        }
    }

    fn problem(&self) -> Option<&'static str> {
        match (&self.client_certificate, &self.client_key) {
            (Some(_), None) => Some("`client_certificate` requires `client_key`"),
            (None, Some(_)) => Some("`client_key` requires `client_certificate`"),
            _ => None,
        }
    }
}

impl ClientFile {
    /// Reads the file that the environment names, or the default one, which may be missing.
    pub(crate) fn read() -> Outcome<ClientFile> {
        if let Some(path) = variable(FILE_VARIABLE) {
            return ClientFile::at(path.into());
        }
        match default_path() {
            Some(path) if path.exists() => ClientFile::at(path),
            // Without a folder for configurations there is no name either.
            missing => Ok(ClientFile {
                path: missing.unwrap_or_default(),
                current: None,
                contexts: BTreeMap::new(),
            }),
        }
    }

    /// Reads this file.
    pub(crate) fn at(path: PathBuf) -> Outcome<ClientFile> {
        input::must_be_a_name(&path)?;
        let content: Content = read_toml(&path, FILE_BYTES).map_err(|mut error| {
            let is_unknown = error.what.starts_with("unknown field");
            if let (true, Some(meant)) = (is_unknown, nearest(&error.key, &MEMBERS)) {
                error.what = format!("unknown member; did you mean `{meant}`?");
            }
            Failure::error(error.to_string())
        })?;
        let mut file = ClientFile {
            path,
            current: content.current,
            contexts: content.context,
        };
        file.check()?;
        let folder = file.path.parent().unwrap_or(Path::new("")).to_owned();
        for context in file.contexts.values_mut() {
            context.resolve_paths(&folder);
        }
        Ok(file)
    }

    /// Returns the path for messages.
    pub(crate) fn name(&self) -> String {
        if self.path.as_os_str().is_empty() {
            return "the client file".to_owned();
        }
        redact::name_of(&self.path)
    }

    /// Returns the context of this name. `of` says where the name comes from.
    pub(crate) fn context(&self, name: &str, of: &str) -> Outcome<&Context> {
        self.contexts
            .get(name)
            .ok_or_else(|| self.unknown(name, of))
    }

    fn unknown(&self, name: &str, of: &str) -> Failure {
        let names: Vec<&str> = self.contexts.keys().map(String::as_str).collect();
        let failure = Failure::error(format!("{of}: {} has no context {name:?}", self.name()));
        if names.is_empty() {
            return failure.hint(format!(
                "it has none; to create this one, run `jeton admin context set {} --admin-server URL`",
                quoted(name)
            ));
        }
        let known = format!("contexts: {}", names.join(", "));
        match nearest(name, &names) {
            Some(meant) => failure.hint(format!("did you mean {meant}? {known}")),
            None => failure.hint(known),
        }
    }

    fn check(&self) -> Outcome {
        for (name, context) in &self.contexts {
            if let Some(problem) = context.problem() {
                let what = format!("{}: context {name:?}: {problem}", self.name());
                return Err(Failure::error(what));
            }
        }
        if let Some(current) = &self.current {
            self.context(current, "`current`")?;
        }
        self.check_mode()
    }

    /// Who can write the file can name another server. Who can read it learns where the secrets are.
    #[cfg(unix)]
    fn check_mode(&self) -> Outcome {
        use std::os::unix::fs::PermissionsExt as _;
        let about = std::fs::metadata(&self.path)
            .map_err(|error| Failure::error(format!("cannot read {}: {error}", self.name())))?;
        let mode = about.permissions().mode() & 0o777;
        let mut secrets: Vec<&str> = self.contexts.values().flat_map(Context::secrets).collect();
        secrets.sort_unstable();
        secrets.dedup();
        let secrets: Vec<String> = secrets.iter().map(|name| format!("`{name}`")).collect();
        let what = if mode & 0o022 != 0 {
            "others can write it, and so name another server".to_owned()
        } else if mode & 0o044 != 0 && !secrets.is_empty() {
            format!(
                "others can read it, and it names secrets: {}",
                secrets.join(", ")
            )
        } else {
            return Ok(());
        };
        let command = format!("chmod 600 {}", quoted(&self.path.to_string_lossy()));
        Err(Failure::error(format!("{}: mode {mode:04o}: {what}", self.name())).hint(command))
    }

    #[cfg(not(unix))]
    fn check_mode(&self) -> Outcome {
        Ok(())
    }
}

/// The path of the client file, which may be missing.
pub(crate) fn path() -> Option<PathBuf> {
    variable(FILE_VARIABLE).map_or_else(default_path, |path| Some(path.into()))
}

/// `jeton/client.toml` in the folder for configurations (XDG Base Directory Specification).
fn default_path() -> Option<PathBuf> {
    // The specification ignores relative paths: the current folder may be of another user.
    let absolute = |name| {
        let folder = variable(name).map(PathBuf::from);
        folder.filter(|folder| folder.is_absolute())
    };
    let folder = absolute("XDG_CONFIG_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("jeton").join("client.toml"))
}
