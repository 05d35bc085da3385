//! The other end of a connection.

use std::sync::Arc;

use super::connection_limit::Activity;
use super::listener::Listener;
use super::tls::PeerCertificate;
use super::unread_responses::UnreadResponses;

/// What the transport knows about a client.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) listener: Listener,
    /// Whether the listener is bound to loopback.
    pub(crate) is_loopback: bool,
    pub(crate) is_tls: bool,
    pub(crate) certificate: Option<PeerCertificate>,
    pub(crate) activity: Arc<Activity>,
    /// Responses on the connection that the client has not read yet.
    pub(crate) unread: Arc<UnreadResponses>,
}
