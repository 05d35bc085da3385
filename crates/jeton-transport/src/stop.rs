//! The flags that stop a server: one ends accepting, one ends the workers.

use tokio::sync::watch;

/// Waits until the flag is true, or its sender is gone.
pub async fn wait_until_true(flag: &mut watch::Receiver<bool>) {
    // The result holds a lock, which must not live in the waiting task.
    drop(flag.wait_for(|flag| *flag).await);
}
