//! The line that installs a library.

use jeton_lab_model::result::Subject;

/// The packages of libraries whose name is not that of their package.
#[rustfmt::skip]
const PACKAGES: [(&str, &str); 16] = [
    ("go/cristalhq", "github.com/cristalhq/jwt/v3"),
    ("go/cristalhq-v5", "github.com/cristalhq/jwt/v5"),
    ("go/go-jose", "github.com/go-jose/go-jose/v4"),
    ("go/go-paseto", "aidanwoods.dev/go-paseto"),
    ("go/golang-jwt", "github.com/golang-jwt/jwt/v5"),
    ("go/jwx", "github.com/lestrrat-go/jwx/v3"),
    ("go/pascaldekloe", "github.com/pascaldekloe/jwt"),
    ("java/fusionauth-jwt", "io.fusionauth:fusionauth-jwt"),
    ("java/java-jwt", "com.auth0:java-jwt"),
    ("java/jjwt", "io.jsonwebtoken:jjwt-api"),
    ("java/jose4j", "org.bitbucket.b_c:jose4j"),
    ("java/json-web-token", "org.openidentityplatform.commons:json-web-token"),
    ("java/nimbus-jose-jwt", "com.nimbusds:nimbus-jose-jwt"),
    ("java/nimbus-jose-jwt-accp", "com.nimbusds:nimbus-jose-jwt"),
    ("node/node-rs-jsonwebtoken", "@node-rs/jsonwebtoken"),
    ("python/pyjwt", "PyJWT"),
];

/// Returns the line that installs the measured version of a library.
pub(crate) fn install(subject: &Subject) -> String {
    let (language, version) = (subject.language.as_str(), &subject.version);
    if subject.library == "jeton" && language != "rust" {
        return format!("see sdk/{language}/README.md");
    }
    let driver = subject.driver().split('@').next().unwrap_or_default();
    let known = PACKAGES.iter().find(|(known, _)| *known == driver);
    let package = known.map_or(subject.library.as_str(), |(_, package)| package);
    match language {
        "rust" => format!("cargo add {package}@{version}"),
        "go" => format!("go get {package}@v{version}"),
        "node" => format!("npm install {package}@{version}"),
        "python" => format!("pip install {package}=={version}"),
        _ => format!("{package}:{version}"),
    }
}
