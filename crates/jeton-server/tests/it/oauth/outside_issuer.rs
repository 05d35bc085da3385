//! An outside issuer: a real HTTP server on loopback with a discovery document and a key set.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jeton::Claims;
use jeton::key::{SigAlg, SigningKey};
use serde_json::{Value, json};

/// What the server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Works,
    /// It closes every connection.
    IsDown,
    /// It responds with status 500.
    Fails,
    /// Its document names another issuer.
    NamesAnotherIssuer,
    /// Its key set is larger than the limit.
    IsHuge,
    /// It responds after longer than the time limit.
    IsSlow,
}

struct State {
    behaviour: Behaviour,
    key_set: String,
    requests: usize,
}

pub(crate) struct OutsideIssuer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    pub(crate) key: SigningKey,
}

impl OutsideIssuer {
    pub(crate) fn start() -> OutsideIssuer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let key = new_key("one");
        let state = State {
            behaviour: Behaviour::Works,
            key_set: key_set(&[&key]),
            requests: 0,
        };
        let state = Arc::new(Mutex::new(state));
        let shared = state.clone();
        // Ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || respond(stream, address, &shared));
            }
        });
        OutsideIssuer {
            address,
            state,
            key,
        }
    }

    pub(crate) fn iss(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn set(&self, behaviour: Behaviour) {
        self.state.lock().unwrap().behaviour = behaviour;
    }

    pub(crate) fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }

    /// Publishes a new key besides the old one, and signs with it.
    pub(crate) fn rotate(&mut self, kid: &str) {
        let new = new_key(kid);
        self.state.lock().unwrap().key_set = key_set(&[&self.key, &new]);
        self.key = new;
    }

    /// A token with these claims, of this issuer.
    pub(crate) fn token(&self, claims: &Value) -> String {
        let mut all = json!({ "iss": self.iss() });
        merge(&mut all, claims);
        sign(&self.key, &all)
    }

    /// A token with the members of this JSON text, as they are written.
    pub(crate) fn token_of(&self, text: &str) -> String {
        let text = format!("{{\"iss\":\"{}\",{}", self.iss(), &text[1..]);
        self.key.issue(&Claims::from_json(&text).unwrap()).unwrap()
    }
}

fn new_key(kid: &str) -> SigningKey {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    key.with_key_id(kid).unwrap()
}

fn respond(mut stream: TcpStream, address: SocketAddr, state: &Mutex<State>) {
    let mut request = [0; 4096];
    let Ok(length) = stream.read(&mut request) else {
        return;
    };
    let request = String::from_utf8_lossy(&request[..length]).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let (behaviour, keys) = {
        let mut state = state.lock().unwrap();
        state.requests += 1;
        (state.behaviour, state.key_set.clone())
    };
    let iss = match behaviour {
        Behaviour::NamesAnotherIssuer => "http://127.0.0.1:1".to_owned(),
        _ => format!("http://{address}"),
    };
    let document = json!({"issuer": iss, "jwks_uri": format!("http://{address}/keys")});
    let (status, body) = match (behaviour, path.as_str()) {
        (Behaviour::IsDown, _) => return,
        (Behaviour::Fails, _) => ("500 Internal Server Error", String::new()),
        (Behaviour::IsHuge, "/keys") => ("200 OK", format!("{}{}", " ".repeat(2 << 20), keys)),
        (_, "/keys") => ("200 OK", keys),
        (_, "/.well-known/openid-configuration") => ("200 OK", document.to_string()),
        _ => ("404 Not Found", String::new()),
    };
    if behaviour == Behaviour::IsSlow {
        std::thread::sleep(jeton_jwks::TIMEOUT + Duration::from_secs(60));
    }
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\ncache-control: max-age=0\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
}

/// Replaces members. A member with the value null is removed.
pub(crate) fn merge(claims: &mut Value, changes: &Value) {
    let members = claims.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(members.remove(name)),
            value => drop(members.insert(name.clone(), value.clone())),
        }
    }
}

/// Signs claims as they are.
pub(crate) fn sign(key: &SigningKey, claims: &Value) -> String {
    let text = claims.to_string();
    let mut all = Claims::from_json(&text).unwrap();
    if claims.get("exp").is_none() {
        all = all.without_expiry();
    }
    if claims.get("iat").is_none() {
        all = all.without_issued_at();
    }
    key.issue(&all).unwrap()
}

pub(crate) fn key_set(keys: &[&SigningKey]) -> String {
    let mut set = jeton::jwk::KeySet::new();
    for key in keys {
        set.insert(key.verifying_key()).unwrap();
    }
    set.to_json()
}
