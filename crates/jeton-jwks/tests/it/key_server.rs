//! The habits of real key servers, from `sdk/testdata/fetch.json`, and a proxy.

use std::time::Duration;

use jeton::Policy;
use jeton_jwks::{
    AddressError, Error, FetchError, Https, RemoteKeySet, RemoteKeySetBuilder, RemoteVerifier,
};
use jeton_testkit::{Expected, Habit, KeyServer, PROXIED_HOST, REFUSED_HOST};
use serde_json::Value;
use tokio::time::sleep;

const HABITS: &str = include_str!("../../../../sdk/testdata/fetch.json");

fn server() -> KeyServer {
    KeyServer::start(HABITS).unwrap()
}

fn key_set(server: &KeyServer, habit: &Habit) -> RemoteKeySetBuilder {
    let base = format!("{}/{}", server.http, habit.name);
    if habit.is_of_issuer() {
        RemoteKeySet::builder_with_discovery(base)
    } else {
        RemoteKeySet::builder(format!("{base}/keys"))
    }
}

fn verifier(keys: RemoteKeySetBuilder) -> RemoteVerifier {
    let policy = Policy::new("https://id.example", "api");
    RemoteVerifier::new(&keys.build().unwrap(), policy)
}

async fn verified(verifier: &RemoteVerifier, server: &KeyServer) -> Result<(), Error> {
    verifier.verify::<Value>(server.token()).await.map(drop)
}

#[tokio::test]
async fn habit_of_a_key_server_has_its_result() {
    let server = server();
    assert!(server.habits().len() > 30);
    for habit in server.habits() {
        let verifier = verifier(key_set(&server, habit));
        let found = verified(&verifier, &server).await;
        let name = &habit.name;
        match habit.expected() {
            Expected::Verified => assert_eq!(found, Ok(()), "{name}"),
            Expected::Code(code) => assert_eq!(found.map_err(|e| e.code()), Err(code), "{name}"),
        }
        let Some(requests) = habit.requests_after_a_second else {
            continue;
        };
        sleep(Duration::from_millis(1200)).await;
        verified(&verifier, &server).await.unwrap_err();
        let count = server.read(&format!("/{name}/count")).unwrap();
        assert_eq!(count, requests.to_string(), "{name}");
    }
    let head = server.read("/plain/head").unwrap().to_ascii_lowercase();
    let agent = concat!("user-agent: jeton/", env!("CARGO_PKG_VERSION"), "\r\n");
    assert!(head.contains(agent), "{head}");
}

#[tokio::test]
async fn http_to_another_host_needs_a_setting() {
    let refused = RemoteKeySet::new("http://keys.invalid/keys").map(drop);
    assert_eq!(refused, Err(AddressError::NotEncrypted.into()));
    for keys in [
        RemoteKeySet::builder("http://keys.invalid/keys"),
        RemoteKeySet::builder_with_discovery("http://keys.invalid"),
    ] {
        // The address is allowed, and the name does not exist.
        let keys = keys.allow_plain_http().build().unwrap();
        assert_eq!(
            keys.ready().await.unwrap_err().code(),
            "KEY_SET_UNREACHABLE"
        );
    }
}

#[cfg(feature = "proxy")]
#[tokio::test]
async fn proxy_is_used_for_https_except_for_loopback_hosts() {
    let server = server();
    let trusting = || Https::with_authorities(server.authority.as_bytes()).unwrap();
    let through = |proxy: &str, except: &str, host: &str| {
        let https = trusting().with_proxy(proxy, except).unwrap();
        verifier(RemoteKeySet::builder(format!("https://{host}/plain/keys")).fetch(https))
    };
    let with_password = server.proxy.replace("http://", "http://user:p%40ss@");
    verified(&through(&with_password, "", PROXIED_HOST), &server)
        .await
        .unwrap();
    let head = server.read("/proxy/head").unwrap();
    assert!(head.starts_with("CONNECT keys.example:443 "), "{head}");
    let user = "proxy-authorization: basic dxnlcjpwqhnz";
    assert!(head.to_ascii_lowercase().contains(user), "{head}");

    let refused = verified(&through(&server.proxy, "", REFUSED_HOST), &server).await;
    assert_eq!(refused.map_err(|e| e.code()), Err("KEY_SET_UNREACHABLE"));

    // Nothing listens on this port.
    let closed = "http://127.0.0.1:1";
    let local = server.https.trim_start_matches("https://");
    verified(&through(closed, "", local), &server)
        .await
        .unwrap();
    let count = server.read("/proxy/count").unwrap();
    let excepted = verified(&through(&server.proxy, ".example", PROXIED_HOST), &server).await;
    assert!(excepted.is_err());
    assert_eq!(server.read("/proxy/count").unwrap(), count);
}

#[cfg(feature = "proxy")]
#[tokio::test]
async fn proxy_that_is_no_http_url_is_an_error() {
    for wrong in [
        "https://proxy.example",
        "proxy.example:3128",
        "",
        "socks5://proxy.example",
    ] {
        let error = Https::new().unwrap().with_proxy(wrong, "").map(drop);
        let expected = FetchError::InvalidAddress(AddressError::NotHttpProxy);
        assert_eq!(error, Err(expected), "{wrong}");
    }
}
