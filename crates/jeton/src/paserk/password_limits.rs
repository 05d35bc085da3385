use crate::error::{KeyError, KeyProblem};
use crate::limits;
use crate::paserk::refused;

/// How much work a reader does for a key under a password, at most.
///
/// The text of such a key says how much memory and time it takes to open it, and whoever wrote the text chose
/// that: its tag can be checked only afterwards. So a text that asks for more is rejected before any work is
/// done.
///
/// The defaults are [`limits::PBKDF2_ITERATIONS`], [`limits::ARGON2ID_MEMORY_BYTES_DEFAULT`] and
/// [`limits::ARGON2ID_WORK_BYTES_DEFAULT`]. They admit what [`PasswordCost::default_of`] writes, and
/// libsodium's costs up to the one that it calls moderate. Whoever opens keys of another's choice should allow
/// less, and whoever wrote a dearer key may allow more.
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
///     "key rejected: paserk: asks for 16 MiB of memory for a password, the limit is 8 MiB"
/// );
/// assert!(LocalKey::from_password_paserk(&text, b"secret words").is_ok());
/// # Ok::<_, jeton::Error>(())
/// ```
///
/// [`PasswordCost::default_of`]: super::PasswordCost::default_of
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordLimits {
    pbkdf2_iterations: u32,
    argon2id_memory_bytes: u64,
    argon2id_work_bytes: u64,
}

impl Default for PasswordLimits {
    fn default() -> Self {
        PasswordLimits {
            pbkdf2_iterations: limits::PBKDF2_ITERATIONS,
            argon2id_memory_bytes: limits::ARGON2ID_MEMORY_BYTES_DEFAULT,
            argon2id_work_bytes: limits::ARGON2ID_WORK_BYTES_DEFAULT,
        }
    }
}

impl PasswordLimits {
    /// So many iterations of PBKDF2 at most, in versions 1 and 3; more than [`limits::PBKDF2_ITERATIONS`]
    /// means those.
    pub fn pbkdf2_iterations(mut self, iterations: u32) -> PasswordLimits {
        self.pbkdf2_iterations = iterations.min(limits::PBKDF2_ITERATIONS);
        self
    }

    /// So much memory of Argon2id at most, in versions 2 and 4, bytes; more than
    /// [`limits::ARGON2ID_MEMORY_BYTES`] means that.
    pub fn argon2id_memory_bytes(mut self, bytes: u64) -> PasswordLimits {
        self.argon2id_memory_bytes = bytes.min(limits::ARGON2ID_MEMORY_BYTES);
        self
    }

    /// So much memory times passes of Argon2id at most, in versions 2 and 4, bytes: what the time grows with.
    /// No key has more than [`limits::ARGON2ID_PASSES`] passes over [`limits::ARGON2ID_MEMORY_BYTES`].
    pub fn argon2id_work_bytes(mut self, bytes: u64) -> PasswordLimits {
        let most = limits::ARGON2ID_MEMORY_BYTES * u64::from(limits::ARGON2ID_PASSES);
        self.argon2id_work_bytes = bytes.min(most);
        self
    }

    pub(super) fn check_pbkdf2(&self, iterations: u32) -> Result<(), KeyError> {
        if iterations > self.pbkdf2_iterations {
            return Err(refused(KeyProblem::PasswordIterations {
                asked: iterations,
                limit: self.pbkdf2_iterations,
            }));
        }
        Ok(())
    }

    pub(super) fn check_argon2id(&self, memory_bytes: u64, passes: u32) -> Result<(), KeyError> {
        if memory_bytes > self.argon2id_memory_bytes {
            return Err(refused(KeyProblem::PasswordMemory {
                asked_mib: mib(memory_bytes.div_ceil(MIB)),
                limit_mib: mib(self.argon2id_memory_bytes / MIB),
            }));
        }
        if passes > limits::ARGON2ID_PASSES {
            return Err(refused(KeyProblem::PasswordPasses {
                asked: passes,
                limit: limits::ARGON2ID_PASSES,
            }));
        }
        let work = memory_bytes.saturating_mul(u64::from(passes));
        if work > self.argon2id_work_bytes {
            return Err(refused(KeyProblem::PasswordWork {
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
