//! The other end of a connection.

use std::net::IpAddr;
use std::sync::Arc;

use super::account::Share;
use super::connection_limit::Activity;
use super::listener::Listener;
use super::tls::PeerCertificate;

/// What the transport knows about a client.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) listener: Listener,
    /// Its address: of IPv6, the network of 64 bits.
    pub(crate) network: IpAddr,
    /// Whether many clients have this address.
    pub(crate) is_proxy: bool,
    /// Whether the listener is bound to loopback.
    pub(crate) is_loopback: bool,
    pub(crate) is_tls: bool,
    pub(crate) certificate: Option<PeerCertificate>,
    pub(crate) activity: Arc<Activity>,
    /// What its address holds.
    pub(super) share: Arc<Share>,
}
