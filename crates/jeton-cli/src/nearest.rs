//! Finds the name that was meant.

/// Returns the most similar name, if at most two letters differ and at most a third of the name.
pub(crate) fn nearest<'n>(name: &str, all: &[&'n str]) -> Option<&'n str> {
    let upper = name.to_ascii_uppercase();
    let distance = |known: &str| strsim::osa_distance(&upper, &known.to_ascii_uppercase());
    let nearest = all.iter().min_by_key(|known| distance(known))?;
    let limit = 2.min(name.chars().count() / 3);
    (distance(nearest) <= limit).then_some(*nearest)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_misspelled_name_is_found() {
        let names = ["RS256", "A256GCM", "admin_server", "server", "ca"];
        assert_eq!(nearest("RS265", &names), Some("RS256"));
        assert_eq!(nearest("A256GMC", &names), Some("A256GCM"));
        assert_eq!(nearest("A256-GCM", &names), Some("A256GCM"));
        assert_eq!(nearest("admin_sever", &names), Some("admin_server"));
        assert_eq!(nearest("cas", &names), Some("ca"));
        for unlike in ["none", "HS", "AES", "certificate"] {
            assert_eq!(nearest(unlike, &names), None);
        }
    }
}
