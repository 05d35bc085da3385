//! Follows files with certificates, so that a renewal needs no signal and no restart.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use jeton_transport::Transport;

use crate::certificates::EtcdCertificates;
use crate::config::Tls;
use crate::error::Result;
use crate::limits::CERTIFICATES_EVERY;
use crate::service::Service;

/// Notes when the certificate of the listeners ends, for the metrics.
pub(crate) fn note_end(service: &Service, tls: Option<&Tls>) {
    let files = tls.map(Tls::files);
    let end = files.and_then(jeton_transport::certificate_end);
    let metrics = &service.metrics;
    metrics
        .certificate_end
        .store(end.unwrap_or_default(), Ordering::Relaxed);
}

/// Reads files again when they have changed, until the server stops.
pub(crate) async fn follow(service: Arc<Service>, transport: Arc<Transport>) {
    let certificates = &service.certificates;
    let etcd = certificates.etcd.as_ref();
    let of_etcd = || etcd.map_or_else(Vec::new, EtcdCertificates::files);
    let mut listeners = Followed::new(&certificates.of_listeners());
    let mut store = Followed::new(&of_etcd());
    let mut every = tokio::time::interval(CERTIFICATES_EVERY);
    while !service.transport.is_leaving() {
        every.tick().await;
        listeners.look(&certificates.of_listeners(), "the listeners", || {
            let Some(tls) = (**certificates.tls.load()).clone() else {
                return Ok(());
            };
            let config = jeton_transport::tls_config(tls.files())?;
            transport.replace_tls(Some(config));
            note_end(&service, Some(&tls));
            Ok(())
        });
        store.look(&of_etcd(), "the etcd", || {
            etcd.map_or(Ok(()), EtcdCertificates::renew)
        });
    }
}

/// When files were changed, their lengths and their places on the disk.
type State = Vec<Option<(SystemTime, u64, u64)>>;

/// Files, as they were when they were used.
struct Followed {
    used: State,
    /// A state that cannot be used, and whether the log says so.
    refused: Option<(State, bool)>,
}

impl Followed {
    fn new(files: &[PathBuf]) -> Followed {
        Followed {
            used: state(files),
            refused: None,
        }
    }

    /// Uses the files if they have changed. If they cannot be used, the log says so when they stay like that: a program
    /// may write one after the other.
    fn look(&mut self, files: &[PathBuf], of: &str, reuse: impl FnOnce() -> Result<()>) {
        let now = state(files);
        if now == self.used {
            return;
        }
        match (reuse(), &mut self.refused) {
            (Ok(()), _) => {
                tracing::info!(of, "certificates were renewed: the new ones are in use");
                self.used = now;
                self.refused = None;
            }
            (Err(error), Some((refused, is_logged))) if *refused == now => {
                if !*is_logged {
                    tracing::error!(of, %error, "new certificates cannot be used, the previous ones stay in use");
                    *is_logged = true;
                }
            }
            (Err(_), _) => self.refused = Some((now, false)),
        }
    }
}

fn state(files: &[PathBuf]) -> State {
    files.iter().map(|file| state_of(file)).collect()
}

#[cfg(unix)]
fn state_of(file: &Path) -> Option<(SystemTime, u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let about = fs::metadata(file).ok()?;
    Some((about.modified().ok()?, about.len(), about.ino()))
}

#[cfg(not(unix))]
fn state_of(file: &Path) -> Option<(SystemTime, u64, u64)> {
    let about = fs::metadata(file).ok()?;
    Some((about.modified().ok()?, about.len(), 0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::error::Error;

    #[test]
    fn files_are_used_once_for_each_change() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&files[0], "1").unwrap();
        let mut followed = Followed::new(&files);
        let mut used = 0;
        let mut look = |is_good: bool| {
            followed.look(&files, "the test", || {
                used += 1;
                let refused = || Error::System(std::io::Error::other("refused"));
                is_good.then_some(()).ok_or_else(refused)
            });
            (
                used,
                followed.refused.as_ref().map(|(_, is_logged)| *is_logged),
            )
        };
        assert_eq!(look(true), (0, None));
        // A missing file appears. The first failure is not logged.
        fs::write(&files[1], "1").unwrap();
        assert_eq!(look(false), (1, Some(false)));
        assert_eq!(look(false), (2, Some(true)));
        assert_eq!(look(false), (3, Some(true)));
        fs::write(&files[1], "12").unwrap();
        assert_eq!(look(true), (4, None));
        assert_eq!(look(true), (4, None));
    }
}
