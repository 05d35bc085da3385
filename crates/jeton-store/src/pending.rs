//! Futures that need no runtime. The crate documentation explains why.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use crate::error::{Error, Result};

/// An operation in progress. It may be polled on any thread by any executor. Dropping it does not undo it:
/// the transaction may still be made.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Waits for a future on this thread. Do not call it on a thread that runs an executor: it blocks all other
/// tasks there.
///
/// ```
/// assert_eq!(jeton_store::block_on(async { 7 }), 7);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Creates a [`Pending`] and the [`Completer`] that completes it, for engines and worker threads.
///
/// ```
/// let (completer, pending) = jeton_store::completion();
/// std::thread::spawn(move || completer.complete(Ok(7)));
/// assert_eq!(jeton_store::block_on(pending), Ok(7));
/// ```
pub fn completion<T: Send + 'static>() -> (Completer<T>, Pending<'static, T>) {
    let shared = Arc::new(Mutex::new(Slot {
        result: None,
        waker: None,
    }));
    let pending = Completion(shared.clone());
    (Completer(Some(shared)), Box::pin(pending))
}

/// Completes a [`Pending`]. If it is dropped first, the result is [`Error::Closed`], so that no caller
/// waits forever.
#[derive(Debug)]
pub struct Completer<T>(Option<Arc<Mutex<Slot<T>>>>);

#[derive(Debug)]
struct Slot<T> {
    result: Option<Result<T>>,
    waker: Option<Waker>,
}

struct Completion<T>(Arc<Mutex<Slot<T>>>);

struct Unpark(Thread);

impl<T> Completer<T> {
    /// Sets the result.
    pub fn complete(mut self, result: Result<T>) {
        self.finish(result);
    }

    fn finish(&mut self, result: Result<T>) {
        let Some(shared) = self.0.take() else { return };
        let mut slot = shared.lock().unwrap_or_else(PoisonError::into_inner);
        slot.result = Some(result);
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        self.finish(Err(Error::Closed));
    }
}

impl<T> Future for Completion<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Returns a completed [`Pending`].
pub(crate) fn ready<'a, T: Send + 'a>(result: Result<T>) -> Pending<'a, T> {
    Box::pin(std::future::ready(result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_completer_returns_closed() {
        let (completer, pending) = completion::<()>();
        drop(completer);
        assert_eq!(block_on(pending), Err(Error::Closed));
    }
}
