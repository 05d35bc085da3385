//! A store in etcd, as the target of an administrative command.

use std::sync::Arc;

use jeton_server::Etcd;
use jeton_store::{EtcdAccess, EtcdAddress, EtcdStore};

use super::failure::etcd_failure;
use super::open_store::OpenStore;
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
        EtcdAddress::parse(&self.url).map_err(|error| etcd_failure(error.into()))
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
        let store = store.map_err(|error| etcd_failure(error.into()))?;
        Ok(OpenStore::Etcd {
            store: Arc::new(store),
            address: address.to_string(),
        })
    }
}
