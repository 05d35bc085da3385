//! Decrypts PKCS#8 keys with a password (RFC 8018, section 6.2).

use der::asn1::AnyRef;
use der::{Decode as _, Tag, Tagged as _};
use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::Kdf;
use zeroize::Zeroizing;

use crate::error::{KeyError, KeyProblem};
use crate::limits;

const MIB: u64 = 1024 * 1024;

/// Limits the cost of decrypting a PKCS#8 key with a password.
///
/// The creator of the file chooses how much memory and time decrypting needs. A file that exceeds the limits is
/// rejected before any work is done. The defaults are [`limits::PBKDF2_ITERATIONS`] and
/// [`limits::SCRYPT_MEMORY_BYTES`]. Lower them for files from untrusted parties. Raise them for your own keys with a
/// higher cost.
///
/// ```
/// use jeton::key::{AnyKey, Pkcs8Limits};
///
/// // From `openssl pkcs8 -topk8 -v2 aes-256-cbc -iter 2048`; the password is "password".
/// let file = std::fs::read("../../vectors/inputs/encrypted/pbkdf2.pem")?;
/// assert!(AnyKey::from_bytes_with_password(&file, b"password").is_ok());
///
/// let tight = Pkcs8Limits::new().pbkdf2_iterations(1_000);
/// let error = AnyKey::from_bytes_with_password_within(&file, b"password", &tight).map(drop);
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "key rejected: requires 2048 PBKDF2 iterations, maximum 1000"
/// );
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pkcs8Limits {
    pbkdf2_iterations: u32,
    scrypt_memory_bytes: u64,
}

impl Default for Pkcs8Limits {
    fn default() -> Self {
        Pkcs8Limits::new()
    }
}

impl Pkcs8Limits {
    /// Returns the default limits.
    pub const fn new() -> Pkcs8Limits {
        Pkcs8Limits {
            pbkdf2_iterations: limits::PBKDF2_ITERATIONS,
            scrypt_memory_bytes: limits::SCRYPT_MEMORY_BYTES,
        }
    }

    /// Sets the maximum number of PBKDF2 iterations (RFC 8018, section 5.2). A million take about half a second.
    #[must_use]
    pub const fn pbkdf2_iterations(mut self, iterations: u32) -> Pkcs8Limits {
        self.pbkdf2_iterations = iterations;
        self
    }

    /// Sets the maximum scrypt memory times parallelization, bytes: 128 · N · r · p (RFC 7914, section 2).
    #[must_use]
    pub const fn scrypt_memory_bytes(mut self, bytes: u64) -> Pkcs8Limits {
        self.scrypt_memory_bytes = bytes;
        self
    }
}

/// Returns the PKCS#8 inside. The cost is checked before any work.
pub(super) fn decrypt(
    der: &[u8],
    password: &[u8],
    limits: &Pkcs8Limits,
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    const PASSWORD_BYTES: usize = limits::PASSWORD_BYTES;
    if password.len() > PASSWORD_BYTES {
        let bytes = password.len();
        return Err(KeyError::too_large("password", bytes, PASSWORD_BYTES));
    }
    // The crate decodes only the algorithms that it can use.
    let unsupported = |_| KeyError::at("encryption", KeyProblem::Unsupported);
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(unsupported)?;
    let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else {
        return Err(KeyError::at("encryption", KeyProblem::Unsupported));
    };
    match &parameters.kdf {
        Kdf::Pbkdf2(kdf) if kdf.iteration_count > limits.pbkdf2_iterations => {
            return Err(KeyError::new(KeyProblem::PasswordIterations {
                asked: kdf.iteration_count,
                limit: limits.pbkdf2_iterations,
            }));
        }
        Kdf::Pbkdf2(_) => {}
        Kdf::Scrypt(kdf) => {
            // RFC 7914, section 2: 128 · N · r bytes, and the work is p times as much.
            let factors = [
                kdf.cost_parameter,
                u64::from(kdf.block_size),
                u64::from(kdf.parallelization),
            ];
            let bytes = (factors.into_iter())
                .try_fold(128_u64, u64::checked_mul)
                .unwrap_or(u64::MAX);
            if bytes > limits.scrypt_memory_bytes {
                let mib = |mib: u64| u32::try_from(mib).unwrap_or(u32::MAX);
                return Err(KeyError::new(KeyProblem::PasswordScrypt {
                    asked_mib: mib(bytes.div_ceil(MIB)),
                    limit_mib: mib(limits.scrypt_memory_bytes / MIB),
                }));
            }
        }
        _ => return Err(KeyError::at("encryption", KeyProblem::Unsupported)),
    }
    let mut bytes = Zeroizing::new(info.encrypted_data.as_bytes().to_vec());
    let length = parameters
        .decrypt_in_place(password, &mut bytes)
        .map_err(|_| KeyError::new(KeyProblem::Decryption))?
        .len();
    bytes.truncate(length);
    // With a wrong password, one result in 256 has the right padding.
    if AnyRef::from_der(&bytes).is_ok_and(|all| all.tag() == Tag::Sequence) {
        Ok(bytes)
    } else {
        Err(KeyError::new(KeyProblem::Decryption))
    }
}
