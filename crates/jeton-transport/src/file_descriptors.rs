//! The limit of file descriptors. Each connection needs one.

use std::fmt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits::{ADMIN_CONNECTIONS, OWN_DESCRIPTORS, WORKER_DESCRIPTORS};

/// The limit of file descriptors is too low for any connection of the data listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooFewDescriptors {
    /// The limit.
    pub limit: u64,
    /// Descriptors for the server itself, for the admin listener and for one connection.
    pub needed: u64,
}

impl fmt::Display for TooFewDescriptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooFewDescriptors { limit, needed } = self;
        write!(
            f,
            "too few file descriptors: the limit is {limit}, and the server needs at least {needed}: raise \
             the limit (`ulimit -n`, LimitNOFILE=)"
        )
    }
}

impl std::error::Error for TooFewDescriptors {}

/// Returns how many connections the data listener may accept.
///
/// That is the configured number, or fewer if the process limit is too low. Descriptors for the server
/// itself and for its admin listener are reserved. The soft limit is raised up to the hard limit.
///
/// # Errors
///
/// [`TooFewDescriptors`] if none is left for the data listener.
pub fn connections(wanted: usize, workers: usize) -> Result<usize, TooFewDescriptors> {
    let own = OWN_DESCRIPTORS + WORKER_DESCRIPTORS * workers as u64 + ADMIN_CONNECTIONS as u64;
    let needed = own.saturating_add(wanted as u64);
    let limit = raised_to(needed);
    if limit >= needed {
        return Ok(wanted);
    }
    let left = limit.saturating_sub(own);
    let (Ok(left), 1..) = (usize::try_from(left), left) else {
        let needed = own + 1;
        return Err(TooFewDescriptors { limit, needed });
    };
    tracing::warn!(
        limit,
        needed,
        "data listener limited to {left} connections: `limits.connections` is {wanted}, and the process may \
         open {limit} files. Raise the limit (`ulimit -n`, LimitNOFILE=)"
    );
    Ok(left)
}

/// Raises the soft limit if it is lower than needed, and returns the limit in force.
fn raised_to(needed: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    if current >= needed {
        return current;
    }
    let raised = limit.maximum.unwrap_or(u64::MAX).min(needed);
    let raised_limit = Rlimit {
        current: Some(raised),
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised_limit) {
        Ok(()) => raised,
        Err(_) => current,
    }
}
