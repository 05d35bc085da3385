//! Keys of a real outside issuer, whose age is moved.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use jeton::Timestamp;
use jeton_testkit::{Expected, KeyServer, PROXIED_HOST, REFUSED_HOST};
use serde_json::json;

use super::outside_issuer::{Behaviour, OutsideIssuer};
use super::*;

const OWN: &str = "https://id.example";

/// The clock of the tokens, and the time that the age of keys is measured by.
#[derive(Clone)]
struct Time(Arc<AtomicI64>);

impl Clock for Time {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_seconds(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

impl Time {
    fn new() -> Time {
        Time(Arc::new(AtomicI64::new(1_800_000_000)))
    }

    async fn forward(&self, seconds: u64) {
        self.0.fetch_add(seconds.cast_signed(), Ordering::SeqCst);
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(seconds)).await;
        tokio::time::resume();
    }
}

struct Tested {
    issuer: OutsideIssuer,
    time: Time,
    config: Config,
    trusts: Trusts,
}

impl Tested {
    fn new() -> Tested {
        let (issuer, time) = (OutsideIssuer::start(), Time::new());
        let text = format!(
            "[[trust]]\nname = 'out'\nissuer = '{OWN}'\niss = '{}'\naudience = 'us'\n\
             claims = {{sub = 'workload'}}\ntokens = [{{profile = 'p'}}]\nmaximum_lifetime_seconds = 600\n",
            issuer.iss()
        );
        let config = Config::from_toml(&text).unwrap();
        let mut tested = Tested {
            issuer,
            time,
            config,
            trusts: Trusts::default(),
        };
        tested.trusts = tested.reloaded(&Trusts::default());
        tested
    }

    fn reloaded(&self, before: &Trusts) -> Trusts {
        let clock: Arc<dyn Clock> = Arc::new(self.time.clone());
        Trusts::from_config(&self.config, &clock, before).unwrap()
    }

    /// A token that is valid now.
    fn token(&self) -> String {
        let now = self.time.now().unix_seconds();
        let claims = json!({"sub": "workload", "aud": "us", "iat": now, "exp": now + 60});
        self.issuer.token(&claims)
    }

    /// The error code for a token, or `accepted`.
    async fn outcome(&self, token: &str) -> &'static str {
        outcome(&self.trusts, &self.issuer.iss(), token).await
    }
}

async fn outcome(trusts: &Trusts, iss: &str, token: &str) -> &'static str {
    outcome_of(OWN, trusts, iss, token).await
}

/// The outcome for another issuer of this service.
async fn outcome_of(own: &str, trusts: &Trusts, iss: &str, token: &str) -> &'static str {
    let verified = trusts.verify(own, iss, token, false);
    let outcome = match verified.await {
        Ok(_) => "accepted",
        Err(NotAccepted::Unavailable) => "temporarily_unavailable",
        Err(NotAccepted::NoEntry | NotAccepted::Refused { .. }) => "invalid_grant",
    };
    // A request in the background ends before the time is moved.
    let runtime = tokio::runtime::Handle::current().metrics();
    let begun = Instant::now();
    while runtime.num_alive_tasks() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "a request hangs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    outcome
}

#[tokio::test]
async fn outage_of_an_hour_takes_no_known_key_and_rejects_no_new_one() {
    let mut tested = Tested::new();
    assert_eq!(tested.outcome(&tested.token()).await, "accepted");
    tested.time.forward(60).await;
    tested.issuer.rotate("two");
    assert_eq!(tested.outcome(&tested.token()).await, "accepted");
    tested.issuer.set(Behaviour::IsDown);
    let before = tested.issuer.requests();
    for minutes in (0..60).step_by(5) {
        let about = format!("{minutes} minutes");
        assert_eq!(tested.outcome(&tested.token()).await, "accepted", "{about}");
        tested.time.forward(300).await;
    }
    // The keys were older than their `max-age`, and the issuer was asked in vain.
    assert!(tested.issuer.requests() > before);
    let known = tested.token();
    tested.issuer.rotate("three");
    let new = tested.token();
    // The service cannot know the key yet. The token is not wrong.
    assert_eq!(tested.outcome(&new).await, "temporarily_unavailable");
    assert_eq!(tested.outcome(&known).await, "accepted");
    tested.issuer.set(Behaviour::Works);
    tested.time.forward(31).await;
    assert_eq!(tested.outcome(&tested.token()).await, "accepted");
    let stranger = OutsideIssuer::start();
    let claims = json!({"iss": tested.issuer.iss(), "sub": "workload", "aud": "us"});
    let forged = stranger.token(&claims);
    assert_eq!(tested.outcome(&forged).await, "invalid_grant");
}

/// A withdrawn key must not verify without limit.
#[tokio::test]
async fn outage_of_a_day_ends_the_use_of_known_keys() {
    let tested = Tested::new();
    assert_eq!(tested.outcome(&tested.token()).await, "accepted");
    tested.issuer.set(Behaviour::IsDown);
    tested.time.forward(23 * 3600).await;
    assert_eq!(tested.outcome(&tested.token()).await, "accepted");
    tested.time.forward(3600).await;
    assert_eq!(
        tested.outcome(&tested.token()).await,
        "temporarily_unavailable"
    );
}

#[tokio::test]
async fn reload_during_an_outage_keeps_known_keys() {
    let mut tested = Tested::new();
    let iss = tested.issuer.iss();
    assert_eq!(tested.outcome(&tested.token()).await, "accepted");
    tested.issuer.set(Behaviour::IsDown);
    let reloaded = tested.reloaded(&tested.trusts);
    assert_eq!(outcome(&reloaded, &iss, &tested.token()).await, "accepted");
    // Other settings of the keys begin without keys, as a start does.
    tested.config.trusts[0].default_alg = Some(SigAlg::ES256);
    let changed = tested.reloaded(&reloaded);
    let refused = outcome(&changed, &iss, &tested.token()).await;
    assert_eq!(refused, "temporarily_unavailable");
}

/// The habits of real key servers, which the fetchers of all languages share.
const HABITS: &str = include_str!("../../../../sdk/testdata/fetch.json");

/// The issuer of the service that trusts the key server, whose tokens have the issuer `https://id.example`.
const KEY_SERVER_OWN: &str = "https://own.example";

/// Trust in the issuer of the key server, with these settings.
fn trust_in_key_server(root: &str, entry: &str) -> Trusts {
    let text = format!(
        "{root}\n[[trust]]\nname = 'out'\nissuer = '{KEY_SERVER_OWN}'\naudience = 'api'\n\
         claims = {{sub = 'user-7'}}\ntokens = [{{profile = 'p'}}]\nmaximum_lifetime_seconds = 600\n{entry}\n"
    );
    let config = Config::from_toml(&text).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(Time::new());
    Trusts::from_config(&config, &clock, &Trusts::default()).unwrap()
}

#[tokio::test]
async fn habit_of_a_key_server_has_its_result_in_the_service() {
    const ISS: &str = "iss = 'https://id.example'";
    let server = KeyServer::start(HABITS).unwrap();
    let habits = server.habits().iter().filter(|habit| !habit.is_of_issuer());
    for habit in habits {
        let entry = format!("{ISS}\nkeys_url = '{}/{}/keys'", server.http, habit.name);
        let trusts = trust_in_key_server("", &entry);
        let found = outcome_of(
            KEY_SERVER_OWN,
            &trusts,
            "https://id.example",
            server.token(),
        )
        .await;
        let expected = match habit.expected() {
            Expected::Verified => "accepted",
            Expected::Code(_) => "temporarily_unavailable",
        };
        assert_eq!(found, expected, "{}", habit.name);
    }
}

#[tokio::test]
async fn keys_of_an_outside_issuer_are_fetched_through_the_proxy() {
    let server = KeyServer::start(HABITS).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("authority.pem");
    std::fs::write(&authority, &server.authority).unwrap();
    let entry = |host: &str| {
        format!(
            "iss = 'https://id.example'\nkeys_url = 'https://{host}/plain/keys'\nca_file = '{}'",
            authority.display()
        )
    };
    let local = server.https.trim_start_matches("https://");
    let proxy = format!("proxy = '{}'", server.proxy);
    let closed = "proxy = 'http://127.0.0.1:1'";
    let excepted = format!("{proxy}\nno_proxy = ['{PROXIED_HOST}']");
    for (root, host, expected) in [
        (&*proxy, PROXIED_HOST, "accepted"),
        (&*proxy, REFUSED_HOST, "temporarily_unavailable"),
        (&*excepted, PROXIED_HOST, "temporarily_unavailable"),
        ("", PROXIED_HOST, "temporarily_unavailable"),
        (closed, PROXIED_HOST, "temporarily_unavailable"),
        // Loopback hosts need no proxy.
        (closed, local, "accepted"),
    ] {
        let trusts = trust_in_key_server(root, &entry(host));
        let found = outcome_of(
            KEY_SERVER_OWN,
            &trusts,
            "https://id.example",
            server.token(),
        )
        .await;
        assert_eq!(found, expected, "{root} {host}");
    }
    assert_eq!(server.read("/proxy/count").unwrap(), "2");
}

#[test]
fn proxy_setting_that_is_wrong_names_its_key() {
    for (text, key) in [
        (
            "proxy = 'https://proxy.example'",
            "`proxy`: expected a URL with http",
        ),
        (
            "proxy = 'proxy.example:3128'",
            "`proxy`: expected a URL with http",
        ),
        ("proxy = ''", "`proxy`: expected a URL with http"),
        ("no_proxy = ['a.example']", "`no_proxy`: requires `proxy`"),
        (
            "proxy = 'http://p.example'\nno_proxy = ['a.example,b.example']",
            "`no_proxy`: a name contains a comma",
        ),
    ] {
        let error = Config::from_toml(text).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
    Config::from_toml("proxy = 'http://user:secret@p.example:3128'\nno_proxy = ['10.0.0.0/8']")
        .unwrap();
}
