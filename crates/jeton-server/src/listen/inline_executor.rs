//! A connection's turn of its worker. What it is asked is answered where it was read, without a task of
//! its own: that would be made, queued and woken for each call, and its answer would lie in memory until
//! all that was read with it is answered too. Only what has to wait for something becomes a task, and
//! what is read when the turn has lasted long enough.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use hyper::rt::Executor;

use crate::limits::INLINE_BUDGET;

thread_local! {
    /// When the turn is over that a connection of this thread has now.
    static OVER: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Polls a connection: that is its turn.
pub(super) fn take<F: Future>(
    connection: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Poll<F::Output> {
    OVER.set(Some(Instant::now() + INLINE_BUDGET));
    let polled = connection.poll(context);
    OVER.set(None);
    polled
}

/// Answers calls in the turn that they are read in.
#[derive(Clone)]
pub(super) struct InlineExecutor;

impl<F> Executor<F> for InlineExecutor
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, call: F) {
        let mut call = Box::pin(call);
        if OVER.get().is_some_and(|over| Instant::now() < over) {
            // Nobody is woken: what is not ready becomes a task, which is polled once more.
            let mut context = Context::from_waker(Waker::noop());
            // As of a task, a panic ends the call and not the connection.
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

    /// What calls have done.
    #[derive(Clone, Default)]
    struct Done(Arc<AtomicU32>);

    impl Done {
        fn so_often(&self) -> u32 {
            self.0.load(Ordering::Relaxed)
        }

        async fn after(self, waiting: impl Future<Output = ()>) {
            waiting.await;
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A turn of a connection that asks what `ask` does.
    fn turn(ask: impl FnOnce()) {
        let mut context = Context::from_waker(Waker::noop());
        let _ = take(pin!(async { ask() }), &mut context);
    }

    #[tokio::test]
    async fn what_is_ready_is_answered_in_its_turn() {
        let done = Done::default();
        turn(|| {
            InlineExecutor.execute(done.clone().after(ready(())));
            assert_eq!(done.so_often(), 1);
        });
        yield_now().await;
        assert_eq!(done.so_often(), 1, "a task was made of it");
    }

    #[tokio::test]
    async fn what_waits_becomes_a_task() {
        let done = Done::default();
        turn(|| InlineExecutor.execute(done.clone().after(yield_now())));
        turn(|| InlineExecutor.execute(done.clone().after(pending())));
        assert_eq!(done.so_often(), 0);
        for _ in 0..4 {
            yield_now().await;
        }
        assert_eq!(done.so_often(), 1);
    }

    #[tokio::test]
    async fn a_turn_is_over_after_its_time() {
        let done = Done::default();
        turn(|| {
            sleep(INLINE_BUDGET);
            InlineExecutor.execute(done.clone().after(ready(())));
            assert_eq!(done.so_often(), 0);
        });
        yield_now().await;
        assert_eq!(done.so_often(), 1);
        // Nobody's turn.
        InlineExecutor.execute(done.clone().after(ready(())));
        assert_eq!(done.so_often(), 1);
        yield_now().await;
        assert_eq!(done.so_often(), 2);
    }

    #[tokio::test]
    async fn a_panic_ends_its_call_and_not_the_turn() {
        let done = Done::default();
        turn(|| {
            #[allow(clippy::panic, reason = "what is tested")]
            InlineExecutor.execute(async { panic!("as it was asked") });
            // As a task, if telling of the panic took longer than the turn.
            InlineExecutor.execute(done.clone().after(ready(())));
        });
        yield_now().await;
        assert_eq!(done.so_often(), 1);
    }
}
