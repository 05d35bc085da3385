//! Checks a configuration without starting a server.

use std::sync::Arc;

use jeton::{Clock, SystemClock};
use jeton_issuer::{KeyEncryptionKey, KeySource};

use crate::clients::Clients;
use crate::config::Config;
use crate::error::Result;
use crate::hsm::Pkcs11Provider;
use crate::node::ConfiguredKey;
use crate::traces::RequestTracer;
use crate::trusts::Trusts;
use crate::{etcd_store, hsm, node, server};

impl Config {
    /// Checks what a start would read: the settings of the listeners, the key-encryption keys, certificates,
    /// client keys, trust entries, and the address and the credentials of an etcd. Opens no store, binds no
    /// address and sends no request.
    ///
    /// # Errors
    ///
    /// [`Error`](crate::Error), as a start would return it.
    pub fn check(&self) -> Result<()> {
        self.check_with(None)
    }

    /// Checks the same, and with a provider what the HSM can do: it loads the module, logs in, and makes one
    /// signature with each key.
    ///
    /// # Errors
    ///
    /// As [`check`](Config::check).
    pub fn check_with(&self, provider: Option<Pkcs11Provider>) -> Result<()> {
        let (source, key_is_given) = node::key_source(self)?;
        self.check_exposure(key_is_given)?;
        match source {
            ConfiguredKey::Source(KeySource::File(file)) => {
                drop(KeyEncryptionKey::from_file(&file)?);
            }
            ConfiguredKey::Source(source) if self.store.is_some() => {
                drop(etcd_store::options(source)?);
            }
            // A command may send a request, so it is not run.
            ConfiguredKey::Source(_) | ConfiguredKey::Command => {}
        }
        if let Some(file) = &self.old_key_encryption_key_file {
            KeyEncryptionKey::from_file(file)?;
        }
        match (&self.store, &self.etcd) {
            (Some(address), etcd) => etcd_store::check(address, etcd.as_ref())?,
            (None, Some(_)) => return Err(etcd_store::without_store()),
            (None, None) => {}
        }
        server::tls_config(self)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        Clients::from_config(self, &clock)?;
        Trusts::from_config(self, &clock, &Trusts::default())?;
        RequestTracer::check(self)?;
        hsm::check(self, provider)
    }
}
