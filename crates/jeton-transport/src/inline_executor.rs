//! Runs calls inline, in the task of their connection.
//!
//! A task for each call would have to be created, queued and woken. Its response would stay in memory until
//! all requests of the same read are handled. So only a call that waits becomes a task, and a call that is
//! read after the time budget of its connection.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use hyper::rt::Executor;
use tokio::time::{Sleep, sleep};

use crate::held_response::Stream;
use crate::limits::INLINE_BUDGET;
use crate::shared::Shared;

thread_local! {
    /// End of the time budget of the connection that this thread is polling.
    static BUDGET_END: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The stream that hyper is about to execute.
    static BEGUN: Cell<Option<Arc<Stream>>> = const { Cell::new(None) };
}

/// Polls a connection with a new time budget.
pub(crate) fn poll_connection<F: Future>(
    connection: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Poll<F::Output> {
    BUDGET_END.set(Some(Instant::now() + INLINE_BUDGET));
    let polled = connection.poll(context);
    BUDGET_END.set(None);
    polled
}

/// Says which stream the next call belongs to. hyper executes it at once.
pub(crate) fn begin(stream: &Arc<Stream>) {
    BEGUN.set(Some(stream.clone()));
}

/// An executor that polls a future once before it spawns a task.
#[derive(Clone)]
pub(crate) struct InlineExecutor(Arc<Shared>);

impl InlineExecutor {
    pub(crate) fn new(shared: &Arc<Shared>) -> InlineExecutor {
        InlineExecutor(shared.clone())
    }
}

impl<F> Executor<F> for InlineExecutor
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, call: F) {
        let stream = BEGUN.take();
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
        match stream {
            None => drop(tokio::spawn(call)),
            Some(stream) => drop(tokio::spawn(end_if_unread(call, stream, self.0.clone()))),
        }
    }
}

/// Runs a call until its client has read nothing of the response for too long. Dropping the call resets the stream.
async fn end_if_unread<F: Future>(mut call: Pin<Box<F>>, stream: Arc<Stream>, shared: Arc<Shared>) {
    let stall = shared.settings.client_stall_timeout;
    let mut waiting: Option<(u32, Pin<Box<Sleep>>)> = None;
    let is_unread = poll_fn(|context| {
        if call.as_mut().poll(context).is_ready() {
            return Poll::Ready(false);
        }
        let Some(piece) = stream.unread_piece() else {
            waiting = None;
            return Poll::Pending;
        };
        if waiting.as_ref().is_none_or(|(other, _)| *other != piece) {
            waiting = Some((piece, Box::pin(sleep(stall))));
        }
        let timer = waiting
            .as_mut()
            .map(|(_, timer)| timer.as_mut().poll(context));
        match timer {
            Some(Poll::Ready(())) => Poll::Ready(true),
            _ => Poll::Pending,
        }
    });
    if is_unread.await {
        shared.counters.streams_stalled.add_one();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread::sleep;

    use tokio::sync::watch;
    use tokio::task::yield_now;

    use super::*;
    use crate::settings::Settings;

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

    fn executor() -> InlineExecutor {
        let (_, stopping) = watch::channel(false);
        InlineExecutor::new(&Arc::new(Shared::new(Settings::of_tests(), stopping)))
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
            poll_with(|| executor().execute(finished.clone().after(ready(()))));
            (finished.count() == 1).then_some(finished)
        });
        let finished = inline.expect("the call became a task");
        yield_now().await;
        assert_eq!(finished.count(), 1, "the call became a task");
    }

    #[tokio::test]
    async fn waiting_call_becomes_a_task() {
        let finished = Finished::default();
        poll_with(|| executor().execute(finished.clone().after(yield_now())));
        poll_with(|| executor().execute(finished.clone().after(pending())));
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
            executor().execute(finished.clone().after(ready(())));
            assert_eq!(finished.count(), 0);
        });
        yield_now().await;
        assert_eq!(finished.count(), 1);
        // Outside of a connection.
        executor().execute(finished.clone().after(ready(())));
        assert_eq!(finished.count(), 1);
        yield_now().await;
        assert_eq!(finished.count(), 2);
    }

    #[tokio::test]
    async fn panic_ends_the_call_and_not_the_connection() {
        let finished = Finished::default();
        poll_with(|| {
            #[allow(clippy::panic, reason = "the test needs a panic")]
            executor().execute(async { panic!("expected by the test") });
            // A task, if printing the panic took longer than the budget.
            executor().execute(finished.clone().after(ready(())));
        });
        yield_now().await;
        assert_eq!(finished.count(), 1);
    }
}
