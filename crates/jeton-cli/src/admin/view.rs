//! What a folder or a server says about issuers, keys, revocations and the store.

use std::time::Duration;

use jeton_client::admin::messages as m;
use jeton_issuer::keyring::{Keyring, State};
use jeton_issuer::{IssuerSettings, RevocationRule, RunningNode, Stamp, Status};
use serde::Serialize;

use crate::exit::{Failure, Outcome};

/// An issuer.
pub(super) struct IssuerView {
    pub(super) settings: IssuerSettings,
    pub(super) keys: Vec<KeyView>,
}

/// A key. Times are seconds since 1970.
pub(super) struct KeyView {
    pub(super) kid: String,
    pub(super) alg: String,
    pub(super) state: State,
    pub(super) published_at: i64,
    pub(super) signs_from: i64,
    pub(super) signs_until: Option<i64>,
    pub(super) gone_at: Option<i64>,
    /// When its successor is published, and when it signs.
    pub(super) succession: Option<(i64, i64)>,
    pub(super) public: Option<String>,
}

impl IssuerView {
    pub(super) fn new(settings: IssuerSettings, keyring: &Keyring, now: i64) -> IssuerView {
        let key = |key: &jeton_issuer::keyring::KeyEntry| KeyView {
            kid: key.kid.clone(),
            alg: key.kind.name().to_owned(),
            state: key.state(now),
            published_at: key.published_at,
            signs_from: key.signs_from,
            signs_until: key.signs_until,
            gone_at: key.gone_at(),
            succession: keyring.succession(&settings, key),
            public: key.public.clone(),
        };
        let keys = keyring.keys().iter().map(key).collect();
        IssuerView { settings, keys }
    }

    pub(super) fn from_message(issuer: m::Issuer) -> Outcome<IssuerView> {
        let settings = IssuerSettings::from_json(&issuer.settings_json).map_err(|error| {
            Failure::error(format!(
                "the server has settings of another version: {error}"
            ))
        })?;
        let keys = issuer.keys.into_iter().map(KeyView::from_message).collect();
        Ok(IssuerView { settings, keys })
    }
}

impl KeyView {
    fn from_message(key: m::Key) -> KeyView {
        use m::key::State as Message;
        let set = |second: i64| (second != 0).then_some(second);
        KeyView {
            state: match key.state() {
                Message::Published | Message::Unspecified => State::Published,
                Message::Signing => State::Signing,
                Message::Retired => State::Retired,
                Message::Gone => State::Gone,
            },
            kid: key.kid,
            alg: key.kind,
            published_at: key.published_at,
            signs_from: key.signs_from,
            signs_until: set(key.signs_until),
            gone_at: set(key.gone_at),
            succession: set(key.successor_published_at)
                .map(|published_at| (published_at, key.successor_signs_from)),
            public: (!key.public_key.is_empty()).then_some(key.public_key),
        }
    }
}

/// A revocation, as listed.
#[derive(Serialize)]
pub(super) struct RuleView {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) not_before: Option<i64>,
    pub(super) until: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stamp: Option<Stamp>,
}

impl RuleView {
    pub(super) fn new(rule: RevocationRule) -> RuleView {
        RuleView {
            kind: rule.kind,
            name: rule.name,
            not_before: rule.not_before,
            until: rule.until,
            stamp: rule.stamp,
        }
    }

    pub(super) fn from_message(rule: m::Revocation) -> RuleView {
        use m::revocation_rule::Kind;
        let kind = match rule.kind() {
            Kind::Token => "token",
            Kind::Subject => "subject",
            Kind::Client => "client",
            Kind::Key => "key",
            Kind::Unspecified => "unknown",
        };
        RuleView {
            kind: kind.to_owned(),
            name: rule.name,
            not_before: rule.created_at,
            until: rule.until,
            stamp: rule.stamp.map(|stamp| Stamp {
                epoch: stamp.epoch,
                number: stamp.number,
            }),
        }
    }
}

/// The status of a folder or a server.
#[derive(Serialize)]
pub(super) struct StatusView {
    pub(super) is_ready: bool,
    pub(super) can_issue: bool,
    pub(super) can_verify: bool,
    pub(super) can_revoke: bool,
    pub(super) fault: Option<String>,
    /// The one cause of what it cannot do, as in metrics and log.
    pub(super) cause: Option<String>,
    /// Since when, seconds since 1970.
    pub(super) cause_since: Option<i64>,
    pub(super) warning: Option<String>,
    pub(super) issuers: Vec<String>,
    pub(super) revoked_tokens: u64,
    pub(super) rules: u64,
    pub(super) audit_entries: u64,
    pub(super) revision: u64,
    pub(super) oldest_revision: u64,
    pub(super) engine: String,
    pub(super) bytes: Option<u64>,
    pub(super) key_encryption_keys: Vec<String>,
    /// The version of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    /// `jeton admin nodes` prints them.
    #[serde(skip)]
    pub(super) nodes: Vec<NodeView>,
}

/// A server that runs on the store, or has ended within the last hour. Times are seconds.
#[derive(Serialize)]
pub(super) struct NodeView {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) reads_schema: u64,
    pub(super) clock: i64,
    /// How far its clock is ahead of the one of the server that answers, or of this machine.
    pub(super) ahead_seconds: Option<i64>,
    pub(super) started_at: i64,
    pub(super) revision: u64,
    pub(super) heard_seconds_ago: Option<i64>,
    pub(super) lease_seconds: i64,
    pub(super) is_running: bool,
    pub(super) is_self: bool,
}

impl NodeView {
    pub(super) fn new(node: RunningNode) -> NodeView {
        let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        NodeView {
            id: node.id,
            name: node.name,
            version: node.version,
            reads_schema: node.reads,
            clock: node.clock,
            ahead_seconds: node.ahead,
            started_at: node.started,
            revision: node.revision,
            heard_seconds_ago: node.heard.map(seconds),
            lease_seconds: seconds(node.lease),
            is_running: node.is_live,
            is_self: node.is_self,
        }
    }

    fn from_message(node: m::RunningNode) -> NodeView {
        NodeView {
            id: node.id,
            name: node.name,
            version: node.version,
            reads_schema: node.reads_schema,
            clock: node.clock,
            ahead_seconds: node.ahead_seconds,
            started_at: node.started_at,
            revision: node.revision,
            heard_seconds_ago: node.heard_seconds_ago,
            lease_seconds: node.lease_seconds,
            is_running: node.is_running,
            is_self: node.is_self,
        }
    }
}

impl StatusView {
    pub(super) fn new(
        node: Status,
        store: &jeton_store::Status,
        key_encryption_keys: Vec<String>,
    ) -> StatusView {
        StatusView {
            is_ready: node.is_ready(),
            can_issue: node.ready.issue,
            can_verify: node.ready.verify,
            can_revoke: node.ready.revoke,
            fault: node.fault,
            cause: node.cause.map(|cause| cause.name().to_owned()),
            cause_since: node.since,
            warning: node.warning,
            issuers: node.issuers,
            revoked_tokens: node.revocations as u64,
            rules: node.rules as u64,
            audit_entries: node.audit_entries,
            revision: store.revision.number(),
            oldest_revision: store.oldest.number(),
            engine: store.engine.to_owned(),
            bytes: store.bytes,
            key_encryption_keys,
            version: None,
            nodes: Vec::new(),
        }
    }

    pub(super) fn from_message(status: m::StatusResponse) -> StatusView {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        // `fault` ends with the warning.
        let fault = status.fault.strip_suffix(&status.warning);
        let fault = fault.map_or(&*status.fault, |fault| fault.trim_end_matches("; "));
        StatusView {
            is_ready: status.is_ready,
            can_issue: status.can_issue,
            can_verify: status.can_verify,
            can_revoke: status.can_revoke,
            fault: some(fault),
            cause: some(&status.cause),
            cause_since: (status.cause_since != 0).then_some(status.cause_since),
            warning: some(&status.warning),
            issuers: status.issuers,
            revoked_tokens: status.revocations,
            rules: status.rules,
            audit_entries: status.audit_entries,
            revision: status.revision,
            oldest_revision: status.oldest_revision,
            engine: status.engine,
            bytes: status.store_bytes,
            key_encryption_keys: status.key_encryption_keys,
            version: Some(status.version),
            nodes: status
                .nodes
                .into_iter()
                .map(NodeView::from_message)
                .collect(),
        }
    }
}

/// A store without damage.
pub(super) struct StoreView {
    pub(super) records: u64,
    pub(super) audit_entries: u64,
    pub(super) last_hash: Option<String>,
}

impl StoreView {
    pub(super) fn from_message(found: m::CheckStoreResponse) -> StoreView {
        StoreView {
            records: found.records,
            audit_entries: found.audit_entries,
            last_hash: (!found.last_hash.is_empty()).then_some(found.last_hash),
        }
    }
}
