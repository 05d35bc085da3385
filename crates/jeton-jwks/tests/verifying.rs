//! Keys at an address: a real server over HTTP, and a client that plays one where time has to pass.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jeton::error::Rejection;
use jeton::key::{MacAlg, SigAlg};
use jeton::{Claims, Policy, jwt};
use jeton_jwks::{
    Answer, Asking, Error, Fetch, FetchError, Https, PATIENCE, Question, RemoteKeySet, Schedule,
    Verifier,
};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::{advance, sleep};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

const S: Duration = Duration::from_secs(1);

fn key(id: &str) -> jwt::SigningKey {
    jwt::SigningKey::generate(SigAlg::EdDSA)
        .unwrap()
        .with_key_id(id)
        .unwrap()
}

fn set(keys: &[&jwt::SigningKey]) -> String {
    let keys: Vec<String> = keys
        .iter()
        .map(|key| key.verifying_key().to_jwk())
        .collect();
    format!("{{\"keys\":[{}]}}", keys.join(","))
}

fn claims() -> Claims<'static, ()> {
    Claims::new(())
        .issuer("https://id.example")
        .audience("api")
        .expires_in(Duration::from_secs(1_000_000))
}

fn policy() -> Policy {
    Policy::new("https://id.example", "api")
}

/// An address that answers as it is told, and counts.
#[derive(Clone, Default)]
struct Played {
    answer: Arc<Mutex<Option<Result<Answer, FetchError>>>>,
    questions: Arc<Mutex<Vec<Question>>>,
    /// How long an answer takes.
    takes: Arc<Mutex<Duration>>,
}

impl Played {
    fn answers(&self, answer: Result<Answer, FetchError>) {
        *self.answer.lock().unwrap() = Some(answer);
    }

    fn publishes(&self, keys: &[&jwt::SigningKey]) {
        self.answers(Ok(Answer::Set {
            text: set(keys),
            name: None,
            max_age: None,
        }));
    }

    fn is_down(&self) {
        self.answers(Err(FetchError::Status(503)));
    }

    fn asked(&self) -> usize {
        self.questions.lock().unwrap().len()
    }

    /// Of each question, whether caches must not answer it.
    fn past_caches(&self) -> Vec<bool> {
        let questions = self.questions.lock().unwrap();
        questions.iter().map(|question| question.no_cache).collect()
    }

    fn keys(&self) -> RemoteKeySet {
        let address = "https://id.example/jwks.json";
        RemoteKeySet::with(address, self.clone(), Schedule::default()).unwrap()
    }
}

impl Fetch for Played {
    fn fetch(&self, question: Question) -> Asking<'_> {
        self.questions.lock().unwrap().push(question);
        let answer = self.answer.lock().unwrap().clone();
        let takes = *self.takes.lock().unwrap();
        Box::pin(async move {
            sleep(takes).await;
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }
}

async fn verified(verifier: &Verifier, key: &jwt::SigningKey) -> Result<(), Error> {
    let token = key.issue(&claims()).unwrap();
    verifier.verify::<Value>(&token).await.map(drop)
}

/// Lets what was begun behind a call go on.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_call_asks_and_all_others_wait_with_it() {
    let (one, address) = (key("one"), Played::default());
    address.publishes(&[&one]);
    *address.takes.lock().unwrap() = 2 * S;
    let verifier = Arc::new(Verifier::new(&address.keys(), policy()));
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let (verifier, token) = (Arc::clone(&verifier), one.issue(&claims()).unwrap());
            tokio::spawn(async move { verifier.verify::<Value>(&token).await.map(drop) })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(()));
    }
    assert_eq!(address.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn old_keys_serve_while_newer_ones_are_fetched_behind_them() {
    let (one, two, address) = (key("one"), key("two"), Played::default());
    address.publishes(&[&one]);
    let verifier = Verifier::new(&address.keys(), policy());
    verified(&verifier, &one).await.unwrap();
    advance(299 * S).await;
    verified(&verifier, &one).await.unwrap();
    assert_eq!(address.asked(), 1);

    advance(S).await;
    address.publishes(&[&two]);
    *address.takes.lock().unwrap() = S;
    for _ in 0..10 {
        // It does not wait: no time passes, and the old keys still count.
        verified(&verifier, &one).await.unwrap();
    }
    settle().await;
    assert_eq!(address.asked(), 2);
    advance(S).await;
    settle().await;
    verified(&verifier, &two).await.unwrap();
    let gone = verified(&verifier, &one).await.unwrap_err();
    assert_eq!(gone.rejection(), Some(Rejection::UnknownKey));
    assert_eq!(address.past_caches(), [false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_key_is_asked_for_once_in_a_cooldown() {
    let (one, two, never) = (key("one"), key("two"), key("never"));
    let address = Played::default();
    address.publishes(&[&one]);
    let verifier = Verifier::new(&address.keys(), policy());
    verified(&verifier, &one).await.unwrap();
    // Whoever invents names can have it asked once, as what is known may come from a cache.
    for _ in 0..100 {
        let refused = verified(&verifier, &never).await.unwrap_err();
        assert_eq!(refused.rejection(), Some(Rejection::UnknownKey));
    }
    assert_eq!(address.asked(), 2);
    advance(30 * S).await;
    address.publishes(&[&one, &two]);
    verified(&verifier, &two).await.unwrap();
    assert_eq!(address.asked(), 3);
    for _ in 0..100 {
        verified(&verifier, &never).await.unwrap_err();
    }
    assert_eq!(address.asked(), 3);
    // A token that is forged under a known name asks nobody.
    advance(30 * S).await;
    let forged = verified(&verifier, &key("one")).await.unwrap_err();
    assert_eq!(forged.rejection(), Some(Rejection::Signature));
    assert_eq!(address.asked(), 3);
    assert_eq!(address.past_caches(), [false, true, true]);
}

#[tokio::test(start_paused = true)]
async fn keys_outlive_an_address_that_is_down_for_as_long_as_was_said() {
    let (one, address) = (key("one"), Played::default());
    address.publishes(&[&one]);
    let keys = address.keys();
    let verifier = Verifier::new(&keys, policy());
    verified(&verifier, &one).await.unwrap();
    address.is_down();
    for _ in 0..23 {
        advance(3600 * S).await;
        // However many tokens come, it is asked once, and again when the pause is over.
        for _ in 0..10 {
            verified(&verifier, &one).await.unwrap();
            settle().await;
        }
    }
    assert!(keys.age().unwrap() >= 23 * 3600 * S);
    let tried = address.asked();
    assert_eq!(tried, 24);
    advance(3600 * S).await;
    let none = verified(&verifier, &one).await;
    assert_eq!(none, Err(Error::NoKeys(FetchError::Status(503))));
    // It is not asked for every token, and soon again.
    assert_eq!(address.asked(), tried + 1);
    verified(&verifier, &one).await.unwrap_err();
    assert_eq!(address.asked(), tried + 1);
    address.publishes(&[&one]);
    advance(30 * S).await;
    verified(&verifier, &one).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_address_that_was_down_at_first_is_asked_again_soon() {
    let (one, address) = (key("one"), Played::default());
    address.is_down();
    let keys = address.keys();
    assert_eq!(keys.ready().await, Err(FetchError::Status(503)));
    assert_eq!(keys.ready().await, Err(FetchError::Status(503)));
    assert_eq!(address.asked(), 1);
    address.publishes(&[&one]);
    advance(S).await;
    assert_eq!(keys.ready().await, Ok(()));
    verified(&Verifier::new(&keys, policy()), &one)
        .await
        .unwrap();
    assert_eq!(address.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_does_not_end_the_question() {
    let (one, address) = (key("one"), Played::default());
    address.publishes(&[&one]);
    *address.takes.lock().unwrap() = 2 * S;
    let verifier = Verifier::new(&address.keys(), policy());
    let gone = tokio::time::timeout(S, verified(&verifier, &one)).await;
    assert!(gone.is_err());
    verified(&verifier, &one).await.unwrap();
    assert_eq!(address.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_never_answers_is_given_up() {
    let address = Played::default();
    let keys = address.keys();
    let begun = tokio::time::Instant::now();
    assert_eq!(keys.ready().await, Err(FetchError::TimedOut));
    assert_eq!(begun.elapsed(), PATIENCE);
}

#[tokio::test(start_paused = true)]
async fn secrets_in_a_published_set_are_nobody_s_keys() {
    let (one, private) = (key("one"), key("private"));
    let mac = jwt::MacKey::generate(MacAlg::HS256)
        .unwrap()
        .with_key_id("mac")
        .unwrap();
    let public = one.verifying_key().to_jwk();
    let secrets = format!(
        "{},{}",
        private.to_jwk().unwrap().as_str(),
        mac.to_jwk().as_str()
    );
    let address = Played::default();
    let answers = |keys: &str| {
        address.answers(Ok(Answer::Set {
            text: format!("{{\"keys\":[{keys}]}}"),
            name: None,
            max_age: None,
        }));
    };
    answers(&format!("{secrets},{public}"));
    let verifier = Verifier::new(&address.keys(), policy());
    verified(&verifier, &one).await.unwrap();
    for token in [private.issue(&claims()), mac.issue(&claims())] {
        let refused = verifier.verify::<Value>(&token.unwrap()).await.unwrap_err();
        assert_eq!(refused.rejection(), Some(Rejection::UnknownKey));
    }
    for none in [secrets.as_str(), "", "{}", "7"] {
        answers(none);
        assert_eq!(
            address.keys().ready().await,
            Err(FetchError::NoKeySet),
            "{none}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_unchanged_is_fresh_again_and_keeps_its_name() {
    let (one, address) = (key("one"), Played::default());
    let named = |max_age| {
        Ok(Answer::Set {
            text: set(&[&one]),
            name: Some("\"v1\"".to_owned()),
            max_age: Some(max_age),
        })
    };
    address.answers(named(60 * S));
    let keys = address.keys();
    let verifier = Verifier::new(&keys, policy());
    verified(&verifier, &one).await.unwrap();
    address.answers(Ok(Answer::Unchanged {
        max_age: Some(120 * S),
    }));
    for (after, asked) in [(60, 2), (119, 2), (1, 3)] {
        advance(after * S).await;
        verified(&verifier, &one).await.unwrap();
        settle().await;
        assert_eq!(address.asked(), asked, "after {after} s");
    }
    let known: Vec<_> = address
        .questions
        .lock()
        .unwrap()
        .iter()
        .map(|q| q.known.clone())
        .collect();
    assert_eq!(
        known,
        [None, Some("\"v1\"".to_owned()), Some("\"v1\"".to_owned())]
    );
}

/// A server that answers each request with the next of these, and the last one ever after.
async fn serving(answers: Vec<String>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/jwks.json", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let nth = count.fetch_add(1, Ordering::SeqCst);
            let answer = answers.get(nth).or(answers.last()).unwrap();
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (address, asked)
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn here(address: &str) -> RemoteKeySet {
    RemoteKeySet::with(address, Https::new().unwrap(), Schedule::default()).unwrap()
}

#[tokio::test]
async fn a_real_address_is_asked_and_asked_again_with_the_name_of_what_is_known() {
    let one = key("one");
    let full = answer("200 OK", "ETag: \"v1\"\r\n", &set(&[&one]));
    let (address, asked) = serving(vec![full, answer("304 Not Modified", "", "")]).await;
    let schedule = Schedule::default()
        .fresh_for(Duration::ZERO)
        .cooldown(Duration::ZERO);
    let keys = RemoteKeySet::with(&address, Https::new().unwrap(), schedule).unwrap();
    let verifier = Verifier::new(&keys, policy());
    for _ in 0..100 {
        verified(&verifier, &one).await.unwrap();
        if asked.load(Ordering::SeqCst) > 2 {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("it was never asked again");
}

#[tokio::test]
async fn what_a_real_address_can_answer_wrongly_is_told() {
    let one = key("one");
    let long = format!(
        "{{\"keys\":[],\"x\":\"{}\"}}",
        "x".repeat(jeton::limits::KEY_SET_BYTES)
    );
    for (answered, fault) in [
        (answer("404 Not Found", "", ""), FetchError::Status(404)),
        (
            answer("301 Moved", "Location: /elsewhere\r\n", ""),
            FetchError::Status(301),
        ),
        (answer("304 Not Modified", "", ""), FetchError::Status(304)),
        (answer("200 OK", "", "<html>"), FetchError::NoKeySet),
        (answer("200 OK", "", &long), FetchError::TooLong),
    ] {
        let (address, _) = serving(vec![answered]).await;
        assert_eq!(here(&address).ready().await, Err(fault));
    }
    let cut = answer("200 OK", "", &set(&[&one])).replace("Content-Length: ", "Content-Length: 9");
    let (address, _) = serving(vec![cut]).await;
    let broken = here(&address).ready().await;
    assert!(
        matches!(broken, Err(FetchError::Unreachable(_))),
        "{broken:?}"
    );
    let nobody = here("http://127.0.0.1:1/").ready().await;
    assert!(
        matches!(nobody, Err(FetchError::Unreachable(_))),
        "{nobody:?}"
    );
    assert_eq!(
        RemoteKeySet::at("http://id.example/").map(drop),
        Err(FetchError::Address)
    );
}

/// A certificate for this machine that vouches for itself, and a server that has it.
async fn serving_over_tls(body: String) -> (String, rcgen::Certificate) {
    let own = rcgen::KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let certificate = rcgen::CertificateParams::new(names)
        .unwrap()
        .self_signed(&own)
        .unwrap();
    let private = PrivatePkcs8KeyDer::from(own.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private.into())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}/jwks.json", listener.local_addr().unwrap());
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // A client that does not trust the certificate hangs up.
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream
                .write_all(answer("200 OK", "", &body).as_bytes())
                .await;
            let _ = stream.shutdown().await;
        }
    });
    (address, certificate)
}

#[tokio::test]
async fn over_tls_keys_come_from_whom_the_authorities_vouch_for() {
    let one = key("one");
    let (address, certificate) = serving_over_tls(set(&[&one])).await;
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let trusting = Https::with_tls(config);
    let keys = RemoteKeySet::with(&address, trusting, Schedule::default()).unwrap();
    verified(&Verifier::new(&keys, policy()), &one)
        .await
        .unwrap();
    let stranger = here(&address).ready().await.unwrap_err();
    assert!(stranger.to_string().contains("certificate"), "{stranger}");
}
