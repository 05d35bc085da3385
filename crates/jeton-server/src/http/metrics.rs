//! `/metrics` in the OpenMetrics format.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use jeton_issuer::Cause;
use jeton_issuer::keyring::{KeyEntry, State};
use jeton_transport::Peer;
use tonic::body::Body;

use super::{error_response, respond};
use crate::auth::Denied;
use crate::config::Permission;
use crate::failure::Failure;
use crate::metrics::{label, write_client_calls};
use crate::service::Service;

pub(super) fn metrics<B>(service: &Service, peer: &Peer, request: &Request<B>) -> Response<Body> {
    let caller = service.identify(peer, request.headers());
    let allowed = caller.and_then(|caller| {
        if caller.may_read_metrics() {
            Ok(())
        } else {
            Err(Denied::Permission(Permission::Metrics))
        }
    });
    if let Err(denied) = allowed {
        return error_response(&Failure::from(denied));
    }
    let mut text = String::with_capacity(32 * 1024);
    let transport = &service.transport;
    service.metrics.write(&transport.counters, &mut text);
    let status = service.node.status();
    let heard = status.heard.as_millis();
    let gauges = [
        (
            "ready",
            "Whether the server is ready for requests.",
            u128::from(status.is_ready()),
        ),
        (
            "can_issue",
            "Whether the server can issue tokens.",
            u128::from(status.ready.issue),
        ),
        (
            "can_verify",
            "Whether the server can verify tokens.",
            u128::from(status.ready.verify),
        ),
        (
            "can_revoke",
            "Whether the server can revoke tokens.",
            u128::from(status.ready.revoke),
        ),
        (
            "clock_warning",
            "Whether clocks of servers differ, or changes of keys wait for a clock; see AdminService.Status.",
            u128::from(status.warning.is_some()),
        ),
        (
            "nodes",
            "Servers that run on the store, with this one, by their records.",
            status.nodes as u128,
        ),
        (
            "clock_difference_seconds",
            "Largest difference of the clock of a running server to that of this one.",
            status.clock_difference.into(),
        ),
        (
            "store_revision",
            "Store revision that this server has applied.",
            status.revision.number().into(),
        ),
        (
            "store_writable",
            "Whether the store accepts writes; 0 while revoking and rotating fail, and while it does not answer.",
            u128::from(status.is_writable),
        ),
        (
            "store_last_contact_milliseconds",
            "Time since the last message from the store.",
            heard,
        ),
        (
            "revoked_tokens",
            "Active revocations of single tokens, by id and expiry.",
            status.revocations as u128,
        ),
        (
            "revocation_rules",
            "Active revocations of subjects, clients and keys, and of token ids without an expiry.",
            status.rules as u128,
        ),
        (
            "audit_log_entries",
            "Entries of the audit log in the store.",
            status.audit_entries.into(),
        ),
        (
            "issuers",
            "Number of issuers.",
            status.issuers.len() as u128,
        ),
        (
            "freshness_bound_milliseconds",
            "Freshness bound: the age of the view from which on the server is stale.",
            u128::from(service.freshness_seconds) * 1000,
        ),
        (
            "client_memory_bytes",
            "Memory that clients make the server hold: connections, requests and unread responses.",
            transport.account.held() as u128,
        ),
        (
            "client_memory_limit_bytes",
            "Maximum of that (`limits.memory_bytes`).",
            transport.account.limit() as u128,
        ),
        (
            "client_memory_largest_share_bytes",
            "Most of that memory that one address or client holds.",
            transport.account.largest_share() as u128,
        ),
        (
            "worker_delay_milliseconds",
            "How late a worker thread ran its timer, in the latest check of any worker.",
            transport
                .load
                .delay_milliseconds
                .load(Ordering::Relaxed)
                .into(),
        ),
    ];
    for (name, help, value) in gauges {
        let _ = writeln!(
            text,
            "# HELP jeton_{name} {help}\n# TYPE jeton_{name} gauge\njeton_{name} {value}"
        );
    }
    let counters = [
        (
            "client_memory_refused",
            "Connections, requests and responses refused for lack of such memory.",
            transport.account.refused(),
        ),
        (
            "stale_responses",
            "Responses from a view of the store that was too old.",
            status.stale_answers,
        ),
        (
            "store_comparisons",
            "Complete comparisons of the view of this server with the whole store.",
            status.comparisons,
        ),
        (
            "store_comparisons_incomplete",
            "Comparisons that could not be completed.",
            status.incomplete_comparisons,
        ),
        (
            "store_differences",
            "Comparisons that found a difference: the view was loaded again.",
            status.differences,
        ),
        (
            "store_went_back",
            "How often the store went back to an earlier revision: it was restored.",
            status.store_went_back,
        ),
        (
            "lost_history_tokens",
            "Verified tokens of a history that the store has lost.",
            status.lost_history_tokens,
        ),
        (
            "store_write_failures",
            "Transactions that the store failed to write.",
            status.write_failures,
        ),
    ];
    for (name, help, count) in counters {
        let _ = writeln!(
            text,
            "# HELP jeton_{name} {help}\n# TYPE jeton_{name} counter\njeton_{name}_total {count}"
        );
    }
    text.push_str(
        "# HELP jeton_fault Whether the server cannot do something, by its one cause; see AdminService.Status.\n\
         # TYPE jeton_fault gauge\n",
    );
    for cause in Cause::ALL {
        let is_it = u8::from(status.cause == Some(cause));
        let name = cause.name();
        let _ = writeln!(text, "jeton_fault{{cause=\"{name}\"}} {is_it}");
    }
    let authenticator = service.authenticator.load();
    let (clients, others) = authenticator.client_counts();
    write_client_calls(&clients, others, &mut text);
    keys(service, &mut text);
    if let Some(signing) = &service.signing {
        signing.write_metrics(&mut text);
    }
    if let Some(traces) = &service.traces {
        traces.write_metrics(&mut text);
    }
    text.push_str("# EOF\n");
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    respond(StatusCode::OK, content_type, Bytes::from(text))
}

/// Writes when keys and the certificate end, and the version.
fn keys(service: &Service, text: &mut String) {
    let now = service.node.now().unix_seconds();
    let (mut left, mut successors) = (String::new(), String::new());
    for iss in service.node.status().issuers {
        let Ok((settings, keyring)) = service.node.issuer(&iss) else {
            continue;
        };
        for kind in settings.kinds() {
            let labels = format!("{{issuer=\"{}\",alg=\"{}\"}}", label(&iss), kind.name());
            if let Some(key) = keyring.signer(kind, now) {
                let succession = keyring.succession(&settings, key);
                let planned = succession.map(|(_, signs_from)| signs_from);
                if let Some(until) = key.signs_until.or(planned) {
                    let _ = writeln!(
                        left,
                        "jeton_key_signing_seconds_left{labels} {}",
                        until - now
                    );
                }
            }
            let waits = |key: &&KeyEntry| key.kind == kind && key.state(now) == State::Published;
            let count = keyring.keys().iter().filter(waits).count();
            let _ = writeln!(successors, "jeton_key_successors{labels} {count}");
        }
    }
    let _ = write!(
        text,
        "# HELP jeton_key_signing_seconds_left Seconds until the signing key is replaced; negative: overdue.\n\
         # TYPE jeton_key_signing_seconds_left gauge\n{left}\
         # HELP jeton_key_successors Published keys that sign later.\n\
         # TYPE jeton_key_successors gauge\n{successors}\
         # HELP jeton_build Version of the server.\n# TYPE jeton_build info\n\
         jeton_build_info{{version=\"{}\"}} 1\n",
        env!("CARGO_PKG_VERSION")
    );
    let end = service.metrics.certificate_end.load(Ordering::Relaxed);
    if end != 0 {
        let _ = writeln!(
            text,
            "# HELP jeton_certificate_seconds_left Seconds until the certificate of the server ends.\n\
             # TYPE jeton_certificate_seconds_left gauge\njeton_certificate_seconds_left {}",
            end - now
        );
    }
}
