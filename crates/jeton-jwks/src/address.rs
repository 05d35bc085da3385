//! Which addresses keys may be fetched from.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

use crate::error::FetchError;

/// Why keys may not be fetched from an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressError {
    /// Not an absolute URL with `https` or `http`.
    NotHttp,
    /// The address contains a user name or a password.
    Credentials,
    /// `http` to a host other than a loopback host: an attacker on the network could replace the keys.
    NotEncrypted,
    /// An address in a private network, from a document and not from the caller. The host of the issuer is
    /// allowed; for other hosts see
    /// [`allow_private_addresses`](crate::RemoteKeySetBuilder::allow_private_addresses).
    Private,
    /// The address of an issuer (RFC 8414, section 2) or of a resource has a query or a fragment.
    QueryOrFragment,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressError::NotHttp => "the URL is not an https URL",
            AddressError::Credentials => "the URL contains credentials",
            AddressError::NotEncrypted => "the URL must use https, or http to a loopback host",
            AddressError::Private => "the URL has a private IP address, and is not on the host of the issuer",
            AddressError::QueryOrFragment => "the URL must have no query and no fragment",
        })
    }
}

impl std::error::Error for AddressError {}

impl From<AddressError> for FetchError {
    fn from(why: AddressError) -> Self {
        FetchError::InvalidAddress(why)
    }
}

/// Checks that keys may be fetched from an address: `https`, or `http` to a loopback host, without
/// credentials.
///
/// # Errors
/// Why the address is not allowed.
///
/// ```
/// use jeton_jwks::{AddressError, check_address};
///
/// assert_eq!(check_address(&"https://id.example/jwks.json".parse()?), Ok(()));
/// let unencrypted = "http://id.example/jwks.json".parse()?;
/// assert_eq!(check_address(&unencrypted), Err(AddressError::NotEncrypted));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_address(address: &Uri) -> Result<(), AddressError> {
    let authority = address.authority().ok_or(AddressError::NotHttp)?;
    if authority.as_str().contains('@') {
        return Err(AddressError::Credentials);
    }
    match address.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if is_loopback_host(authority.host()) => Ok(()),
        Some("http") => Err(AddressError::NotEncrypted),
        _ => Err(AddressError::NotHttp),
    }
}

/// Parses an address and checks that it is allowed.
pub(crate) fn parse_address(text: &str) -> Result<Uri, FetchError> {
    let address: Uri = text.parse().map_err(|_| AddressError::NotHttp)?;
    check_address(&address)?;
    Ok(address)
}

fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_address_requires_https_or_loopback() {
        for fine in [
            "https://id.example/jwks.json",
            "http://127.0.0.1:1/",
            "http://[::1]/",
        ] {
            assert!(parse_address(fine).is_ok(), "{fine}");
        }
        for (wrong, why) in [
            ("http://id.example/", AddressError::NotEncrypted),
            ("http://127.0.0.1.id.example/", AddressError::NotEncrypted),
            ("https://user:secret@id.example/", AddressError::Credentials),
            ("ftp://id.example/", AddressError::NotHttp),
            ("/jwks.json", AddressError::NotHttp),
            ("", AddressError::NotHttp),
        ] {
            assert_eq!(parse_address(wrong), Err(why.into()), "{wrong}");
        }
    }
}
