//! Exports a load as a file for other tools.
//!
//! Loaders differ, and each file documents how its tool differs. [`ghz()`] writes JSON, which has
//! no comments, so its differences are documented at the function.

mod ghz;
mod k6;
mod kubernetes;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

pub use ghz::ghz;
pub use k6::k6;
pub use kubernetes::{Cluster, kubernetes};

use super::loader::{Load, Pace, Request};
use jeton_lab_model::servers::Algorithm;

/// The file that describes the messages, relative to the root of the checkout. Other tools read it.
pub const PROTO: &str = "proto/jwt/services/jwt_service.proto";

/// The package with the service, and the method.
const SERVICE: &str = "jwt.services.JwtService";
const METHOD: &str = "GenerateJwt";

/// A load for another tool, within the limits of the lab's own loader.
#[derive(Debug, Clone)]
pub struct Plan {
    target: Target,
    alg: Algorithm,
    connections: u32,
    in_flight: u32,
    rate: Option<f64>,
    measured: Duration,
}

impl Plan {
    /// Creates a closed loop with this number of connections and calls in flight on each.
    ///
    /// # Errors
    ///
    /// If it exceeds the [limits](super::loader::limits).
    pub fn new(
        target: Target,
        alg: Algorithm,
        connections: u32,
        in_flight: u32,
        measured: Duration,
    ) -> Result<Self, String> {
        load(alg, connections, in_flight, measured)?;
        Ok(Self {
            target,
            alg,
            connections,
            in_flight,
            rate: None,
            measured,
        })
    }

    /// Returns the same load as an open loop with this number of calls per second.
    ///
    /// # Errors
    /// If the rate is invalid, or exceeds the limit.
    pub fn rate(mut self, per_second: f64) -> Result<Self, String> {
        load(self.alg, self.connections, self.in_flight, self.measured)?
            .pace(Pace::Open { per_second })?;
        self.rate = Some(per_second);
        Ok(self)
    }

    /// For example `5×50, HS256`.
    fn name(&self) -> String {
        format!("{}×{}, {}", self.connections, self.in_flight, self.alg)
    }

    /// Returns the calls in flight on all connections.
    fn calls(&self) -> u32 {
        self.connections * self.in_flight
    }

    /// Returns the duration in Go's notation, which these tools use: `10s` or `500ms`.
    fn duration(&self) -> String {
        match self.measured.subsec_millis() {
            0 => format!("{}s", self.measured.as_secs()),
            _ => format!("{}ms", self.measured.as_millis()),
        }
    }

    /// Returns the rate for a tool that supports only whole numbers.
    fn whole_rate(&self, tool: &'static str) -> Result<Option<u64>, String> {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the limits keep it above zero and at most a million"
        )]
        let whole = |rate: f64| {
            if rate.fract() == 0.0 {
                Ok(rate as u64)
            } else {
                Err(format!(
                    "{tool} supports only a whole number of calls per second, not {rate}"
                ))
            }
        };
        self.rate.map(whole).transpose()
    }
}

/// Creates the load of the lab's own loader to check the limits. The target does not matter.
fn load(
    alg: Algorithm,
    connections: u32,
    in_flight: u32,
    measured: Duration,
) -> Result<Load, String> {
    let target = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let request = Request::generate_jwt(alg);
    Load::new(target, request, connections, in_flight, measured)
}

/// `HOST:PORT`. The tool resolves the host, which may be unknown here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target(String);

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Only these characters, so that no file needs to quote the target.
        let in_a_host = |c: char| c.is_ascii_alphanumeric() || ".-_[]:".contains(c);
        let is_target = text.rsplit_once(':').is_some_and(|(host, port)| {
            let six = host.starts_with('[') && host.ends_with(']');
            !host.is_empty()
                && host.chars().all(in_a_host)
                && (six || !host.contains([':', '[', ']']))
                && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        if is_target {
            Ok(Self(text.to_owned()))
        } else {
            Err("must be HOST:PORT, for example 127.0.0.1:8420".to_owned())
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn target_never_needs_quotes() {
        for good in ["127.0.0.1:8420", "jeton.default.svc:1", "[::1]:65535"] {
            assert_eq!(good.parse::<Target>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "jeton",
            ":1",
            "a:0",
            "a:65536",
            "a b:1",
            "a\":1",
            "a\n:1",
            "::1:80",
            "http://a:1",
        ] {
            assert!(bad.parse::<Target>().is_err(), "{bad}");
        }
    }

    #[test]
    fn plan_has_the_limits_of_the_loader() {
        let target: Target = "a:1".parse().unwrap();
        let second = Duration::from_secs(1);
        let plan =
            |connections| Plan::new(target.clone(), Algorithm::Hs256, connections, 1, second);
        assert!(plan(0).unwrap_err().contains("connections"));
        assert!(
            plan(1)
                .unwrap()
                .rate(0.0)
                .unwrap_err()
                .contains("a rate must be")
        );
        assert_eq!(
            plan(1).unwrap().rate(2.0).unwrap().whole_rate("x"),
            Ok(Some(2))
        );
        assert!(plan(1).unwrap().rate(0.5).unwrap().whole_rate("x").is_err());
    }

    #[test]
    fn duration_is_in_go_notation() {
        for (milliseconds, written) in [(3000, "3s"), (500, "500ms"), (1500, "1500ms")] {
            let plan = Plan::new(
                "a:1".parse().unwrap(),
                Algorithm::Es256,
                1,
                1,
                Duration::from_millis(milliseconds),
            );
            assert_eq!(plan.unwrap().duration(), written);
        }
    }
}
