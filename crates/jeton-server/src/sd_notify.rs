//! Tells systemd how the service is (sd_notify(3)). Without it, nothing happens.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Ready to be sent requests.
pub(crate) const READY: &str = "READY=1";
/// Told to stop, and finishing what it is at.
pub(crate) const STOPPING: &str = "STOPPING=1";

/// Sends a state to where the environment's `NOTIFY_SOCKET` says.
pub(crate) fn send(state: &str) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    if let Err(error) = send_to(&socket, state) {
        tracing::warn!(%error, "systemd could not be told");
    }
}

fn send_to(socket: &OsStr, state: &str) -> io::Result<()> {
    let address = match socket.as_bytes().strip_prefix(b"@") {
        #[cfg(target_os = "linux")]
        Some(name) => {
            use std::os::linux::net::SocketAddrExt as _;
            SocketAddr::from_abstract_name(name)?
        }
        _ => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}
