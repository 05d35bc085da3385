//! The calls themselves: connections, calls in flight on each, until the time is over.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::SendRequest;
use tokio::task::{JoinSet, LocalSet, spawn_local};
use tokio::time::{sleep, sleep_until, timeout_at};

use super::answer::Answer;
use super::checker::{Checker, ONE_IN};
use super::exchange::{Connection, Ended, Exchange, NotConnected};
use super::load::{Load, Pace};
use super::loaded::Loaded;
use super::pacer::{Pacer, Schedule};
use super::tally::{End, Tally, Window};
use crate::host::Processes;

/// Before the next try: a server that is gone is not asked in a circle.
const RECONNECT_PAUSE: Duration = Duration::from_millis(50);
/// What is in flight when the time is over has so long to be answered.
const GRACE: Duration = Duration::from_secs(2);

/// Makes the calls of a load, on this thread. `checker` verifies one token in a thousand.
///
/// # Errors
/// The system gives no runtime; what the server does wrong is counted.
pub fn run(load: &Load, checker: Option<Checker>) -> io::Result<Loaded> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(LocalSet::new().block_on(&runtime, whole(load, checker)))
}

async fn whole(load: &Load, checker: Option<Checker>) -> Loaded {
    let began = Instant::now();
    let from = began + load.warm_up;
    let until = from + load.measured;
    let due = match load.pace {
        Pace::Closed => None,
        Pace::Open { per_second } => {
            let schedule = Schedule { began, per_second };
            Some((Pacer::start(schedule, until), schedule))
        }
    };
    let engine = Rc::new(Engine {
        exchange: Exchange::new(load.target, &load.call),
        load: load.clone(),
        checker,
        window: Window { from, until },
        due,
        next: Cell::new(0),
        answers: Cell::new(0),
        tally: RefCell::default(),
    });
    let cpu = spawn_local(cpu_time_between(from, until));
    let mut connections = JoinSet::new();
    for _ in 0..load.connections {
        connections.spawn_local(engine.clone().hold());
    }
    while connections.join_next().await.is_some() {}
    engine.count_those_not_sent();
    let cpu = cpu.await.ok().flatten();
    let tally = engine.tally.take();
    Loaded::of(load, tally, cpu)
}

/// This process's.
async fn cpu_time_between(from: Instant, until: Instant) -> Option<Duration> {
    sleep_until(from.into()).await;
    let before = Processes::this().cpu_time();
    sleep_until(until.into()).await;
    Some(Processes::this().cpu_time()?.saturating_sub(before?))
}

struct Engine {
    load: Load,
    exchange: Exchange,
    checker: Option<Checker>,
    window: Window,
    /// Of an open loop.
    due: Option<(Pacer, Schedule)>,
    /// The number of the next call that is due.
    next: Cell<u64>,
    answers: Cell<u64>,
    tally: RefCell<Tally>,
}

impl Engine {
    /// Keeps one connection busy, and makes it again if it goes.
    async fn hold(self: Rc<Self>) {
        while Instant::now() < self.window.until {
            let began = Instant::now();
            match self.exchange.connect().await {
                Ok(send) => {
                    let mut slots = JoinSet::new();
                    for _ in 0..self.load.in_flight {
                        slots.spawn_local(self.clone().slot(send.clone()));
                    }
                    drop(send);
                    while slots.join_next().await.is_some() {}
                }
                Err(NotConnected) => self.count(End::NotConnected, began),
            }
            let left = self.window.until.saturating_duration_since(Instant::now());
            sleep(RECONNECT_PAUSE.min(left)).await;
        }
    }

    /// One call after the other, until the time is over or the connection gone.
    async fn slot(self: Rc<Self>, mut send: SendRequest<Bytes>) {
        let in_flight = Cell::new(None);
        let give_up = (self.window.until + GRACE).into();
        if timeout_at(give_up, self.calls(&mut send, &in_flight))
            .await
            .is_err()
            && let Some(began) = in_flight.get()
        {
            self.count(End::Unanswered, began);
        }
    }

    async fn calls(&self, send: &mut SendRequest<Bytes>, in_flight: &Cell<Option<Instant>>) {
        while let Some(began) = self.next_start().await {
            in_flight.set(Some(began));
            let ended = self.call(send).await;
            self.count(ended.end, began);
            in_flight.set(None);
            if ended.connection == Connection::Gone {
                return;
            }
        }
    }

    /// When the next call begins, or was due; none when the time is over.
    async fn next_start(&self) -> Option<Instant> {
        let Some((pacer, schedule)) = &self.due else {
            let now = Instant::now();
            return (now < self.window.until).then_some(now);
        };
        pacer.next().await;
        let number = self.next.get();
        let due = schedule.at(number);
        (due < self.window.until).then(|| {
            self.next.set(number + 1);
            due
        })
    }

    async fn call(&self, send: &mut SendRequest<Bytes>) -> Ended {
        match self.exchange.once(send).await {
            Ok(body) => Ended::living(self.look_at(&body)),
            Err(ended) => ended,
        }
    }

    fn look_at(&self, body: &[u8]) -> End {
        let Some(answer) = Answer::read(body) else {
            return End::Garbage;
        };
        let number = self.answers.get();
        self.answers.set(number + 1);
        let Some(checker) = self
            .checker
            .as_ref()
            .filter(|_| number.is_multiple_of(ONE_IN))
        else {
            return End::OK;
        };
        let mut tally = self.tally.borrow_mut();
        match checker.check(&answer) {
            Ok(()) => {
                tally.verified += 1;
                End::OK
            }
            Err(why) => {
                tally.wrong_token.get_or_insert(why);
                End::WrongToken
            }
        }
    }

    /// A closed loop counts what ended while it was measured, so that the rate is that of the time; an
    /// open loop counts what was due while it was measured, so that nothing that was due is left out.
    /// What is given up was in flight when the time was over: both count it.
    fn count(&self, end: End, began: Instant) {
        let now = Instant::now();
        let counts = match (end, &self.due) {
            (End::Unanswered, None) => true,
            (_, None) => self.window.holds(now),
            (_, Some(_)) => self.window.holds(began),
        };
        if counts {
            self.tally.borrow_mut().count(end, began, now);
        }
    }

    /// Those that were due and for which no call in flight became free.
    fn count_those_not_sent(&self) {
        if let Some((_, schedule)) = &self.due {
            let first = schedule.due_by(self.window.from).max(self.next.get());
            let not_sent = schedule.due_by(self.window.until).saturating_sub(first);
            self.tally.borrow_mut().count_only(End::NotSent, not_sent);
        }
    }
}
