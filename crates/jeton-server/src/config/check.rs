//! The check of a whole configuration.

use super::problem::Problem;
use super::{Config, clients, issuers, limits, pkcs11, store, traces, trust};
use crate::authority::Authority;
use crate::key_command;
use crate::limits::HOSTS;

/// Returns the first problem of a configuration.
pub(super) fn first_problem(config: &Config) -> Option<Problem> {
    listeners(config)
        .or_else(|| store::problem(config))
        .or_else(|| keys(config))
        .or_else(|| drain(config))
        .or_else(|| limits::problem(&config.limits))
        .or_else(|| hosts(config))
        .or_else(|| issuers::problem(&config.issuers))
        .or_else(|| clients::problem(config))
        .or_else(|| trust::problem(config))
        .or_else(|| pkcs11::problem(config.pkcs11.as_ref()))
        .or_else(|| traces::problem(config.traces.as_ref()))
}

fn listeners(config: &Config) -> Option<Problem> {
    if config.listen == config.admin_listen && config.listen.port() != 0 {
        return Some(Problem::new("admin_listen", "must differ from `listen`"));
    }
    let is_wrong = |workers| !(1..=1024).contains(&workers);
    let wrong = Problem::new("workers", "must be between 1 and 1024");
    config.workers.is_some_and(is_wrong).then_some(wrong)
}

/// Checks that each key-encryption key has one source.
fn keys(config: &Config) -> Option<Problem> {
    let sources = [
        (
            "key_encryption_key_command",
            &config.key_encryption_key_command,
            "not accepted together with `key_encryption_key_file`",
            config.key_encryption_key_file.is_some(),
        ),
        (
            "old_key_encryption_key_command",
            &config.old_key_encryption_key_command,
            "not accepted together with `old_key_encryption_key_file`",
            config.old_key_encryption_key_file.is_some(),
        ),
    ];
    sources
        .into_iter()
        .find_map(|(key, command, both, is_file)| {
            if !command.is_empty() && is_file {
                return Some(Problem::new(key, both));
            }
            key_command::problem(command).map(|what| Problem::new(key, what))
        })
}

fn drain(config: &Config) -> Option<Problem> {
    let times = [
        ("stop_delay_seconds", config.stop_delay_seconds),
        ("drain_seconds", config.drain_seconds),
    ];
    let wrong = times.into_iter().find(|(_, seconds)| *seconds > 3600);
    wrong.map(|(key, _)| Problem::new(key, "must be at most 3600"))
}

fn hosts(config: &Config) -> Option<Problem> {
    let hosts = config.hosts.as_deref().unwrap_or_default();
    if hosts.len() > HOSTS {
        let what = format!("{} names, maximum {HOSTS}", hosts.len());
        return Some(Problem::new("hosts", what));
    }
    let wrong = Problem::new(
        "hosts",
        "expected host names without scheme, port or wildcard, for example \"id.example\"",
    );
    let all_hosts = hosts.iter().all(|host| Authority::is_host(host));
    (!all_hosts).then_some(wrong)
}
