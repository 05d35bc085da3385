//! The line that installs a library, and what it asks of its user.

use jeton_lab_model::result::Subject;

/// The packages of libraries whose name is not that of their package.
#[rustfmt::skip]
const PACKAGES: [(&str, &str); 16] = [
    ("go/cristalhq", "github.com/cristalhq/jwt/v3"),
    ("go/cristalhq-v5", "github.com/cristalhq/jwt/v5"),
    ("go/go-jose", "github.com/go-jose/go-jose/v4"),
    ("go/go-paseto", "aidanwoods.dev/go-paseto"),
    ("go/golang-jwt", "github.com/golang-jwt/jwt/v5"),
    ("go/golang-jwt-v4", "github.com/golang-jwt/jwt/v4"),
    ("go/jwx", "github.com/lestrrat-go/jwx/v3"),
    ("go/pascaldekloe", "github.com/pascaldekloe/jwt"),
    ("java/fusionauth-jwt", "io.fusionauth:fusionauth-jwt"),
    ("java/java-jwt", "com.auth0:java-jwt"),
    ("java/jjwt", "io.jsonwebtoken:jjwt-api"),
    ("java/jose4j", "org.bitbucket.b_c:jose4j"),
    ("java/json-web-token", "org.openidentityplatform.commons:json-web-token"),
    ("java/nimbus-jose-jwt", "com.nimbusds:nimbus-jose-jwt"),
    ("node/node-rs-jsonwebtoken", "@node-rs/jsonwebtoken"),
    ("python/pyjwt", "PyJWT"),
];

/// What a library needs besides its package.
const WITH: [(&str, &str); 2] = [
    ("java/jjwt", " with jjwt-impl and jjwt-jackson"),
    (
        "java/nimbus-jose-jwt-accp",
        " with software.amazon.cryptools:AmazonCorrettoCryptoProvider",
    ),
];

/// By language: the command that makes jeton's package in a clone, because it is not published yet, and what to know before.
const OWN: [(&str, &str, &str); 5] = [
    ("go", "cargo xtask package go", "It needs cgo, and Linux."),
    (
        "java",
        "cargo xtask package java",
        "It needs Java 17, and Linux.",
    ),
    (
        "node",
        "cargo xtask package node",
        "It needs Linux, and no browser.",
    ),
    ("python", "cargo xtask package python", "It needs Linux."),
    (
        "rust",
        "cargo add --path crates/jeton",
        "It does no I/O: the program fetches keys.",
    ),
];

/// Returns the line that installs the measured version of a library.
pub(crate) fn install(subject: &Subject) -> String {
    let (language, version) = (subject.language.as_str(), &subject.version);
    if let Some((_, command, _)) = own(subject) {
        return format!("not published yet; in a clone, {command}");
    }
    let driver = subject.driver().split('@').next().unwrap_or_default();
    let of_driver = |known: &str| {
        let older = driver.strip_prefix(known);
        older.is_some_and(|rest| rest.is_empty() || rest.starts_with("-v") || rest == "-accp")
    };
    // The longest name is the driver's own.
    let known = PACKAGES.iter().filter(|(known, _)| of_driver(known));
    let known = known.max_by_key(|(known, _)| known.len());
    let package = known.map_or(subject.library.as_str(), |(_, package)| package);
    let with = WITH.iter().find(|(known, _)| *known == driver);
    let with = with.map_or("", |(_, with)| with);
    match language {
        "rust" => format!("cargo add {package}@{version}"),
        "go" => format!("go get {package}@v{version}"),
        "node" => format!("npm install {package}@{version}"),
        "python" => format!("pip install {package}=={version}"),
        _ => format!("{package}:{version}{with}"),
    }
}

/// Returns what a user must know before, if this project knows it.
pub(crate) fn limits(subject: &Subject) -> Option<String> {
    own(subject).map(|(.., limits)| format!("{limits} By the makers of this lab."))
}

fn own(subject: &Subject) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let mut own = OWN.iter().filter(|_| subject.library == "jeton");
    own.find(|(language, ..)| *language == subject.language)
}
