//! Which addresses keys may be fetched from.

use std::net::IpAddr;

use http::Uri;

use crate::error::{AddressError, FetchError};

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
    check(address, PlainHttp::Loopback)
}

/// Which hosts keys may be fetched from with plain `http`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum PlainHttp {
    /// Loopback hosts.
    #[default]
    Loopback,
    /// All hosts. An attacker on the network can replace the keys.
    Everywhere,
}

pub(crate) fn check(address: &Uri, plain_http: PlainHttp) -> Result<(), AddressError> {
    let authority = address.authority().ok_or(AddressError::NotHttp)?;
    if authority.as_str().contains('@') {
        return Err(AddressError::Credentials);
    }
    match address.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if plain_http == PlainHttp::Everywhere => Ok(()),
        Some("http") if is_loopback_host(authority.host()) => Ok(()),
        Some("http") => Err(AddressError::NotEncrypted),
        _ => Err(AddressError::NotHttp),
    }
}

/// Parses an address and checks that it is allowed.
pub(crate) fn parse_address(text: &str, plain_http: PlainHttp) -> Result<Uri, FetchError> {
    let address: Uri = text.parse().map_err(|_| AddressError::NotHttp)?;
    check(&address, plain_http)?;
    Ok(address)
}

pub(crate) fn is_loopback_host(host: &str) -> bool {
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
            assert!(parse_address(fine, PlainHttp::Loopback).is_ok(), "{fine}");
        }
        let plain = "http://id.example/jwks.json";
        assert!(parse_address(plain, PlainHttp::Everywhere).is_ok());
        for (wrong, why) in [
            ("http://id.example/", AddressError::NotEncrypted),
            ("http://127.0.0.1.id.example/", AddressError::NotEncrypted),
            ("https://user:secret@id.example/", AddressError::Credentials),
            ("ftp://id.example/", AddressError::NotHttp),
            ("/jwks.json", AddressError::NotHttp),
            ("", AddressError::NotHttp),
        ] {
            let found = parse_address(wrong, PlainHttp::Loopback);
            assert_eq!(found, Err(why.into()), "{wrong}");
        }
    }
}
