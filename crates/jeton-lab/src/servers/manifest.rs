//! `server.toml`: what a server is, how it is built, made ready and started.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Call;
use crate::driver::Recipe;
use crate::suite::matches;

/// One server's folder and what its manifest says.
#[derive(Debug, Clone)]
pub struct Server {
    /// `language/folder`, unique among the servers.
    pub id: String,
    /// Where it is.
    pub folder: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
}

/// The content of a `server.toml`. In every command, `{out}` is the folder of what was built and
/// `{target}` Cargo's; from `prepare` on, `{run}` is an empty folder that lasts as long as the
/// server, `{cores}` how many cores it has, and `{hs256}`, `{hs256_jwk}`, `{es256}`,
/// `{es256_public}` are files with the run's keys: the bytes of the secret, the same as a JWK, the
/// private key as PKCS#8 and the public key as SubjectPublicKeyInfo, both in PEM.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name in every table.
    pub name: String,
    /// The language.
    pub language: String,
    /// What it is made of, with versions, for people.
    pub libraries: String,
    /// What it is, a line for people.
    pub about: String,
    /// Whether it has the bugs of a published report on purpose: then what is wrong with it is named
    /// and its figures are shown all the same.
    #[serde(default)]
    pub as_published: bool,
    /// Which calls it offers. One that offers others than `GenerateJwt` has one issuer, at the root of
    /// its address, with a profile for each algorithm, named after it, for the audience `api`.
    #[serde(default = "only_generate_jwt")]
    pub calls: Vec<Call>,
    /// Commands that must be on `PATH`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What else, beside the folder, makes it stale.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// The commands that build it.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// The commands that make it ready, before each start.
    #[serde(default)]
    pub prepare: Vec<Vec<String>>,
    /// The command that starts it.
    pub start: Vec<String>,
    /// What stands before the address in the line in which it says where it listens.
    #[serde(default)]
    pub announces: Option<String>,
    /// Where it listens, for one that does not say.
    #[serde(default)]
    pub address: Option<SocketAddr>,
    /// Variables of its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files that are written into `{run}` before anything else.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

fn only_generate_jwt() -> Vec<Call> {
    vec![Call::GenerateJwt]
}

/// Why there are no servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchError {
    /// The folder is not there, or cannot be read.
    NoFolder(PathBuf, String),
    /// It holds no server.
    Empty(PathBuf),
    /// A manifest is wrong.
    Manifest(String),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder(folder, why) => write!(
                f,
                "the servers' folder {} cannot be read ({why}); name it with --servers DIR or JETON_SERVERS",
                folder.display()
            ),
            Self::Empty(folder) => write!(
                f,
                "{} holds no <language>/<name>/server.toml; name the servers' folder with --servers DIR or JETON_SERVERS",
                folder.display()
            ),
            Self::Manifest(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for SearchError {}

impl Server {
    /// Whether its id holds this; `*` stands for anything.
    #[must_use]
    pub fn is_called(&self, pattern: &str) -> bool {
        matches(pattern, &self.id)
    }

    /// Reads the manifest in `folder`.
    ///
    /// # Errors
    /// A sentence that names the file and what is wrong with it.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let file = folder.join("server.toml");
        let wrong = |what: &dyn fmt::Display| format!("{}: {what}", file.display());
        let text = std::fs::read_to_string(&file).map_err(|e| wrong(&e))?;
        let manifest: Manifest = toml::from_str(&text).map_err(|e| wrong(&e.to_string().trim()))?;
        if manifest.start.is_empty() {
            return Err(wrong(&"`start` names no command"));
        }
        match (&manifest.announces, manifest.address) {
            (Some(_), None) => {}
            (None, Some(address)) if address.ip().is_loopback() => {}
            (None, Some(_)) => return Err(wrong(&"`address` is not on this machine alone")),
            _ => {
                return Err(wrong(
                    &"either `announces` or `address` says where it listens, and not both",
                ));
            }
        }
        let is_plain = |name: &String| {
            !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\'])
        };
        if let Some(name) = manifest.files.keys().find(|name| !is_plain(name)) {
            return Err(wrong(&format!("files: `{name}` is no plain file name")));
        }
        let name = |path: Option<&Path>| {
            path.and_then(Path::file_name)
                .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
        };
        Ok(Self {
            id: format!("{}/{}", name(folder.parent()), name(Some(folder))),
            folder: folder.to_owned(),
            manifest,
        })
    }

    /// Whether it offers a call of that kind.
    #[must_use]
    pub fn offers(&self, call: Call) -> bool {
        self.manifest.calls.contains(&call)
    }

    /// How it is built and started.
    #[must_use]
    pub fn recipe(&self) -> Recipe<'_> {
        Recipe {
            id: &self.id,
            folder: &self.folder,
            runtime: None,
            needs: &self.manifest.needs,
            inputs: &self.manifest.inputs,
            build: &self.manifest.build,
            run: &self.manifest.start,
        }
    }
}

/// The folder the servers are in: the one asked for, else `JETON_SERVERS`, else the one of the
/// checkout that this binary was built from.
#[must_use]
pub fn folder(asked: Option<&Path>) -> PathBuf {
    if let Some(asked) = asked {
        return asked.to_owned();
    }
    match std::env::var_os("JETON_SERVERS") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ => crate::driver::workspace().join("servers"),
    }
}

/// All servers below `folder`, in the order of their ids.
///
/// # Errors
/// [`SearchError`]: no folder, no server, or a manifest that cannot be read.
pub fn find(folder: &Path) -> Result<Vec<Server>, SearchError> {
    let unreadable = |e: std::io::Error| SearchError::NoFolder(folder.to_owned(), e.to_string());
    let folder = folder.canonicalize().map_err(unreadable)?;
    let found = crate::driver::manifests(&folder, "server.toml").map_err(unreadable)?;
    let servers: Result<Vec<Server>, String> = found.iter().map(|f| Server::read(f)).collect();
    let servers = servers.map_err(SearchError::Manifest)?;
    if servers.is_empty() {
        return Err(SearchError::Empty(folder));
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const BEGINNING: &str =
        "name = \"x\"\nlanguage = \"go\"\nlibraries = \"x 1\"\nabout = \"a server\"\n";

    fn read(rest: &str) -> Result<Server, String> {
        let folder = tempfile::tempdir().unwrap();
        let server = folder.path().join("go/x");
        std::fs::create_dir_all(&server).unwrap();
        std::fs::write(server.join("server.toml"), format!("{BEGINNING}{rest}")).unwrap();
        Server::read(&server)
    }

    #[test]
    fn a_manifest_says_where_the_server_listens_in_one_way() {
        let good = read("start = [\"x\"]\nannounces = \"on \"\n").unwrap();
        assert_eq!(
            (good.id.as_str(), good.manifest.as_published),
            ("go/x", false)
        );
        assert!(good.offers(Call::GenerateJwt) && !good.offers(Call::Issue));
        assert!(read("start = [\"x\"]\naddress = \"127.0.0.1:50051\"\n").is_ok());
        for (rest, what) in [
            ("start = [\"x\"]\n", "either `announces` or `address`"),
            (
                "start = [\"x\"]\nannounces = \"on \"\naddress = \"127.0.0.1:1\"\n",
                "either `announces` or `address`",
            ),
            (
                "start = [\"x\"]\naddress = \"0.0.0.0:1\"\n",
                "not on this machine alone",
            ),
            (
                "start = []\nannounces = \"on \"\n",
                "`start` names no command",
            ),
            (
                "start = [\"x\"]\nannounces = \"on \"\nport = 1\n",
                "unknown field `port`",
            ),
            (
                "start = [\"x\"]\nannounces = \"on \"\ncalls = [\"revoke\"]\n",
                "unknown variant `revoke`",
            ),
            (
                "start = [\"x\"]\nannounces = \"on \"\n[files]\n\"../x\" = \"\"\n",
                "no plain file name",
            ),
        ] {
            let said = read(rest).unwrap_err();
            assert!(said.contains(what), "{said}");
        }
    }

    #[test]
    fn every_server_of_the_checkout_can_be_read() {
        let servers = find(&crate::driver::workspace().join("servers")).unwrap();
        let ids: Vec<&str> = servers.iter().map(|s| s.id.as_str()).collect();
        for id in [
            "go/fixed",
            "go/published",
            "java/fixed",
            "node/fixed",
            "node/published",
            "rust/jeton",
            "rust/tonic",
        ] {
            assert!(ids.contains(&id), "{id}");
        }
        let published = servers.iter().filter(|s| s.manifest.as_published);
        assert_eq!(published.count(), 2);
    }
}
