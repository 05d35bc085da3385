//! `jeton admin nodes`.

use clap::Args;
use jeton_issuer::RunningNode;

use super::display;
use super::target::TargetArgs;
use super::view::NodeView;
use crate::exit::Outcome;
use crate::output;

/// List the servers that run on a store: version, clock, age and lease
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin nodes --server http://127.0.0.1:8421
  jeton admin nodes --config jeton.toml --store etcd://127.0.0.1:2379
  jeton admin nodes --json | jq '.nodes[].version'

Each server writes a record with its clock at intervals. The record counts for its lease. A server whose clock is apart \
from those of the majority is not ready. `clock` is the difference to the server that answers, or to this machine.")]
pub(super) struct Nodes {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,
}

impl Nodes {
    pub(super) fn run(self) -> Outcome {
        let nodes = self.target.open()?.nodes()?;
        if self.json {
            return output::json(&serde_json::json!({ "nodes": nodes }));
        }
        if nodes.is_empty() {
            return output::text("no server runs on this store\n");
        }
        output::text(&table(&nodes))
    }
}

fn table(nodes: &[NodeView]) -> String {
    let head = [
        "name", "version", "state", "clock", "heard", "lease", "revision", "id",
    ];
    let rows = nodes.iter().map(|node| {
        let ahead = node.ahead_seconds;
        let state = RunningNode::state_text(node.is_self, node.is_running, ahead);
        let clock = RunningNode::clock_text(ahead);
        let heard = node
            .heard_seconds_ago
            .map_or_else(|| "never".to_owned(), |seconds| format!("{seconds} s ago"));
        [
            node.name.clone(),
            node.version.clone(),
            state.to_owned(),
            clock,
            heard,
            format!("{} s", node.lease_seconds),
            node.revision.to_string(),
            node.id.clone(),
        ]
    });
    let all: Vec<[String; 8]> = std::iter::once(head.map(str::to_owned))
        .chain(rows)
        .collect();
    display::table(&all)
}
