//! The file with the URL of the admin listener, so that `jeton admin` can name the server that has a folder open.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use crate::config::Config;

/// The file with the URL of the admin listener, in the data folder of a running server.
pub const ADMIN_URL_FILE: &str = "admin-url";

impl Config {
    /// The URL of the admin listener, for a client on this machine.
    #[must_use]
    pub fn admin_url(&self) -> String {
        self.url_of(self.admin_listen)
    }

    /// With TLS, the certificate is more likely to have a name than an address.
    fn url_of(&self, mut address: SocketAddr) -> String {
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
                SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
            });
        }
        let host = self.hosts.iter().flatten().next();
        match (&self.tls, host) {
            (None, _) => format!("http://{address}"),
            (Some(_), Some(host)) => format!("https://{host}:{}", address.port()),
            (Some(_), None) => format!("https://{address}"),
        }
    }
}

/// The file of a running server. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct AdminUrlFile {
    path: PathBuf,
    text: String,
}

impl AdminUrlFile {
    /// Writes the file. It is only a help for people, so a failure is logged and not more.
    pub(crate) fn write(config: &Config, address: SocketAddr) -> Option<AdminUrlFile> {
        // The folder of a server on an etcd has the admin token alone.
        if config.store.is_some() {
            return None;
        }
        let path = config.data.join(ADMIN_URL_FILE);
        let text = format!("{}\n", config.url_of(address));
        match replace(&config.data, &path, &text) {
            Ok(()) => Some(AdminUrlFile { path, text }),
            Err(error) => {
                tracing::warn!(%error, "cannot write the file admin-url");
                None
            }
        }
    }
}

impl Drop for AdminUrlFile {
    fn drop(&mut self) {
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes another file and renames it. A symbolic link is not followed.
fn replace(folder: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut unfinished = tempfile::Builder::new();
    unfinished.prefix(".admin-url-");
    #[cfg(unix)]
    unfinished.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
    let mut unfinished = unfinished.tempfile_in(folder)?;
    unfinished.write_all(text.as_bytes())?;
    unfinished.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn url_is_one_that_a_client_of_this_machine_can_call() {
        let url = |text: &str| Config::from_toml(text).unwrap().admin_url();
        assert_eq!(url(""), "http://127.0.0.1:8421");
        assert_eq!(url("admin_listen = '[::]:1'"), "http://[::1]:1");
        let tls = "[tls]\ncertificate = 'c'\nkey = 'k'";
        assert_eq!(url(tls), "https://127.0.0.1:8421");
        let named = format!("hosts = ['a.example']\n{tls}");
        assert_eq!(url(&named), "https://a.example:8421");
    }
}
