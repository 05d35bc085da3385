//! Calls of one server, with so many in flight.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jeton_client::{
    Client, Connection, IssueRequest, RevokeRequest, TokenId, VerifyRequest, revoke_request::What,
};
use tokio::runtime::Runtime;
use tokio::task::LocalSet;
use xtask::command::Error;

/// Connections that the calls share.
const CONNECTIONS: usize = 4;
const ISSUER: &str = "https://id.example";

/// Numbers of the ids of revoked tokens, so that each is new.
static NEXT: AtomicU64 = AtomicU64::new(0);

pub(super) struct Loader {
    runtime: Runtime,
    clients: Vec<Client>,
}

/// What a load did.
pub(super) struct Done {
    /// Calls that were answered.
    pub(super) calls: f64,
    /// Their rate.
    pub(super) per_second: f64,
}

impl Loader {
    /// Connects to a server.
    pub(super) fn to(address: &str) -> Result<Loader, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::Usage(format!("no runtime: {error}")))?;
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            let connection = Connection::to(format!("http://{address}"));
            let client = runtime.block_on(connection.connect());
            clients.push(client.map_err(failed)?);
        }
        Ok(Loader { runtime, clients })
    }

    /// Revokes tokens by new ids for this time.
    pub(super) fn revoke(&self, in_flight: usize, time: Duration) -> Result<Done, Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs());
        self.calls(in_flight, time, move |client| async move {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let token = TokenId {
                // As long as the ids that jeton issues, and spread like them over a day.
                id: format!("{:022x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                expires_at: i64::try_from(now + 600 + number % 86_400).unwrap_or(i64::MAX),
            };
            let request = RevokeRequest {
                issuer: ISSUER.to_owned(),
                what: Some(What::TokenId(token)),
            };
            client.revoke(request).await.map(drop)
        })
    }

    /// Issues tokens of a profile for this time.
    pub(super) fn issue(&self, profile: &str, time: Duration) -> Result<Done, Error> {
        let request = request(profile);
        self.calls(IN_FLIGHT, time, move |client| {
            let request = request.clone();
            async move { client.issue(request).await.map(drop) }
        })
    }

    /// Verifies a token of a profile for this time.
    pub(super) fn verify(&self, profile: &str, time: Duration) -> Result<Done, Error> {
        let issued = self.clients[0].issue(request(profile));
        let token = self.runtime.block_on(issued).map_err(failed)?.token;
        let request = VerifyRequest {
            audience: "api".to_owned(),
            token,
            ..VerifyRequest::default()
        };
        self.calls(IN_FLIGHT, time, move |client| {
            let request = request.clone();
            async move { client.verify(request).await.map(drop) }
        })
    }

    fn calls<F, A>(&self, in_flight: usize, time: Duration, call: F) -> Result<Done, Error>
    where
        F: Fn(Client) -> A + Clone + 'static,
        A: Future<Output = jeton_client::Result<()>>,
    {
        let began = Instant::now();
        let callers = LocalSet::new();
        let running: Vec<_> = (self.clients.iter().cycle().take(in_flight).cloned())
            .map(|client| {
                let call = call.clone();
                callers.spawn_local(async move {
                    let mut calls = 0_u32;
                    while began.elapsed() < time {
                        call(client.clone()).await?;
                        calls += 1;
                    }
                    Ok(calls)
                })
            })
            .collect();
        let all = callers.run_until(async {
            let mut calls = 0.0;
            for caller in running {
                let made = caller.await.map_err(|_| gone())?;
                calls += f64::from(made.map_err(failed)?);
            }
            Ok(calls)
        });
        let calls: f64 = self.runtime.block_on(all)?;
        Ok(Done {
            calls,
            per_second: calls / began.elapsed().as_secs_f64(),
        })
    }
}

/// Calls in flight of the loads that do not write.
const IN_FLIGHT: usize = 200;

fn request(profile: &str) -> IssueRequest {
    IssueRequest {
        issuer: ISSUER.to_owned(),
        profile: profile.to_owned(),
        subject: "alice".to_owned(),
        ..IssueRequest::default()
    }
}

fn failed(error: jeton_client::Error) -> Error {
    Error::Failed(format!("a call failed: {error}"))
}

fn gone() -> Error {
    Error::Failed("a caller ended early".into())
}
