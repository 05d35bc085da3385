//! The table of settings. `cargo xtask sdk settings` writes the options of each language and their reference page
//! from it.

use jeton::Limits;

use super::table::{Kind, Name, Options, Setting, Value, settings};
use super::values::{KeyText, Members, Seconds, Secret, Texts};
use crate::format::{Format, Serialization};

/// Formats with claims.
const CLAIMS: &[Format] = &[Format::Jwt, Format::Paseto];

/// Formats with a header of RFC 7515.
const JOSE: &[Format] = &[Format::Jwt, Format::Jws, Format::Jwe];

/// Formats that can be encrypted to a key of RFC 7516.
const ENCRYPTED: &[Format] = &[Format::Jwt, Format::Jwe];

const BYTES: &[Format] = &[Format::Jws, Format::Jwe];

const PASETO: &[Format] = &[Format::Paseto, Format::PasetoBytes];

settings! {
    /// Settings of [`Issuer::new`](crate::Issuer::new).
    pub(crate) IssuerOptions, ISSUER {
        format: Format, "Sets the format: `jwt`, `jws`, `jwe`, `paseto` or `paseto-bytes`." {
            default: "`jwt`", go: Name::Absent, node: Name::ByHand("format"), java: Name::Absent,
            python: Name::ByHand("format"),
        }
        issuer: Option<String>, "Sets the claim `iss`." {
            formats: CLAIMS, go: Name::ByHand("WithIssuer"),
        }
        audience: Option<Texts>, "Sets the claim `aud`." { formats: CLAIMS }
        lifetime: Option<Seconds>,
            "Sets the claim `exp` to this time after `iat`. Without it, the claims of each token must have `exp`, \
             unless {without_expiry} is set." { formats: CLAIMS }
        without_expiry: bool, "Issues tokens without `exp`." {
            formats: CLAIMS, excludes: Some("lifetime"), go: Name::Is("WithoutExpiry"),
        }
        issued_ago: Option<Seconds>,
            "Sets the claim `iat` to this time before now, for verifiers whose clocks are behind. \
             `exp` is also earlier, because {lifetime} counts from `iat`." { formats: CLAIMS }
        typ: Option<String>, "Sets the type in the header (`typ`)." {
            default: "`JWT` for claims", formats: JOSE, go: Name::ByHand("WithType"), node: Name::Is("type"),
            java: Name::Is("type"),
        }
        cty: Option<String>, "Sets the content type in the header (`cty`)." {
            formats: BYTES, go: Name::Is("WithContentType"), node: Name::Is("contentType"),
            java: Name::Is("contentType"),
        }
        headers: Members,
            "Adds these members to the protected header, for example `x5t`, `x5c` or `nonce`. A member that another \
             setting or the key decides is refused, for example `alg`. A nested JWT has them in its signed header." {
            formats: JOSE, go: Name::ByHand("WithHeaders"),
        }
        access_tokens: bool,
            "Issues access tokens (RFC 9068): the type `at+jwt`, and claims with `sub`, `jti` and `client_id`." {
            formats: &[Format::Jwt],
        }
        enc: Option<String>, "Sets the content encryption algorithm." {
            kind: Kind::Encryption, default: "`A256GCM`, or the algorithm of a `dir` key", formats: ENCRYPTED,
            go: Name::ByHand("WithContentEncryption"), node: Name::Is("contentEncryption"),
            java: Name::ByHand("encryptTo"),
        }
        detached: bool, "Creates a JWS without its content (RFC 7515, appendix F)." { formats: &[Format::Jws] }
        unencoded: bool, "Signs the content without base64url encoding (RFC 7797, `b64`: false)." {
            formats: &[Format::Jws],
        }
        serialization: Serialization, "Sets the serialization of a JWS or a JWE." {
            default: "`compact`", range: "`compact`, `flattened`, `general`", formats: BYTES,
            go: Name::ByHand("WithSerialization"), java: Name::ByHand("serialization"),
        }
        footer: Option<String>, "Sets the footer of a PASETO, which is authenticated but not encrypted." {
            formats: PASETO,
        }
        implicit_assertion: Option<String>,
            "Sets the implicit assertion of a PASETO: data that is authenticated, but not part of the token." {
            formats: PASETO,
        }
    }
}

/// The encryption key of an issuer.
pub static ENCRYPTION: Setting = Setting {
    formats: ENCRYPTED,
    go: Name::ByHand("WithEncryption"),
    node: Name::ByHand("encryption"),
    java: Name::ByHand("encryptTo"),
    python: Name::ByHand("encryption"),
    ..Setting::of(
        "encryption",
        Kind::Key,
        "Encrypts to this key. A JWT is signed first.",
    )
};

settings! {
    /// Settings of [`Verifier::new`](crate::Verifier::new).
    pub(crate) VerifierOptions, VERIFIER {
        format: Format, "Sets the format: `jwt`, `jws`, `jwe`, `paseto` or `paseto-bytes`." {
            default: "`jwt`", go: Name::Absent, node: Name::ByHand("format"), java: Name::Absent,
            python: Name::ByHand("format"),
        }
        issuer: Option<Texts>,
            "Accepts only tokens of this issuer (`iss`), or of one of several with {shared_keys}." {
            formats: CLAIMS, required: true, go: Name::ByHand("WithIssuer"),
        }
        shared_keys: bool,
            "Accepts several issuers that share the keys of the verifier. The verifier trusts each of the keys for each \
             of these issuers, so an issuer can sign for another." { formats: CLAIMS }
        any_issuer: bool, "Accepts tokens of any issuer, and tokens without `iss`." {
            formats: CLAIMS, excludes: Some("issuer"),
        }
        audience: Option<Texts>, "Accepts only tokens for this audience (`aud`), or for one of several." {
            formats: CLAIMS, required: true,
        }
        any_audience: bool, "Accepts tokens for any audience, and tokens without `aud`." {
            formats: CLAIMS, excludes: Some("audience"),
        }
        without_expiry: bool, "Accepts tokens without `exp`. If a token has `exp`, it is still checked." {
            formats: CLAIMS, go: Name::Is("WithoutExpiry"),
        }
        typ: Option<Texts>, "Accepts only tokens with this type in the header (`typ`), or with one of several." {
            default: "`JWT`, or no type", formats: &[Format::Jwt], go: Name::ByHand("WithType"),
            node: Name::Is("type"), java: Name::ByHand("types"),
        }
        access_tokens: bool,
            "Accepts only access tokens (RFC 9068): the type `at+jwt`, and the claims that the RFC requires." {
            formats: &[Format::Jwt],
        }
        required: Vec<String>, "Rejects tokens that lack one of these claims." {
            formats: CLAIMS, java: Name::Is("require"),
        }
        leeway: Option<Seconds>,
            "Sets the allowed difference between clocks for `exp`, `nbf` and `iat`. `iat` may be 60 seconds ahead of \
             the clock in any case, unless {max_age} is set." { default: "0", formats: CLAIMS }
        max_age: Option<Seconds>,
            "Rejects tokens without `iat`, and tokens whose `iat` is longer ago than this." { formats: CLAIMS }
        enc: Option<Texts>, "Accepts only this content encryption algorithm, or one of several." {
            kind: Kind::Encryptions, formats: ENCRYPTED, with_remote_keys: false,
            go: Name::ByHand("WithContentEncryption"), node: Name::Is("contentEncryption"),
            java: Name::ByHand("contentEncryptions"),
        }
        footer: Option<String>, "Requires this footer of a PASETO. Without it, any footer is accepted." {
            formats: PASETO,
        }
        implicit_assertion: Option<String>,
            "Requires this implicit assertion of a PASETO: the same as the issuer." { formats: PASETO }
        serialization: Serialization, "Sets the serialization of a JWS or a JWE." {
            default: "`compact`", range: "`compact`, `flattened`, `general`", formats: BYTES,
            go: Name::ByHand("WithSerialization"), java: Name::ByHand("serialization"),
        }
        cache: Option<usize>,
            "Caches up to this number of verified tokens, so that each signature is verified once. `exp`, `nbf` and \
             `iat` are still checked for each call." { formats: CLAIMS, with_remote_keys: false, default: "no cache" }
        limits: LimitOptions, "Sets limits for a token." {
            go: Name::ByHand("WithLimits"), java: Name::Absent, python: Name::ByHand("limits"),
        }
    }
}

/// The decryption keys of a verifier.
pub static DECRYPTION: Setting = Setting {
    formats: ENCRYPTED,
    with_remote_keys: false,
    go: Name::ByHand("WithDecryption"),
    node: Name::ByHand("decryption"),
    java: Name::ByHand("decryptWith"),
    python: Name::ByHand("decryption"),
    ..Setting::of(
        "decryption",
        Kind::Key,
        "Decrypts with these keys. JWTs must then be signed and encrypted.",
    )
};

settings! {
    /// The limits of a verifier. `jeton::Limits` documents them.
    pub(crate) LimitOptions, LIMITS {
        token_bytes: Option<usize>, "Limits the length of a token, in bytes." {
            default: "2 MiB", go: Name::ByHand("TokenBytes"), java: Name::ByHand("maxTokenBytes"),
            python: Name::ByHand("token_bytes"),
        }
        header_bytes: Option<usize>, "Limits the length of the header after base64url decoding, in bytes." {
            default: "16 KiB", go: Name::ByHand("HeaderBytes"), java: Name::Absent,
            python: Name::ByHand("header_bytes"),
        }
        json_depth: Option<u32>, "Limits the nesting of objects and arrays." {
            default: "32", range: "at most 127", go: Name::ByHand("JSONDepth"), java: Name::ByHand("maxJsonDepth"),
            python: Name::ByHand("json_depth"),
        }
        key_id_bytes: Option<usize>, "Limits the length of `kid`, in bytes." {
            default: "1024", go: Name::ByHand("KeyIDBytes"), java: Name::Absent, python: Name::ByHand("key_id_bytes"),
        }
        keys_tried: Option<usize>, "Limits the number of keys that are tried for a token without `kid`." {
            default: "8", go: Name::ByHand("KeysTried"), java: Name::ByHand("maxKeysTried"),
            python: Name::ByHand("keys_tried"),
        }
    }
}

impl LimitOptions {
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::new();
        if let Some(bytes) = self.token_bytes {
            limits = limits.token_bytes(bytes);
        }
        if let Some(bytes) = self.header_bytes {
            limits = limits.header_bytes(bytes);
        }
        if let Some(depth) = self.json_depth {
            limits = limits.json_depth(depth);
        }
        if let Some(bytes) = self.key_id_bytes {
            limits = limits.key_id_bytes(bytes);
        }
        if let Some(keys) = self.keys_tried {
            limits = limits.keys_tried(keys);
        }
        limits
    }
}

impl Value for LimitOptions {
    const KIND: Kind = Kind::Limits;

    fn is_set(&self) -> bool {
        !self.given().is_empty()
    }
}

settings! {
    /// Settings of [`Key::generate`](crate::Key::generate).
    pub(crate) GenerateOptions, GENERATED_KEY {
        kid: Option<String>, "Sets the key id (`kid`)." {
            go: Name::Is("WithKeyID"), node: Name::Is("keyId"), java: Name::Is("keyId"), python: Name::ByHand("kid"),
        }
        rsa_bits: Option<usize>, "Sets the size of an RSA key, in bits." {
            default: "2048", range: "2048, 3072, 4096, 8192", go: Name::Is("WithRSABits"),
            python: Name::ByHand("rsa_bits"),
        }
        crv: Option<String>, "Sets the curve of a key for ECDH-ES." {
            default: "P-256", range: "P-256, P-384, P-521, X25519", go: Name::Is("WithCurve"),
            node: Name::Is("curve"), java: Name::Is("curve"), python: Name::ByHand("crv"),
        }
        enc: Option<String>, "Sets the content encryption algorithm of a key for `dir`." {
            kind: Kind::Encryption, go: Name::ByHand("WithContentEncryption"), node: Name::Is("contentEncryption"),
            java: Name::Is("contentEncryption"), python: Name::ByHand("enc"),
        }
    }
}

settings! {
    /// Settings of [`Key::import`](crate::Key::import).
    pub(crate) ImportOptions, IMPORTED_KEY {
        format: KeyText,
            "Sets the format: `any` (JWK, PEM, DER or PASERK), `secret`, `secret-base64` or `certificate`; insecure: \
             `insecure-secret`, `insecure-rsa` or `insecure-password`." {
            default: "`any`", go: Name::Absent, node: Name::Absent, java: Name::Absent, python: Name::Absent,
        }
        alg: Option<String>, "Sets the algorithm of a key that does not name one." {
            kind: Kind::Algorithm, go: Name::ByHand("WithAlgorithm"), node: Name::Is("algorithm"),
            java: Name::ByHand("algorithm"), python: Name::ByHand("alg"),
        }
        enc: Option<String>, "Sets the content encryption algorithm of a key for `dir`." {
            kind: Kind::Encryption, go: Name::ByHand("WithContentEncryption"), node: Name::Is("contentEncryption"),
            java: Name::Is("contentEncryption"), python: Name::ByHand("enc"),
        }
        kid: Option<String>, "Sets the key id (`kid`)." {
            go: Name::Is("WithKeyID"), node: Name::Is("keyId"), java: Name::Is("keyId"), python: Name::ByHand("kid"),
        }
        rounds: Option<u32>, "Sets the rounds of PBKDF2 for encryption with a password." {
            default: "600,000", go: Name::Absent, java: Name::ByHand("rounds"), python: Name::ByHand("rounds"),
        }
        password: Option<Secret>, "Sets the password of an encrypted PKCS#8 key or PASERK." {
            python: Name::ByHand("password"),
        }
    }
}

settings! {
    /// Settings of [`KeySet::import`](crate::KeySet::import).
    pub(crate) KeySetOptions, KEY_SET {
        default_alg: Option<String>, "Sets the algorithm of keys without `alg`." {
            kind: Kind::Algorithm, go: Name::ByHand("WithDefaultAlgorithm"), node: Name::Is("defaultAlgorithm"),
            java: Name::ByHand("defaultAlgorithm"), python: Name::ByHand("default_alg"),
        }
        published: bool,
            "Skips private keys and secrets, for a set of another party: everyone can read them in a published set." {
            go: Name::Is("WithPublishedKeys"), java: Name::ByHand("parsePublished"),
            python: Name::ByHand("published"),
        }
    }
}

settings! {
    /// Settings of [`RemoteKeys::new`](crate::RemoteKeys::new).
    pub(crate) RemoteOptions, REMOTE_KEYS {
        address: Option<String>, "Sets the address of the JWK Set. Set it or {issuer}." {
            go: Name::ByHand("NewRemoteKeySet"), java: Name::ByHand("at"), python: Name::ByHand("url"),
        }
        issuer: Option<String>,
            "Sets the issuer. Its metadata has the address of the JWK Set (OpenID Connect Discovery, RFC 8414)." {
            go: Name::ByHand("DiscoverKeySet"), java: Name::ByHand("discover"), python: Name::ByHand("issuer"),
        }
        default_alg: Option<String>, "Sets the algorithm of keys without `alg`." {
            kind: Kind::SignatureAlgorithm, go: Name::ByHand("WithDefaultAlgorithm"),
            node: Name::Is("defaultAlgorithm"), java: Name::ByHand("defaultAlgorithm"),
            python: Name::ByHand("default_alg"),
        }
        allow_private_addresses: bool,
            "Accepts a `jwks_uri` that is on another host than the issuer and has a private IP address." {
            go: Name::Is("WithPrivateAddresses"), python: Name::ByHand("allow_private_addresses"),
        }
        allow_plain_http: bool,
            "Accepts http for all hosts. Insecure: anyone on the network can replace the keys. Loopback hosts need no \
             option." { go: Name::Is("WithPlainHTTP"), python: Name::ByHand("allow_plain_http") }
        fresh_for: Option<Seconds>,
            "Sets the age at which keys are fetched again, in the background. `Cache-Control: max-age` of the response \
             takes precedence." { default: "5 minutes", python: Name::ByHand("fresh_for") }
        cooldown: Option<Seconds>, "Sets the minimum time between two requests." {
            default: "30 seconds", python: Name::ByHand("cooldown"),
        }
        usable_for: Option<Seconds>, "Sets the age up to which keys are used while fetching fails." {
            default: "1 day", python: Name::ByHand("usable_for"),
        }
    }
}
