//! Long work on a worker, done in slices: between two of them the worker answers others.
//!
//! A batch of 4,096 signatures with RSA takes seconds, and the calls of all other connections of the
//! worker would wait for it, health too.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::task::yield_now;
use tokio_stream::Stream;

use crate::limits::TIME_SLICE;

/// Looking at the clock costs a good part of what a quick item does: then it is looked at once in so
/// many items.
const ITEMS_PER_CLOCK_READ: u32 = 8;
/// Items that are not quick take longer each.
const QUICK: Duration = Duration::from_micros(50);

/// The slice that is being worked on.
pub(crate) struct TimeSlice {
    looked: Instant,
    over: Instant,
    /// Items until the clock is looked at again, and since it was.
    items: u32,
    done: u32,
}

impl TimeSlice {
    /// A slice that begins now.
    pub(crate) fn begin() -> TimeSlice {
        let now = Instant::now();
        TimeSlice {
            looked: now,
            over: now + TIME_SLICE,
            items: 1,
            done: 0,
        }
    }

    /// Whether the slice is over, now that another item is done.
    pub(crate) fn is_over(&mut self) -> bool {
        self.done += 1;
        if self.done < self.items {
            return false;
        }
        let now = Instant::now();
        self.items = match now - self.looked < QUICK * self.done {
            true => ITEMS_PER_CLOCK_READ,
            false => 1,
        };
        self.looked = now;
        self.done = 0;
        now >= self.over
    }

    /// Lets the others go first.
    pub(crate) async fn pause(&mut self) {
        yield_now().await;
        *self = TimeSlice::begin();
    }
}

/// A stream whose items are worked on in slices.
pub(crate) struct SlicedStream<S> {
    items: S,
    /// None: it has waited, so others have been answered.
    pace: Option<TimeSlice>,
    /// How often more it says that it waits.
    pauses: u8,
}

/// tonic takes the first pause for an occasion to send what it has, and asks for more at once. With nothing
/// to send it pauses too.
const PAUSES: u8 = 2;

impl<S> SlicedStream<S> {
    pub(crate) fn new(items: S) -> SlicedStream<S> {
        SlicedStream {
            items,
            pace: None,
            pauses: 0,
        }
    }
}

impl<S: Stream + Unpin> Stream for SlicedStream<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = &mut *self;
        if this.pace.as_mut().is_some_and(TimeSlice::is_over) {
            this.pace = None;
            this.pauses = PAUSES;
        }
        if this.pauses > 0 {
            this.pauses -= 1;
            // It is asked again when the sockets have been looked at, and those that are ready.
            let _ = pin!(yield_now()).poll(context);
            return Poll::Pending;
        }
        if this.pace.is_none() {
            this.pace = Some(TimeSlice::begin());
        }
        let item = Pin::new(&mut this.items).poll_next(context);
        if item.is_pending() {
            this.pace = None;
        }
        Poll::Ready(ready!(item))
    }
}
