//! Decrypts PKCS#8 keys with a password (RFC 8018, section 6.2).

use der::Decode as _;
use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::Kdf;
use zeroize::Zeroizing;

use crate::error::{KeyError, KeyProblem};
use crate::limits;

const MIB: u64 = 1024 * 1024;

/// Returns the PKCS#8 inside. The cost is checked before any work.
pub(super) fn decrypt(der: &[u8], password: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if password.len() > limits::PASSWORD_BYTES {
        let bytes = password.len();
        return Err(KeyError::too_large(
            "password",
            bytes,
            limits::PASSWORD_BYTES,
        ));
    }
    // The crate decodes only the algorithms that it can use.
    let unsupported = |_| KeyError::at("encryption", KeyProblem::Unsupported);
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(unsupported)?;
    let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else {
        return Err(KeyError::at("encryption", KeyProblem::Unsupported));
    };
    match &parameters.kdf {
        Kdf::Pbkdf2(kdf) if kdf.iteration_count > limits::PBKDF2_ITERATIONS => {
            return Err(KeyError::new(KeyProblem::PasswordIterations {
                asked: kdf.iteration_count,
                limit: limits::PBKDF2_ITERATIONS,
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
            if bytes > limits::SCRYPT_MEMORY_BYTES {
                let mib = |bytes: u64| u32::try_from(bytes.div_ceil(MIB)).unwrap_or(u32::MAX);
                return Err(KeyError::new(KeyProblem::PasswordScrypt {
                    asked_mib: mib(bytes),
                    limit_mib: mib(limits::SCRYPT_MEMORY_BYTES),
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
    Ok(bytes)
}
