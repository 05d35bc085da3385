//! The faults, each with its end.

use std::fmt;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use jeton_testkit::{until, until_some};

use super::cluster::{Cluster, DELAYED, EACH, OWN_CLOCK, Program, SMALL_DISK, libfaketime};
use super::load::{Load, Loss, Random};
use super::network::Direction;

/// libfaketime reads its file once a second.
const CLOCK_READ: Duration = Duration::from_millis(1500);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    IsolateLeader,
    IsolateMember,
    OneWayMember,
    CutNode,
    OneWayNode,
    Partition,
    Loss,
    Delay,
    PauseNode,
    PauseMember,
    KillNode,
    KillMember,
    FullDisk,
    ClockAhead,
    ClockBehind,
    StoreBack,
    OlderNode,
}

impl Fault {
    pub(super) const ALL: &[Fault] = &[
        Fault::IsolateLeader,
        Fault::IsolateMember,
        Fault::OneWayMember,
        Fault::CutNode,
        Fault::OneWayNode,
        Fault::Partition,
        Fault::Loss,
        Fault::Delay,
        Fault::PauseNode,
        Fault::PauseMember,
        Fault::KillNode,
        Fault::KillMember,
        Fault::FullDisk,
        Fault::ClockAhead,
        Fault::ClockBehind,
        Fault::StoreBack,
        Fault::OlderNode,
    ];

    /// Whether this machine can do it.
    pub(super) fn is_possible(self) -> bool {
        !matches!(self, Fault::ClockAhead | Fault::ClockBehind) || libfaketime().is_some()
    }

    /// Lets it happen for this long. Returns what was done.
    pub(super) fn happen(
        self,
        cluster: &Cluster,
        load: &Load,
        time: Duration,
        random: &mut Random,
    ) -> String {
        let network = &cluster.network;
        let one = random.below(EACH);
        let at = random.below(cluster.nodes());
        let node = Cluster::host(at);
        let way = [Direction::In, Direction::Out][random.below(2)];
        match self {
            Fault::IsolateLeader => {
                let leader = cluster.leader();
                lost(cluster, leader, Direction::Both, &[], 100, time)
            }
            Fault::IsolateMember => lost(cluster, one, Direction::Both, &[], 100, time),
            Fault::OneWayMember => lost(cluster, one, way, &[], 100, time),
            Fault::CutNode => lost(cluster, node, Direction::Both, &[], 100, time),
            Fault::OneWayNode => lost(cluster, node, way, &[], 100, time),
            Fault::Partition => {
                // A member and its node on one side, the others on the other side.
                let members = (0..EACH).filter(|&other| other != one);
                let nodes = (0..cluster.nodes()).filter(|&other| other != at);
                let rest: Vec<usize> = members.chain(nodes.map(Cluster::host)).collect();
                network.cut(one, Direction::Both, &rest);
                let said = lost(cluster, node, Direction::Both, &rest, 100, time);
                network.heal(one);
                said
            }
            Fault::Loss => {
                let percent = [10, 30, 50][random.below(3)];
                let host = random.below(EACH + cluster.nodes());
                let said = lost(cluster, host, Direction::Both, &[], percent, time);
                format!("{percent} %, {said}")
            }
            Fault::Delay => {
                let delay = Duration::from_millis([100, 400, 1500][random.below(3)]);
                cluster.delay.set(delay);
                thread::sleep(time);
                cluster.delay.set(Duration::ZERO);
                format!(
                    "node {DELAYED} and member {DELAYED}, {} ms each way",
                    delay.as_millis()
                )
            }
            Fault::PauseNode => {
                cluster.signal_node(at, "-STOP");
                thread::sleep(time);
                cluster.signal_node(at, "-CONT");
                format!("node {at}")
            }
            Fault::PauseMember => {
                cluster.etcd().pause_member(one).unwrap();
                thread::sleep(time);
                cluster.etcd().resume_member(one).unwrap();
                format!("member {one}")
            }
            Fault::KillNode => {
                cluster.node(at).take();
                thread::sleep(time);
                until_some("the node starts", || cluster.start_node(at).then_some(()));
                format!("node {at}")
            }
            Fault::KillMember => {
                cluster.etcd().kill_member(one);
                thread::sleep(time);
                cluster.etcd().start_member(one).unwrap();
                format!("member {one}")
            }
            Fault::FullDisk => fill_disk(cluster, time),
            Fault::ClockAhead | Fault::ClockBehind => {
                let seconds = if self == Fault::ClockAhead { 300 } else { -300 };
                cluster.set_clock(seconds);
                thread::sleep(time);
                cluster.set_clock(0);
                thread::sleep(CLOCK_READ);
                format!("node {OWN_CLOCK}, {seconds:+} s")
            }
            Fault::StoreBack => {
                let copied = load.now();
                cluster.copy_store();
                thread::sleep(time);
                cluster.restore_store();
                let lost = load.lose(Loss {
                    copied,
                    restored: load.now(),
                });
                cluster.all_are_ready();
                // As the operator is told.
                load.repeat(cluster, &lost);
                format!("{} revocations are lost and repeated", lost.number())
            }
            Fault::OlderNode => {
                cluster.replace_node(at, Program::older());
                until("the older version is ready", || cluster.is_ready(at));
                thread::sleep(time);
                assert!(cluster.is_ready(at), "the older version is not ready");
                cluster.replace_node(at, Program::Whole);
                format!("node {at}")
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::IsolateLeader => "the leader is isolated",
            Fault::IsolateMember => "a member is isolated",
            Fault::OneWayMember => "a member is cut off one way",
            Fault::CutNode => "a node is cut off both ways",
            Fault::OneWayNode => "a node is cut off one way",
            Fault::Partition => "a node and a member are cut off",
            Fault::Loss => "packets of a host are lost",
            Fault::Delay => "a node and a member are delayed",
            Fault::PauseNode => "a node is paused",
            Fault::PauseMember => "a member is paused",
            Fault::KillNode => "a node is killed",
            Fault::KillMember => "a member is killed",
            Fault::FullDisk => "the disk of a member is full",
            Fault::ClockAhead => "a clock is five minutes ahead",
            Fault::ClockBehind => "a clock is five minutes behind",
            Fault::StoreBack => "the store goes back",
            Fault::OlderNode => "a node runs an older version",
        })
    }
}

/// Drops packets of a host, and requires that packets were dropped.
fn lost(
    cluster: &Cluster,
    host: usize,
    direction: Direction,
    peers: &[usize],
    percent: u32,
    time: Duration,
) -> String {
    let network = &cluster.network;
    network.lose(host, direction, peers, percent);
    thread::sleep(time);
    let dropped = network.dropped(host);
    network.heal(host);
    // A host may send nothing for a moment.
    let is_sure = percent == 100 && time >= Duration::from_secs(3);
    assert!(
        dropped > 0 || !is_sure,
        "host {host}: no packet was dropped"
    );
    let who = match host.checked_sub(EACH) {
        Some(node) => format!("node {node}"),
        None => format!("member {host}"),
    };
    let way = match direction {
        Direction::Both => "",
        Direction::In => ", receives nothing",
        Direction::Out => ", sends nothing",
    };
    format!("{who}{way}, {dropped} packets dropped")
}

/// A member cannot grow its files. It ends by itself as soon as it has to, and starts again when there is space.
fn fill_disk(cluster: &Cluster, time: Duration) -> String {
    let begun = Instant::now();
    let file = cluster.fill_disk();
    let mut ended = None;
    while begun.elapsed() < time {
        thread::sleep(Duration::from_millis(20));
        if ended.is_none() && cluster.etcd().has_exited(SMALL_DISK).unwrap() {
            ended = Some(begun.elapsed());
        }
    }
    fs::remove_file(file).unwrap();
    match ended {
        Some(ended) => {
            cluster.etcd().kill_member(SMALL_DISK);
            cluster.etcd().start_member(SMALL_DISK).unwrap();
            format!("member {SMALL_DISK}, ended after {} ms", ended.as_millis())
        }
        // Its files have free pages.
        None => format!("member {SMALL_DISK}, needed no space"),
    }
}
