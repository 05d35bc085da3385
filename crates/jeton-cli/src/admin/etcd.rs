//! A store in etcd, as the target of an administrative command.

use std::io::ErrorKind;
use std::sync::Arc;

use jeton_issuer::Error;
use jeton_server::Etcd;
use jeton_store::{Error as StoreError, EtcdAccess, EtcdAddress, EtcdStore};

use super::folder::{OpenStore, failure};
use crate::exit::{Failure, Outcome};

/// The address of an etcd, and the certificates and the user of the configuration.
pub(super) struct EtcdPlace {
    url: String,
    configured: Option<Etcd>,
}

impl EtcdPlace {
    pub(super) fn new(url: &str, configured: Option<Etcd>) -> EtcdPlace {
        EtcdPlace {
            url: url.to_owned(),
            configured,
        }
    }

    pub(super) fn address(&self) -> Outcome<EtcdAddress> {
        EtcdAddress::parse(&self.url).map_err(|error| failed(error.into()))
    }

    /// Reads the files of the configuration.
    pub(super) fn access(&self) -> Outcome<EtcdAccess> {
        let access = match &self.configured {
            Some(etcd) => etcd.access(),
            None => Ok(EtcdAccess::default()),
        };
        access.map_err(|error| Failure::error(error.to_string()))
    }

    /// Opens the existing store.
    pub(super) fn open(&self) -> Outcome<OpenStore> {
        let address = self.address()?;
        let store = EtcdStore::find(&address, self.access()?);
        let store = store.map_err(|error| failed(error.into()))?;
        Ok(OpenStore::Etcd {
            store: Arc::new(store),
            address: address.to_string(),
        })
    }
}

/// Returns the failure of an etcd with a hint.
pub(super) fn failed(error: Error) -> Failure {
    match &error {
        Error::Store(StoreError::Invalid(problem)) => {
            let failure = Failure::error(format!("invalid store: {problem}"));
            match problem {
                jeton_store::Problem::NoAuthority => {
                    failure.hint("name a configuration with `ca` in [etcd]: add `--config FILE`")
                }
                _ => failure,
            }
        }
        Error::Store(StoreError::Io(kind, _)) => {
            let hint = match kind {
                ErrorKind::PermissionDenied => {
                    "name a configuration with `user` and `password_file` in [etcd]: add `--config FILE`"
                }
                ErrorKind::InvalidInput => {
                    "check the files of `ca`, `certificate` and `key` in [etcd] of the configuration"
                }
                _ => "check the address and the certificates, and that a majority of the etcd runs",
            };
            failure(error).hint(hint)
        }
        Error::Store(StoreError::Damaged(_)) | Error::Record(_) => failure(error).hint(
            "to check the whole store, run `jeton admin verify --store URL`; to use a backup, run \
             `jeton admin restore FILE --store URL` with another /ROOT",
        ),
        _ => failure(error),
    }
}
