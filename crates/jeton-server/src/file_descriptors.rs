//! File descriptors: each connection needs one, and the system allows a process only so many.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::{Error, Result};
use crate::limits::{ADMIN_CONNECTIONS, WORKER_DESCRIPTORS, OWN_DESCRIPTORS};

/// How many connections the data listener takes: as many as it should, or as the system allows beside what
/// the server itself and its admin listener need. The process's limit is raised as far as it may be.
///
/// # Errors
///
/// [`Error::Descriptors`] if not a single one is left.
pub(crate) fn connections(wanted: usize, workers: usize) -> Result<usize> {
    let own = OWN_DESCRIPTORS + WORKER_DESCRIPTORS * workers as u64 + ADMIN_CONNECTIONS as u64;
    let needed = own.saturating_add(wanted as u64);
    let limit = raised_to(needed);
    if limit >= needed {
        return Ok(wanted);
    }
    let left = limit.saturating_sub(own);
    let (Ok(left), 1..) = (usize::try_from(left), left) else {
        let needed = own + 1;
        return Err(Error::Descriptors { limit, needed });
    };
    tracing::warn!(
        limit,
        needed,
        "`limits.connections` is {wanted}, and the process may have {limit} files and connections open: the \
         data listener takes {left} connections. Raise the limit (`ulimit -n`, LimitNOFILE=)"
    );
    Ok(left)
}

/// The process's limit, after it has been raised to that if it was lower and may be raised.
fn raised_to(needed: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    if current >= needed {
        return current;
    }
    let raised = limit.maximum.unwrap_or(u64::MAX).min(needed);
    let wanted = Rlimit {
        current: Some(raised),
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => raised,
        Err(_) => current,
    }
}
