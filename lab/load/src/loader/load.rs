//! The description of a load: target, call, concurrency and duration.

use std::net::SocketAddr;
use std::time::Duration;

use super::request::Request;

/// The limits of a load.
pub mod limits {
    use std::time::Duration;

    /// Connections of one loader.
    pub const CONNECTIONS_MAX: u32 = 4096;
    /// Calls in flight on one connection.
    pub const IN_FLIGHT_MAX: u32 = 4096;
    /// Calls in flight of one loader.
    pub const CALLS_MAX: u32 = 65_536;
    /// Calls per second of one loader's open loop.
    pub const RATE_MAX: f64 = 1e6;
    /// The shortest load.
    pub const SECONDS_MIN: Duration = Duration::from_millis(100);
    /// The longest load.
    pub const SECONDS_MAX: Duration = Duration::from_hours(1);
}

/// How calls follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each call follows the answer to the previous one.
    Closed,
    /// Calls are due at a rate, independent of earlier calls.
    Open {
        /// Calls per second.
        per_second: f64,
    },
}

/// A load, within [`limits`].
#[derive(Debug, Clone)]
pub struct Load {
    pub(super) target: SocketAddr,
    pub(super) request: Request,
    pub(super) connections: u32,
    pub(super) in_flight: u32,
    pub(super) pace: Pace,
    pub(super) warm_up: Duration,
    pub(super) measured: Duration,
}

fn wrong_calls() -> String {
    format!(
        "a load must have 1 to {} connections, 1 to {} calls in flight on each, and at most {} calls in flight in total",
        limits::CONNECTIONS_MAX,
        limits::IN_FLIGHT_MAX,
        limits::CALLS_MAX
    )
}

fn wrong_time() -> String {
    format!(
        "a load must take {:.1} s to {} s, and its warm-up at most as long",
        limits::SECONDS_MIN.as_secs_f64(),
        limits::SECONDS_MAX.as_secs()
    )
}

impl Load {
    /// Creates a load with these connections and calls in flight on each, measured for this time,
    /// in a closed loop without a warm-up.
    ///
    /// # Errors
    ///
    /// If it exceeds the [`limits`].
    pub fn new(
        target: SocketAddr,
        request: Request,
        connections: u32,
        in_flight: u32,
        measured: Duration,
    ) -> Result<Self, String> {
        let calls = connections.checked_mul(in_flight);
        let few = calls.is_some_and(|calls| (1..=limits::CALLS_MAX).contains(&calls));
        if !few || connections > limits::CONNECTIONS_MAX || in_flight > limits::IN_FLIGHT_MAX {
            return Err(wrong_calls());
        }
        if !(limits::SECONDS_MIN..=limits::SECONDS_MAX).contains(&measured) {
            return Err(wrong_time());
        }
        Ok(Self {
            target,
            request,
            connections,
            in_flight,
            pace: Pace::Closed,
            warm_up: Duration::ZERO,
            measured,
        })
    }

    /// Returns the load with this warm-up before the measurement.
    ///
    /// # Errors
    /// If it is too long.
    pub fn warm_up(mut self, warm_up: Duration) -> Result<Self, String> {
        if warm_up > limits::SECONDS_MAX {
            return Err(wrong_time());
        }
        self.warm_up = warm_up;
        Ok(self)
    }

    /// Returns the load at this pace.
    ///
    /// # Errors
    /// If the rate is invalid, or exceeds the limit.
    pub fn pace(mut self, pace: Pace) -> Result<Self, String> {
        if let Pace::Open { per_second } = pace
            && !(per_second > 0.0 && per_second <= limits::RATE_MAX)
        {
            return Err(format!(
                "a rate must be above 0 and at most {:.0} calls per second",
                limits::RATE_MAX
            ));
        }
        self.pace = pace;
        Ok(self)
    }
}
