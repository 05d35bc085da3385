//! The arguments that name a key.

use std::path::PathBuf;

use clap::Args;
use jeton::danger::{Password, Pbes2Alg};
use jeton::key::{Alg, ContentEnc, DecryptionKeys, Keys};

use super::encrypting::{Requested, SymmetricKey};
use super::{KeyFile, Loaded, Recipient, Signer, Skipped};
use crate::algorithm::{self, Algorithm};
use crate::allow::{InsecureOption, Allowed};
use crate::exit::{Failure, Outcome};
use crate::input;

/// The key that a token is signed with.
#[derive(Debug, Args)]
pub(crate) struct SigningKeyFile {
    /// The private or symmetric key: JWK, JWK Set, PEM or DER; - is standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// The algorithm, for a key that does not say it (RSA, oct)
    #[arg(long, value_name = "NAME", value_parser = algorithm::signing(), hide_possible_values = true)]
    alg: Option<Alg>,

    /// Choose the key of a set by its id, or give a key without an id this one
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    kid: Option<String>,
}

/// The key or keys that a JWS is signed with.
#[derive(Debug, Args)]
pub(crate) struct SigningKeyFiles {
    /// The private or symmetric key: JWK, JWK Set, PEM or DER; - is standard input. Given again,
    /// another signs too
    #[arg(long, value_name = "FILE", required = true)]
    key: Vec<PathBuf>,

    /// The algorithm, for a key that does not say it (RSA, oct); of several keys one for all, or one
    /// for each
    #[arg(long, value_name = "NAME", value_parser = algorithm::signing(), hide_possible_values = true)]
    alg: Vec<Alg>,

    /// Choose the key of a set by its id, or give a key without an id this one; of several keys one
    /// for each
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    kid: Vec<String>,
}

/// The key or keys that a token is verified with.
#[derive(Debug, Args)]
pub(crate) struct VerifyingKeyFile {
    /// The public or symmetric key, or a set of them: JWK, JWK Set, PEM or DER; - is standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// The algorithm, for a key that does not say it (RSA, oct)
    #[arg(long, value_name = "NAME", value_parser = algorithm::signing(), hide_possible_values = true)]
    alg: Option<Alg>,

    /// List the keys of a set that are skipped, and why
    #[arg(short, long)]
    verbose: bool,
}

/// The key or keys that a JWE is encrypted to.
#[derive(Debug, Args)]
pub(crate) struct EncryptionKeyFiles {
    /// The recipient's public key or a symmetric one: JWK, JWK Set, PEM or DER; - is standard input.
    /// Given again, it is another recipient's
    #[arg(
        long,
        visible_alias = "recipient",
        value_name = "FILE",
        required_unless_present = "password_file"
    )]
    key: Vec<PathBuf>,

    /// A password instead of a key, the file's one line; needs --allow pbes2; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    password_file: Option<PathBuf>,

    /// The algorithm, for a key that does not say it (RSA, oct); of several keys one for all, or one
    /// for each
    #[arg(long, value_name = "NAME", value_parser = algorithm::encrypting(), hide_possible_values = true)]
    alg: Vec<Algorithm>,

    /// Choose the key of a set by its id, or give a key without an id this one; of several keys one
    /// for each
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    kid: Vec<String>,
}

/// The key or keys that a JWE is decrypted with.
#[derive(Debug, Args)]
pub(crate) struct DecryptionKeyFile {
    /// The private or symmetric key, or a set of them: JWK, JWK Set, PEM or DER; - is standard input
    #[arg(long, value_name = "FILE", required_unless_present = "password_file")]
    key: Option<PathBuf>,

    /// A password instead of a key, the file's one line; needs --allow pbes2; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    password_file: Option<PathBuf>,

    /// The algorithm, for a key that does not say it (RSA, oct)
    #[arg(long, value_name = "NAME", value_parser = algorithm::encrypting(), hide_possible_values = true)]
    alg: Option<Algorithm>,

    /// List the keys of a set that are skipped, and why
    #[arg(short, long)]
    verbose: bool,
}

/// The key that a signed token is encrypted to.
#[derive(Debug, Args)]
pub(crate) struct TokenEncryptionKeyFile {
    /// Encrypt the signed token to this key: JWK, JWK Set, PEM or DER; - is standard input
    #[arg(long, value_name = "FILE")]
    encrypt_key: Option<PathBuf>,

    /// The algorithm of --encrypt-key, if it does not say it (RSA, oct)
    #[arg(
        long,
        value_name = "NAME",
        requires = "encrypt_key",
        value_parser = algorithm::encrypting(),
        hide_possible_values = true
    )]
    encrypt_alg: Option<Algorithm>,

    /// Choose the --encrypt-key of a set by its id, or give a key without an id this one
    #[arg(
        long,
        value_name = "ID",
        requires = "encrypt_key",
        allow_hyphen_values = true
    )]
    encrypt_kid: Option<String>,

    /// The content encryption [default: A256GCM, or what a key for dir is for]
    #[arg(
        long,
        value_name = "NAME",
        requires = "encrypt_key",
        value_parser = algorithm::content_encryption(),
        hide_possible_values = true
    )]
    enc: Option<ContentEnc>,

    /// Compress before encrypting; needs --allow zip
    #[arg(long, requires = "encrypt_key")]
    zip: bool,
}

/// The key or keys that a token is decrypted with before it is verified.
#[derive(Debug, Args)]
pub(crate) struct TokenDecryptionKeyFile {
    /// Decrypt the token first, with this key or set: JWK, JWK Set, PEM or DER; - is standard input
    #[arg(long, value_name = "FILE")]
    decrypt_key: Option<PathBuf>,

    /// The algorithm of --decrypt-key, if it does not say it (RSA, oct)
    #[arg(
        long,
        value_name = "NAME",
        requires = "decrypt_key",
        value_parser = algorithm::encrypting(),
        hide_possible_values = true
    )]
    decrypt_alg: Option<Algorithm>,

    /// Take tokens of this content encryption only
    #[arg(
        long,
        value_name = "NAME",
        requires = "decrypt_key",
        value_parser = algorithm::content_encryption(),
        hide_possible_values = true
    )]
    enc: Option<ContentEnc>,
}

impl TokenEncryptionKeyFile {
    /// The key, if the token is to be encrypted.
    pub(crate) fn load(&self, allowed: &Allowed) -> Outcome<Option<Recipient>> {
        let Some(path) = &self.encrypt_key else {
            return Ok(None);
        };
        let requested = Requested {
            alg: self.encrypt_alg,
            enc: self.enc,
        };
        let file = read(path, requested.alg)?;
        file.to_encrypt(requested, self.encrypt_kid.as_deref(), allowed)
            .map(Some)
    }

    pub(crate) fn enc(&self) -> Option<ContentEnc> {
        self.enc
    }

    pub(crate) fn zips(&self) -> bool {
        self.zip
    }
}

impl TokenDecryptionKeyFile {
    /// The file of the key or keys, if the token is to be decrypted.
    pub(crate) fn file(&self) -> Outcome<Option<KeyFile>> {
        let path = self.decrypt_key.as_ref();
        path.map(|path| read(path, self.decrypt_alg)).transpose()
    }

    /// The key or keys of that file.
    pub(crate) fn load(&self, file: &KeyFile, allowed: &Allowed) -> Outcome<Loaded<DecryptionKeys>> {
        let requested = Requested {
            alg: self.decrypt_alg,
            enc: self.enc,
        };
        file.to_decrypt(requested, allowed)
    }

    pub(crate) fn enc(&self) -> Option<ContentEnc> {
        self.enc
    }
}

impl SigningKeyFile {
    pub(crate) fn load(&self, allowed: &Allowed) -> Outcome<Signer> {
        KeyFile::read(&self.key)?.to_sign(self.alg, self.kid.as_deref(), allowed)
    }
}

impl SigningKeyFiles {
    /// At least one.
    pub(crate) fn load(&self, allowed: &Allowed) -> Outcome<Vec<Signer>> {
        let algs = for_each("--alg", &self.alg, self.key.len(), Spread::All)?;
        let kids = for_each("--kid", &self.kid, self.key.len(), Spread::Each)?;
        let named = self.key.iter().zip(algs.into_iter().zip(kids));
        named
            .map(|(path, (alg, kid))| {
                KeyFile::read(path)?.to_sign(alg.copied(), kid.map(String::as_str), allowed)
            })
            .collect()
    }
}

impl VerifyingKeyFile {
    pub(crate) fn load(&self, allowed: &Allowed) -> Outcome<Loaded<Keys>> {
        KeyFile::read(&self.key)?.to_verify(self.alg, allowed)
    }

    /// Whether skipped keys are listed in any case.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }
}

impl EncryptionKeyFiles {
    /// At least one.
    pub(crate) fn load(&self, enc: Option<ContentEnc>, allowed: &Allowed) -> Outcome<Vec<Recipient>> {
        if let Some(path) = &self.password_file {
            let alg = self.alg.first().copied();
            let kid = self.kid.first();
            let mut password = passwords(path, alg, allowed)?.remove(0);
            if let Some(kid) = kid {
                let named = password.with_key_id(kid);
                password = named.map_err(|error| Failure::error(format!("--kid: {error}")))?;
            }
            return Ok(vec![Recipient::SymmetricKey(SymmetricKey::Password(password))]);
        }
        let algs = for_each("--alg", &self.alg, self.key.len(), Spread::All)?;
        let kids = for_each("--kid", &self.kid, self.key.len(), Spread::Each)?;
        let named = self.key.iter().zip(algs.into_iter().zip(kids));
        named
            .map(|(path, (alg, kid))| {
                let alg = alg.copied();
                read(path, alg)?.to_encrypt(Requested { alg, enc }, kid.map(String::as_str), allowed)
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
        match (&self.key, &self.password_file) {
            (Some(path), _) => read(path, alg)?.to_decrypt(Requested { alg, enc }, allowed),
            (None, Some(path)) => {
                let passwords = passwords(path, alg, allowed)?;
                let keys = passwords.into_iter().map(DecryptionKeys::from);
                keys.reduce(DecryptionKeys::and)
                    .map(|keys| Loaded {
                        keys,
                        skipped: Skipped::default(),
                    })
                    .ok_or_else(|| Failure::error("no password"))
            }
            (None, None) => Err(Failure::error("say with what: --key or --password-file")),
        }
    }

    /// Whether skipped keys are listed in any case.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }
}

/// The key file; what is none, and is to be a password, has another option.
fn read(path: &std::path::Path, alg: Option<Algorithm>) -> Outcome<KeyFile> {
    let file = KeyFile::read(path);
    match alg {
        Some(Algorithm::Password(_)) => file.map_err(|failure| {
            failure.hint("a password is an oct JWK, or text: --password-file FILE")
        }),
        _ => file,
    }
}

/// The password for the algorithm that the call says, or for each: the first is the strongest. They
/// never share a derived key, for each is derived under its own name (RFC 7518, section 4.8.1.1).
fn passwords(
    path: &std::path::Path,
    alg: Option<Algorithm>,
    allowed: &Allowed,
) -> Outcome<Vec<Password>> {
    allowed.require(InsecureOption::Pbes2, "a password")?;
    let algs = match alg {
        None => Pbes2Alg::ALL.into_iter().rev().collect(),
        Some(Algorithm::Password(alg)) => vec![alg],
        Some(alg) => {
            return Err(
                Failure::error(format!("{} is not for a password", alg.name()))
                    .hint("for a password: --alg PBES2-HS512+A256KW, or none"),
            );
        }
    };
    let text = input::password(path, jeton::limits::PASSWORD_BYTES)?;
    algs.into_iter()
        .map(|alg| {
            Password::new(alg, text.as_bytes())
                .map_err(|error| Failure::error(format!("the password's file: {error}")))
        })
        .collect()
}

/// Whether an option that is given once is meant for every key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spread {
    All,
    Each,
}

/// What is requested of each of several keys.
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
            "{keys} keys and {} times {option}; give it once for each key, in their order",
            all.len()
        ))),
    }
}
