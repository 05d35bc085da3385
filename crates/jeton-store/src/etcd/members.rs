//! The members of an etcd: one channel to all, and what each call carries.

use std::sync::{Arc, RwLock};

use tokio::sync::{Mutex, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::AsciiMetadataValue;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::channel::Change;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};
use zeroize::Zeroizing;

use super::api::auth_client::AuthClient;
use super::api::kv_client::KvClient;
use super::api::maintenance_client::MaintenanceClient;
use super::api::watch_client::WatchClient;
use super::api::watch_request::RequestUnion;
use super::api::{
    AuthenticateRequest, StatusRequest, StatusResponse, WatchCreateRequest, WatchProgressRequest,
    WatchRequest, WatchResponse,
};
use crate::limits;

/// Changes of the ways to the members that wait for a call.
const CHANGES: usize = 1024;

/// Requests of one watch that wait to be sent.
const REQUESTS: usize = 16;

/// Name and password.
pub(super) type User = (String, Zeroizing<String>);

/// The token that etcd gave its user, if authentication is enabled.
type Token = Arc<RwLock<Option<AsciiMetadataValue>>>;

pub(super) type Marked = InterceptedService<Channel, Marks>;

/// A channel that sends each call to one of the members that answer.
#[derive(Clone)]
pub(super) struct Members {
    channel: Channel,
    /// Replaces the ways to the members.
    changes: mpsc::Sender<Change<usize, Endpoint>>,
    marks: Marks,
    user: Option<Arc<User>>,
    /// One call at a time asks for a new token.
    signing_in: Arc<Mutex<()>>,
}

impl Members {
    /// Connects, and signs in if there is a user.
    pub(super) async fn connect(
        endpoints: Vec<Endpoint>,
        user: Option<User>,
    ) -> Result<Members, Status> {
        let (channel, changes) = Channel::balance_channel(CHANGES);
        let members = Members {
            channel,
            changes,
            marks: Marks::default(),
            user: user.map(Arc::new),
            signing_in: Arc::default(),
        };
        members.replace(endpoints).await;
        members.sign_in().await?;
        Ok(members)
    }

    /// Reaches the members in another way, for example with another certificate. Calls that were sent before end where
    /// they are.
    pub(super) async fn replace(&self, endpoints: Vec<Endpoint>) {
        for (member, endpoint) in endpoints.into_iter().enumerate() {
            // The channel that receives it lives as long as this.
            let _ = self.changes.send(Change::Insert(member, endpoint)).await;
        }
    }

    pub(super) fn kv(&self) -> KvClient<Marked> {
        KvClient::new(self.marked()).max_decoding_message_size(limits::ETCD_MESSAGE_BYTES)
    }

    /// Returns the status of one member.
    pub(super) async fn status(&self) -> Result<StatusResponse, Status> {
        let mut client = MaintenanceClient::new(self.marked());
        Ok(client.status(StatusRequest {}).await?.into_inner())
    }

    /// Begins a watch, which lasts until its stream is dropped.
    pub(super) async fn watch(&self, create: WatchCreateRequest) -> Result<Watching, Status> {
        let client = WatchClient::new(self.marked());
        let mut client = client.max_decoding_message_size(limits::ETCD_MESSAGE_BYTES);
        let (requests, waiting) = mpsc::channel(REQUESTS);
        let create = WatchRequest {
            request_union: Some(RequestUnion::CreateRequest(create)),
        };
        // The channel is empty, and its other end is open.
        let _ = requests.try_send(create);
        let answers = client.watch(ReceiverStream::new(waiting)).await?;
        Ok(Watching {
            requests,
            answers: answers.into_inner(),
        })
    }

    /// Asks for a new token, unless another call has done so since this one was read.
    pub(super) async fn sign_in_again(
        &self,
        old: Option<AsciiMetadataValue>,
    ) -> Result<(), Status> {
        let _alone = self.signing_in.lock().await;
        if self.token() == old {
            self.sign_in().await
        } else {
            Ok(())
        }
    }

    pub(super) fn token(&self) -> Option<AsciiMetadataValue> {
        self.marks.token()
    }

    async fn sign_in(&self) -> Result<(), Status> {
        let Some(user) = &self.user else {
            return Ok(());
        };
        let request = AuthenticateRequest {
            name: user.0.clone(),
            password: user.1.as_str().to_owned(),
        };
        let leader_alone = Marks::default();
        let channel = InterceptedService::new(self.channel.clone(), leader_alone);
        let answer = AuthClient::new(channel).authenticate(request).await?;
        let token = AsciiMetadataValue::try_from(answer.into_inner().token);
        let mut token =
            token.map_err(|_| Status::unauthenticated("the token is no header value"))?;
        token.set_sensitive(true);
        self.marks.set_token(token);
        Ok(())
    }

    fn marked(&self) -> Marked {
        InterceptedService::new(self.channel.clone(), self.marks.clone())
    }
}

/// What each call carries.
#[derive(Clone, Default)]
pub(super) struct Marks {
    token: Token,
}

impl Marks {
    fn token(&self) -> Option<AsciiMetadataValue> {
        let token = self.token.read();
        token.map_or_else(|poisoned| poisoned.into_inner().clone(), |it| it.clone())
    }

    fn set_token(&self, token: AsciiMetadataValue) {
        let mut held = self
            .token
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *held = Some(token);
    }
}

impl Interceptor for Marks {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let marks = request.metadata_mut();
        // A member without a leader must not answer.
        marks.insert("hasleader", AsciiMetadataValue::from_static("true"));
        if let Some(token) = self.token() {
            marks.insert("token", token);
        }
        Ok(request)
    }
}

/// A watch that has begun.
pub(super) struct Watching {
    /// A dropped sender would end the watch.
    requests: mpsc::Sender<WatchRequest>,
    answers: Streaming<WatchResponse>,
}

impl Watching {
    /// Returns the next message, or none if etcd has ended the watch.
    pub(super) async fn message(&mut self) -> Result<Option<WatchResponse>, Status> {
        self.answers.message().await
    }

    /// Asks for the member's progress, which it sends as a message without events.
    pub(super) async fn request_progress(&self) -> Result<(), Status> {
        let request = WatchRequest {
            request_union: Some(RequestUnion::ProgressRequest(WatchProgressRequest {})),
        };
        let sent = self.requests.send(request).await;
        sent.map_err(|_| Status::aborted("etcd has ended the watch"))
    }
}
