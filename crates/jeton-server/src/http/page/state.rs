//! What the server can do, and the facts of `jeton admin status`.

use jeton_issuer::Cause;
use jeton_proto::v1::StatusResponse;
use maud::{Markup, html};

use super::time;

pub(super) fn section(state: &StatusResponse) -> Markup {
    html! {
        section #state aria-labelledby="state-heading" {
            h2 #state-heading { "State" }
            (verdict(state))
            @if !state.warning.is_empty() { p.note role="note" { (state.warning) "." } }
            div.scroll role="group" aria-label="Facts" tabindex="0" {
                table.facts {
                    caption { "What jeton admin status shows" }
                    tbody {
                        @for (name, value) in facts(state) {
                            tr { th scope="row" { (name) } td { (value) } }
                        }
                    }
                }
            }
        }
    }
}

/// Says what works, and why something does not.
fn verdict(state: &StatusResponse) -> Markup {
    let fault = crate::grpc::fault(state);
    let mut causes = Cause::ALL.into_iter();
    let cause = causes.find(|cause| cause.name() == state.cause);
    let reason = if fault.is_empty() {
        cause.map_or("", Cause::sentence)
    } else {
        fault
    };
    html! {
        @match (state.is_ready, state.can_revoke) {
            (true, true) => p.verdict.for { "Ready: the server issues, verifies and revokes." },
            (true, false) => p.verdict.against { "Ready, but revoking fails: " (reason) "." (since(state)) },
            (false, _) => p.verdict.against { "Not ready: " (reason) "." (since(state)) },
        }
    }
}

fn since(state: &StatusResponse) -> Markup {
    html! {
        @if state.cause_since != 0 { small { "Since " (time(state.cause_since)) ". Cause: " (state.cause) "." } }
    }
}

fn facts(state: &StatusResponse) -> Vec<(&'static str, String)> {
    let yes = |can: bool| if can { "yes" } else { "no" }.to_owned();
    let store = match (state.engine.as_str(), state.store_bytes) {
        ("", _) => "unknown, because it does not answer".to_owned(),
        (engine, None) => engine.to_owned(),
        (engine, Some(bytes)) => format!("{engine}, {bytes} bytes"),
    };
    let mut facts = vec![
        ("issues", yes(state.can_issue)),
        ("verifies", yes(state.can_verify)),
        ("revokes", yes(state.can_revoke)),
        ("revoked tokens", state.revocations.to_string()),
        ("other revocations", state.rules.to_string()),
        ("audit log entries", state.audit_entries.to_string()),
        ("store", store),
        (
            "last contact with the store",
            format!("{} ms ago", state.heard_milliseconds_ago),
        ),
        ("revision", state.revision.to_string()),
    ];
    if !state.engine.is_empty() {
        let keys = state.key_encryption_keys.join(", ");
        facts.push(("oldest revision", state.oldest_revision.to_string()));
        facts.push(("encrypted under", keys));
    }
    facts.push(("version", state.version.clone()));
    facts
}
