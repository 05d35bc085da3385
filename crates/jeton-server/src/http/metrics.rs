//! `/metrics` in the OpenMetrics format.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use tonic::body::Body;

use super::{error_response, respond};
use crate::auth::Denied;
use crate::permissions::Permission;
use crate::service::{Failure, Service};
use crate::transport::Peer;

pub(super) fn metrics<B>(service: &Service, peer: &Peer, request: &Request<B>) -> Response<Body> {
    let caller = service.identify(peer.certificate.as_ref(), request.headers());
    let allowed = caller.and_then(|caller| match caller.may_read_metrics() {
        true => Ok(()),
        false => Err(Denied::Permission(Permission::Admin)),
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
            u128::from(status.is_ready),
        ),
        (
            "clock_warning",
            "Whether clocks of servers differ, or changes of keys wait for a clock; see AdminService.Status.",
            u128::from(status.warning.is_some()),
        ),
        (
            "store_revision",
            "Store revision that this server has applied.",
            status.revision.number().into(),
        ),
        (
            "store_writable",
            "Whether the store accepts writes; 0 while revoking and rotating fail.",
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
            "issuers",
            "Number of issuers.",
            status.issuers.len() as u128,
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
            "stale_responses",
            "Responses from a view of the store that was too old.",
            status.stale_answers,
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
    text.push_str("# EOF\n");
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    respond(StatusCode::OK, content_type, Bytes::from(text))
}
