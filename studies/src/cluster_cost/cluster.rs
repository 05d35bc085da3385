//! Three members of an etcd and the servers on it, and what the kernel and etcd count of them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jeton_testkit::Etcd;
use xtask::command::{Error, Workspace, output, succeeds};

use crate::service_cost::servers::{Server, fresh};

/// Members of the etcd.
pub(super) const MEMBERS: usize = 3;
/// How long the members may take to elect a leader.
const START_LIMIT: Duration = Duration::from_secs(30);

const CONFIG: &str = r#"
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
key_encryption_key_file = "kek"

[[issuer]]
iss = "https://id.example"
profiles = [
  { name = "HS256", alg = "HS256", lifetime_seconds = 7200, audiences = ["api"] },
  { name = "ES256", alg = "ES256", lifetime_seconds = 7200, audiences = ["api"] },
]
"#;

pub(super) struct Cluster {
    pub(super) nodes: Vec<Server>,
    etcd: Etcd,
    folder: PathBuf,
}

/// Counters at one moment. Differences of two are what was used between them.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    at: Option<Instant>,
    /// CPU time of each server in microseconds.
    pub(super) nodes_cpu: Vec<f64>,
    /// CPU time of each member in microseconds.
    pub(super) members_cpu: Vec<f64>,
    /// Transactions that a majority has agreed on.
    pub(super) commits: f64,
    /// Flushes of the write-ahead log of one member: the mean.
    pub(super) flushes: f64,
    /// Bytes that all members together sent to the servers.
    pub(super) sent: f64,
    /// Bytes of the database in use, of one member.
    pub(super) stored: f64,
}

impl Counters {
    /// CPU time of the member that used the most.
    pub(super) fn busiest_member(&self) -> f64 {
        self.members_cpu.iter().copied().fold(0.0, f64::max)
    }

    /// What was used since `before`, and the seconds between.
    pub(super) fn since(&self, before: &Counters) -> (Counters, f64) {
        let differences = |now: &[f64], then: &[f64]| {
            let pairs = now.iter().zip(then);
            pairs.map(|(now, then)| now - then).collect()
        };
        let used = Counters {
            at: None,
            nodes_cpu: differences(&self.nodes_cpu, &before.nodes_cpu),
            members_cpu: differences(&self.members_cpu, &before.members_cpu),
            commits: self.commits - before.commits,
            flushes: self.flushes - before.flushes,
            sent: self.sent - before.sent,
            stored: self.stored - before.stored,
        };
        let seconds = match (self.at, before.at) {
            (Some(now), Some(then)) => now.duration_since(then).as_secs_f64(),
            _ => f64::NAN,
        };
        (used, seconds)
    }
}

impl Cluster {
    /// Starts the members and one server.
    pub(super) fn start(workspace: &Workspace, etcd: &Path) -> Result<Cluster, Error> {
        let folder = fresh(workspace, "cluster")?;
        let failed = |error| Error::Usage(format!("{}: {error}", folder.display()));
        let data = folder.join("etcd");
        fs::create_dir(&data).map_err(failed)?;
        fs::write(folder.join("jeton.toml"), CONFIG).map_err(failed)?;
        let key = folder.join("kek");
        fs::write(&key, "7".repeat(64)).map_err(failed)?;
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let etcd = Etcd::start_built(etcd, &data, MEMBERS).map_err(failed)?;
        let mut cluster = Cluster {
            nodes: Vec::new(),
            etcd,
            folder,
        };
        cluster.wait_for_leader(workspace)?;
        cluster.add_node(workspace)?;
        Ok(cluster)
    }

    fn wait_for_leader(&self, workspace: &Workspace) -> Result<(), Error> {
        let began = Instant::now();
        let health = format!("{}/health", self.etcd.member_url(0));
        while began.elapsed() < START_LIMIT {
            if succeeds(workspace.command("curl").args(["-fsS", &health])) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(Error::Failed("the etcd members elect no leader".into()))
    }

    /// Starts one server more.
    pub(super) fn add_node(&mut self, workspace: &Workspace) -> Result<(), Error> {
        let folder = self.folder.join(format!("node{}", self.nodes.len()));
        fs::create_dir(&folder)
            .map_err(|error| Error::Usage(format!("{}: {error}", folder.display())))?;
        let config = self.folder.join("jeton.toml").display().to_string();
        let store = self.etcd.url("/tokens");
        let arguments = ["--config", &config, "--store", &store];
        let node = Server::jeton_on_all_cores(workspace, &folder, &arguments)?;
        self.nodes.push(node);
        Ok(())
    }

    /// Reads all counters.
    pub(super) fn counters(&self, workspace: &Workspace) -> Result<Counters, Error> {
        let mut counters = Counters {
            at: Some(Instant::now()),
            ..Counters::default()
        };
        for node in &self.nodes {
            #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
            counters.nodes_cpu.push(node.cpu_ns()? as f64 / 1e3);
        }
        for member in 0..MEMBERS {
            let url = format!("{}/metrics", self.etcd.member_url(member));
            let said = output(workspace.command("curl").args(["-fsS", &url]))?;
            let read = |name: &str| {
                metric(&said, name).ok_or_else(|| Error::Failed(format!("etcd has no {name}")))
            };
            (counters.members_cpu).push(read("process_cpu_seconds_total")? * 1e6);
            counters.sent += read("etcd_network_client_grpc_sent_bytes_total")?;
            counters.commits = counters
                .commits
                .max(read("etcd_server_proposals_committed_total")?);
            #[allow(clippy::cast_precision_loss, reason = "three")]
            let share = 1.0 / MEMBERS as f64;
            counters.flushes += read("etcd_disk_wal_fsync_duration_seconds_count")? * share;
            let stored = read("etcd_mvcc_db_total_size_in_use_in_bytes")?;
            counters.stored = counters.stored.max(stored);
        }
        Ok(counters)
    }
}

/// The value of a metric without labels.
fn metric(said: &str, name: &str) -> Option<f64> {
    let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
    said.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_is_found_by_its_whole_name() {
        let said = "# HELP a_total A\na_total_more 1\na_total 2.5e+03\nb 7\n";
        assert_eq!(metric(said, "a_total"), Some(2500.0));
        assert_eq!(metric(said, "b"), Some(7.0));
        assert_eq!(metric(said, "c"), None);
    }

    #[test]
    fn difference_is_what_was_used() {
        let counters = |times: f64| Counters {
            at: None,
            nodes_cpu: vec![times, 10.0 * times],
            members_cpu: vec![2.0 * times],
            commits: 3.0 * times,
            flushes: 4.0 * times,
            sent: 5.0 * times,
            stored: 6.0 * times,
        };
        let (used, seconds) = counters(5.0).since(&counters(3.0));
        assert_eq!(used.nodes_cpu, [2.0, 20.0]);
        assert_eq!(used.members_cpu, [4.0]);
        let figures = [used.commits, used.flushes, used.sent, used.stored];
        assert_eq!(figures, [6.0, 8.0, 10.0, 12.0]);
        assert!(seconds.is_nan());
    }
}
