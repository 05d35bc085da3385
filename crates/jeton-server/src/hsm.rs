//! Signing with keys in an HSM, without blocking the threads that serve connections.
//!
//! The crate jeton-pkcs11 loads the module. A module is a shared library, which a static binary cannot load, so
//! this crate does not depend on it: the program passes it as a [`Pkcs11Provider`].

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use jeton_issuer::{Error as IssuerError, RemoteKeys};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::config::{Config, Pkcs11, Pkcs11Key};
use crate::error::{ConfigError, Error, Result};
use crate::failure::Failure;
use crate::traces::in_child_span;

/// Tokens of a batch for which a call may wait `timeout_seconds` once more.
const TOKENS_PER_TIMEOUT: usize = 100;

/// Keys in an HSM.
pub trait HsmKeys: RemoteKeys {
    /// Replaces the keys that the configuration names.
    fn set_keys(&self, keys: &[Pkcs11Key]);
}

/// Opens and checks the keys of a configuration.
#[derive(Debug, Clone, Copy)]
pub struct Pkcs11Provider {
    /// Connects to the HSM. An HSM that does not answer is no error: it may return.
    pub open: fn(&Pkcs11) -> Result<Arc<dyn HsmKeys>, String>,
    /// Returns what the HSM cannot do, each with what to do about it.
    pub check: fn(&Pkcs11) -> Vec<String>,
}

/// Opens the keys that the configuration names, if it names any.
pub(crate) fn open(
    config: &Config,
    provider: Option<Pkcs11Provider>,
) -> Result<Option<Arc<dyn HsmKeys>>> {
    let Some(pkcs11) = &config.pkcs11 else {
        return Ok(None);
    };
    let provider = provider.ok_or_else(without_feature)?;
    let opened = (provider.open)(pkcs11).map_err(problem)?;
    Ok(Some(opened))
}

/// Checks what the configuration names.
pub(crate) fn check(config: &Config, provider: Option<Pkcs11Provider>) -> Result<()> {
    let Some(pkcs11) = &config.pkcs11 else {
        return Ok(());
    };
    let provider = provider.ok_or_else(without_feature)?;
    let problems = (provider.check)(pkcs11);
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problem(problems.join("; ")))
    }
}

fn without_feature() -> Error {
    problem(
        "this build cannot load a PKCS#11 module: build it with `cargo build --release -p jeton-cli --features pkcs11`. \
         The packages have a static binary, which cannot load one"
            .to_owned(),
    )
}

fn problem(what: String) -> Error {
    Error::Config(ConfigError {
        file: None,
        line: None,
        key: "pkcs11".to_owned(),
        what,
    })
}

/// Runs work that signs in the HSM, on a bounded number of threads.
pub(crate) struct SigningQueue {
    pub(crate) keys: Arc<dyn HsmKeys>,
    permits: Arc<Semaphore>,
    /// Calls that wait or run.
    entered: AtomicUsize,
    limit: usize,
    timeout: Duration,
    refused: AtomicU64,
    failed: AtomicU64,
}

/// Counts a call that waits or runs.
struct Entered<'q>(&'q AtomicUsize);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SigningQueue {
    pub(crate) fn new(keys: Arc<dyn HsmKeys>, pkcs11: &Pkcs11) -> SigningQueue {
        SigningQueue {
            keys,
            permits: Arc::new(Semaphore::new(pkcs11.sessions)),
            entered: AtomicUsize::new(0),
            limit: pkcs11.sessions + pkcs11.queue,
            timeout: pkcs11.timeout(),
            refused: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// Runs work that issues this many tokens on another thread, and waits for it.
    ///
    /// # Errors
    ///
    /// [`Failure::Overloaded`] if too many calls wait already, [`IssuerError::SignerUnavailable`] after the
    /// timeout. A module cannot be interrupted, so the work then goes on, and keeps its thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        tokens: usize,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let done = in_child_span("hsm sign", self.run_within(tokens, work)).await;
        if let Err(Failure::Issuer(IssuerError::SignerUnavailable(_))) = &done {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        done
    }

    async fn run_within<T: Send + 'static>(
        &self,
        tokens: usize,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let before = self.entered.fetch_add(1, Ordering::Relaxed);
        let _entered = Entered(&self.entered);
        if before >= self.limit {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(Failure::Overloaded(
                "too many calls wait for the HSM (`pkcs11.sessions` and `pkcs11.queue`), retry later"
                    .into(),
            ));
        }
        let parts = u32::try_from(tokens.div_ceil(TOKENS_PER_TIMEOUT)).unwrap_or(u32::MAX);
        let timeout = self.timeout.saturating_mul(parts.max(1));
        let answered = async {
            // The permit goes with the work: a caller that goes away does not end it.
            let permit = self.permits.clone().acquire_owned().await.ok()?;
            let task = tokio::task::spawn_blocking(move || {
                let done = work();
                drop(permit);
                done
            });
            task.await.ok()
        };
        match tokio::time::timeout(timeout, answered).await {
            Ok(Some(done)) => done,
            Ok(None) => Err(unavailable("the signing thread has ended".to_owned())),
            Err(_) => Err(unavailable(format!(
                "no answer within {} s (`pkcs11.timeout_seconds`)",
                timeout.as_secs()
            ))),
        }
    }

    /// Writes the metrics of the HSM.
    pub(crate) fn write_metrics(&self, text: &mut String) {
        use std::fmt::Write as _;
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let is_available = u8::from(self.keys.fault().is_none());
        let entered = self.entered.load(Ordering::Relaxed);
        let _ = write!(
            text,
            "# HELP jeton_hsm_available Whether the HSM can sign; 0 while tokens of its issuers are not issued.\n\
             # TYPE jeton_hsm_available gauge\njeton_hsm_available {is_available}\n\
             # HELP jeton_hsm_calls_waiting Calls that wait for the HSM or are being signed.\n\
             # TYPE jeton_hsm_calls_waiting gauge\njeton_hsm_calls_waiting {entered}\n\
             # HELP jeton_hsm_calls_failed Calls without a token because the HSM did not sign.\n\
             # TYPE jeton_hsm_calls_failed counter\njeton_hsm_calls_failed_total {}\n\
             # HELP jeton_hsm_calls_refused Calls refused because too many wait for the HSM.\n\
             # TYPE jeton_hsm_calls_refused counter\njeton_hsm_calls_refused_total {}\n",
            load(&self.failed),
            load(&self.refused),
        );
    }
}

fn unavailable(why: String) -> Failure {
    IssuerError::SignerUnavailable(why).into()
}

/// Runs asynchronous work to its end on a thread that may block.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    Handle::current().block_on(work)
}

impl fmt::Debug for SigningQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningQueue")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
