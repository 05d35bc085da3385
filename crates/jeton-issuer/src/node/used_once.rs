//! Ids that are used once: of assertions with which clients and workloads authenticate.

use jeton_store::{Condition, Outcome, Txn};

use super::Node;
use crate::error::Result;
use crate::record::{self, used_hash_key, used_key};
use crate::revocation::{minute, once_hash};

impl Node {
    /// Marks an id as used, and returns whether it was unused. It completes when the mark is durable, so no
    /// node of the store accepts the id again, also after a restart and also with another expiry. The mark is deleted when a token with
    /// that expiry is no longer accepted.
    ///
    /// `party` names who chose the id: ids of different parties do not collide.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store). Then the id must not be accepted, and it may be marked.
    pub async fn use_once(
        &self,
        iss: &str,
        party: &str,
        id: &str,
        expires_at: i64,
    ) -> Result<bool> {
        let hash = once_hash(iss, party, id);
        let keys = [
            used_hash_key(iss, hash)?,
            used_key(iss, minute(expires_at), hash)?,
        ];
        let at = record::write(&self.inner.now());
        let txn = keys.into_iter().fold(Txn::new(), |txn, key| {
            txn.when(key.clone(), Condition::Absent)
                .put(key, at.clone())
        });
        let ended = self.inner.store.commit(txn).await;
        self.inner.writes.record(&ended);
        match ended? {
            Outcome::Committed(_) => Ok(true),
            Outcome::Conflict(_) => Ok(false),
        }
    }
}
