//! Makes the calls: connections with calls in flight on each, until the time is over.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
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
use super::stream::Stream;
use super::tally::{End, Tally, Window};
use jeton_lab_harness::host::Processes;
use jeton_lab_model::servers::Way;

/// The pause before reconnecting, to avoid a busy loop when the server is down.
const RECONNECT_PAUSE: Duration = Duration::from_millis(50);
/// The time limit for calls in flight after the end.
const GRACE: Duration = Duration::from_secs(2);

/// Makes the calls of a load, on this thread. `checker` verifies one token in a thousand.
///
/// # Errors
///
/// An error if the runtime cannot be created. Errors of the server are counted.
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
        exchange: Exchange::new(load.target, &load.request.http),
        load: load.clone(),
        checker,
        window: Window { from, until },
        due,
        next: Cell::new(0),
        tokens: Cell::new(0),
        tally: RefCell::default(),
    });
    let cpu = spawn_local(cpu_time_between(from, until));
    let mut connections = JoinSet::new();
    for _ in 0..load.connections {
        connections.spawn_local(engine.clone().hold());
    }
    while connections.join_next().await.is_some() {}
    engine.count_unsent();
    let cpu = cpu.await.ok().flatten();
    let tally = engine.tally.take();
    Loaded::of(load, tally, cpu)
}

/// Returns the CPU time of this process.
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
    /// The schedule of an open loop.
    due: Option<(Pacer, Schedule)>,
    /// The number of the next due call.
    next: Cell<u64>,
    /// The number of tokens in checked answers.
    tokens: Cell<u64>,
    tally: RefCell<Tally>,
}

impl Engine {
    /// Keeps one connection busy, and reconnects if it is lost.
    async fn hold(self: Rc<Self>) {
        while Instant::now() < self.window.until {
            let began = Instant::now();
            match self.exchange.connect().await {
                Ok(send) if self.load.request.call.way() == Way::Streamed => {
                    self.stream(send).await
                }
                Ok(send) => {
                    let mut slots = JoinSet::new();
                    for _ in 0..self.load.in_flight {
                        slots.spawn_local(self.clone().slot(send.clone()));
                    }
                    drop(send);
                    while slots.join_next().await.is_some() {}
                }
                Err(NotConnected) => self.count_not_connected(began),
            }
            let left = self.window.until.saturating_duration_since(Instant::now());
            sleep(RECONNECT_PAUSE.min(left)).await;
        }
    }

    /// Makes one call after another, until the time is over or the connection is lost.
    async fn slot(self: Rc<Self>, mut send: SendRequest<Bytes>) {
        let in_flight = Cell::new(None);
        let give_up = (self.window.until + GRACE).into();
        if timeout_at(give_up, self.calls(&mut send, &in_flight))
            .await
            .is_err()
            && let Some(began) = in_flight.get()
        {
            self.count_unanswered(began);
        }
    }

    async fn calls(&self, send: &mut SendRequest<Bytes>, in_flight: &Cell<Option<Instant>>) {
        let right = End::right(self.load.request.call);
        while let Some(began) = self.next_start().await {
            in_flight.set(Some(began));
            let answered = self.exchange.once(send).await;
            let now = Instant::now();
            let counts = self.counts(began, now);
            let ended = match answered {
                Ok(body) if counts => Ended::living(self.outcome_of(&body)),
                Ok(_) => Ended::living(End::OK),
                Err(ended) if ended.end == right => Ended::living(End::OK),
                Err(ended) => ended,
            };
            if counts {
                self.tally.borrow_mut().count(ended.end, began, now);
            }
            in_flight.set(None);
            if ended.connection == Connection::Gone {
                return;
            }
        }
    }

    /// Uses one stream with many messages in flight, until the time or the stream ends.
    async fn stream(&self, mut send: SendRequest<Bytes>) {
        let mut in_flight = VecDeque::new();
        let give_up = (self.window.until + GRACE).into();
        let messages = self.messages(&mut send, &mut in_flight);
        let Ok(Err(Ended { end, .. })) = timeout_at(give_up, messages).await else {
            for began in in_flight {
                self.count_unanswered(began);
            }
            return;
        };
        // A stream that ends well has answered everything.
        let end = if end == End::OK { End::Garbage } else { end };
        let now = Instant::now();
        for began in in_flight {
            if self.counts(began, now) {
                self.tally.borrow_mut().count(end, began, now);
            }
        }
    }

    /// Answers arrive in the order of the messages. The error is how the stream ended.
    async fn messages(
        &self,
        send: &mut SendRequest<Bytes>,
        in_flight: &mut VecDeque<Instant>,
    ) -> Result<Infallible, Ended> {
        let most = self.load.in_flight as usize;
        let message = &self.load.request.http.body;
        let mut stream = Stream::open(&self.exchange, send, message, most).await?;
        // A failed send means that the stream has ended; reading from it shows how.
        let mut sends = true;
        loop {
            while let Some(message) = stream.take()? {
                self.count_message(in_flight.pop_front(), &message)?;
            }
            let room = most - in_flight.len();
            if self.due.is_none() && sends && room > 0 {
                sends = match self.next_start().await {
                    Some(now) if stream.send(room).is_ok() => {
                        in_flight.extend(std::iter::repeat_n(now, room));
                        true
                    }
                    Some(_) => false,
                    None => {
                        stream.end();
                        false
                    }
                };
            }
            let room = most - in_flight.len();
            tokio::select! {
                began = self.next_start(), if self.due.is_some() && sends && room > 0 => {
                    sends = match began {
                        Some(began) => {
                            in_flight.push_back(began);
                            stream.send(1).is_ok()
                        }
                        None => {
                            stream.end();
                            false
                        }
                    };
                }
                more = stream.more() => more?,
            }
        }
    }

    /// Counts a received message. `began` is when its request was sent or due.
    fn count_message(&self, began: Option<Instant>, message: &[u8]) -> Result<(), Ended> {
        let now = Instant::now();
        // An unrequested message: this is not a stream of answers.
        let began = began.ok_or_else(|| Ended::living(End::Garbage))?;
        if self.counts(began, now) {
            let end = self.outcome_of(message);
            self.tally.borrow_mut().count(end, began, now);
        }
        Ok(())
    }

    /// Returns when the next call begins or was due; none when the time is over.
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

    /// Returns the outcome of an answer that counts. Answers of the warm-up are not checked.
    fn outcome_of(&self, body: &[u8]) -> End {
        let answer = match Answer::read(self.load.request.call, body) {
            Ok(answer) => answer,
            Err(end) => return end,
        };
        let (before, tokens) = (self.tokens.get(), self.load.request.call.tokens());
        let after = before + u64::from(tokens);
        self.tokens.set(after);
        let is_next = before.next_multiple_of(ONE_IN) < after;
        let (Some(checker), Some(token)) =
            (self.checker.as_ref().filter(|_| is_next), answer.token)
        else {
            return End::OK;
        };
        let mut tally = self.tally.borrow_mut();
        match checker.check(token, answer.sub) {
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

    /// A closed loop counts calls that ended during the measurement, so that the rate matches the
    /// time. An open loop counts calls that were due during the measurement, so that no due call is
    /// omitted.
    fn counts(&self, began: Instant, ended: Instant) -> bool {
        match self.due {
            None => self.window.holds(ended),
            Some(_) => self.window.holds(began),
        }
    }

    /// Counts a call without an answer. It was in flight when the time was over, so a closed loop
    /// counts it too.
    fn count_unanswered(&self, began: Instant) {
        if self.due.is_none() || self.window.holds(began) {
            self.tally.borrow_mut().count_only(End::Unanswered, 1);
        }
    }

    fn count_not_connected(&self, began: Instant) {
        if self.counts(began, Instant::now()) {
            self.tally.borrow_mut().count_only(End::NotConnected, 1);
        }
    }

    /// Counts due calls for which no call in flight became free.
    fn count_unsent(&self) {
        if let Some((_, schedule)) = &self.due {
            let first = schedule.due_by(self.window.from).max(self.next.get());
            let not_sent = schedule.due_by(self.window.until).saturating_sub(first);
            self.tally.borrow_mut().count_only(End::NotSent, not_sent);
        }
    }
}
