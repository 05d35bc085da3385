//! TLS: the server's certificate, and client certificates.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::digest;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use webpki::{EndEntityCert, KeyUsage};

use crate::limits;
use crate::text_file;

/// The PEM files of a server with TLS.
#[derive(Debug, Clone, Copy)]
pub struct TlsFiles<'f> {
    /// The server's certificate, followed by intermediate certificates.
    pub certificate: &'f Path,
    /// The private key of the certificate.
    pub key: &'f Path,
    /// Certificate authorities of clients.
    pub client_ca: Option<&'f Path>,
}

/// A certificate, a private key or a certificate authority cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsError {
    /// The file.
    pub file: PathBuf,
    /// The problem.
    pub what: String,
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.what)
    }
}

impl std::error::Error for TlsError {}

/// Builds the rustls configuration for HTTP/2 and HTTP/1.1, with client certificates if `client_ca` is set.
///
/// A client without a certificate may connect: key sets are public. Other calls identify their caller.
///
/// # Errors
///
/// [`TlsError`] if a file cannot be read, has no PEM of its kind, or does not fit the others.
pub fn server_config(files: TlsFiles<'_>) -> Result<TlsConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let chain = certificates(files.certificate)?;
    check_validity(files.certificate, &chain[0])?;
    let key = private_key(files.key)?;
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(files.certificate, error.to_string()))?;
    let mut authorities = digest::Context::new(&digest::SHA256);
    let builder = match files.client_ca {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(file)? {
                authorities.update(&certificate);
                let added = roots.add(certificate);
                added.map_err(|error| wrong(file, error.to_string()))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| wrong(file, error.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| {
        let what = format!(
            "does not match the private key {}: {error}",
            files.key.display()
        );
        wrong(files.certificate, what)
    })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    if files.client_ca.is_some() {
        // A resumed session would keep a certificate that has ended, or whose authority is no longer accepted.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(authorities.finish().as_ref());
    Ok(TlsConfig {
        server: Arc::new(config),
        authorities: Authorities(digest),
    })
}

/// A client certificate that the handshake has verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerCertificate {
    /// SHA-256, hexadecimal.
    pub digest: String,
    /// DNS names (subjectAltName).
    pub dns_names: Vec<String>,
    /// URIs (subjectAltName).
    pub uris: Vec<String>,
    /// When it, or an intermediate certificate that came with it, ends: seconds since 1970.
    ends_at: i64,
    /// The authorities of the handshake.
    authorities: Authorities,
}

/// Identifies the certificate authorities of clients that a server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authorities([u8; 32]);

/// The settings of TLS connections.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    pub(crate) server: Arc<ServerConfig>,
    pub(crate) authorities: Authorities,
}

impl PeerCertificate {
    /// Reads the chain of a client, its own certificate first.
    pub(crate) fn parse(
        chain: &[CertificateDer<'_>],
        authorities: Authorities,
    ) -> Option<PeerCertificate> {
        let der = chain.first()?;
        let certificate = EndEntityCert::try_from(der).ok()?;
        let owned = |name: &str| name.to_owned();
        let digest = digest::digest(&digest::SHA256, der);
        let ends = chain.iter().map(end_of).collect::<Option<Vec<i64>>>()?;
        Some(PeerCertificate {
            dns_names: certificate.valid_dns_names().map(owned).collect(),
            uris: certificate.valid_uri_names().map(owned).collect(),
            ends_at: ends.into_iter().min()?,
            authorities,
            digest: digest
                .as_ref()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        })
    }

    /// Whether the handshake would accept it now.
    pub fn is_valid(&self, now: i64, authorities: Option<Authorities>) -> bool {
        now <= self.ends_at && authorities == Some(self.authorities)
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = text_file::read(file, limits::PEM_BYTES).map_err(|what| wrong(file, what))?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(wrong(file, "no certificate found; expected PEM".to_owned())),
        Err(error) => Err(wrong(file, format!("invalid PEM: {error}"))),
    }
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = text_file::read(file, limits::PEM_BYTES).map_err(|what| wrong(file, what))?;
    PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| {
        // The parser's message could repeat a line of the key.
        wrong(
            file,
            "no private key found; expected PEM (PKCS#8, PKCS#1 or SEC1)".to_owned(),
        )
    })
}

/// Returns when the server's certificate ends, seconds since 1970.
pub fn certificate_end(files: TlsFiles<'_>) -> Option<i64> {
    let chain = certificates(files.certificate).ok()?;
    end_of(chain.first()?)
}

fn end_of(der: &CertificateDer<'_>) -> Option<i64> {
    let certificate = EndEntityCert::try_from(der).ok()?;
    // The error for a certificate that has ended names its end.
    let year_9999 = UnixTime::since_unix_epoch(Duration::from_secs(253_402_300_799));
    match validity(&certificate, year_9999) {
        Err(webpki::Error::CertExpired { not_after, .. }) => {
            i64::try_from(not_after.as_secs()).ok()
        }
        _ => None,
    }
}

/// Without trust anchors this always fails, but webpki checks the validity period first.
fn validity(certificate: &EndEntityCert<'_>, at: UnixTime) -> Result<(), webpki::Error> {
    let algorithms =
        rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms;
    certificate
        .verify_for_usage(
            algorithms.all,
            &[],
            &[],
            at,
            KeyUsage::server_auth(),
            None,
            None,
        )
        .map(drop)
}

/// Fails on an expired certificate at the start, where every client would reject it later.
fn check_validity(file: &Path, der: &CertificateDer<'_>) -> Result<(), TlsError> {
    let certificate = EndEntityCert::try_from(der)
        .map_err(|error| wrong(file, format!("invalid certificate: {error}")))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = UnixTime::since_unix_epoch(now.unwrap_or(Duration::ZERO));
    match validity(&certificate, now) {
        Err(webpki::Error::CertExpired { .. }) => {
            Err(wrong(file, "certificate expired".to_owned()))
        }
        Err(webpki::Error::CertNotValidYet { .. }) => Err(wrong(
            file,
            "certificate not valid yet; check the system clock".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn wrong(file: &Path, what: String) -> TlsError {
    TlsError {
        file: file.to_owned(),
        what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_counts_until_it_ends_or_its_authorities_change() {
        let (old, new) = (Authorities([1; 32]), Authorities([2; 32]));
        let certificate = PeerCertificate {
            digest: String::new(),
            dns_names: Vec::new(),
            uris: Vec::new(),
            ends_at: 100,
            authorities: old,
        };
        assert!(certificate.is_valid(100, Some(old)));
        assert!(!certificate.is_valid(101, Some(old)));
        assert!(!certificate.is_valid(100, Some(new)));
        assert!(!certificate.is_valid(100, None));
    }
}
