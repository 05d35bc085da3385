//! `jeton.v1.AdminService`: operations on issuers, keys, revocations and the whole store.
//!
//! They wait for the store and generate keys, so they run on blocking threads.

mod revocations;
mod whole_store;

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jeton_issuer::keyring::{KeyEntry, State};
use jeton_issuer::{Cause, Error, IssuerSettings, KeyKind, Node, RunningNode};
use jeton_proto::v1;
use jeton_proto::v1::admin_service_server::AdminService;
use jeton_proto::v1::{
    AuditEntry, AuditPositions, BackupPart, BackupRequest, CheckStoreRequest, CheckStoreResponse,
    CreateIssuerRequest, CreateRevocationsRequest, CreateRevocationsResponse, DropAuditRequest,
    DropAuditResponse, EndRevocationsRequest, EndRevocationsResponse, ExportAuditPart,
    ExportAuditRequest, GetIssuerRequest, ImportKeyRequest, Issuer, Key, ListAuditChainsRequest,
    ListAuditRequest, ListIssuersRequest, ListIssuersResponse, ListRevocationsRequest,
    ReencryptKeysRequest, ReencryptKeysResponse, ReportCompromisedKeyRequest, Revocation,
    RotateKeyRequest, SetIssuerRequest, StatusRequest, StatusResponse, WithdrawKeyRequest, key,
};
use jeton_transport::grpc::RequestMessage;
use tonic::{Request, Response, Status};
use zeroize::{Zeroize as _, Zeroizing};

use self::whole_store::{Messages, check_audit, check_whole};
use crate::config::Permission;
use crate::failure::Failure;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Caller;
use crate::service::{Service, check_permission};
use crate::traces::in_child_span;

/// How long the state of the server waits for the store.
const STORE_ANSWER: Duration = Duration::from_secs(1);

/// A request with a private key. Its bytes are wiped after decoding.
///
/// Buffers that HTTP/2 or TLS still share are not wiped.
pub(super) struct ImportKeyMessage(pub(super) ImportKeyRequest);

impl RequestMessage for ImportKeyMessage {
    fn decode_message(message: Bytes) -> Result<ImportKeyMessage, Status> {
        let decoded = ImportKeyRequest::decode_message(message.clone());
        if let Ok(mut bytes) = message.try_into_mut() {
            bytes.zeroize();
        }
        decoded.map(ImportKeyMessage)
    }
}

/// The service, for one caller.
pub(crate) struct AdminApi {
    pub(crate) service: Arc<Service>,
    pub(crate) caller: Arc<Caller>,
}

#[tonic::async_trait]
impl AdminService for AdminApi {
    async fn list_issuers(
        &self,
        _request: Request<ListIssuersRequest>,
    ) -> Result<Response<ListIssuersResponse>, Status> {
        self.run(|node, caller| {
            let may = |iss: &String| caller.may(Permission::Admin, iss);
            let issuers = node.status().issuers.into_iter().filter(may).collect();
            Ok(ListIssuersResponse { issuers })
        })
        .await
    }

    async fn get_issuer(
        &self,
        request: Request<GetIssuerRequest>,
    ) -> Result<Response<Issuer>, Status> {
        let iss = request.into_inner().issuer;
        self.act(iss, |_, _, _| Ok(())).await
    }

    async fn create_issuer(
        &self,
        request: Request<CreateIssuerRequest>,
    ) -> Result<Response<Issuer>, Status> {
        let settings = IssuerSettings::from_json(&request.get_ref().settings_json);
        let settings = settings.map_err(|error| Failure::from(error).status())?;
        let iss = settings.iss().to_owned();
        self.act(iss, move |node, who, _| node.create_issuer(who, settings))
            .await
    }

    async fn set_issuer(
        &self,
        request: Request<SetIssuerRequest>,
    ) -> Result<Response<Issuer>, Status> {
        let settings = IssuerSettings::from_json(&request.get_ref().settings_json);
        let settings = settings.map_err(|error| Failure::from(error).status())?;
        let iss = settings.iss().to_owned();
        self.act(iss, move |node, who, _| node.set_issuer(who, &settings))
            .await
    }

    async fn rotate_key(
        &self,
        request: Request<RotateKeyRequest>,
    ) -> Result<Response<Issuer>, Status> {
        let request = request.into_inner();
        self.act(request.issuer, move |node, who, iss| {
            node.rotate(who, iss, request.kind.parse::<KeyKind>()?)
        })
        .await
    }

    async fn report_compromised_key(
        &self,
        request: Request<ReportCompromisedKeyRequest>,
    ) -> Result<Response<Issuer>, Status> {
        let request = request.into_inner();
        self.act(request.issuer, move |node, who, iss| {
            node.compromised(who, iss, &request.kid)
        })
        .await
    }

    async fn import_key(
        &self,
        request: Request<ImportKeyRequest>,
    ) -> Result<Response<Issuer>, Status> {
        let request = request.into_inner();
        let private_key = Zeroizing::new(request.private_key);
        self.act(request.issuer, move |node, who, iss| {
            node.import(who, iss, request.kind.parse::<KeyKind>()?, &private_key)
        })
        .await
    }

    async fn status(
        &self,
        _request: Request<StatusRequest>,
    ) -> Result<Response<StatusResponse>, Status> {
        self.run(|node, caller| {
            check_whole(caller)?;
            Ok(state(node))
        })
        .await
    }

    async fn withdraw_key(
        &self,
        request: Request<WithdrawKeyRequest>,
    ) -> Result<Response<Issuer>, Status> {
        let request = request.into_inner();
        self.act(request.issuer, move |node, who, iss| {
            node.retire(who, iss, &request.kid)
        })
        .await
    }

    async fn reencrypt_keys(
        &self,
        _request: Request<ReencryptKeysRequest>,
    ) -> Result<Response<ReencryptKeysResponse>, Status> {
        self.run(|node, caller| {
            check_whole(caller)?;
            let keys = node.reseal(caller.name()).map_err(|error| match error {
                Error::WrongKeyEncryptionKey { .. } => {
                    Failure::Field("old_key_encryption_key_file", error.to_string())
                }
                other => Failure::from(other),
            })? as u64;
            Ok(ReencryptKeysResponse { keys })
        })
        .await
    }

    async fn create_revocations(
        &self,
        request: Request<CreateRevocationsRequest>,
    ) -> Result<Response<CreateRevocationsResponse>, Status> {
        let request = request.into_inner();
        let service = self.service.clone();
        self.run(move |_, caller| {
            check_permission(caller, Permission::Admin, &request.issuer)?;
            revocations::create(&service, caller, request)
        })
        .await
    }

    async fn end_revocations(
        &self,
        request: Request<EndRevocationsRequest>,
    ) -> Result<Response<EndRevocationsResponse>, Status> {
        let request = request.into_inner();
        self.run(move |node, caller| {
            check_permission(caller, Permission::Admin, &request.issuer)?;
            revocations::end(node, caller.name(), request)
        })
        .await
    }

    type ListRevocationsStream = Messages<Revocation>;

    async fn list_revocations(
        &self,
        request: Request<ListRevocationsRequest>,
    ) -> Result<Response<Messages<Revocation>>, Status> {
        let iss = request.into_inner().issuer;
        let named = iss.clone();
        let messages = self.stream(
            move |caller| check_permission(caller, Permission::Admin, &named),
            move |node, sender| {
                for rule in node.rules(&iss)? {
                    if !sender.send(Ok(revocations::message(rule))) {
                        break;
                    }
                }
                Ok(())
            },
        );
        messages.map(Response::new)
    }

    type ListAuditStream = Messages<AuditEntry>;

    async fn list_audit(
        &self,
        request: Request<ListAuditRequest>,
    ) -> Result<Response<Messages<AuditEntry>>, Status> {
        let request = request.into_inner();
        let asked = request.clone();
        let messages = self.stream(
            move |caller| check_audit(caller, &asked),
            move |node, sender| whole_store::audit(node, request, sender),
        );
        messages.map(Response::new)
    }

    async fn list_audit_chains(
        &self,
        _request: Request<ListAuditChainsRequest>,
    ) -> Result<Response<AuditPositions>, Status> {
        self.run(|node, caller| {
            check_whole(caller)?;
            Ok(whole_store::audit_message_of(node.audit_bases()?))
        })
        .await
    }

    type ExportAuditStream = Messages<ExportAuditPart>;

    async fn export_audit(
        &self,
        request: Request<ExportAuditRequest>,
    ) -> Result<Response<Messages<ExportAuditPart>>, Status> {
        let ends = whole_store::audit_positions(request.into_inner().ends);
        let messages = self.stream(check_whole, move |node, sender| {
            whole_store::export_audit(node, &ends, sender)
        });
        messages.map(Response::new)
    }

    async fn drop_audit(
        &self,
        request: Request<DropAuditRequest>,
    ) -> Result<Response<DropAuditResponse>, Status> {
        let ends = whole_store::audit_positions(request.into_inner().ends);
        self.run(move |node, caller| {
            check_whole(caller)?;
            let entries = node.drop_audit(caller.name(), &ends)?;
            Ok(DropAuditResponse { entries })
        })
        .await
    }

    type BackupStream = Messages<BackupPart>;

    async fn backup(
        &self,
        _request: Request<BackupRequest>,
    ) -> Result<Response<Messages<BackupPart>>, Status> {
        let messages = self.stream(check_whole, whole_store::backup);
        messages.map(Response::new)
    }

    async fn check_store(
        &self,
        _request: Request<CheckStoreRequest>,
    ) -> Result<Response<CheckStoreResponse>, Status> {
        self.run(|node, caller| {
            check_whole(caller)?;
            whole_store::check(node)
        })
        .await
    }
}

impl AdminApi {
    /// Runs an operation on an issuer and responds with its new state.
    async fn act(
        &self,
        iss: String,
        act: impl FnOnce(&Node, &str, &str) -> Result<(), Error> + Send + 'static,
    ) -> Result<Response<Issuer>, Status> {
        self.run(move |node, caller| {
            check_permission(caller, Permission::Admin, &iss)?;
            act(node, caller.name(), &iss)?;
            issuer(node, &iss)
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Node, &Caller) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Response<T>, Status> {
        let started = Instant::now();
        let (service, caller) = (self.service.clone(), self.caller.clone());
        let done = tokio::task::spawn_blocking(move || work(&service.node, &caller));
        let done = in_child_span("administer", done).await;
        let done = done.map_err(|_| Status::internal("internal error"))?;
        let outcome = done
            .as_ref()
            .map_or_else(Failure::outcome, |_| CallOutcome::Ok);
        self.service
            .count(Some(&self.caller), Call::Admin, outcome, started);
        Ok(Response::new(done.map_err(|failure| failure.status())?))
    }
}

/// The state of the server: what `jeton admin status` and the page of the admin listener show.
pub(crate) fn state(node: &Node) -> StatusResponse {
    let status = node.status();
    // A store that does not answer would hold this answer back. What the node remembers needs no store.
    let is_silent = status.cause == Some(Cause::StoreSilent);
    let ask = |node: &Node| Ok((node.store_status()?, node.sealed_under()?));
    let asked = if is_silent {
        None
    } else {
        ask_store(node, ask)
    };
    let (store, keys, unanswered) = match asked {
        Some(Ok((store, keys))) => (Some(store), keys, None),
        Some(Err(Error::Store(jeton_store::Error::Io(..)))) => {
            let silent = Cause::StoreSilent.sentence().to_owned();
            (None, Vec::new(), Some(silent))
        }
        Some(Err(error)) => (None, Vec::new(), Some(error.to_string())),
        None => (None, Vec::new(), None),
    };
    let is_ready = status.is_ready();
    let warnings = [status.warning, status.rotation_due];
    let warnings: Vec<String> = warnings.into_iter().flatten().collect();
    let warning = warnings.join("; ");
    let fault = status.fault.or(unanswered).unwrap_or_default();
    let problems = [fault, warning.clone()].into_iter();
    let problems: Vec<String> = problems.filter(|problem| !problem.is_empty()).collect();
    StatusResponse {
        is_ready,
        can_issue: status.ready.issue,
        can_verify: status.ready.verify,
        can_revoke: status.ready.revoke,
        revision: status.revision.number(),
        heard_milliseconds_ago: i64::try_from(status.heard.as_millis()).unwrap_or(i64::MAX),
        revocations: status.revocations as u64,
        rules: status.rules as u64,
        audit_entries: status.audit_entries,
        stale_answers: status.stale_answers,
        fault: problems.join("; "),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        warning,
        issuers: status.issuers,
        engine: store
            .as_ref()
            .map_or_else(String::new, |store| store.engine.to_owned()),
        store_bytes: store.as_ref().and_then(|store| store.bytes),
        oldest_revision: store.map_or(0, |store| store.oldest.number()),
        key_encryption_keys: keys,
        nodes: node.running_nodes().into_iter().map(node_message).collect(),
        cause: status.cause.map_or("", Cause::name).to_owned(),
        cause_since: status.since.unwrap_or(0),
    }
}

/// Asks the store, and waits for a second at most: a store may take longer, and the state of the server must not.
pub(crate) fn ask_store<T: Send + 'static>(
    node: &Node,
    ask: impl FnOnce(&Node) -> jeton_issuer::Result<T> + Send + 'static,
) -> Option<jeton_issuer::Result<T>> {
    let (sender, answer) = mpsc::channel();
    let node = node.clone();
    thread::spawn(move || drop(sender.send(ask(&node))));
    answer.recv_timeout(STORE_ANSWER).ok()
}

/// The problems of a state without its warnings, with which `fault` ends.
pub(crate) fn fault(state: &StatusResponse) -> &str {
    let fault = state.fault.strip_suffix(&state.warning);
    fault.unwrap_or(&state.fault).trim_end_matches("; ")
}

fn issuer(node: &Node, iss: &str) -> Result<Issuer, Failure> {
    let (settings, keyring) = node.issuer(iss)?;
    let settings_json = serde_json::to_string(&settings)
        .map_err(|_| Failure::Issuer(Error::Record("of the issuer's settings".to_owned())))?;
    let now = node.now().unix_seconds();
    Ok(Issuer {
        settings_json,
        keys: keyring
            .keys()
            .iter()
            .map(|key| key_message(key, keyring.succession(&settings, key), now))
            .collect(),
    })
}

fn node_message(node: RunningNode) -> v1::RunningNode {
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    v1::RunningNode {
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

fn key_message(entry: &KeyEntry, succession: Option<(i64, i64)>, now: i64) -> Key {
    let (successor_published_at, successor_signs_from) = succession.unwrap_or_default();
    Key {
        kid: entry.kid.clone(),
        kind: entry.kind.name().to_owned(),
        state: match entry.state(now) {
            State::Published => key::State::Published,
            State::Signing => key::State::Signing,
            State::Retired => key::State::Retired,
            State::Gone => key::State::Gone,
        } as i32,
        published_at: entry.published_at,
        signs_from: entry.signs_from,
        signs_until: entry.signs_until.unwrap_or(0),
        gone_at: entry.gone_at().unwrap_or(0),
        public_key: entry.public.clone().unwrap_or_default(),
        successor_published_at,
        successor_signs_from,
    }
}
