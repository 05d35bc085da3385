//! Reports the service state to systemd (sd_notify(3)). Does nothing without `NOTIFY_SOCKET`.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The service is ready for requests.
pub(crate) const READY: &str = "READY=1";
/// The service is finishing its last requests.
pub(crate) const STOPPING: &str = "STOPPING=1";

/// Sends a state to the socket in the environment variable `NOTIFY_SOCKET`.
pub(crate) fn send(state: &str) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    if let Err(error) = send_to(&socket, state) {
        tracing::warn!(%error, "cannot notify systemd");
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
