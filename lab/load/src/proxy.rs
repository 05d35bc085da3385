//! Proxies, which nobody builds: `cargo xtask setup` installs them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use serde::Deserialize;

use jeton_lab_harness::driver::runtime::Version;
use jeton_lab_harness::driver::workspace;

/// A proxy that is measured as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proxy {
    /// Envoy.
    Envoy,
    /// nginx.
    Nginx,
}

impl Proxy {
    /// Returns its name, and its command.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Envoy => ("Envoy", "envoy"),
            Self::Nginx => ("nginx", "nginx"),
        }
    }

    /// Returns the program: the one in `JETON_ENVOY` or `JETON_NGINX`, on `PATH`, or where `cargo xtask setup` puts it.
    #[must_use]
    pub fn program(self) -> Option<PathBuf> {
        let command = self.names().1;
        let variable = format!("JETON_{}", command.to_uppercase());
        let named = std::env::var_os(variable).map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).map(|folder| folder.join(command));
        let installed = match self {
            Self::Envoy => vec![workspace().join("target/tools/envoy/bin/envoy")],
            Self::Nginx => vec![
                PathBuf::from("/usr/sbin/nginx"),
                workspace().join("target/tools/nginx/usr/sbin/nginx"),
            ],
        };
        let mut all = named.into_iter().chain(on_path).chain(installed);
        all.find(|program| program.is_file())
    }

    /// Says that it is missing, and how to get it.
    #[must_use]
    pub fn missing(self) -> String {
        let (name, command) = self.names();
        format!(
            "needs {name}, which is not installed: run `cargo xtask setup`, or put `{command}` on PATH"
        )
    }

    /// Returns its name with the version of the program.
    #[must_use]
    pub fn label(self) -> String {
        static LABELS: [OnceLock<String>; 2] = [OnceLock::new(), OnceLock::new()];
        let label = LABELS[self as usize].get_or_init(|| {
            let name = self.names().0;
            let version = self.program().and_then(|program| {
                let argument = match self {
                    Self::Envoy => "--version",
                    Self::Nginx => "-v",
                };
                let said = Command::new(program).arg(argument).output().ok()?;
                version_in(&String::from_utf8_lossy(
                    &[said.stdout, said.stderr].concat(),
                ))
            });
            version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"))
        });
        label.clone()
    }
}

/// Returns the first version in a text. Envoy's begins with a commit.
fn version_in(text: &str) -> Option<String> {
    let mut words = text.split(|c: char| c.is_whitespace() || c == '/');
    let is_version = |word: &&str| word.contains('.') && Version::in_text(word).is_some();
    words.find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_from_what_proxies_say() {
        let envoy = "envoy  version: 84813a6c9b0e/1.40.0/Clean/RELEASE/BoringSSL\n";
        assert_eq!(version_in(envoy).as_deref(), Some("1.40.0"));
        let nginx = "nginx version: nginx/1.22.1\n";
        assert_eq!(version_in(nginx).as_deref(), Some("1.22.1"));
        assert_eq!(version_in("unknown\n"), None);
    }

    #[test]
    fn missing_proxy_is_named_with_the_way_to_get_it() {
        let said = Proxy::Envoy.missing();
        assert!(said.contains("needs Envoy") && said.contains("cargo xtask setup"));
    }
}
