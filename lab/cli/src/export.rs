//! `jeton-lab export`.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use jeton_lab_load::export::{self, Cluster, Plan, Target};
use jeton_lab_model::servers::Algorithm;

use super::destination::Destination;
use super::load::seconds;

/// Export a load scenario for ghz, k6, or loaders in Kubernetes
///
/// The scenario is the same as that of `jeton-lab load` with these options: GenerateJwt with one
/// algorithm, a number of connections, and a number of calls in flight on each. The exported file states
/// how the tool's behaviour differs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab export ghz --target 127.0.0.1:8420 -o ghz.json
  jeton-lab export k6 --target 127.0.0.1:8420 --alg ES256 --rate 5000 -o load.js
  jeton-lab export kubernetes --target jeton:8420 --image registry.example/jeton -o loaders.yaml")]
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

/// Export a configuration for ghz
///
/// The file refers to proto/jwt/services/jwt_service.proto. Run ghz in the root of the checkout, or change
/// the path. In an open loop, ghz measures latency from when it sent a call, not from when the call
/// was due. ghz has no warm-up.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab export ghz --target 127.0.0.1:8420 -o ghz.json
  ghz --config ghz.json -o measured.json")]
struct Ghz {
    #[command(flatten)]
    asked: Asked,
}

/// Export a script for k6
///
/// The script loads proto/jwt/services/jwt_service.proto from its own folder. Keep it in the root of the
/// checkout, or change the path. Each virtual user has its own connection. In a closed loop, a user has
/// several calls in flight on it. In an open loop, a user has one call at a time, so there are as
/// many connections as calls in flight.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab export k6 --target 127.0.0.1:8420 -o load.js
  k6 run load.js")]
struct K6 {
    #[command(flatten)]
    asked: Asked,
}

/// Export a Kubernetes manifest with several loaders
///
/// The manifest is an indexed Job. Each pod runs `jeton-lab load` with the full load. `jeton-lab load
/// merge` adds their result files exactly. The volume claim for the files must allow writes from several
/// nodes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab export kubernetes --target jeton:8420 --image registry.example/jeton -o loaders.yaml
  kubectl apply -f loaders.yaml")]
struct Kubernetes {
    /// Number of loaders, each with the full load
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    loaders: u32,

    /// Container image with `jeton` on its PATH
    #[arg(long, value_name = "NAME")]
    image: String,

    #[command(flatten)]
    asked: Asked,
}

/// The options that describe the load.
#[derive(Debug, Args)]
struct Asked {
    /// Address of the server, as the tool resolves it
    #[arg(long, value_name = "HOST:PORT")]
    target: Target,

    /// Algorithm of the tokens: HS256 or ES256
    #[arg(long, value_name = "NAME", default_value = "HS256", value_parser = Algorithm::of_the_report)]
    alg: Algorithm,

    /// Number of connections
    #[arg(long, value_name = "N", default_value_t = 5)]
    connections: u32,

    /// Number of calls in flight on each connection
    #[arg(long, value_name = "N", default_value_t = 50)]
    in_flight: u32,

    /// Run an open loop with this many calls per second, instead of a closed loop
    #[arg(long, value_name = "N")]
    rate: Option<f64>,

    /// Duration of the measurement, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    seconds: Duration,

    #[command(flatten)]
    destination: Destination,
}

impl Export {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let (text, asked) = match self.tool {
            Tool::Ghz(ghz) => (export::ghz(&ghz.asked.plan()?)?, ghz.asked),
            Tool::K6(k6) => (export::k6(&k6.asked.plan()?)?, k6.asked),
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
        plan.and_then(|plan| match self.rate {
            Some(rate) => plan.rate(rate),
            None => Ok(plan),
        })
    }
}
