//! The etcd store that several servers share.

use std::path::PathBuf;
use std::sync::Arc;

use jeton_issuer::{KeyEncryptionKey, KeySource, Options};
use jeton_store::{EtcdAccess, EtcdAddress, EtcdStore};
use jeton_transport::text_file;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use zeroize::Zeroizing;

use crate::config::Etcd;
use crate::error::{ConfigError, Error, Result};
use crate::limits;

/// Returns the node options. The key-encryption key must be configured: all servers need the same one.
pub(crate) fn options(source: KeySource) -> Result<Options> {
    let key = match source {
        KeySource::Given(key) => key,
        KeySource::File(path) => KeyEncryptionKey::from_file(&path)?,
        KeySource::InFolder => {
            return Err(wrong(
                "key_encryption_key_file",
                "required with `store`: servers that share a store need the same key-encryption key, 64 \
                 hexadecimal digits in a file or in JETON_KEY_ENCRYPTION_KEY",
            ));
        }
    };
    Ok(Options::new(key))
}

pub(crate) fn open(address: &str, etcd: Option<&Etcd>) -> Result<Arc<EtcdStore>> {
    let (address, access) = read(address, etcd)?;
    let store = EtcdStore::open(&address, access).map_err(of_store)?;
    Ok(Arc::new(store))
}

/// Reads the files of the credentials again. New connections use them.
pub(crate) fn renew(store: &EtcdStore, address: &str, etcd: &Etcd) -> Result<()> {
    let (address, access) = read(address, Some(etcd))?;
    store.renew(&address, access).map_err(of_store)
}

/// Checks the address, and reads the files of the credentials. Sends nothing.
pub(crate) fn check(address: &str, etcd: Option<&Etcd>) -> Result<()> {
    let (address, access) = read(address, etcd)?;
    address.check(access).map_err(of_store)
}

fn read(address: &str, etcd: Option<&Etcd>) -> Result<(EtcdAddress, EtcdAccess)> {
    let address = EtcdAddress::parse(address).map_err(of_store)?;
    let access = etcd.map_or_else(|| Ok(EtcdAccess::default()), Etcd::access)?;
    Ok((address, access))
}

fn of_store(error: jeton_store::Error) -> Error {
    match error {
        jeton_store::Error::Invalid(problem) => wrong("store", &problem.to_string()),
        error => Error::Issuer(error.into()),
    }
}

impl Etcd {
    /// Reads the files: the credentials for the etcd, and its certificate authorities.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] with the key of a file that cannot be read, or has no certificate.
    pub fn access(&self) -> Result<EtcdAccess> {
        let read = |key: &str, file: Option<&PathBuf>| {
            let text = file.map(|file| (file, text_file::read(file, limits::PEM_BYTES)));
            text.map(|(file, text)| {
                let text =
                    text.map_err(|what| wrong(key, &format!("{} {what}", file.display())))?;
                Ok::<_, Error>(Zeroizing::new(text))
            })
            .transpose()
        };
        let certificates = |key: &str, file: Option<&PathBuf>| {
            let text = read(key, file)?;
            if let (Some(text), Some(file)) = (&text, file) {
                let parsed: Result<Vec<_>, _> =
                    CertificateDer::pem_slice_iter(text.as_bytes()).collect();
                if !parsed.is_ok_and(|all| !all.is_empty()) {
                    let what = format!("{} has no certificate; expected PEM", file.display());
                    return Err(wrong(key, &what));
                }
            }
            Ok(text)
        };
        let certificate = certificates("etcd.certificate", self.certificate.as_ref())?;
        let key = read("etcd.key", self.key.as_ref())?;
        let password = read("etcd.password_file", self.password_file.as_ref())?;
        let bytes = |text: &Zeroizing<String>| text.as_bytes().to_vec();
        Ok(EtcdAccess {
            authorities: certificates("etcd.ca", self.ca.as_ref())?
                .as_ref()
                .map(bytes),
            identity: certificate
                .zip(key)
                .map(|(certificate, key)| (bytes(&certificate), Zeroizing::new(bytes(&key)))),
            user: self.user.clone().zip(password).map(|(name, password)| {
                let password = Zeroizing::new(password.trim_end_matches(['\r', '\n']).to_owned());
                (name, password)
            }),
        })
    }
}

pub(crate) fn without_store() -> Error {
    wrong("etcd", "requires `store`")
}

fn wrong(key: &str, what: &str) -> Error {
    Error::Config(ConfigError {
        file: None,
        line: None,
        key: key.to_owned(),
        what: what.to_owned(),
    })
}
