//! Runs calls inline, in the task of their connection.
//!
//! A task for each call would have to be created, queued and woken. Its response would stay in memory until
//! all requests of the same read are handled. So only a call that waits becomes a task, and a call that is
//! read after the time budget of its connection.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use hyper::rt::Executor;

use super::limits::INLINE_BUDGET;

thread_local! {
    /// End of the time budget of the connection that this thread is polling.
    static BUDGET_END: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Polls a connection with a new time budget.
pub(super) fn poll_connection<F: Future>(
    connection: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Poll<F::Output> {
    BUDGET_END.set(Some(Instant::now() + INLINE_BUDGET));
    let polled = connection.poll(context);
    BUDGET_END.set(None);
    polled
}

/// An executor that polls a future once before it spawns a task.
#[derive(Clone)]
pub(super) struct InlineExecutor;

impl<F> Executor<F> for InlineExecutor
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, call: F) {
        let mut call = Box::pin(call);
        if BUDGET_END.get().is_some_and(|end| Instant::now() < end) {
            // The waker can do nothing: a pending call becomes a task, which is polled again.
            let mut context = Context::from_waker(Waker::noop());
            // As in a task, a panic ends the call and not the connection.
            let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(&mut context)));
            if !matches!(polled, Ok(Poll::Pending)) {
                return;
            }
        }
        tokio::spawn(call);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread::sleep;

    use tokio::task::yield_now;

    use super::*;

    /// Counts finished calls.
    #[derive(Clone, Default)]
    struct Finished(Arc<AtomicU32>);

    impl Finished {
        fn count(&self) -> u32 {
            self.0.load(Ordering::Relaxed)
        }

        async fn after(self, wait: impl Future<Output = ()>) {
            wait.await;
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls a connection that does this.
    fn poll_with(calls: impl FnOnce()) {
        let mut context = Context::from_waker(Waker::noop());
        let _ = poll_connection(pin!(async { calls() }), &mut context);
    }

    #[tokio::test]
    async fn ready_call_runs_inline() {
        // A busy machine may stop this thread for longer than the budget, and not each time.
        let inline = (0..100).find_map(|_| {
            let finished = Finished::default();
            poll_with(|| InlineExecutor.execute(finished.clone().after(ready(()))));
            (finished.count() == 1).then_some(finished)
        });
        let finished = inline.expect("the call became a task");
        yield_now().await;
        assert_eq!(finished.count(), 1, "the call became a task");
    }

    #[tokio::test]
    async fn waiting_call_becomes_a_task() {
        let finished = Finished::default();
        poll_with(|| InlineExecutor.execute(finished.clone().after(yield_now())));
        poll_with(|| InlineExecutor.execute(finished.clone().after(pending())));
        assert_eq!(finished.count(), 0);
        for _ in 0..4 {
            yield_now().await;
        }
        assert_eq!(finished.count(), 1);
    }

    #[tokio::test]
    async fn call_after_the_budget_becomes_a_task() {
        let finished = Finished::default();
        poll_with(|| {
            sleep(INLINE_BUDGET);
            InlineExecutor.execute(finished.clone().after(ready(())));
            assert_eq!(finished.count(), 0);
        });
        yield_now().await;
        assert_eq!(finished.count(), 1);
        // Outside of a connection.
        InlineExecutor.execute(finished.clone().after(ready(())));
        assert_eq!(finished.count(), 1);
        yield_now().await;
        assert_eq!(finished.count(), 2);
    }

    #[tokio::test]
    async fn panic_ends_the_call_and_not_the_connection() {
        let finished = Finished::default();
        poll_with(|| {
            #[allow(clippy::panic, reason = "the test needs a panic")]
            InlineExecutor.execute(async { panic!("expected by the test") });
            // A task, if printing the panic took longer than the budget.
            InlineExecutor.execute(finished.clone().after(ready(())));
        });
        yield_now().await;
        assert_eq!(finished.count(), 1);
    }
}
