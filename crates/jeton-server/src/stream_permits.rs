//! Permits for calls that hold a thread or a queue for as long as the client reads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::failure::Failure;

/// The permits for one kind of call: a total, and a limit for each client.
#[derive(Debug)]
pub(crate) struct StreamPermits {
    what: &'static str,
    total: Limit,
    per_client: Limit,
    held: Mutex<HashMap<String, usize>>,
}

/// A limit, and the name under which an operator finds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) name: &'static str,
    pub(crate) most: usize,
}

/// A permit of one call. Dropping it allows another call.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    all: Arc<StreamPermits>,
    client: String,
}

impl StreamPermits {
    pub(crate) fn new(what: &'static str, total: Limit, per_client: Limit) -> Arc<StreamPermits> {
        Arc::new(StreamPermits {
            what,
            total,
            per_client,
            held: Mutex::default(),
        })
    }

    /// Returns a permit for a call of that client.
    ///
    /// # Errors
    ///
    /// [`Failure::Overloaded`] at a limit, with both numbers.
    pub(crate) fn acquire(
        self: &Arc<StreamPermits>,
        client: &str,
    ) -> Result<StreamPermit, Failure> {
        let mut held = self.held();
        let all: usize = held.values().sum();
        let own = held.get(client).copied().unwrap_or_default();
        let whose = [
            (own, self.per_client, "this client"),
            (all, self.total, "all clients"),
        ];
        for (open, Limit { name, most }, whose) in whose {
            if open >= most {
                let what = self.what;
                let text =
                    format!("{open} {what} of {whose}, maximum {most} (`{name}`), retry later");
                return Err(Failure::Overloaded(text.into()));
            }
        }
        held.insert(client.to_owned(), own + 1);
        Ok(StreamPermit {
            all: self.clone(),
            client: client.to_owned(),
        })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut held = self.all.held();
        if let Some(own) = held.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                held.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    #[test]
    fn one_client_does_not_take_the_permits_of_all() {
        let limit = |name, most| Limit { name, most };
        let permits = StreamPermits::new("streams", limit("all", 3), limit("each", 2));
        let refused = |client| match permits.acquire(client) {
            Err(Failure::Overloaded(text)) => text,
            other => panic!("{other:?}"),
        };
        let _first = permits.acquire("a").unwrap();
        let second = permits.acquire("a").unwrap();
        assert_eq!(
            refused("a"),
            "2 streams of this client, maximum 2 (`each`), retry later"
        );
        let _other = permits.acquire("b").unwrap();
        assert_eq!(
            refused("b"),
            "3 streams of all clients, maximum 3 (`all`), retry later"
        );
        drop(second);
        permits.acquire("b").unwrap();
    }
}
