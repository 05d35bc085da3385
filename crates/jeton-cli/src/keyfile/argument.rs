//! The arguments that name a key file.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgGroup, Args};
use jeton::danger::{Password, Pbes2Alg};
use jeton::key::{Alg, ContentEnc, DecryptionKeys, Keys};

use super::encrypting::{Requested, SymmetricKey};
use super::{
    KeyFile, Loaded, Recipient, SecretArgs, Signer, Skipped, UNKNOWN_FORMAT, without_secret_hint,
};
use crate::algorithm::{self, Algorithm};
use crate::allow::{Allowed, InsecureOption};
use crate::exit::{Failure, Outcome};
use crate::fetch::{self, RemoteKeyArgs};
use crate::input;
use crate::redact::{self, Redacted};

/// The password of an encrypted private key.
#[derive(Debug, Default, Args)]
pub(crate) struct KeyPassword {
    /// Decrypt the private key (PKCS#8) with the password in this file, which has one line (- for standard input)
    #[arg(long, value_name = "FILE")]
    key_password_file: Option<PathBuf>,
}

impl KeyPassword {
    /// Reads the password, if the caller named a file.
    pub(super) fn read(&self) -> Outcome<Option<zeroize::Zeroizing<String>>> {
        let path = self.key_password_file.as_deref();
        path.map(|path| input::password(path, jeton::limits::PASSWORD_BYTES))
            .transpose()
    }
}

/// A password that encrypts or decrypts a JWE.
#[derive(Debug, Args)]
pub(crate) struct PasswordFile {
    /// Use the password in this file, which has one line (- for standard input); requires --allow pbes2
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    password_file: Option<PathBuf>,
}

/// The content encryption algorithm. Each command sets the help.
#[derive(Debug, Args)]
pub(crate) struct ContentEncryption {
    #[arg(
        long,
        value_name = "NAME",
        value_parser = algorithm::content_encryption(),
        hide_possible_values = true
    )]
    pub(crate) enc: Option<ContentEnc>,
}

/// Whether skipped keys are listed even if verification succeeds.
#[derive(Debug, Args)]
pub(crate) struct SkippedKeys {
    /// List the skipped keys of a set, with the reason
    #[arg(short, long)]
    verbose: bool,
}

/// The key that signs a token.
#[derive(Debug, Args)]
#[group(skip)]
#[command(mut_args(once))]
pub(crate) struct SigningKeyFile {
    #[command(flatten)]
    only: SigningKeyFiles,
}

/// Allows the options of keys once. Their help then ends before the part about several keys.
fn once(option: Arg) -> Arg {
    if !["key", "alg", "kid"].contains(&option.get_id().as_str()) {
        return option;
    }
    let help = option
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let (help, _) = help.split_once("; ").unwrap_or((&help, ""));
    let help = help.to_owned();
    option.action(ArgAction::Set).help(help)
}

/// The keys that sign a JWS.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = key_source(), mut_arg("key_password_file", without_secret))]
pub(crate) struct SigningKeyFiles {
    /// Private or symmetric key file: JWK, JWK Set, PEM or DER (- for standard input); repeat it for several signatures
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,

    #[command(flatten)]
    secret: SecretArgs,

    /// Algorithm, required if the key has no `alg` (RSA, oct, a secret); pass it once for all keys, or once for each key
    #[arg(long, value_name = "NAME", value_parser = algorithm::signing(), hide_possible_values = true)]
    alg: Vec<Alg>,

    /// Select the key of a set by its `kid`, or set the `kid` of a key that has none; pass it once for each key
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    kid: Vec<String>,

    #[command(flatten)]
    password: KeyPassword,
}

/// The keys that verify a token.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = key_source().arg("discover"))]
pub(crate) struct VerifyingKeyFile {
    /// Public or symmetric key file, or a key set: JWK, JWK Set, PEM or DER (- for standard input); or the URL of a key set; repeat it for several
    #[arg(long, value_name = "FILE|URL")]
    key: Vec<PathBuf>,

    #[command(flatten)]
    remote: RemoteKeyArgs,

    #[command(flatten)]
    secret: SecretArgs,

    /// Algorithm, required for keys without `alg` (RSA, oct, a secret)
    #[arg(long, value_name = "NAME", value_parser = algorithm::signing(), hide_possible_values = true)]
    alg: Option<Alg>,

    /// `use` of the keys, if it is not sig: jwt-svid for a SPIFFE bundle
    #[arg(long, value_name = "USE", value_parser = super::key_use)]
    key_use: Option<String>,

    #[command(flatten)]
    skipped: SkippedKeys,
}

/// The keys that a JWE is encrypted for.
#[derive(Debug, Args)]
pub(crate) struct EncryptionKeyFiles {
    /// Public or symmetric key file of the recipient: JWK, JWK Set, PEM or DER (- for standard input); repeat it for several recipients
    #[arg(long, value_name = "FILE", required_unless_present = "password_file")]
    key: Vec<PathBuf>,

    #[command(flatten)]
    password: PasswordFile,

    /// Algorithm, required if the key has no `alg` (RSA, oct); pass it once for all keys, or once for each key
    #[arg(long, value_name = "NAME", value_parser = algorithm::encrypting(), hide_possible_values = true)]
    alg: Vec<Algorithm>,

    /// Select the key of a set by its `kid`, or set the `kid` of a key that has none; pass it once for each key
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    kid: Vec<String>,
}

/// The keys that decrypt a JWE.
#[derive(Debug, Args)]
pub(crate) struct DecryptionKeyFile {
    /// Private or symmetric key file, or a key set: JWK, JWK Set, PEM or DER (- for standard input)
    #[arg(long, value_name = "FILE", required_unless_present = "password_file")]
    key: Option<PathBuf>,

    #[command(flatten)]
    password: PasswordFile,

    /// Algorithm, required if the key has no `alg` (RSA, oct)
    #[arg(long, value_name = "NAME", value_parser = algorithm::encrypting(), hide_possible_values = true)]
    alg: Option<Algorithm>,

    #[command(flatten)]
    skipped: SkippedKeys,

    #[command(flatten)]
    key_password: KeyPassword,
}

/// The key that a signed token is encrypted for.
#[derive(Debug, Args)]
#[command(mut_arg("enc", |enc| {
    enc.requires("encrypt_key").help("Content encryption algorithm [default: A256GCM, or the algorithm of a `dir` key]")
}))]
pub(crate) struct TokenEncryptionKeyFile {
    /// Encrypt the signed token for this key: JWK, JWK Set, PEM or DER (- for standard input)
    #[arg(long, value_name = "FILE")]
    encrypt_key: Option<PathBuf>,

    /// Algorithm of --encrypt-key, required if the key has no `alg` (RSA, oct)
    #[arg(
        long,
        value_name = "NAME",
        requires = "encrypt_key",
        value_parser = algorithm::encrypting(),
        hide_possible_values = true
    )]
    encrypt_alg: Option<Algorithm>,

    /// Select the key of the --encrypt-key set by its `kid`, or set the `kid` of a key that has none
    #[arg(
        long,
        value_name = "ID",
        requires = "encrypt_key",
        allow_hyphen_values = true
    )]
    encrypt_kid: Option<String>,

    #[command(flatten)]
    content: ContentEncryption,

    /// Compress before encryption; requires --allow zip
    #[arg(long, requires = "encrypt_key")]
    zip: bool,
}

/// The keys that decrypt a token before it is verified.
#[derive(Debug, Args)]
#[command(mut_arg("enc", |enc| {
    enc.requires("decrypt_key").help("Required content encryption (`enc`) [default: any supported]")
}))]
#[command(mut_arg("key_password_file", |file| file.requires("decrypt_key").help(
    "Decrypt the private key (PKCS#8) of --decrypt-key with the password in this file, which has one line (- for standard input)"
)))]
pub(crate) struct TokenDecryptionKeyFile {
    /// Decrypt a nested token with this key or key set first: JWK, JWK Set, PEM or DER (- for standard input)
    #[arg(long, value_name = "FILE")]
    decrypt_key: Option<PathBuf>,

    /// Algorithm of --decrypt-key, required if the key has no `alg` (RSA, oct)
    #[arg(
        long,
        value_name = "NAME",
        requires = "decrypt_key",
        value_parser = algorithm::encrypting(),
        hide_possible_values = true
    )]
    decrypt_alg: Option<Algorithm>,

    #[command(flatten)]
    content: ContentEncryption,

    #[command(flatten)]
    password: KeyPassword,
}

impl TokenEncryptionKeyFile {
    /// Loads the key, if the caller named one.
    pub(crate) fn load(&self, allowed: &Allowed) -> Outcome<Option<Recipient>> {
        let Some(path) = &self.encrypt_key else {
            return Ok(None);
        };
        let requested = Requested {
            alg: self.encrypt_alg,
            enc: self.content.enc,
        };
        let file = read(path, requested.alg, None)?;
        file.to_encrypt(requested, self.encrypt_kid.as_deref(), allowed)
            .map(Some)
    }

    pub(crate) fn enc(&self) -> Option<ContentEnc> {
        self.content.enc
    }

    pub(crate) fn is_compressed(&self) -> bool {
        self.zip
    }
}

impl TokenDecryptionKeyFile {
    /// Returns whether the caller named a key.
    pub(crate) fn is_given(&self) -> bool {
        self.decrypt_key.is_some()
    }

    /// Reads the key file, if the caller named one.
    pub(crate) fn file(&self) -> Outcome<Option<KeyFile>> {
        let path = self.decrypt_key.as_ref();
        path.map(|path| read(path, self.decrypt_alg, Some(&self.password)))
            .transpose()
    }

    /// Loads the keys of that file.
    pub(crate) fn load(
        &self,
        file: &KeyFile,
        allowed: &Allowed,
    ) -> Outcome<Loaded<DecryptionKeys>> {
        let requested = Requested {
            alg: self.decrypt_alg,
            enc: self.content.enc,
        };
        file.to_decrypt(requested, allowed)
    }

    pub(crate) fn enc(&self) -> Option<ContentEnc> {
        self.content.enc
    }
}

/// A secret has no password.
fn without_secret(password: Arg) -> Arg {
    password.conflicts_with("secret")
}

/// Returns the group of the options that name a key, of which one is required.
fn key_source() -> ArgGroup {
    ArgGroup::new("key_source")
        .args(["key", "secret_file", "secret_env"])
        .required(true)
}

/// Reads the secret, or else the key files.
fn keys_or_secret(
    keys: &[PathBuf],
    secret: &SecretArgs,
    is_asymmetric: bool,
    read: impl Fn(&Path) -> Outcome<KeyFile>,
) -> Outcome<Vec<KeyFile>> {
    match secret.read()? {
        Some(secret) => Ok(vec![secret.key_file()?]),
        None => keys
            .iter()
            .map(|path| {
                read(path).map_err(|failure| suggest_secret("--key", path, is_asymmetric, failure))
            })
            .collect(),
    }
}

/// For a file or a text that can be a secret, the hint is the option for secrets, instead of this option. No secret fits
/// an asymmetric algorithm.
pub(crate) fn suggest_secret(
    option: &str,
    path: &Path,
    is_asymmetric: bool,
    failure: Failure,
) -> Failure {
    let text = path.to_string_lossy();
    if fetch::is_url(&text) || is_asymmetric {
        return without_secret_hint(failure, is_asymmetric);
    }
    let is_secret_text = Redacted::of(&text) == Some(Redacted::Key) && redact::is_random(&text);
    match failure.hint_text() {
        Some(UNKNOWN_FORMAT) => failure.hint(format!("if it is a secret for HMAC, instead of {option}, pass `--secret-file FILE --alg HS256`; to make a new key, run `jeton key new --alg ES256`")),
        Some(_) if is_secret_text => failure.hint(format!("write it to a file that only you can read; then, for a secret for HMAC, instead of {option}, pass `--secret-file FILE --alg HS256`")),
        _ => failure,
    }
}

impl SigningKeyFile {
    pub(crate) fn load(&self, allowed: &Allowed) -> Outcome<Signer> {
        let only = self.only.load(allowed)?.pop();
        only.ok_or_else(|| Failure::error("no key: pass --key or a secret"))
    }
}

impl SigningKeyFiles {
    /// Loads at least one key.
    pub(crate) fn load(&self, allowed: &Allowed) -> Outcome<Vec<Signer>> {
        // Without a key file, there is one secret.
        let count = self.key.len().max(1);
        let algs = for_each("--alg", &self.alg, count, Spread::All)?;
        let kids = for_each("--kid", &self.kid, count, Spread::Each)?;
        let read = |path: &Path| KeyFile::read_encrypted(path, &self.password);
        let is_asymmetric = self.alg.iter().any(|alg| matches!(alg, Alg::Sig(_)));
        let files = keys_or_secret(&self.key, &self.secret, is_asymmetric, read)?;
        let named = files.iter().zip(algs.into_iter().zip(kids));
        named
            .map(|(file, (alg, kid))| file.to_sign(alg.copied(), kid.map(String::as_str), allowed))
            .collect()
    }
}

impl VerifyingKeyFile {
    /// Reads the key files, which can have any format, or fetches the key sets.
    pub(crate) fn file(&self) -> Outcome<KeyFile> {
        let file = match self.remote.of_issuer()? {
            Some(remote) => KeyFile::fetch(&remote)?,
            None => {
                let read = |place: &Path| match self.remote.at("--key", place)? {
                    Some(remote) => KeyFile::fetch(&remote),
                    None => KeyFile::read(place),
                };
                let is_asymmetric = matches!(self.alg, Some(Alg::Sig(_)));
                let keys = keys_or_secret(&self.key, &self.secret, is_asymmetric, read)?;
                KeyFile::of_several(keys)?
            }
        };
        match &self.key_use {
            Some(key_use) => file.with_use(key_use),
            None => Ok(file),
        }
    }

    /// Reads the keys, if the caller named any. For a command that does not require them.
    pub(crate) fn file_if_given(&self) -> Outcome<Option<KeyFile>> {
        let is_given = !self.key.is_empty()
            || self.secret.is_given()
            || self.remote.discovered_issuer().is_some();
        is_given.then(|| self.file()).transpose()
    }

    pub(crate) fn load(&self, allowed: &Allowed) -> Outcome<Loaded<Keys>> {
        self.file()?.to_verify(self.alg, allowed)
    }

    /// Returns the algorithm that the caller named.
    pub(crate) fn alg(&self) -> Option<Alg> {
        self.alg
    }

    /// For a signature that is not valid with a secret, the hint is the command that tries the other encodings.
    pub(crate) fn suggest_doctor(&self, is_signature: bool, failure: Failure) -> Failure {
        if is_signature && failure.hint_text().is_none() && self.secret.is_given() {
            failure.hint("to try the other encodings of the secret, run `jeton doctor --secret-file FILE --alg HS256 TOKEN`")
        } else {
            failure
        }
    }

    /// Returns the issuer whose keys are discovered.
    pub(crate) fn discovered_issuer(&self) -> Option<&str> {
        self.remote.discovered_issuer()
    }

    /// Returns whether skipped keys are listed even if verification succeeds.
    pub(crate) fn is_verbose(&self) -> bool {
        self.skipped.verbose
    }
}

impl EncryptionKeyFiles {
    /// Loads at least one key.
    pub(crate) fn load(
        &self,
        enc: Option<ContentEnc>,
        allowed: &Allowed,
    ) -> Outcome<Vec<Recipient>> {
        if let Some(path) = &self.password.password_file {
            let alg = self.alg.first().copied();
            let kid = self.kid.first();
            let mut password = passwords(path, alg, allowed)?.remove(0);
            if let Some(kid) = kid {
                let named = password.with_key_id(kid);
                password = named.map_err(|error| Failure::error(format!("--kid: {error}")))?;
            }
            return Ok(vec![Recipient::SymmetricKey(SymmetricKey::Password(
                password,
            ))]);
        }
        let algs = for_each("--alg", &self.alg, self.key.len(), Spread::All)?;
        let kids = for_each("--kid", &self.kid, self.key.len(), Spread::Each)?;
        let named = self.key.iter().zip(algs.into_iter().zip(kids));
        named
            .map(|(path, (alg, kid))| {
                let alg = alg.copied();
                read(path, alg, None)?.to_encrypt(
                    Requested { alg, enc },
                    kid.map(String::as_str),
                    allowed,
                )
            })
            .collect()
    }
}

impl DecryptionKeyFile {
    pub(crate) fn load(
        &self,
        enc: Option<ContentEnc>,
        allowed: &Allowed,
    ) -> Outcome<Loaded<DecryptionKeys>> {
        let alg = self.alg;
        match (&self.key, &self.password.password_file) {
            (Some(path), _) => read(path, alg, Some(&self.key_password))?
                .to_decrypt(Requested { alg, enc }, allowed),
            (None, Some(path)) => {
                let passwords = passwords(path, alg, allowed)?;
                let keys = passwords.into_iter().map(DecryptionKeys::from);
                keys.reduce(DecryptionKeys::and)
                    .map(|keys| Loaded {
                        keys,
                        skipped: Skipped::default(),
                    })
                    .ok_or_else(|| Failure::error("the password file has no password"))
            }
            (None, None) => Err(Failure::error("no key: pass --key or --password-file")),
        }
    }

    /// Returns whether skipped keys are listed even if verification succeeds.
    pub(crate) fn is_verbose(&self) -> bool {
        self.skipped.verbose
    }
}

/// Reads a key file; for a password algorithm, an error points to --password-file.
fn read(
    path: &std::path::Path,
    alg: Option<Algorithm>,
    password: Option<&KeyPassword>,
) -> Outcome<KeyFile> {
    let file = match password {
        Some(password) => KeyFile::read_encrypted(path, password),
        None => KeyFile::read(path),
    };
    let is_asymmetric = alg.is_some_and(Algorithm::is_asymmetric);
    let file = file.map_err(|failure| without_secret_hint(failure, is_asymmetric));
    match alg {
        Some(Algorithm::Password(_)) => file.map_err(|failure| {
            failure.hint("a password is an oct JWK; for a text file, instead of --key, pass `--password-file FILE`")
        }),
        _ => file,
    }
}

/// Returns the password for the requested algorithm, or for each algorithm, the strongest first.
///
/// They never share a derived key: the algorithm's name is part of the salt (RFC 7518, section 4.8.1.1).
fn passwords(
    path: &std::path::Path,
    alg: Option<Algorithm>,
    allowed: &Allowed,
) -> Outcome<Vec<Password>> {
    allowed.require(InsecureOption::Pbes2, "--password-file")?;
    let algs = match alg {
        None => Pbes2Alg::ALL.iter().copied().rev().collect(),
        Some(Algorithm::Password(alg)) => vec![alg],
        Some(alg) => {
            return Err(Failure::error(format!(
                "--password-file cannot be used with --alg {}",
                alg.name()
            ))
            .hint("use `--alg PBES2-HS512+A256KW`, or remove `--alg`"));
        }
    };
    let text = input::password(path, jeton::limits::PASSWORD_BYTES)?;
    algs.into_iter()
        .map(|alg| {
            Password::new(alg, text.as_bytes())
                .map_err(|error| Failure::error(format!("the password file: {error}")))
        })
        .collect()
}

/// Whether an option that is passed once applies to every key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spread {
    All,
    Each,
}

/// Pairs the values of a repeated option with the keys.
fn for_each<'a, T>(
    option: &str,
    given: &'a [T],
    keys: usize,
    spread: Spread,
) -> Outcome<Vec<Option<&'a T>>> {
    match given {
        [] => Ok(vec![None; keys]),
        [one] if spread == Spread::All => Ok(vec![Some(one); keys]),
        all if all.len() == keys => Ok(all.iter().map(Some).collect()),
        all => Err(Failure::error(format!(
            "{option} is passed {} times for {keys} keys; pass it once for each key, in the same order",
            all.len()
        ))),
    }
}
