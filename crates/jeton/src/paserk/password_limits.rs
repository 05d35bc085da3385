use crate::error::{KeyError, KeyProblem};
use crate::limits;
use crate::paseto::paserk::key_error;

/// Limits the cost of decrypting a key with a password.
///
/// The creator of such a PASERK chooses how much memory and time decrypting needs, and the tag can only be
/// checked afterwards. So a PASERK that exceeds the limits is rejected before any work is done.
///
/// The defaults are [`limits::PBKDF2_ITERATIONS`], [`limits::ARGON2ID_MEMORY_BYTES_DEFAULT`] and
/// [`limits::ARGON2ID_WORK_BYTES_DEFAULT`]. They allow the costs of [`PasswordCost::default_of`], and those of
/// libsodium up to "moderate". Lower them to decrypt keys from untrusted parties. Raise them to decrypt your
/// own keys with a higher cost.
///
/// ```
/// use jeton::paserk::{PasswordCost, PasswordLimits};
/// use jeton::paseto::v4::LocalKey;
///
/// let mib = 1024 * 1024;
/// let cost = PasswordCost::argon2id(16 * mib, 2, 1)?;
/// let text = LocalKey::generate()?.to_password_paserk_with(b"secret words", cost)?;
///
/// let tight = PasswordLimits::default().argon2id_memory_bytes(8 * mib);
/// let error = LocalKey::from_password_paserk_within(&text, b"secret words", &tight);
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "key rejected: paserk: requires 16 MiB of Argon2id memory, maximum 8 MiB"
/// );
/// let one_pass = PasswordLimits::default().argon2id_passes(1);
/// assert!(LocalKey::from_password_paserk_within(&text, b"secret words", &one_pass).is_err());
/// assert!(LocalKey::from_password_paserk(&text, b"secret words").is_ok());
/// # Ok::<_, jeton::Error>(())
/// ```
///
/// [`PasswordCost::default_of`]: super::PasswordCost::default_of
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordLimits {
    pbkdf2_iterations: u32,
    argon2id_memory_bytes: u64,
    argon2id_passes: u32,
    argon2id_work_bytes: u64,
}

impl Default for PasswordLimits {
    fn default() -> Self {
        PasswordLimits {
            pbkdf2_iterations: limits::PBKDF2_ITERATIONS,
            argon2id_memory_bytes: limits::ARGON2ID_MEMORY_BYTES_DEFAULT,
            argon2id_passes: limits::ARGON2ID_PASSES,
            argon2id_work_bytes: limits::ARGON2ID_WORK_BYTES_DEFAULT,
        }
    }
}

impl PasswordLimits {
    /// Sets the maximum number of PBKDF2 iterations (versions 1 and 3), at most [`limits::PBKDF2_ITERATIONS`].
    pub fn pbkdf2_iterations(mut self, iterations: u32) -> PasswordLimits {
        self.pbkdf2_iterations = iterations.min(limits::PBKDF2_ITERATIONS);
        self
    }

    /// Sets the maximum Argon2id memory (versions 2 and 4), bytes, at most [`limits::ARGON2ID_MEMORY_BYTES`].
    pub fn argon2id_memory_bytes(mut self, bytes: u64) -> PasswordLimits {
        self.argon2id_memory_bytes = bytes.min(limits::ARGON2ID_MEMORY_BYTES);
        self
    }

    /// Sets the maximum number of Argon2id passes (versions 2 and 4), at most [`limits::ARGON2ID_PASSES`], the default.
    pub fn argon2id_passes(mut self, passes: u32) -> PasswordLimits {
        self.argon2id_passes = passes.min(limits::ARGON2ID_PASSES);
        self
    }

    /// Sets the maximum Argon2id memory times passes (versions 2 and 4), bytes. The time grows with this product.
    /// No key has more than [`limits::ARGON2ID_PASSES`] passes over [`limits::ARGON2ID_MEMORY_BYTES`].
    pub fn argon2id_work_bytes(mut self, bytes: u64) -> PasswordLimits {
        let most = limits::ARGON2ID_MEMORY_BYTES * u64::from(limits::ARGON2ID_PASSES);
        self.argon2id_work_bytes = bytes.min(most);
        self
    }

    pub(super) fn check_pbkdf2(&self, iterations: u32) -> Result<(), KeyError> {
        if iterations > self.pbkdf2_iterations {
            return Err(key_error(KeyProblem::PasswordIterations {
                asked: iterations,
                limit: self.pbkdf2_iterations,
            }));
        }
        Ok(())
    }

    pub(super) fn check_argon2id(&self, memory_bytes: u64, passes: u32) -> Result<(), KeyError> {
        if memory_bytes > self.argon2id_memory_bytes {
            return Err(key_error(KeyProblem::PasswordMemory {
                asked_mib: mib(memory_bytes.div_ceil(MIB)),
                limit_mib: mib(self.argon2id_memory_bytes / MIB),
            }));
        }
        if passes > self.argon2id_passes {
            return Err(key_error(KeyProblem::PasswordPasses {
                asked: passes,
                limit: self.argon2id_passes,
            }));
        }
        let work = memory_bytes.saturating_mul(u64::from(passes));
        if work > self.argon2id_work_bytes {
            return Err(key_error(KeyProblem::PasswordWork {
                asked_mib: mib(work.div_ceil(MIB)),
                limit_mib: mib(self.argon2id_work_bytes / MIB),
            }));
        }
        Ok(())
    }
}

const MIB: u64 = 1024 * 1024;

fn mib(mib: u64) -> u32 {
    u32::try_from(mib).unwrap_or(u32::MAX)
}
