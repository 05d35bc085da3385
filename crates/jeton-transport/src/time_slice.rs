//! Splits long work into time slices, so that a worker can handle other calls in between.
//!
//! A batch of 4,096 RSA signatures takes seconds. Without slices, all other connections of the worker
//! would wait for it, including health checks.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::task::yield_now;
use tokio_stream::Stream;

use crate::limits::TIME_SLICE;

/// Items between two clock reads if items are quick. Reading the clock costs a good part of a quick item.
const ITEMS_PER_CLOCK_READ: u32 = 8;
/// An item that takes longer is not quick.
const QUICK: Duration = Duration::from_micros(50);

/// The current slice.
pub struct TimeSlice {
    clock_read_at: Instant,
    ends_at: Instant,
    /// Items from one clock read to the next.
    items: u32,
    /// Items since the last clock read.
    done: u32,
}

impl TimeSlice {
    /// Starts a slice now.
    pub fn begin() -> TimeSlice {
        let now = Instant::now();
        TimeSlice {
            clock_read_at: now,
            ends_at: now + TIME_SLICE,
            items: 1,
            done: 0,
        }
    }

    /// Counts one finished item and returns whether the slice is over.
    pub fn is_over(&mut self) -> bool {
        self.done += 1;
        if self.done < self.items {
            return false;
        }
        let now = Instant::now();
        self.items = if now - self.clock_read_at < QUICK * self.done {
            ITEMS_PER_CLOCK_READ
        } else {
            1
        };
        self.clock_read_at = now;
        self.done = 0;
        now >= self.ends_at
    }

    /// Yields to other tasks and starts the next slice.
    pub async fn pause(&mut self) {
        yield_now().await;
        *self = TimeSlice::begin();
    }
}

/// A stream whose items are processed in slices.
pub struct SlicedStream<S> {
    items: S,
    /// `None` after the stream was pending: other tasks have run since.
    slice: Option<TimeSlice>,
    /// Remaining polls that return pending.
    pauses: u8,
}

/// Pending polls after each slice. On the first one, tonic sends its buffer and polls again at once. On the
/// second one it has nothing to send and yields.
const PAUSES: u8 = 2;

impl<S> SlicedStream<S> {
    /// Processes the items of a stream in slices.
    pub fn new(items: S) -> SlicedStream<S> {
        SlicedStream {
            items,
            slice: None,
            pauses: 0,
        }
    }
}

impl<S: Stream + Unpin> Stream for SlicedStream<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = &mut *self;
        if this.slice.as_mut().is_some_and(TimeSlice::is_over) {
            this.slice = None;
            this.pauses = PAUSES;
        }
        if this.pauses > 0 {
            this.pauses -= 1;
            // Wakes this task after the other ready tasks have run.
            let _ = pin!(yield_now()).poll(context);
            return Poll::Pending;
        }
        if this.slice.is_none() {
            this.slice = Some(TimeSlice::begin());
        }
        let item = Pin::new(&mut this.items).poll_next(context);
        if item.is_pending() {
            this.slice = None;
        }
        Poll::Ready(ready!(item))
    }
}
