//! Keys in an HSM: the server signs without blocking, and goes on verifying when the HSM is gone. jeton-cli's
//! tests do the same with SoftHSM.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use jeton::SystemClock;
use jeton_proto::report::GenerateJwtRequest;
use jeton_proto::report::jwt_service_client::JwtServiceClient;
use jeton_proto::v1::{IssueBatchRequest, IssueItem, IssueRequest, StatusRequest, issue_outcome};
use jeton_server::{Config, HsmKeys, Pkcs11, Pkcs11Key, Pkcs11Provider, Server};
use tonic::{Code, Status};

use crate::fake_hsm::{FakeHsm, GONE};
use crate::harness::{ISS, ISSUER, TestServer, is_soon, reason};
use crate::raw_http::{get, post_form};

/// The HSMs of the tests, by the file of their module.
static HSMS: LazyLock<Mutex<HashMap<String, FakeHsm>>> = LazyLock::new(Mutex::default);

impl HsmKeys for FakeHsm {
    fn set_keys(&self, keys: &[Pkcs11Key]) {
        for key in keys {
            self.name(&key.issuer, &key.label);
        }
    }
}

pub(crate) const PROVIDER: Pkcs11Provider = Pkcs11Provider {
    open: |settings| {
        let hsm = find(settings);
        hsm.set_keys(&settings.keys);
        Ok(Arc::new(hsm))
    },
    check: |settings| {
        let fault = jeton_issuer::RemoteKeys::fault(&find(settings));
        fault.into_iter().collect()
    },
};

fn find(settings: &Pkcs11) -> FakeHsm {
    let module = settings.module.display().to_string();
    let mut hsms = HSMS.lock().unwrap();
    hsms.entry(module).or_default().clone()
}

/// A configuration with an HSM for the profile `access`, and the HSM of the test.
pub(crate) fn configured(test: &str, more: &str) -> (String, FakeHsm) {
    let mut hsms = HSMS.lock().unwrap();
    let hsm = hsms.entry(test.to_owned()).or_default().clone();
    // A busy machine must not look like an HSM that is too slow.
    let timeout = if more.contains("timeout_seconds") {
        ""
    } else {
        "timeout_seconds = 60\n"
    };
    let text = format!(
        "[pkcs11]\nmodule = '{test}'\ntoken = 't'\npin_file = 'pin'\n{timeout}{more}\n\
         [[pkcs11.key]]\nissuer = '{ISS}'\nalg = 'ES256'\nlabel = 'one'\n\
         [generate_jwt]\nissuer = '{ISS}'\nhs256 = 'mac'\nes256 = 'access'\n{ISSUER}"
    );
    (text, hsm)
}

fn request(profile: &str) -> IssueRequest {
    IssueRequest {
        profile: profile.to_owned(),
        ..IssueRequest::default()
    }
}

fn issue(fixture: &TestServer, profile: &str) -> Result<String, Status> {
    let mut tokens = fixture.tokens();
    let issued = fixture.runtime.block_on(tokens.issue(request(profile)));
    issued.map(|issued| issued.into_inner().token)
}

fn batch() -> IssueBatchRequest {
    IssueBatchRequest {
        profile: "access".to_owned(),
        items: vec![IssueItem::default(); 3],
        ..IssueBatchRequest::default()
    }
}

/// The tokens of every way to issue one.
fn issue_every_way(fixture: &TestServer) -> Vec<String> {
    let mut issued = vec![issue(fixture, "access").unwrap()];
    let mut tokens = fixture.tokens();
    let outcomes = fixture.runtime.block_on(async {
        let batch = tokens.issue_batch(batch()).await.unwrap().into_inner();
        let requests = tokio_stream::iter(vec![request("access"), request("mac")]);
        let stream = tokens.issue_stream(requests).await.unwrap();
        let mut stream = stream.into_inner();
        let mut outcomes = batch.outcomes;
        while let Some(outcome) = stream.message().await.unwrap() {
            outcomes.push(outcome);
        }
        outcomes
    });
    for outcome in outcomes {
        match outcome.outcome.unwrap() {
            issue_outcome::Outcome::Issued(one) => issued.push(one.token),
            issue_outcome::Outcome::Error(error) => panic!("{error:?}"),
        }
    }
    let form = "grant_type=client_credentials";
    let answer = post_form(fixture.address(), "/tenant/token", form);
    assert_eq!(answer.status, 200, "{}", answer.body);
    issued.push(answer.json()["access_token"].as_str().unwrap().to_owned());
    let mut client = JwtServiceClient::new(fixture.channel(fixture.address()));
    let algorithm = "ES256".to_owned();
    let generated = client.generate_jwt(GenerateJwtRequest { algorithm });
    let generated = fixture.runtime.block_on(generated).unwrap();
    issued.push(generated.into_inner().jwt);
    issued
}

impl TestServer {
    /// Lets the calls of the test go on.
    fn pause(&self) {
        let pause = async { tokio::time::sleep(Duration::from_millis(5)).await };
        self.runtime.block_on(pause);
    }
}

fn metrics(fixture: &TestServer) -> String {
    get(fixture.server().admin_address(), "/metrics", &[]).body
}

fn readyz(fixture: &TestServer) -> u16 {
    get(fixture.address(), "/readyz", &[]).status
}

#[test]
fn every_way_to_issue_signs_in_the_hsm() {
    let (config, hsm) = configured("every-way", "");
    let fixture = TestServer::try_with(&config).unwrap();
    let tokens = issue_every_way(&fixture);
    assert_eq!(tokens.len(), 8);
    for token in &tokens {
        assert!(fixture.verify(token).is_ok());
    }
    // All but the MAC of the stream.
    assert_eq!(hsm.signatures(), 7);
    assert!(metrics(&fixture).contains("\njeton_hsm_available 1\n"));
}

#[test]
fn hsm_that_is_gone_stops_issuing_and_not_verifying() {
    let (config, hsm) = configured("gone", "");
    let fixture = TestServer::try_with(&config).unwrap();
    let token = issue(&fixture, "access").unwrap();
    hsm.set_gone(true);
    let refused = issue(&fixture, "access").unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable);
    assert_eq!(reason(&refused), "SIGNER_FAILED");
    assert!(refused.message().contains(GONE), "{refused:?}");
    let form = "grant_type=client_credentials";
    let answer = post_form(fixture.address(), "/tenant/token", form);
    assert_eq!(answer.status, 503, "{}", answer.body);
    assert!(fixture.verify(&token).is_ok());
    assert!(issue(&fixture, "mac").is_ok());
    assert_eq!(readyz(&fixture), 503);
    let text = metrics(&fixture);
    assert!(text.contains("\njeton_hsm_available 0\n"));
    assert!(text.contains("\njeton_hsm_calls_failed_total 2\n"));
    assert!(text.contains("\njeton_ready 0\n"));
    let mut admin = fixture.admin();
    let status = fixture.runtime.block_on(admin.status(StatusRequest {}));
    assert!(status.unwrap().into_inner().fault.contains(GONE));
    hsm.set_gone(false);
    assert_eq!(issue_every_way(&fixture).len(), 8);
    assert_eq!(readyz(&fixture), 200);
}

#[test]
fn start_without_the_hsm_fails_only_for_a_new_issuer() {
    let (config, hsm) = configured("start", "");
    hsm.set_gone(true);
    let refused = TestServer::try_with(&config).map(drop).unwrap_err();
    assert!(refused.to_string().contains(GONE), "{refused}");
    hsm.set_gone(false);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let first = TestServer::start_with_hsm(&config, &data).unwrap();
    let token = issue(&first, "access").unwrap();
    drop(first);
    hsm.set_gone(true);
    let fixture = TestServer::start_with_hsm(&config, &data).unwrap();
    assert!(fixture.verify(&token).is_ok());
    assert_eq!(readyz(&fixture), 503);
    assert_eq!(
        issue(&fixture, "access").unwrap_err().code(),
        Code::Unavailable
    );
    hsm.set_gone(false);
    assert!(issue(&fixture, "access").is_ok());
    assert_eq!(readyz(&fixture), 200);
}

/// The server of the test has one worker thread.
#[test]
fn slow_hsm_blocks_no_other_call_and_its_queue_is_bounded() {
    let (config, hsm) = configured("slow", "sessions = 1\nqueue = 1\ntimeout_seconds = 60");
    let fixture = TestServer::try_with(&config).unwrap();
    let token = issue(&fixture, "access").unwrap();
    hsm.set_slow(true);
    let tokens = fixture.tokens();
    let started = Instant::now();
    let calls = [(); 2].map(|()| {
        let mut tokens = tokens.clone();
        fixture
            .runtime
            .spawn(async move { tokens.issue(request("access")).await })
    });
    while !metrics(&fixture).contains("\njeton_hsm_calls_waiting 2\n") {
        assert!(started.elapsed() < Duration::from_secs(60));
        fixture.pause();
    }
    let refused = issue(&fixture, "access").unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}");
    assert!(refused.message().contains("pkcs11.queue"), "{refused:?}");
    assert!(fixture.verify(&token).is_ok());
    assert!(issue(&fixture, "mac").is_ok());
    assert_eq!(hsm.signing(), 1);
    assert!(metrics(&fixture).contains("\njeton_hsm_calls_refused_total 1\n"));
    hsm.set_slow(false);
    for call in calls {
        assert!(fixture.runtime.block_on(call).unwrap().is_ok());
    }
    assert!(issue(&fixture, "access").is_ok());
}

#[test]
fn hsm_that_does_not_answer_in_time_is_unavailable() {
    let (config, hsm) = configured("late", "sessions = 1\ntimeout_seconds = 1");
    let fixture = TestServer::try_with(&config).unwrap();
    hsm.set_slow(true);
    // The first call keeps its thread, and the second waits for it.
    for _ in 0..2 {
        let late = issue(&fixture, "access").unwrap_err();
        assert_eq!(late.code(), Code::Unavailable);
        assert!(late.message().contains("within 1 s"), "{late:?}");
    }
    assert_eq!(hsm.signing(), 1);
    hsm.set_slow(false);
    // On a busy machine, a good HSM may need longer than the second, too.
    assert!(is_soon(|| issue(&fixture, "access").is_ok()));
}

#[test]
fn stop_does_not_wait_for_an_hsm_that_hangs() {
    let (config, hsm) = configured("hangs", "");
    let mut fixture = TestServer::try_with(&config).unwrap();
    hsm.set_slow(true);
    let mut tokens = fixture.tokens();
    let call = fixture
        .runtime
        .spawn(async move { tokens.issue(request("access")).await });
    while hsm.signing() == 0 {
        fixture.pause();
    }
    let started = Instant::now();
    fixture.server.take().unwrap().stop();
    assert!(started.elapsed() < Duration::from_secs(60));
    assert!(fixture.runtime.block_on(call).unwrap().is_err());
}

#[test]
fn configuration_of_an_hsm_is_checked() {
    let key = "[[pkcs11.key]]\nissuer = 'i'\nalg = 'ES256'\nlabel = 'one'\n";
    let head = "[pkcs11]\nmodule = 'm'\npin_file = 'p'\n";
    for (text, problem) in [
        (format!("{head}{key}"), "exactly one of `token`"),
        (
            format!("{head}token = 't'\nslot = 1\n{key}"),
            "exactly one of `token`",
        ),
        (format!("{head}slot = 1\n"), "no [[pkcs11.key]]"),
        (
            format!("{head}slot = 1\nsessions = 0\n{key}"),
            "`pkcs11.sessions`",
        ),
        (
            format!("{head}slot = 1\nqueue = 100001\n{key}"),
            "`pkcs11.queue`",
        ),
        (
            format!("{head}slot = 1\ntimeout_seconds = 0\n{key}"),
            "`pkcs11.timeout_seconds`",
        ),
        (
            format!("{head}slot = 1\n{key}{key}"),
            "another key has this issuer",
        ),
        (
            format!("{head}slot = 1\npin = '1234'\n{key}"),
            "unknown field",
        ),
        (
            format!("{head}slot = 1\n{key}{}", key.replace("ES256", "RS256")),
            "another key has this label",
        ),
        (
            format!("{head}slot = 1\n{}", key.replace("ES256", "HS256")),
            "expected one of: RS256",
        ),
    ] {
        let error = Config::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
        assert!(!error.contains("1234"), "{error}");
    }
    let (config, hsm) = configured("checked", "");
    let config = Config::from_toml(&config).unwrap();
    let without = config.check().unwrap_err().to_string();
    assert!(without.contains("--features pkcs11"), "{without}");
    let started = Server::start_with(config.clone(), None, Arc::new(SystemClock));
    assert!(started.is_err());
    config.check_with(Some(PROVIDER)).unwrap();
    hsm.set_gone(true);
    let error = config.check_with(Some(PROVIDER)).unwrap_err().to_string();
    assert_eq!(error, format!("`pkcs11`: {GONE}"));
}
