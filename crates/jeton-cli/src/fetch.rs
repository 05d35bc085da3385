//! Fetches a key set: from a URL, or from the address that an issuer publishes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use http::{HeaderMap, Uri};
use jeton_jwks::{
    AddressError, DiscoveryError, FetchError, FetchRequest, Https, PlainHttp, check_address,
    check_issuer, discover_key_set,
};
use jiff::{SignedDuration, Timestamp};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::{sleep, timeout};
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::{input, output};

/// The time limit of all requests together.
const TIMEOUT: Duration = Duration::from_secs(10);

/// After this time, a note says what the command waits for.
const QUIET: Duration = Duration::from_secs(2);

/// The longest text of a server that a hint repeats, bytes.
pub(crate) const SHOWN_BYTES: usize = 200;

/// The largest file of certificate authorities, bytes.
const AUTHORITIES_BYTES: usize = 1024 * 1024;

/// How keys are fetched.
#[derive(Debug, Args)]
pub(crate) struct RemoteKeyArgs {
    /// Discover the key set of this issuer, and require the issuer (`iss`) unless --issuer names another
    #[arg(long, value_name = "ISSUER")]
    discover: Option<String>,

    /// Also trust the certificate authorities in this PEM file when keys are fetched (- for standard input)
    #[arg(long, value_name = "FILE", requires = "key_source")]
    ca: Option<PathBuf>,

    /// Fetch keys with http from any host. Insecure: anyone on the network can replace the keys
    #[arg(long, requires = "key_source")]
    plain_http: bool,
}

/// A key set that is not in a file.
pub(crate) struct RemoteKeys {
    location: Location,
    authorities: Option<Zeroizing<Vec<u8>>>,
    plain_http: PlainHttp,
}

enum Location {
    Url { uri: Uri },
    Issuer(String),
}

/// Why there is no key set, and what to do.
pub(crate) struct Problem {
    pub(crate) what: String,
    pub(crate) how: String,
}

impl Problem {
    pub(crate) fn new(what: impl Into<String>, how: impl Into<String>) -> Problem {
        Problem {
            what: what.into(),
            how: how.into(),
        }
    }
}

impl RemoteKeyArgs {
    /// Returns the issuer whose keys are discovered.
    pub(crate) fn discovered_issuer(&self) -> Option<&str> {
        self.discover.as_deref()
    }

    /// Returns the keys of the issuer, if the caller named one.
    pub(crate) fn of_issuer(&self) -> Outcome<Option<RemoteKeys>> {
        let Some(issuer) = &self.discover else {
            return Ok(None);
        };
        self.allowed(check_issuer(issuer))
            .map_err(|why| address_failure("--discover", why))?;
        Ok(Some(RemoteKeys {
            location: Location::Issuer(issuer.clone()),
            authorities: self.authorities()?,
            plain_http: self.plain_http(),
        }))
    }

    /// Returns the keys at a URL, or `None` if the value of this option is a file name.
    pub(crate) fn at(&self, option: &str, place: &Path) -> Outcome<Option<RemoteKeys>> {
        let Some(text) = place.to_str().filter(|text| is_url(text)) else {
            let unused = if self.ca.is_some() {
                "--ca"
            } else if self.plain_http {
                "--plain-http"
            } else {
                return Ok(None);
            };
            return Err(Failure::error(format!("{unused}: {option} is not a URL"))
                .hint(format!("for a key in a file, remove `{unused}`")));
        };
        Ok(Some(RemoteKeys {
            location: Location::Url {
                uri: self.read_url(option, text)?,
            },
            authorities: self.authorities()?,
            plain_http: self.plain_http(),
        }))
    }

    fn plain_http(&self) -> PlainHttp {
        if self.plain_http {
            PlainHttp::Everywhere
        } else {
            PlainHttp::Loopback
        }
    }

    /// Accepts plain `http` if the caller allows it.
    fn allowed(&self, checked: Result<(), AddressError>) -> Result<(), AddressError> {
        match checked {
            Err(AddressError::NotEncrypted) if self.plain_http => {
                output::note("keys are fetched with http: anyone on the network can replace them");
                Ok(())
            }
            checked => checked,
        }
    }

    fn read_url(&self, option: &str, text: &str) -> Outcome<Uri> {
        let uri: Uri = text
            .parse()
            .map_err(|_| address_failure(option, AddressError::NotHttp))?;
        self.allowed(check_address(&uri))
            .map_err(|why| address_failure(option, why))?;
        Ok(uri)
    }

    fn authorities(&self) -> Outcome<Option<Zeroizing<Vec<u8>>>> {
        let path = self.ca.as_deref();
        let pem = path.map(|path| input::key_bytes(path, AUTHORITIES_BYTES));
        let pem = pem.transpose()?;
        if let (Some(path), Some(pem)) = (path, &pem)
            && let Err(error) = Https::with_authorities(pem)
        {
            let name = input::name_of(path);
            return Err(Failure::error(format!("{name}: {error}")).hint(
                "--ca takes certificates in PEM, which begin with -----BEGIN CERTIFICATE-----",
            ));
        }
        Ok(pem)
    }
}

/// Returns whether a text is a URL and not a file name.
pub(crate) fn is_url(text: &str) -> bool {
    let begins = |scheme: &str| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    begins("https://") || begins("http://")
}

fn address_failure(option: &str, why: AddressError) -> Failure {
    let wrong = |why: &str| Failure::error(format!("{option}: {why}"));
    match why {
        AddressError::Credentials => wrong("the URL contains credentials")
            .hint("a key set is public: remove the credentials from the URL"),
        AddressError::NotEncrypted => {
            wrong("http is not allowed for another host: the keys could be replaced on the way")
                .hint("use `https://`, or add `--plain-http` if you trust the network")
        }
        AddressError::QueryOrFragment => wrong("an issuer has no query and no fragment")
            .hint("for the URL of a key set, use --key"),
        _ => wrong("not a URL"),
    }
}

/// Returns a URL without its query, which may contain a secret.
fn without_query(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    format!("{scheme}://{authority}{}", uri.path())
}

impl RemoteKeys {
    /// Returns the name for messages.
    pub(crate) fn name(&self) -> String {
        match &self.location {
            Location::Url { uri } => without_query(uri),
            Location::Issuer(issuer) => issuer.clone(),
        }
    }

    /// Sends requests that bypass caches, so that the result is about the current key set.
    pub(crate) fn fetch(&self) -> Result<Fetched, Problem> {
        let failed = |why: String| Problem::new(format!("the request failed: {why}"), "");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let fetched = runtime.block_on(async {
            let request = timeout(TIMEOUT, self.request());
            tokio::pin!(request);
            tokio::select! {
                fetched = &mut request => return fetched,
                () = sleep(QUIET) => {}
            }
            output::note(format_args!("waiting for {}", self.name()));
            request.await
        });
        // Does not wait for a name that is still being resolved.
        runtime.shutdown_background();
        match fetched {
            Ok(fetched) => fetched.map_err(|error| describe(&error)),
            Err(_) => Err(Problem::new(
                format!("no response within {} s", TIMEOUT.as_secs()),
                "check the address and the network",
            )),
        }
    }

    async fn request(&self) -> Result<Fetched, FetchError> {
        let https = match &self.authorities {
            Some(pem) => Https::with_authorities(pem)?,
            None => Https::with_tls(tls()),
        };
        let https = https.with_proxy_from_environment();
        let request = match &self.location {
            Location::Url { uri } => FetchRequest::new(uri.clone()).plain_http(self.plain_http),
            Location::Issuer(issuer) => discover_key_set(issuer, self.plain_http, &https).await?,
        };
        let request = request.no_cache();
        let host = request.uri.host().unwrap_or_default().to_owned();
        let (began, at) = (Instant::now(), Timestamp::now());
        let response = match (&self.location, https.get(request).await) {
            // The address is that of the document, and its name is resolved to a private address.
            (Location::Issuer(_), Err(FetchError::InvalidAddress(why))) => {
                return Err(DiscoveryError::InvalidKeySetAddress(why).into());
            }
            (_, response) => response?,
        };
        let took = began.elapsed();
        let heard = at + SignedDuration::try_from(took / 2).unwrap_or_default();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let date = text_of(&headers, "date");
        let date = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok());
        // A response that is no key set is described by its status.
        let body = match status {
            200 => response.body().await?,
            _ => Vec::new(),
        };
        Ok(Fetched {
            status,
            took,
            body: Zeroizing::new(body),
            headers,
            date: date.map(|date| Date {
                server: host,
                server_time: date.timestamp(),
                local_time: heard,
            }),
        })
    }
}

/// The response.
pub(crate) struct Fetched {
    pub(crate) status: u16,
    pub(crate) took: Duration,
    pub(crate) body: Zeroizing<Vec<u8>>,
    pub(crate) headers: HeaderMap,
    pub(crate) date: Option<Date>,
}

/// The time of the server and the local time of the response.
#[derive(Debug, Clone)]
pub(crate) struct Date {
    pub(crate) server: String,
    pub(crate) server_time: Timestamp,
    pub(crate) local_time: Timestamp,
}

/// Trusts the certificate authorities of the operating system. Without any, `http` to this machine still
/// works.
fn tls() -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider supports these versions of TLS")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Returns the text of a header.
pub(crate) fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

impl Fetched {
    /// Returns what is wrong with the status.
    pub(crate) fn check_status(&self) -> Result<(), Problem> {
        let status = self.status;
        if status == 200 {
            return Ok(());
        }
        if let (429 | 503, Some(pause)) = (status, self.retry_after()) {
            return Err(Problem::new(
                format!("status {status}: the server asks for a pause"),
                format!("try again in {pause} s"),
            ));
        }
        let location = text_of(&self.headers, "location").filter(|_| (300..400).contains(&status));
        let Some(location) = location else {
            return Err(Problem::new(
                format!("status {status}"),
                "the URL that verifiers use must return the key set with status 200",
            ));
        };
        // The address is untrusted: only one that the caller may pass is repeated.
        let target: Option<Uri> = location.parse().ok();
        let target = target.filter(|target| check_address(target).is_ok());
        let target = target.map(|target| without_query(&target));
        let target = target.filter(|target| target.len() <= SHOWN_BYTES);
        Err(Problem::new(
            format!("status {status}: not every verifier follows redirects"),
            match target {
                Some(target) => format!("if you trust it, pass the new address: {target}"),
                None => "pass the address of the key set itself".to_owned(),
            },
        ))
    }

    /// Returns the seconds in `Retry-After`.
    fn retry_after(&self) -> Option<u64> {
        text_of(&self.headers, "retry-after")?.trim().parse().ok()
    }
}

/// Describes why there was no response.
fn describe(error: &FetchError) -> Problem {
    let what = match error {
        FetchError::TooLarge { .. } | FetchError::Discovery(_) => error.to_string(),
        FetchError::Unreachable(why) => format!("the request failed: {why}"),
        error => format!("the request failed: {error}"),
    };
    Problem::new(what, how(error))
}

/// Returns what to do about an error.
fn how(error: &FetchError) -> String {
    match error {
        FetchError::Discovery(DiscoveryError::NotFetched(error)) => match &**error {
            FetchError::Status(_) | FetchError::RetryAfter { .. } => {
                "if you know the URL of the key set, pass it instead of the issuer".to_owned()
            }
            error => how(error),
        },
        FetchError::Discovery(DiscoveryError::IssuerMismatch { published, .. })
            if published.len() <= SHOWN_BYTES =>
        {
            format!("compare the issuer with that of the document: {published}")
        }
        FetchError::Discovery(DiscoveryError::InvalidKeySetAddress(AddressError::Private)) => {
            "if you trust the address of the key set, pass it instead of the issuer".to_owned()
        }
        FetchError::Discovery(_) => "check the issuer".to_owned(),
        FetchError::Unreachable(why) if why.contains("certificate") => {
            "to trust the authority of the server, add `--ca FILE`".to_owned()
        }
        FetchError::Unreachable(_) | FetchError::TimedOut => {
            "check the address and the network".to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn args(plain_http: bool) -> RemoteKeyArgs {
        RemoteKeyArgs {
            discover: None,
            ca: None,
            plain_http,
        }
    }

    #[test]
    fn key_set_url_requires_https_or_loopback() {
        for fine in [
            "https://id.example/jwks.json",
            "HTTPS://id.example",
            "http://127.0.0.1:8420/x",
            "http://[::1]/x",
            "http://localhost/x",
        ] {
            assert!(is_url(fine), "{fine}");
            assert!(args(false).read_url("--key", fine).is_ok(), "{fine}");
        }
        for wrong in [
            "http://id.example/jwks.json",
            "http://127.0.0.1.id.example/",
            "https://user:secret@id.example/",
            "https://",
        ] {
            assert!(args(false).read_url("--key", wrong).is_err(), "{wrong}");
        }
        let plain = "http://id.example/jwks.json";
        assert!(args(true).read_url("--key", plain).is_ok());
        let with_password = "http://user:secret@id.example/";
        assert!(args(true).read_url("--key", with_password).is_err());
        assert!(!is_url("jwks.json") && !is_url("httpss"));
        let address = args(false)
            .read_url("--key", "https://id.example/keys?token=secret")
            .unwrap();
        assert_eq!(without_query(&address), "https://id.example/keys");
    }
}
