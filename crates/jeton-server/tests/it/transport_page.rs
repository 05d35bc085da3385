//! Compares the limits in `docs/reference/transport.md` with the code.

use std::time::Duration;

use jeton_server::{Config, limits};

const PAGE: &str = include_str!("../../../../docs/reference/transport.md");

#[test]
fn page_lists_every_limit_with_its_default() {
    let defaults = Config::default();
    let configured = &defaults.limits;
    for (name, default) in [
        ("limits.connections", number(configured.connections)),
        (
            "limits.calls_per_connection",
            number(configured.calls_per_connection as usize),
        ),
        (
            "limits.header_bytes",
            number(configured.header_bytes as usize),
        ),
        ("limits.message_bytes", number(configured.message_bytes)),
        (
            "limits.client_stall_timeout_seconds",
            format!("{} s", configured.client_stall_timeout_seconds),
        ),
        (
            "limits.worker_delay_milliseconds",
            format!("{} ms", configured.worker_delay_milliseconds),
        ),
        ("drain_seconds", format!("{} s", defaults.drain_seconds)),
        ("ADMIN_CONNECTIONS", number(limits::ADMIN_CONNECTIONS)),
        ("IDLE_BEFORE_EVICTION", time(limits::IDLE_BEFORE_EVICTION)),
        ("HANDSHAKE_TIMEOUT", time(limits::HANDSHAKE_TIMEOUT)),
        ("HEADERS", number(limits::HEADERS)),
        ("RECEIVE_TIMEOUT", time(limits::RECEIVE_TIMEOUT)),
        ("BYTES_PER_SECOND", number(limits::BYTES_PER_SECOND)),
        ("limits.memory_bytes", number(configured.memory_bytes)),
        (
            "limits.memory_share_bytes",
            number(configured.memory_share_bytes),
        ),
        ("SMALL_HOLDER_BYTES", number(limits::SMALL_HOLDER_BYTES)),
        ("RETURNED_BYTES", number(limits::RETURNED_BYTES)),
        (
            "RETURN_MEMORY_INTERVAL",
            time(limits::RETURN_MEMORY_INTERVAL),
        ),
        ("CONNECTION_BYTES", number(limits::CONNECTION_BYTES)),
        ("INCOMPLETE_BYTES", number(limits::INCOMPLETE_BYTES)),
        ("KEPT_STREAM_BYTES", number(limits::KEPT_STREAM_BYTES)),
        ("KEPT_FRAME_BYTES", number(limits::KEPT_FRAME_BYTES)),
        ("KEPT_INCLUDED", number(limits::KEPT_INCLUDED)),
        ("WAITING_FRAMES", number(limits::WAITING_FRAMES)),
        (
            "BLOCKED_CONNECTION_BYTES",
            number(limits::BLOCKED_CONNECTION_BYTES),
        ),
        ("STREAM_BYTES", number(limits::STREAM_BYTES)),
        ("SHORT_RESPONSE_BYTES", number(limits::SHORT_RESPONSE_BYTES)),
        ("HEADER_FIELD_BYTES", number(limits::HEADER_FIELD_BYTES)),
        ("UNENDED_STREAM_BYTES", number(limits::UNENDED_STREAM_BYTES)),
        (
            "RECEIVE_WINDOW_BYTES",
            number(limits::RECEIVE_WINDOW_BYTES as usize),
        ),
        ("PIECE_BYTES", number(limits::PIECE_BYTES)),
        ("DISCARDED_BYTES", number(limits::DISCARDED_BYTES)),
        ("SEND_BUFFER_BYTES", number(limits::SEND_BUFFER_BYTES)),
        ("WRITE_BUFFER_BYTES", number(limits::WRITE_BUFFER_BYTES)),
        ("PING_INTERVAL", time(limits::PING_INTERVAL)),
        ("PING_TIMEOUT", time(limits::PING_TIMEOUT)),
        ("PENDING_RESETS", number(limits::PENDING_RESETS)),
        ("LOCAL_RESETS", number(limits::LOCAL_RESETS)),
        ("INLINE_BUDGET", time(limits::INLINE_BUDGET)),
        ("TIME_SLICE", time(limits::TIME_SLICE)),
        (
            "BLOCKING_CALLS_AT_THE_END",
            time(limits::BLOCKING_CALLS_AT_THE_END),
        ),
    ] {
        let row = format!("| `{name}` | {default} |");
        assert!(
            PAGE.contains(&row),
            "missing in docs/reference/transport.md:\n{row}"
        );
    }
}

/// With a comma after each three digits.
fn number(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups
        .map(|group| std::str::from_utf8(group).unwrap())
        .collect();
    groups.join(",")
}

fn time(time: Duration) -> String {
    match time.as_millis() {
        milliseconds if milliseconds % 1000 == 0 => format!("{} s", milliseconds / 1000),
        milliseconds => format!("{milliseconds} ms"),
    }
}
