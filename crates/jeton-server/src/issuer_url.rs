//! The parts of an issuer's URL.

/// Splits an issuer's URL into host (with port) and path (without trailing slash). `None` if it is not a URL.
pub(crate) fn split(iss: &str) -> Option<(&str, &str)> {
    let rest = iss
        .strip_prefix("https://")
        .or_else(|| iss.strip_prefix("http://"))?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    Some((host, path.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_returns_host_and_path() {
        assert_eq!(split("https://id.example"), Some(("id.example", "")));
        assert_eq!(split("http://h:1/a/b/"), Some(("h:1", "/a/b")));
        assert_eq!(split("tenant"), None);
    }
}
