//! `server.toml`: what a server is, and how it is built, prepared and started.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::proxy::Proxy;
use jeton_lab_harness::driver::runtime::Runtime;
use jeton_lab_harness::driver::{Recipe, Search};
use jeton_lab_model::matches;
use jeton_lab_model::servers::Call;

/// A server: its folder and its manifest.
#[derive(Debug, Clone)]
pub struct Server {
    /// `language/folder`, unique among the servers.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// The runtime that builds and runs it; `None` for the commands on `PATH`.
    pub runtime: Option<Runtime>,
}

/// The content of a `server.toml`. In every command, `{out}` is the folder of the build and
/// `{target}` is Cargo's. From `prepare` on there are more placeholders. `{run}` is an empty folder
/// that exists as long as the server. `{cores}` is the number of its cores. `{port}` is the port of
/// its address, and `{proxy}` the path of its proxy. `{hs256}`, `{hs256_jwk}`, `{es256}`,
/// `{es256_jwk}`, `{es256_public}` and `{es256_jwks}` are files with the run's keys: the bytes of the
/// secret, the same as a JWK, the private key as PKCS#8 in PEM, the same as a JWK, the public key as
/// SubjectPublicKeyInfo in PEM, and the same as a JWK Set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name in every table.
    pub name: String,
    /// The language.
    pub language: String,
    /// Its libraries with versions, as text.
    pub libraries: String,
    /// A one-line description.
    pub about: String,
    /// Whether it keeps the bugs of a published report on purpose. Its faults are then reported,
    /// and its figures are shown all the same.
    #[serde(default)]
    pub as_published: bool,
    /// The calls it offers. A server with calls other than `GenerateJwt` has one issuer at the root
    /// of its address. The issuer has a profile for each algorithm, named after it, with the
    /// audience `api`.
    #[serde(default = "only_generate_jwt")]
    pub calls: Vec<Call>,
    /// The proxy that it is.
    #[serde(default)]
    pub proxy: Option<Proxy>,
    /// For a gateway that checks tokens: the id of the same gateway without the check.
    #[serde(default)]
    pub bare: Option<String>,
    /// Commands that must be on `PATH`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What else, besides the folder, makes it stale.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// The commands that build it.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// The commands that prepare it before each start.
    #[serde(default)]
    pub prepare: Vec<Vec<String>>,
    /// The command that starts it.
    pub start: Vec<String>,
    /// The text before the address in the line with which it reports its address.
    #[serde(default)]
    pub announces: Option<String>,
    /// Its address, if it does not report one. For port 0, the run chooses a free port.
    #[serde(default)]
    pub address: Option<SocketAddr>,
    /// Its environment variables.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files that are written to `{run}` before everything else.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

fn only_generate_jwt() -> Vec<Call> {
    vec![Call::GenerateJwt]
}

impl Server {
    /// Returns whether its id contains the pattern; `*` matches anything.
    #[must_use]
    pub fn is_called(&self, pattern: &str) -> bool {
        matches(pattern, &self.id)
    }

    /// Reads the manifest in `folder`.
    ///
    /// # Errors
    ///
    /// A sentence that names the file and the problem.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let file = folder.join("server.toml");
        let wrong = |what: &dyn fmt::Display| format!("{}: {what}", file.display());
        let text = std::fs::read_to_string(&file).map_err(|e| wrong(&e))?;
        let manifest: Manifest = toml::from_str(&text).map_err(|e| wrong(&e.to_string().trim()))?;
        if manifest.start.is_empty() {
            return Err(wrong(&"`start` must contain a command"));
        }
        match (&manifest.announces, manifest.address) {
            (Some(_), None) => {}
            (None, Some(address)) if address.ip().is_loopback() => {}
            (None, Some(_)) => return Err(wrong(&"`address` must be a loopback address")),
            _ => {
                return Err(wrong(
                    &"exactly one of `announces` and `address` is required",
                ));
            }
        }
        let is_plain = |name: &String| {
            !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\'])
        };
        if let Some(name) = manifest.files.keys().find(|name| !is_plain(name)) {
            return Err(wrong(&format!("files: `{name}` must be a plain file name")));
        }
        let name = |path: Option<&Path>| {
            path.and_then(Path::file_name)
                .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
        };
        Ok(Self {
            id: format!("{}/{}", name(folder.parent()), name(Some(folder))),
            folder: folder.to_owned(),
            manifest,
            runtime: None,
        })
    }

    /// Returns whether it offers this call.
    #[must_use]
    pub fn offers(&self, call: Call) -> bool {
        self.manifest.calls.contains(&call)
    }

    /// Returns whether it is a gateway, which lets requests with tokens pass.
    #[must_use]
    pub fn is_gateway(&self) -> bool {
        self.manifest
            .calls
            .iter()
            .any(|call| call.is_of_a_gateway())
    }

    /// Returns its libraries, and its proxy with the installed version.
    #[must_use]
    pub fn libraries(&self) -> String {
        let libraries = &self.manifest.libraries;
        self.manifest.proxy.map_or_else(
            || libraries.clone(),
            |proxy| format!("{}, {libraries}", proxy.label()),
        )
    }

    /// Returns what this machine lacks to run it, if anything.
    #[must_use]
    pub fn unmet(&self) -> Option<String> {
        let proxy = self
            .manifest
            .proxy
            .filter(|proxy| proxy.program().is_none());
        proxy.map(Proxy::missing).or_else(|| self.recipe().unmet())
    }

    /// Returns how it is built and started.
    #[must_use]
    pub fn recipe(&self) -> Recipe<'_> {
        Recipe {
            id: &self.id,
            folder: &self.folder,
            runtime: self.runtime.as_ref(),
            needs: &self.manifest.needs,
            oldest_runtime: None,
            inputs: &self.manifest.inputs,
            build: &self.manifest.build,
            run: &self.manifest.start,
        }
    }
}

const SERVERS: Search = Search {
    name: "servers",
    manifest: "server.toml",
    option: "--servers",
    variable: "JETON_SERVERS",
};

/// Returns the servers' folder: the given one, else `JETON_SERVERS`, else the one of the checkout
/// that this binary was built from.
#[must_use]
pub fn folder(asked: Option<&Path>) -> PathBuf {
    SERVERS.folder(asked)
}

/// Returns all servers below `folder`, ordered by id.
///
/// # Errors
///
/// If the folder is missing, contains no server, or a manifest is invalid.
pub fn find(folder: &Path) -> Result<Vec<Server>, String> {
    let servers = SERVERS.find(folder, Server::read)?;
    let is_bare = |id: &str| {
        let mut all = servers.iter();
        all.any(|server| server.id == id && server.is_gateway() && server.manifest.bare.is_none())
    };
    for server in &servers {
        if let Some(bare) = server
            .manifest
            .bare
            .as_deref()
            .filter(|bare| !is_bare(bare))
        {
            return Err(format!(
                "{}: `bare` must be the id of a gateway without a check, not `{bare}`",
                server.folder.join("server.toml").display()
            ));
        }
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
    fn manifest_requires_exactly_one_address_source() {
        let good = read("start = [\"x\"]\nannounces = \"on \"\n").unwrap();
        assert_eq!(
            (good.id.as_str(), good.manifest.as_published),
            ("go/x", false)
        );
        assert!(good.offers(Call::GenerateJwt) && !good.offers(Call::Issue));
        assert!(read("start = [\"x\"]\naddress = \"127.0.0.1:50051\"\n").is_ok());
        for (rest, what) in [
            (
                "start = [\"x\"]\n",
                "exactly one of `announces` and `address`",
            ),
            (
                "start = [\"x\"]\nannounces = \"on \"\naddress = \"127.0.0.1:1\"\n",
                "exactly one of `announces` and `address`",
            ),
            (
                "start = [\"x\"]\naddress = \"0.0.0.0:1\"\n",
                "must be a loopback address",
            ),
            (
                "start = []\nannounces = \"on \"\n",
                "`start` must contain a command",
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
                "must be a plain file name",
            ),
            (
                "start = [\"x\"]\nannounces = \"on \"\nproxy = \"caddy\"\n",
                "unknown variant `caddy`, expected `envoy` or `nginx`",
            ),
        ] {
            let said = read(rest).unwrap_err();
            assert!(said.contains(what), "{said}");
        }
    }

    #[test]
    fn gateway_names_the_one_without_a_check() {
        let folder = tempfile::tempdir().unwrap();
        let calls = "calls = [\"pass\"]\naddress = \"127.0.0.1:0\"\nstart = [\"x\"]\n";
        let write = |name: &str, rest: &str| {
            let server = folder.path().join("gateway").join(name);
            std::fs::create_dir_all(&server).unwrap();
            let manifest = format!("{BEGINNING}{calls}{rest}");
            std::fs::write(server.join("server.toml"), manifest).unwrap();
        };
        write("plain", "");
        write("checked", "bare = \"gateway/plain\"\n");
        let found = find(folder.path()).unwrap();
        assert!(found.iter().all(Server::is_gateway));
        // A missing one, and one that checks too.
        for other in ["gateway/absent", "gateway/checked"] {
            write("another", &format!("bare = \"{other}\"\n"));
            let said = find(folder.path()).unwrap_err();
            assert!(
                said.contains("another/server.toml: `bare` must be") && said.contains(other),
                "{said}"
            );
        }
    }

    #[test]
    fn manifests_of_the_checkout_are_valid() {
        let servers = find(&jeton_lab_harness::driver::workspace().join("servers")).unwrap();
        let ids: Vec<&str> = servers.iter().map(|s| s.id.as_str()).collect();
        for id in [
            "gateway/envoy",
            "gateway/envoy-ext-authz",
            "gateway/envoy-jwt-authn",
            "gateway/envoy-jwt-authn-cache",
            "gateway/nginx",
            "gateway/nginx-auth-request",
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
