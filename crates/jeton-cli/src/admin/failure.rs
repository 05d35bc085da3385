//! Failures of a store, with the next command.

use std::io::ErrorKind;

use jeton_issuer::{Error, KEY_VARIABLE};
use jeton_store::{Error as StoreError, Problem};

use crate::exit::Failure;

/// Returns the failure with a hint.
pub(super) fn failure(error: Error) -> Failure {
    let failure = Failure::error(error.to_string());
    match error {
        Error::NoStore(_) => failure
            .hint("to use another folder, add `--data DIR`; to create one, run `jeton admin issuer add @issuer.json`"),
        Error::Store(StoreError::InUse) => {
            failure.hint("to wait longer, add `--lock-timeout 1m`; stop the server that uses the folder")
        }
        Error::Store(StoreError::Unsafe(exposed)) => failure.hint(exposed.remedy()),
        Error::Store(StoreError::Damaged(_)) | Error::Record(_) => failure.hint(
            "to check the whole folder, run `jeton admin verify`; to use a backup, run `jeton admin restore FILE --data DIR`",
        ),
        Error::Store(StoreError::AlreadyThere) => {
            failure.hint("to restore to a new folder, add `--data DIR`")
        }
        Error::Store(StoreError::NoStore(_)) => failure.hint(
            "to create a store, run `jeton serve --store URL`; to fill it from a data folder, run \
             `jeton admin migrate --from DIR --to URL`",
        ),
        Error::Store(StoreError::Unfinished) => failure.hint(
            "to finish a migration, run `jeton admin migrate --from SOURCE --to URL --continue`; to finish a restore, run \
             the same `jeton admin restore` again",
        ),
        Error::Audit(_) => failure.hint("to check the whole log, run `jeton admin audit verify`"),
        Error::WrongKeyEncryptionKey { .. } => failure.hint(format!(
            "add `--key-encryption-key FILE`, or set {KEY_VARIABLE}"
        )),
        Error::ClockBehind { .. } | Error::ClocksDisagree { .. } | Error::ClockApart { .. } => failure.hint(
            "to compare the clocks, run `jeton admin nodes`; if the clock of this machine is right, add `--trust-clock`",
        ),
        Error::UnknownIssuer => failure.hint("to list the issuers, run `jeton admin issuer list`"),
        Error::IssuerExists => failure.hint("to change its settings, run `jeton admin issuer set @issuer.json`"),
        Error::UnknownRule => failure.hint("to list the revocations, run `jeton admin revoke list ISSUER`"),
        Error::UnknownKey => failure.hint("to list the keys, run `jeton admin key list ISSUER`"),
        _ => failure,
    }
}

/// Returns the failure of an etcd with a hint.
pub(super) fn etcd_failure(error: Error) -> Failure {
    match &error {
        Error::Store(StoreError::Invalid(problem)) => {
            let failure = Failure::error(format!("invalid store: {problem}"));
            match problem {
                Problem::NoAuthority => {
                    failure.hint("name a configuration with `ca` in [etcd]: add `--config FILE`")
                }
                _ => failure,
            }
        }
        Error::Store(StoreError::Io(kind, _)) => {
            let hint = match kind {
                ErrorKind::PermissionDenied => {
                    "name a configuration with `user` and `password_file` in [etcd]: add `--config FILE`"
                }
                ErrorKind::InvalidInput => {
                    "check the files of `ca`, `certificate` and `key` in [etcd] of the configuration"
                }
                _ => "check the address and the certificates, and that a majority of the etcd runs",
            };
            failure(error).hint(hint)
        }
        Error::Store(StoreError::Damaged(_)) | Error::Record(_) => failure(error).hint(
            "to check the whole store, run `jeton admin verify --store URL`; to use a backup, run \
             `jeton admin restore FILE --store URL` with another /ROOT",
        ),
        _ => failure(error),
    }
}

/// Returns the failure of a target: an etcd with this root, or a folder.
pub(super) fn unfilled(error: Error, root: Option<&str>) -> Failure {
    let hint = match &error {
        Error::Store(StoreError::AlreadyThere) => {
            "name a target without a store: another folder, or another /ROOT of the etcd. If the network failed at the \
             end of this migration, it may have finished: `jeton admin audit --act store.migrate` tells"
                .to_owned()
        }
        // The root alone is also the beginning of other roots: `/jeton` of `/jeton-2`.
        Error::Store(StoreError::OtherSource) => format!(
            "name another target; or continue that migration; or delete its part: {}",
            match root {
                None => "the folder `migrating-…` in the target".to_owned(),
                Some(root) => format!(
                    "`etcdctl del --prefix '{root}!'` and `etcdctl del --prefix '{root}/'`"
                ),
            }
        ),
        Error::Store(StoreError::NotAStore) => {
            "other keys are under the root of this etcd, or the root of another store contains it: name another \
             /ROOT, and not one inside the root of a store"
                .to_owned()
        }
        Error::Store(StoreError::InUse) => {
            "another process fills the folder: wait for it".to_owned()
        }
        _ if root.is_some() => return etcd_failure(error),
        _ => return failure(error),
    };
    Failure::error(error.to_string()).hint(hint)
}

/// The hint if the target has keys of others.
pub(super) const OTHER_KEY: &str = "another store or program has it: name another target";

/// The hint if another process has filled the target.
pub(super) const FINISHED_ELSEWHERE: &str =
    "the target is complete: to check it, run `jeton admin verify --store URL`";
