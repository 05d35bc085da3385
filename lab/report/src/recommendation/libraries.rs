//! Formats by library and language, also for libraries that a run did not measure. The table lists the
//! subjects of `drivers/`, from their documentation and manifests; a test compares it with the
//! manifests.

use jeton_lab_model::result::RUNTIME_MARK;

/// A library, and the formats that its driver offers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Library {
    pub(super) language: &'static str,
    /// The name of its driver's folder.
    pub(super) name: &'static str,
    pub(super) formats: &'static [&'static str],
    /// The source in its documentation.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "documentation for readers of the table")
    )]
    pub(super) source: &'static str,
}

const JOSE: &[&str] = &["jwe", "jwt"];
const JWT: &[&str] = &["jwt"];
/// Of jeton in other languages than Rust.
const JETON: &[&str] = &[
    "jwe",
    "jwt",
    "v3.local",
    "v3.public",
    "v4.local",
    "v4.public",
];
const EVERY_PASETO: &[&str] = &[
    "v1.local",
    "v1.public",
    "v2.local",
    "v2.public",
    "v3.local",
    "v3.public",
    "v4.local",
    "v4.public",
];

#[rustfmt::skip]
pub(super) const LIBRARIES: &[Library] = &[
    Library { language: "go", name: "cristalhq", formats: JWT, source: "pkg.go.dev/github.com/cristalhq/jwt/v3" },
    Library { language: "go", name: "cristalhq-v3.1", formats: JWT, source: "pkg.go.dev/github.com/cristalhq/jwt/v3" },
    Library { language: "go", name: "cristalhq-v5", formats: JWT, source: "pkg.go.dev/github.com/cristalhq/jwt/v5" },
    Library { language: "go", name: "go-jose", formats: JOSE, source: "pkg.go.dev/github.com/go-jose/go-jose/v4" },
    Library { language: "go", name: "go-paseto", formats: &["v2.local", "v2.public", "v3.local", "v3.public", "v4.local", "v4.public"], source: "pkg.go.dev/aidanwoods.dev/go-paseto" },
    Library { language: "go", name: "golang-jwt", formats: JWT, source: "pkg.go.dev/github.com/golang-jwt/jwt/v5" },
    Library { language: "go", name: "golang-jwt-v4", formats: JWT, source: "pkg.go.dev/github.com/golang-jwt/jwt/v4" },
    Library { language: "go", name: "jeton", formats: JETON, source: "sdk/go" },
    Library { language: "go", name: "jwx", formats: JOSE, source: "pkg.go.dev/github.com/lestrrat-go/jwx/v3" },
    Library { language: "go", name: "pascaldekloe", formats: JWT, source: "pkg.go.dev/github.com/pascaldekloe/jwt" },
    Library { language: "go", name: "pascaldekloe-v1.12", formats: JWT, source: "pkg.go.dev/github.com/pascaldekloe/jwt" },
    Library { language: "java", name: "jeton", formats: JETON, source: "sdk/java" },
    Library { language: "java", name: "jjwt", formats: JOSE, source: "github.com/jwtk/jjwt" },
    Library { language: "java", name: "jose4j", formats: JOSE, source: "bitbucket.org/b_c/jose4j" },
    Library { language: "java", name: "json-web-token", formats: JOSE, source: "github.com/OpenIdentityPlatform/commons" },
    Library { language: "java", name: "nimbus-jose-jwt", formats: JOSE, source: "connect2id.com/products/nimbus-jose-jwt" },
    Library { language: "java", name: "nimbus-jose-jwt-accp", formats: JOSE, source: "connect2id.com/products/nimbus-jose-jwt, github.com/corretto/amazon-corretto-crypto-provider" },
    Library { language: "node", name: "fast-jwt", formats: JWT, source: "npmjs.com/package/fast-jwt" },
    Library { language: "node", name: "fast-jwt-cached", formats: JWT, source: "npmjs.com/package/fast-jwt" },
    Library { language: "node", name: "jeton", formats: JETON, source: "sdk/node" },
    Library { language: "node", name: "jose", formats: JOSE, source: "npmjs.com/package/jose" },
    Library { language: "node", name: "jsonwebtoken", formats: JWT, source: "npmjs.com/package/jsonwebtoken" },
    Library { language: "node", name: "paseto-ts", formats: &["v4.local", "v4.public"], source: "npmjs.com/package/paseto-ts" },
    Library { language: "python", name: "jeton", formats: JETON, source: "sdk/python" },
    Library { language: "python", name: "joserfc", formats: JOSE, source: "pypi.org/project/joserfc" },
    Library { language: "python", name: "pyjwt", formats: JWT, source: "pypi.org/project/pyjwt" },
    Library { language: "python", name: "pyseto", formats: EVERY_PASETO, source: "pypi.org/project/pyseto" },
    Library { language: "rust", name: "jeton", formats: &["jwe", "jwt", "v1.local", "v1.public", "v2.local", "v2.public", "v3.local", "v3.public", "v4.local", "v4.public"], source: "crates/jeton" },
    Library { language: "rust", name: "josekit", formats: JOSE, source: "docs.rs/josekit" },
    Library { language: "rust", name: "jsonwebtoken", formats: JWT, source: "docs.rs/jsonwebtoken" },
    Library { language: "rust", name: "pasetors", formats: &["v2.local", "v2.public", "v3.public", "v4.local", "v4.public"], source: "docs.rs/pasetors" },
    Library { language: "rust", name: "rusty_paseto", formats: &["v1.local", "v2.local", "v3.local", "v4.local", "v4.public"], source: "docs.rs/rusty_paseto" },
];

/// Returns the libraries of a language with a format, by driver name.
pub(super) fn with(language: &str, format: &str) -> Vec<&'static str> {
    let has = |l: &&Library| l.language == language && l.formats.contains(&format);
    LIBRARIES.iter().filter(has).map(|l| l.name).collect()
}

/// Reports whether a driver, by id, caches verified tokens.
pub(crate) fn is_cache(driver: &str) -> bool {
    driver.split(RUNTIME_MARK).next() == Some("node/fast-jwt-cached")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use jeton_lab_harness::driver;
    use jeton_lab_model::recommendation::LANGUAGES;

    #[test]
    fn libraries_table_matches_manifests() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drivers");
        let drivers = driver::find(Path::new(folder)).unwrap();
        let mut told = 0;
        for driver in &drivers {
            let offered: BTreeSet<&str> = driver
                .manifest
                .offers
                .iter()
                .map(|o| o.format_name.as_str())
                .collect();
            // Bare primitives and references are not libraries.
            if offered.contains("bare") || offered.contains("none") {
                continue;
            }
            let (language, name) = driver.id.split_once('/').unwrap();
            let library = LIBRARIES
                .iter()
                .find(|l| l.language == language && l.name == name);
            let known: BTreeSet<&str> = library
                .unwrap_or_else(|| unreachable!("{} is not in the table", driver.id))
                .formats
                .iter()
                .copied()
                .collect();
            assert_eq!(known, offered, "{}", driver.id);
            assert_eq!(
                is_cache(&driver.id),
                driver.manifest.caches_tokens,
                "{}",
                driver.id
            );
            told += 1;
        }
        assert_eq!(told, LIBRARIES.len(), "a line of the table has no driver");
    }

    #[test]
    fn libraries_have_language_and_source() {
        for library in LIBRARIES {
            assert!(LANGUAGES.contains(&library.language), "{library:?}");
            assert!(!library.source.is_empty(), "{library:?}");
        }
    }

    #[test]
    fn libraries_of_a_language_have_the_format() {
        assert_eq!(with("node", "v4.local"), ["jeton", "paseto-ts"]);
        assert_eq!(with("node", "v3.local"), ["jeton"]);
        assert_eq!(with("java", "v4.public"), ["jeton"]);
    }
}
