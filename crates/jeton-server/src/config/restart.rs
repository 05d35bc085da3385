//! The configuration keys that need a restart.

use std::fmt::Display;

use super::{Config, Etcd, GenerateJwt, Limits, Pkcs11, Traces};

/// A key whose value differs from the one at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedKey {
    pub(crate) key: &'static str,
    pub(crate) old: String,
    pub(crate) new: String,
}

impl Config {
    /// Returns the changed keys that a reload does not apply.
    pub(crate) fn needs_restart(&self, new: &Config) -> Vec<ChangedKey> {
        let (old, new) = (self.fixed_values(), new.fixed_values());
        let pairs = old.into_iter().zip(new);
        let changed = pairs.filter(|((_, old), (_, new))| old != new);
        changed
            .map(|((key, old), (_, new))| ChangedKey { key, old, new })
            .collect()
    }

    /// The keys that a reload does not apply, with their values. None of them is a secret.
    fn fixed_values(&self) -> Vec<(&'static str, String)> {
        let Config {
            data,
            store,
            etcd,
            listen,
            admin_listen,
            workers,
            key_encryption_key_file,
            old_key_encryption_key_file,
            key_encryption_key_command,
            old_key_encryption_key_command,
            freshness_seconds,
            store_outage_issuing_seconds,
            store_comparison_seconds,
            when_stale,
            stop_delay_seconds,
            drain_seconds,
            log,
            tls,
            limits,
            generate_jwt,
            pkcs11,
            traces,
            // Applied by a reload.
            bearer: _,
            hosts: _,
            clients: _,
            issuers: _,
            trusts: _,
            proxy: _,
            no_proxy: _,
        } = self;
        let path = |path: &std::path::PathBuf| path.display().to_string();
        let mut values = vec![
            ("data", path(data)),
            ("store", or_none(store.as_ref())),
            ("listen", listen.to_string()),
            ("admin_listen", admin_listen.to_string()),
            ("workers", or_none(workers.as_ref())),
            (
                "key_encryption_key_file",
                or_none(key_encryption_key_file.as_ref().map(path).as_ref()),
            ),
            (
                "old_key_encryption_key_file",
                or_none(old_key_encryption_key_file.as_ref().map(path).as_ref()),
            ),
            (
                "key_encryption_key_command",
                program_of(key_encryption_key_command),
            ),
            (
                "old_key_encryption_key_command",
                program_of(old_key_encryption_key_command),
            ),
            ("freshness_seconds", freshness_seconds.to_string()),
            (
                "store_outage_issuing_seconds",
                or_none(store_outage_issuing_seconds.as_ref()),
            ),
            (
                "store_comparison_seconds",
                store_comparison_seconds.to_string(),
            ),
            ("when_stale", lower(when_stale)),
            ("stop_delay_seconds", stop_delay_seconds.to_string()),
            ("drain_seconds", drain_seconds.to_string()),
            ("log.level", lower(&log.level)),
            ("log.format", lower(&log.format)),
            // A reload reads the files again, but cannot turn TLS on or off.
            ("tls", tls.as_ref().map_or("none", |_| "set").to_owned()),
        ];
        values.extend(etcd_values(etcd.as_ref()));
        values.extend(pkcs11_values(pkcs11.as_ref()));
        values.extend(trace_values(traces.as_ref()));
        values.extend(limit_values(limits));
        values.extend(generate_jwt_values(generate_jwt.as_ref()));
        values
    }
}

fn etcd_values(etcd: Option<&Etcd>) -> [(&'static str, String); 5] {
    let etcd = etcd.cloned().unwrap_or_default();
    let path = |path: Option<std::path::PathBuf>| {
        or_none(path.map(|path| path.display().to_string()).as_ref())
    };
    [
        ("etcd.ca", path(etcd.ca)),
        ("etcd.certificate", path(etcd.certificate)),
        ("etcd.key", path(etcd.key)),
        ("etcd.user", or_none(etcd.user.as_ref())),
        ("etcd.password_file", path(etcd.password_file)),
    ]
}

fn pkcs11_values(pkcs11: Option<&Pkcs11>) -> [(&'static str, String); 7] {
    let path = |path: Option<&std::path::PathBuf>| {
        or_none(path.map(|path| path.display().to_string()).as_ref())
    };
    // A reload applies the keys.
    [
        ("pkcs11.module", path(pkcs11.map(|at| &at.module))),
        ("pkcs11.pin_file", path(pkcs11.map(|at| &at.pin_file))),
        (
            "pkcs11.token",
            or_none(pkcs11.and_then(|at| at.token.as_ref())),
        ),
        (
            "pkcs11.slot",
            or_none(pkcs11.and_then(|at| at.slot.as_ref())),
        ),
        ("pkcs11.sessions", or_none(pkcs11.map(|at| &at.sessions))),
        ("pkcs11.queue", or_none(pkcs11.map(|at| &at.queue))),
        (
            "pkcs11.timeout_seconds",
            or_none(pkcs11.map(|at| &at.timeout_seconds)),
        ),
    ]
}

fn trace_values(traces: Option<&Traces>) -> [(&'static str, String); 6] {
    let path = |path: Option<&std::path::PathBuf>| {
        or_none(path.map(|path| path.display().to_string()).as_ref())
    };
    [
        ("traces.endpoint", or_none(traces.map(|at| &at.endpoint))),
        (
            "traces.service_name",
            or_none(traces.map(|at| &at.service_name)),
        ),
        (
            "traces.sample_ratio",
            or_none(traces.map(|at| &at.sample_ratio)),
        ),
        (
            "traces.sampled_parents_per_minute",
            or_none(traces.map(|at| &at.sampled_parents_per_minute)),
        ),
        (
            "traces.headers_file",
            path(traces.and_then(|at| at.headers_file.as_ref())),
        ),
        ("traces.ca", path(traces.and_then(|at| at.ca.as_ref()))),
    ]
}

fn limit_values(limits: &Limits) -> [(&'static str, String); 14] {
    let Limits {
        message_bytes,
        token_bytes,
        batch_items,
        calls_per_connection,
        header_bytes,
        connections,
        memory_bytes,
        memory_share_bytes,
        proxies,
        revocation_watchers,
        revocation_watchers_per_client,
        revocation_rules_per_client,
        client_stall_timeout_seconds,
        worker_delay_milliseconds,
    } = limits;
    [
        ("limits.message_bytes", message_bytes.to_string()),
        ("limits.token_bytes", or_none(token_bytes.as_ref())),
        ("limits.batch_items", batch_items.to_string()),
        (
            "limits.calls_per_connection",
            calls_per_connection.to_string(),
        ),
        ("limits.header_bytes", header_bytes.to_string()),
        ("limits.connections", connections.to_string()),
        ("limits.memory_bytes", memory_bytes.to_string()),
        ("limits.memory_share_bytes", memory_share_bytes.to_string()),
        ("limits.proxies", format!("{proxies:?}")),
        (
            "limits.revocation_watchers",
            revocation_watchers.to_string(),
        ),
        (
            "limits.revocation_watchers_per_client",
            or_none(revocation_watchers_per_client.as_ref()),
        ),
        (
            "limits.revocation_rules_per_client",
            revocation_rules_per_client.to_string(),
        ),
        (
            "limits.client_stall_timeout_seconds",
            client_stall_timeout_seconds.to_string(),
        ),
        (
            "limits.worker_delay_milliseconds",
            worker_delay_milliseconds.to_string(),
        ),
    ]
}

fn generate_jwt_values(service: Option<&GenerateJwt>) -> [(&'static str, String); 3] {
    let field = |field: fn(&GenerateJwt) -> &String| or_none(service.map(field));
    [
        ("generate_jwt.issuer", field(|service| &service.issuer)),
        ("generate_jwt.hs256", field(|service| &service.hs256)),
        ("generate_jwt.es256", field(|service| &service.es256)),
    ]
}

/// The program of a command. An argument may be a secret.
fn program_of(command: &[String]) -> String {
    match command {
        [] => "none".to_owned(),
        [program, arguments @ ..] => format!("{program} with {} arguments", arguments.len()),
    }
}

fn or_none(value: Option<&impl Display>) -> String {
    value.map_or("none".to_owned(), ToString::to_string)
}

fn lower(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}
