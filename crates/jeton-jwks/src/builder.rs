use std::fmt;
use std::sync::Arc;

use jeton::key::SigAlg;

use crate::address::{PlainHttp, parse_address};
use crate::discovery::DiscoveredIssuer;
use crate::error::FetchError;
use crate::fetch::Fetch;
#[cfg(feature = "https")]
use crate::https::Https;
use crate::public_keys::Reading;
use crate::remote::{Location, RemoteKeySet};
use crate::schedule::Schedule;

/// The settings of a [`RemoteKeySet`]. [`RemoteKeySet::builder`] and [`RemoteKeySet::builder_with_discovery`]
/// create it.
///
/// ```
/// use std::sync::Arc;
/// use jeton::key::SigAlg;
/// use jeton_jwks::{Https, RemoteKeySet, Schedule};
///
/// let https = Arc::new(Https::new()?);
/// let set_of = |issuer: &str| {
///     RemoteKeySet::builder(format!("{issuer}/.well-known/jwks.json"))
///         .default_alg(SigAlg::RS256)
///         .fetch(Arc::clone(&https))
///         .schedule(Schedule::default())
///         .build()
/// };
/// let sets = [set_of("https://a.example")?, set_of("https://b.example")?];
/// # Ok::<(), jeton_jwks::FetchError>(())
/// ```
#[must_use = "settings do nothing until build is called"]
pub struct RemoteKeySetBuilder {
    source: Source,
    allow_private: bool,
    plain_http: PlainHttp,
    fetch: Option<Arc<dyn Fetch>>,
    schedule: Schedule,
    default_alg: Option<SigAlg>,
    key_use: Option<String>,
}

/// The location of the key set, as the caller wrote it.
enum Source {
    Address(String),
    Issuer(String),
}

impl RemoteKeySet {
    /// Creates a key set that is fetched from this address with [`Https`](crate::Https) and the default [`Schedule`].
    ///
    /// # Errors
    /// [`FetchError::InvalidAddress`] if the address is not allowed, and the errors of
    /// [`Https::new`](crate::Https::new).
    pub fn new(address: impl Into<String>) -> Result<Self, FetchError> {
        Self::builder(address).build()
    }

    /// Returns a builder for a key set that is fetched from this address.
    ///
    /// ```
    /// use jeton::key::SigAlg;
    /// use jeton_jwks::RemoteKeySet;
    ///
    /// let keys = RemoteKeySet::builder("https://id.example/jwks.json")
    ///     .default_alg(SigAlg::RS256)
    ///     .build()?;
    /// # Ok::<(), jeton_jwks::FetchError>(())
    /// ```
    pub fn builder(address: impl Into<String>) -> RemoteKeySetBuilder {
        RemoteKeySetBuilder::new(address.into())
    }

    /// Creates a key set of an issuer and discovers its address, from the document of OpenID Connect or of
    /// RFC 8414. It uses [`Https`](crate::Https) and the default [`Schedule`].
    ///
    /// `issuer` is `iss` of the tokens, byte for byte. This function sends no request. The crate documentation says
    /// [which addresses are allowed](crate#discovery).
    ///
    /// ```
    /// use jeton::Policy;
    /// use jeton_jwks::{RemoteKeySet, RemoteVerifier};
    ///
    /// let keys = RemoteKeySet::discover("https://id.example")?;
    /// let verifier = RemoteVerifier::new(&keys, Policy::new("https://id.example", "api"));
    /// # Ok::<(), jeton_jwks::FetchError>(())
    /// ```
    ///
    /// # Errors
    /// [`FetchError::InvalidAddress`] if the URL of the issuer is not allowed, and the errors of
    /// [`Https::new`](crate::Https::new).
    pub fn discover(issuer: impl Into<String>) -> Result<Self, FetchError> {
        Self::builder_with_discovery(issuer).build()
    }

    /// Returns a builder for a key set with a [discovered](RemoteKeySet::discover) address.
    ///
    /// ```
    /// use jeton::key::SigAlg;
    /// use jeton_jwks::RemoteKeySet;
    ///
    /// let keys = RemoteKeySet::builder_with_discovery("https://id.example")
    ///     .default_alg(SigAlg::RS256)
    ///     .build()?;
    /// # Ok::<(), jeton_jwks::FetchError>(())
    /// ```
    pub fn builder_with_discovery(issuer: impl Into<String>) -> RemoteKeySetBuilder {
        RemoteKeySetBuilder::with_discovery(issuer.into())
    }
}

impl RemoteKeySetBuilder {
    fn new(address: String) -> Self {
        Self::of(Source::Address(address))
    }

    fn with_discovery(issuer: String) -> Self {
        Self::of(Source::Issuer(issuer))
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            allow_private: false,
            plain_http: PlainHttp::Loopback,
            fetch: None,
            schedule: Schedule::default(),
            default_alg: None,
            key_use: None,
        }
    }

    /// Sets the algorithm of keys without `alg`, if their type fits. For example, Microsoft Entra publishes such RSA
    /// keys. Keys with `alg` keep their algorithm.
    ///
    /// Without a default, a key without `alg` is skipped, unless its curve implies the algorithm.
    pub fn default_alg(mut self, alg: SigAlg) -> Self {
        self.default_alg = Some(alg);
        self
    }

    /// Sets the `use` of the signature keys, if it is not `sig`: `jwt-svid` for a SPIFFE bundle. Keys with another `use`, or
    /// without one, are skipped.
    pub fn key_use(mut self, key_use: impl Into<String>) -> Self {
        self.key_use = Some(key_use.into());
        self
    }

    /// Allows a discovered `jwks_uri` in a private network, also on another host than the issuer. By default it is
    /// rejected, because the issuer could send requests into the network of the service.
    ///
    /// An address of the caller may always be private.
    pub fn allow_private_addresses(mut self) -> Self {
        self.allow_private = true;
        self
    }

    /// Allows plain `http` to all hosts, for the key set and for the issuer. Insecure: an attacker on the network can
    /// replace the keys. By default, only loopback hosts may use it.
    pub fn allow_plain_http(mut self) -> Self {
        self.plain_http = PlainHttp::Everywhere;
        self
    }

    /// Sets the client. Default: [`Https`]. Several key sets can share one: pass an `Arc`.
    pub fn fetch(mut self, fetch: impl Fetch) -> Self {
        self.fetch = Some(Arc::new(fetch));
        self
    }

    /// Sets when the keys are fetched. Default: [`Schedule::default`].
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Creates the key set. It sends no request.
    ///
    /// # Errors
    /// [`FetchError::InvalidAddress`] if the address is not allowed, and the errors of [`Https::new`].
    pub fn build(self) -> Result<RemoteKeySet, FetchError> {
        let location = match self.source {
            Source::Address(address) => {
                Location::Address(parse_address(&address, self.plain_http)?, self.plain_http)
            }
            Source::Issuer(name) => Location::Issuer(DiscoveredIssuer::parse(
                name,
                self.allow_private,
                self.plain_http,
            )?),
        };
        let fetch = match self.fetch {
            Some(fetch) => fetch,
            None => default_client()?,
        };
        Ok(RemoteKeySet::from_parts(
            location,
            fetch,
            self.schedule,
            Reading {
                default_alg: self.default_alg,
                key_use: self.key_use,
            },
        ))
    }
}

/// Returns the client for key sets without a client.
pub(crate) fn default_client() -> Result<Arc<dyn Fetch>, FetchError> {
    #[cfg(feature = "https")]
    {
        Ok(Arc::new(Https::new()?))
    }
    #[cfg(not(feature = "https"))]
    {
        Err(FetchError::Unreachable(
            "no client: set one with `fetch`".into(),
        ))
    }
}

impl fmt::Debug for RemoteKeySetBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteKeySetBuilder")
            .field("schedule", &self.schedule)
            .field("default_alg", &self.default_alg)
            .finish_non_exhaustive()
    }
}
