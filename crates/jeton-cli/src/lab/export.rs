//! `jeton lab export`.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use jeton_lab::servers::Algorithm;
use jeton_lab::servers::export::{self, Cluster, Plan, Target};

use super::destination::Destination;
use super::load::seconds;
use super::sentence;

/// Write a load for other tools: ghz, k6, or many loaders in Kubernetes
///
/// The load is the one that `jeton lab load` makes with the same options: so many connections, so many
/// calls in flight on each, GenerateJwt with one algorithm. Each tool does it in its own way, and its
/// file says in which.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab export ghz --target 127.0.0.1:8420 -o ghz.json
  jeton lab export k6 --target 127.0.0.1:8420 --alg ES256 --rate 5000 -o load.js
  jeton lab export kubernetes --target jeton:8420 --image registry.example/jeton -o loaders.yaml")]
pub(super) struct Export {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    Ghz(Ghz),
    K6(K6),
    Kubernetes(Kubernetes),
}

/// A configuration for ghz
///
/// It names proto/jwt/services/jwt_service.proto: run ghz in the checkout's root, or mend the path. In
/// an open loop ghz counts a latency from when it sent a call, and not from when the call was due; and
/// it has no warm-up.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab export ghz --target 127.0.0.1:8420 -o ghz.json
  ghz --config ghz.json -o measured.json")]
struct Ghz {
    #[command(flatten)]
    asked: Asked,
}

/// A script for k6
///
/// It loads proto/jwt/services/jwt_service.proto from its own folder: keep it in the checkout's root,
/// or mend the path. Each of k6's users has a connection of its own. In a closed loop each shares it
/// among its calls in flight; in an open loop it has one call at a time, and there are as many
/// connections as calls in flight.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab export k6 --target 127.0.0.1:8420 -o load.js
  k6 run load.js")]
struct K6 {
    #[command(flatten)]
    asked: Asked,
}

/// A manifest for Kubernetes: many loaders side by side
///
/// An indexed Job, each of whose pods is `jeton lab load` with the whole load. Their files add up
/// exactly: `jeton lab load merge`. The claim that they are left on must be one that many nodes write.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab export kubernetes --target jeton:8420 --image registry.example/jeton -o loaders.yaml
  kubectl apply -f loaders.yaml")]
struct Kubernetes {
    /// How many loaders, each with the whole load
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    loaders: u32,

    /// The image with `jeton` on its PATH
    #[arg(long, value_name = "NAME")]
    image: String,

    #[command(flatten)]
    asked: Asked,
}

/// The load.
#[derive(Debug, Args)]
struct Asked {
    /// Where the server listens, as the tool will look it up
    #[arg(long, value_name = "HOST:PORT")]
    target: Target,

    /// What tokens are asked for: HS256 or ES256
    #[arg(long, value_name = "NAME", default_value = "HS256", value_parser = Algorithm::of_the_report)]
    alg: Algorithm,

    /// How many connections
    #[arg(long, value_name = "N", default_value_t = 5)]
    connections: u32,

    /// How many calls in flight on each
    #[arg(long, value_name = "N", default_value_t = 50)]
    in_flight: u32,

    /// Calls a second of an open loop, instead of a closed one
    #[arg(long, value_name = "N")]
    rate: Option<f64>,

    /// How long is measured
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    seconds: Duration,

    #[command(flatten)]
    destination: Destination,
}

impl Export {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let (text, asked) = match self.tool {
            Tool::Ghz(ghz) => (
                export::ghz(&ghz.asked.plan()?).map_err(sentence)?,
                ghz.asked,
            ),
            Tool::K6(k6) => (export::k6(&k6.asked.plan()?).map_err(sentence)?, k6.asked),
            Tool::Kubernetes(Kubernetes {
                loaders,
                image,
                asked,
            }) => {
                let cluster = Cluster { loaders, image };
                (export::kubernetes(&asked.plan()?, &cluster), asked)
            }
        };
        asked.destination.text(&text, &[])
    }
}

impl Asked {
    fn plan(&self) -> Result<Plan, String> {
        let plan = Plan::new(
            self.target.clone(),
            self.alg,
            self.connections,
            self.in_flight,
            self.seconds,
        );
        let paced = plan.and_then(|plan| match self.rate {
            Some(rate) => plan.rate(rate),
            None => Ok(plan),
        });
        paced.map_err(sentence)
    }
}
