//! Sends twice the load that the server can process. The server answers the excess with an error, the rest in time and
//! within its memory, and recovers afterwards.
//!
//! `JETON_OVERLOAD_SECONDS` sets the duration (default 6). The control server has no limit, so its latency grows.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jeton_client::{Client, Connection, Error, IssueBatchRequest, IssueItem};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::interval;

use crate::serving::Serving;

/// Clients, each with its own connection, because calls in flight are limited for each connection.
const CLIENTS: usize = 16;
/// Tokens in a call, so that a call costs the server much more than the client.
const ITEMS: usize = 128;
/// The limit for additional memory during overload.
const MORE_MIB: u64 = 64;
/// The measured capacity is too low if the machine was busy meanwhile: the rate is doubled this often.
const DOUBLED: usize = 5;
/// How long the server may take to recover on a busy machine.
const RECOVERY: Duration = Duration::from_secs(60);
/// Longer than a call takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The results of the calls.
#[derive(Debug, Default)]
struct Tally {
    answered: usize,
    shed: usize,
    failed: Vec<Error>,
    /// The latency of each successful call.
    waits: Vec<Duration>,
}

struct World {
    _folder: tempfile::TempDir,
    server: Serving,
    runtime: Runtime,
    clients: Vec<Client>,
}

impl World {
    fn new(limits: &str) -> World {
        let folder = tempfile::tempdir().unwrap();
        let issuer = "[[issuer]]\niss = 'https://id.example'\nprofiles = [{name = 'access', \
                      alg = 'ES256', lifetime_seconds = 60, audiences = ['api']}]\n";
        let config = format!("workers = 1\n{limits}{issuer}");
        fs::write(folder.path().join("jeton.toml"), config).unwrap();
        let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
        let address = server.address();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let connect = || {
            let connection = Connection::to(address.clone()).timeout(TIMEOUT);
            runtime.block_on(connection.connect())
        };
        let clients = (0..CLIENTS).map(|_| connect().unwrap()).collect();
        World {
            _folder: folder,
            server,
            runtime,
            clients,
        }
    }

    /// Measures the calls per second of a closed loop.
    fn capacity(&self) -> f64 {
        let lasting = Duration::from_secs(2);
        let begun = Instant::now();
        let one_after_the_other = |client: Client| async move {
            let mut answered = 0;
            while begun.elapsed() < lasting {
                match call(&client).await {
                    Ok(()) => answered += 1,
                    // The server was paused.
                    Err(Error::Overloaded(_)) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            answered
        };
        let answered: usize = self.runtime.block_on(async {
            let mut all = JoinSet::new();
            for client in self.clients.iter().take(4) {
                all.spawn(one_after_the_other(client.clone()));
            }
            all.join_all().await.into_iter().sum()
        });
        answered.max(1) as f64 / begun.elapsed().as_secs_f64()
    }

    /// Sends calls at a fixed rate.
    fn offer(&self, per_second: f64, lasting: Duration) -> Tally {
        self.runtime.block_on(async {
            let mut tally = Tally::default();
            let mut flying = JoinSet::new();
            let mut tick = interval(Duration::from_millis(2));
            let begun = Instant::now();
            let mut made = 0;
            while begun.elapsed() < lasting {
                tick.tick().await;
                let due = (begun.elapsed().as_secs_f64() * per_second) as usize;
                for number in made..due {
                    flying.spawn(timed(self.clients[number % CLIENTS].clone()));
                }
                made = due;
                while let Some(one) = flying.try_join_next() {
                    tally.add(one.unwrap());
                }
            }
            for one in flying.join_all().await {
                tally.add(one);
            }
            tally
        })
    }
}

fn call(client: &Client) -> impl Future<Output = Result<(), Error>> {
    let item = |number: usize| IssueItem {
        subject: format!("user{number}"),
        ..IssueItem::default()
    };
    let request = IssueBatchRequest {
        profile: "access".to_owned(),
        items: (0..ITEMS).map(item).collect(),
        ..IssueBatchRequest::default()
    };
    async move {
        let answer = client.issue_batch(request).await?;
        assert_eq!(answer.outcomes.len(), ITEMS);
        Ok(())
    }
}

async fn timed(client: Client) -> (Duration, Result<(), Error>) {
    let begun = Instant::now();
    let ended = call(&client).await;
    (begun.elapsed(), ended)
}

impl Tally {
    fn add(&mut self, (wait, ended): (Duration, Result<(), Error>)) {
        match ended {
            Ok(()) => {
                self.answered += 1;
                self.waits.push(wait);
            }
            Err(Error::Overloaded(_)) => self.shed += 1,
            Err(other) => self.failed.push(other),
        }
    }

    /// Returns a quantile of the latency of successful calls; zero if there are none.
    fn wait(&self, share: f64) -> Duration {
        let mut waits = self.waits.clone();
        waits.sort();
        let last = waits.len().saturating_sub(1);
        let wait = waits.get((last as f64 * share) as usize);
        wait.copied().unwrap_or_default()
    }

    fn sentence(&self) -> String {
        format!(
            "{} answered (half within {:.0} ms, all within {:.0} ms), {} refused, {} failed",
            self.answered,
            self.wait(0.5).as_secs_f64() * 1e3,
            self.wait(1.0).as_secs_f64() * 1e3,
            self.shed,
            self.failed.len()
        )
    }
}

/// Samples the memory of a process and returns the maximum.
struct Watched {
    most_kib: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

impl Watched {
    fn begin(process: u32) -> Watched {
        let watched = Watched {
            most_kib: Arc::default(),
            over: Arc::default(),
        };
        let (most, over) = (watched.most_kib.clone(), watched.over.clone());
        thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                most.fetch_max(resident_kib(process), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(20));
            }
        });
        watched
    }

    fn end(self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        self.most_kib.load(Ordering::Relaxed) / 1024
    }
}

fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status"));
    let status = status.unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

#[test]
fn overload_is_answered_with_unavailable_and_recovers() {
    let seconds = std::env::var("JETON_OVERLOAD_SECONDS").ok();
    let seconds: u64 = seconds.map_or(6, |text| text.parse().expect("it is a number"));
    let world = World::new("");
    let capacity = world.capacity();
    let before = resident_kib(world.server.process()) / 1024;
    println!(
        "{capacity:.0} calls of {ITEMS} tokens a second can be answered; {before} MiB resident"
    );

    let mut rate = capacity;
    let mut shed = 0;
    for _ in 0..DOUBLED {
        rate *= 2.0;
        let watched = Watched::begin(world.server.process());
        let over = world.offer(rate, Duration::from_secs(seconds));
        let most = watched.end();
        println!(
            "{rate:.0} a second for {seconds} s: {}; {most} MiB at most",
            over.sentence()
        );
        assert!(over.failed.is_empty(), "{:?}", over.failed[0]);
        assert!(over.answered > 0, "refusing is all that it did");
        assert!(most < before + MORE_MIB, "{before} MiB, then {most} MiB");
        shed = over.shed;
        if shed > 0 {
            break;
        }
    }
    assert!(shed > 0, "nothing was refused");

    let begun = Instant::now();
    loop {
        let after = world.offer(capacity / 8.0, Duration::from_secs(1));
        println!("then an eighth as many: {}", after.sentence());
        assert!(after.failed.is_empty(), "{:?}", after.failed[0]);
        if after.answered > 0 && after.shed == 0 {
            break;
        }
        assert!(begun.elapsed() < RECOVERY, "it did not recover");
    }
    drop(world);

    let careless = World::new(
        "limits = { worker_delay_milliseconds = 60000, memory_bytes = 2147483648, \
         memory_share_bytes = 2147483648 }\n",
    );
    let control = careless.offer(rate, Duration::from_secs(4));
    println!("control, which refuses nothing: {}", control.sentence());
    assert_eq!(control.shed, 0);
}
