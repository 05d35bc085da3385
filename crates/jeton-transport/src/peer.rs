//! The other end of a connection.

use std::net::IpAddr;
use std::sync::Arc;

use crate::account::Share;
use crate::connection_limit::Activity;
use crate::listener::Listener;
use crate::tls::PeerCertificate;

/// What the transport knows about a client.
#[derive(Debug)]
pub struct Peer {
    /// The listener that accepted the connection.
    pub listener: Listener,
    /// Its address: of IPv6, the network of 64 bits.
    pub network: IpAddr,
    /// Whether many clients have this address.
    pub is_proxy: bool,
    /// Whether the listener is bound to loopback.
    pub is_loopback: bool,
    /// Whether the connection has TLS.
    pub is_tls: bool,
    /// Its certificate, if the handshake has verified one.
    pub certificate: Option<PeerCertificate>,
    pub(crate) activity: Arc<Activity>,
    /// What its address holds.
    pub(crate) share: Arc<Share>,
}
