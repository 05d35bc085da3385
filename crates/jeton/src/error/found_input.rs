use std::fmt;

use super::JsonType;

/// What was found in place of a key.
///
/// The text of each says what the input is, and what to do.
///
/// ```
/// use jeton::Error;
/// use jeton::error::{FoundInput, KeyProblem};
/// use jeton::key::AnyKey;
///
/// let Err(Error::Key(error)) = AnyKey::from_bytes(br#"{"jwks_uri":"https://id.example/jwks"}"#) else {
///     unreachable!()
/// };
/// assert_eq!(error.problem(), &KeyProblem::Found(FoundInput::IssuerMetadata));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FoundInput {
    /// Nothing, or only white space.
    Empty,
    /// A certificate (X.509), in PEM or DER. Its key is not taken, because nothing checked the certificate.
    Certificate,
    /// A request for a certificate (PKCS#10).
    CertificateRequest,
    /// A PKCS#12 file (`.p12`, `.pfx`).
    Pkcs12,
    /// A Java key store (JKS or JCEKS).
    JavaKeyStore,
    /// A private key in the format of OpenSSH.
    OpenSshPrivateKey,
    /// A public key in the format of OpenSSH, or a line of `authorized_keys`.
    OpenSshPublicKey,
    /// A key of OpenPGP.
    Pgp,
    /// A DSA key.
    Dsa,
    /// An encrypted key in the old format of OpenSSL (`Proc-Type: 4,ENCRYPTED`).
    OldEncryptedPem,
    /// An encrypted PKCS#8 key, and no password.
    EncryptedPkcs8,
    /// PEM whose line ends are written as a backslash and a letter, as in JSON or in a variable.
    EscapedLineEnds,
    /// The base64 of a PEM or of a JWK.
    EncodedTwice,
    /// Base64 of DER, without the lines of PEM.
    BareBase64,
    /// Text in UTF-16 or UTF-32.
    Utf16,
    /// PEM, where a JWK is expected.
    Pem,
    /// DER, where a JWK or PEM is expected.
    Der,
    /// A single JWK, where another form is expected.
    Jwk,
    /// A JWK Set, where one key is expected.
    JwkSet {
        /// The number of keys in it.
        keys: u32,
    },
    /// A PASERK, where a key for JOSE is expected.
    Paserk,
    /// A certificate for each key id, as Google publishes them.
    CertificatesByKeyId,
    /// The description of a realm of Keycloak.
    KeycloakRealm,
    /// The metadata of an issuer (RFC 8414, OpenID Connect Discovery).
    IssuerMetadata,
    /// A service account file of Google.
    ServiceAccount,
    /// The answer of AWS KMS to `get-public-key`.
    AwsKmsKey,
    /// JSON with PEM in a member.
    PemInJson,
    /// JSON with a JWK in a member.
    JwkInJson,
    /// JSON with the base64 of a key in a member.
    Base64InJson,
    /// JSON with the base64 of a PEM or of a JWK in a member, as a Secret of Kubernetes has them.
    EncodedTwiceInJson,
    /// An object without a key.
    OtherJson,
    /// A list of JWKs, which is not a JWK Set.
    JwkList,
    /// Another JSON value: a list, a string, a number, a boolean or null.
    JsonValue(JsonType),
    /// A token.
    Token,
    /// The error of a server in JSON.
    ServerError,
    /// A web page.
    WebPage,
    /// An RSA key in the XML form of .NET.
    XmlKey,
    /// Other XML.
    Xml,
    /// An address (URL).
    Address,
    /// A list of revoked certificates (CRL).
    RevocationList,
    /// PKCS#7, which contains certificates.
    Pkcs7,
    /// Parameters of EC, DSA or Diffie-Hellman, without a key.
    Parameters,
}

impl fmt::Display for FoundInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FoundInput::Empty => "the input is empty",
            FoundInput::Certificate => {
                "this is a certificate; to get its key, run `openssl x509 -in FILE -pubkey -noout`"
            }
            FoundInput::CertificateRequest => {
                "this is a certificate request; to get its key, run `openssl req -in FILE -pubkey -noout`"
            }
            FoundInput::Pkcs12 => {
                "this is a PKCS#12 file; to get its key, run `openssl pkcs12 -in FILE -nodes -nocerts`"
            }
            FoundInput::JavaKeyStore => {
                "this is a Java key store; to convert it to PKCS#12, run `keytool -importkeystore -srckeystore FILE -destkeystore NEW_FILE -deststoretype PKCS12`"
            }
            FoundInput::OpenSshPrivateKey => {
                "this is an OpenSSH private key; to convert a copy, run `ssh-keygen -p -m PKCS8 -f FILE`"
            }
            FoundInput::OpenSshPublicKey => {
                "this is an OpenSSH public key; to convert it, run `ssh-keygen -e -m PKCS8 -f FILE`"
            }
            FoundInput::Pgp => "this is an OpenPGP key; export the key as PEM or JWK",
            FoundInput::Dsa => "this is a DSA key; no algorithm of a token uses it",
            FoundInput::OldEncryptedPem => {
                "the key is encrypted in the old format of OpenSSL; to convert it to PKCS#8, run `openssl pkey -in FILE -out NEW_FILE`"
            }
            FoundInput::EncryptedPkcs8 => "the key is encrypted; it needs a password",
            FoundInput::EscapedLineEnds => {
                "the line ends of the PEM are written as `\\n`; replace each with a line break"
            }
            FoundInput::EncodedTwice => "this is the base64 of a key file; decode it first",
            FoundInput::BareBase64 => {
                "this is base64 without the lines of PEM; put it between the BEGIN and END lines"
            }
            FoundInput::Utf16 => "the text is UTF-16; convert it to UTF-8",
            FoundInput::Pem => "this is PEM; read it as PEM",
            FoundInput::Der => "this is DER; read it as DER",
            FoundInput::Jwk => "this is a JWK; read it as a JWK",
            FoundInput::JwkSet { keys: 1 } => "this is a JWK Set with 1 key; select the key",
            FoundInput::JwkSet { keys } => {
                return write!(f, "this is a JWK Set with {keys} keys; select one key");
            }
            FoundInput::Paserk => "this is a PASERK, which is a key for PASETO",
            FoundInput::CertificatesByKeyId => {
                "these are certificates by key id; the issuer publishes the keys as a JWK Set at another address, for example https://www.googleapis.com/oauth2/v3/certs or …/jwk/…"
            }
            FoundInput::KeycloakRealm => {
                "this is the description of a Keycloak realm; take its `public_key`, or its key set at …/protocol/openid-connect/certs"
            }
            FoundInput::IssuerMetadata => {
                "this is the metadata of an issuer; fetch the address in its `jwks_uri`"
            }
            FoundInput::ServiceAccount => {
                "this is a Google service account; take its `private_key`"
            }
            FoundInput::AwsKmsKey => {
                "this is a public key as AWS KMS prints it; to take it out, run `jq -r .PublicKey FILE`, and pass its algorithm"
            }
            FoundInput::PemInJson => {
                "this JSON has PEM in a member; to take it out, run `jq -r .MEMBER FILE`"
            }
            FoundInput::JwkInJson => {
                "this JSON has a JWK in a member; to take it out, run `jq .MEMBER FILE`"
            }
            FoundInput::Base64InJson => {
                "this JSON has the base64 of a key in a member; to take it out, run `jq -r .MEMBER FILE`, and pass its algorithm"
            }
            FoundInput::EncodedTwiceInJson => {
                "this JSON has the base64 of a key file in a member; to take it out, run `jq -r .MEMBER FILE | base64 -d`"
            }
            FoundInput::OtherJson => "this JSON is not a key: it has no `kty` and no `keys`",
            FoundInput::JwkList => {
                "this is a list of JWKs and not a JWK Set; to convert it, run `jq '{keys: .}' FILE`"
            }
            FoundInput::JsonValue(found) => {
                return write!(f, "this is {found} in JSON, and not a key");
            }
            FoundInput::Token => {
                "this is a token, and not a key; pass the key of the issuer"
            }
            FoundInput::ServerError => {
                "this is the error of a server, and not a key; check the address of the keys"
            }
            FoundInput::WebPage => {
                "this is a web page, and not a key; check the address of the keys"
            }
            FoundInput::XmlKey => {
                "this is an RSA key in XML; export it as PEM, in .NET with `ExportSubjectPublicKeyInfoPem` or `ExportPkcs8PrivateKeyPem`"
            }
            FoundInput::Xml => "this is XML, and not a key",
            FoundInput::Address => {
                "this is an address, and not a key; fetch the keys from it"
            }
            FoundInput::RevocationList => {
                "this is a list of revoked certificates (CRL), and not a key"
            }
            FoundInput::Pkcs7 => {
                "this is PKCS#7 with certificates; to get them, run `openssl pkcs7 -in FILE -print_certs`"
            }
            FoundInput::Parameters => {
                "these are parameters without a key; the key is in another PEM block"
            }
        })
    }
}

/// The label of a PEM block (RFC 7468).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PemLabel {
    /// `PRIVATE KEY`: PKCS#8.
    PrivateKey,
    /// `ENCRYPTED PRIVATE KEY`: PKCS#8 with a password.
    EncryptedPrivateKey,
    /// `RSA PRIVATE KEY`: PKCS#1.
    RsaPrivateKey,
    /// `RSA PUBLIC KEY`: PKCS#1.
    RsaPublicKey,
    /// `EC PRIVATE KEY`: SEC1.
    EcPrivateKey,
    /// `PUBLIC KEY`: SubjectPublicKeyInfo.
    PublicKey,
    /// `CERTIFICATE`.
    Certificate,
    /// Not PEM: a PKCS#12 file.
    Pkcs12,
}

impl fmt::Display for PemLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PemLabel::PrivateKey => "PRIVATE KEY",
            PemLabel::EncryptedPrivateKey => "ENCRYPTED PRIVATE KEY",
            PemLabel::RsaPrivateKey => "RSA PRIVATE KEY",
            PemLabel::RsaPublicKey => "RSA PUBLIC KEY",
            PemLabel::EcPrivateKey => "EC PRIVATE KEY",
            PemLabel::PublicKey => "PUBLIC KEY",
            PemLabel::Certificate => "CERTIFICATE",
            PemLabel::Pkcs12 => "PKCS#12",
        })
    }
}
