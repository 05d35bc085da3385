//! The files with certificates that are followed: those of the listeners, and those for the etcd.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use jeton_store::EtcdStore;

use crate::config::{Config, Etcd, Tls};
use crate::error::Result;
use crate::etcd_store;

/// What is followed.
#[derive(Debug)]
pub(crate) struct Certificates {
    /// Those of the configuration in force. `None`: no TLS.
    pub(crate) tls: ArcSwap<Option<Tls>>,
    pub(crate) etcd: Option<EtcdCertificates>,
}

/// The store, and what leads to it. A reload changes neither.
#[derive(Debug)]
pub(crate) struct EtcdCertificates {
    store: Arc<EtcdStore>,
    address: String,
    files: Etcd,
}

impl Certificates {
    /// `store` is the etcd of the configuration, if it has one.
    pub(crate) fn new(config: &Config, store: Option<Arc<EtcdStore>>) -> Certificates {
        let etcd = store.zip(config.store.clone()).zip(config.etcd.clone());
        Certificates {
            tls: ArcSwap::from_pointee(config.tls.clone()),
            etcd: etcd.map(|((store, address), files)| EtcdCertificates {
                store,
                address,
                files,
            }),
        }
    }

    /// The files of the listeners.
    pub(crate) fn of_listeners(&self) -> Vec<PathBuf> {
        let tls = self.tls.load();
        let files = tls.as_ref().as_ref().map(|tls| {
            let files = [
                Some(&tls.certificate),
                Some(&tls.key),
                tls.client_ca.as_ref(),
            ];
            files.into_iter().flatten().cloned().collect()
        });
        files.unwrap_or_default()
    }
}

impl EtcdCertificates {
    /// Reads the files again. New connections use them.
    pub(crate) fn renew(&self) -> Result<()> {
        etcd_store::renew(&self.store, &self.address, &self.files)
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let files = [&self.files.ca, &self.files.certificate, &self.files.key];
        files.into_iter().flatten().cloned().collect()
    }
}
