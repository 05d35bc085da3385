//! Nodes on one store, each with its own clock and store wrapper.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jeton::key::{MacAlg, MacKey};
use jeton_issuer::{
    CustomClaims, Error, Issued, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke,
    StalePolicy, Subject, limits,
};
use jeton_store::{MemoryStore, Revision, Store, block_on};

use crate::intercepted_store::InterceptedStore;
use crate::manual_clock::{ManualClock, START};

pub(crate) const ISS: &str = "https://id.example";

/// A node, its clock, and its store wrapper.
pub(crate) struct Member {
    pub(crate) node: Node,
    pub(crate) clock: ManualClock,
    pub(crate) store_hook: InterceptedStore,
}

impl Member {
    /// Starts a node whose clock is ahead by this many seconds, or behind.
    pub(crate) fn start(store: &Arc<dyn Store>, ahead: i64) -> Member {
        // A call waits for news so long. On a busy machine, another thread may need longer than by default.
        let bound = Duration::from_secs(60);
        Member::start_with(store, ahead, |options| {
            options.freshness(bound, StalePolicy::Refuse)
        })
    }

    /// Starts a node with other options.
    pub(crate) fn start_with(
        store: &Arc<dyn Store>,
        ahead: i64,
        choose: impl FnOnce(Options) -> Options,
    ) -> Member {
        let (clock, store_hook) = (ManualClock::ahead(ahead), InterceptedStore::new(store));
        let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
        let options = choose(Options::new(kek));
        let node = Node::start(store_hook.store(), options, Arc::new(clock.clone())).unwrap();
        Member {
            node,
            clock,
            store_hook,
        }
    }

    pub(crate) fn issue(&self, subject: &str) -> Issued {
        let client = CustomClaims::from_json(r#"{"client_id":"c"}"#, limits::TOKEN_BYTES);
        let request = Request::new("p").subject(subject).claims(client.unwrap());
        self.node.issue(ISS, &request).unwrap()
    }

    pub(crate) fn revoke(&self, what: Subject) {
        block_on(self.node.revoke("me", ISS, Revoke::all(what))).unwrap();
    }

    pub(crate) fn revoke_token(&self, token: &str) -> Result<Revision, Error> {
        block_on(self.node.revoke_token("me", ISS, token))
    }

    pub(crate) fn accepts(&self, token: &str) -> bool {
        match self.node.verify(ISS, "api", token) {
            Ok(_) => true,
            Err(Error::Revoked) => false,
            Err(other) => panic!("{other:?}"),
        }
    }
}

pub(crate) fn subject(name: &str) -> Subject {
    Subject::Subject(name.to_owned())
}

pub(crate) fn settings(lifetime: i64) -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"HS256","lifetime_seconds":{lifetime},"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

/// Starts nodes with these clock differences, on one store with an issuer.
pub(crate) fn members<const N: usize>(ahead: [i64; N]) -> (Arc<dyn Store>, [Member; N]) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let members = ahead.map(|ahead| Member::start(&store, ahead));
    members[0]
        .node
        .create_issuer("setup", settings(900))
        .unwrap();
    caught_up(&store, &members);
    (store, members)
}

/// Waits until all have seen all commits.
pub(crate) fn caught_up<'m>(store: &Arc<dyn Store>, members: impl IntoIterator<Item = &'m Member>) {
    let newest = block_on(store.status()).unwrap().revision;
    for member in members {
        while member.node.revision() < newest {
            thread::yield_now();
        }
    }
}

/// Issues like an older version or another system: with any `jti` and `iat`.
pub(crate) struct Elsewhere {
    pub(crate) key: MacKey,
    pub(crate) expires_at: i64,
}

impl Elsewhere {
    pub(crate) fn begin(member: &Member) -> Elsewhere {
        let key = MacKey::generate(MacAlg::HS256).unwrap();
        let key = key.with_key_id("elsewhere").unwrap();
        let kind = "HS256".parse().unwrap();
        member.node.import("me", ISS, kind, &key.to_jwk()).unwrap();
        Elsewhere {
            key,
            expires_at: START + 5000,
        }
    }

    pub(crate) fn issue(&self, id: &str, issued_at: Option<i64>) -> String {
        let mut claims = serde_json::json!({
            "iss": ISS, "aud": "api", "sub": "s", "jti": id, "exp": self.expires_at
        });
        if let Some(at) = issued_at {
            claims["iat"] = at.into();
        }
        self.sign(&claims.to_string())
    }

    pub(crate) fn sign(&self, claims: &str) -> String {
        let signer = jeton::jws::JwsSigner::new(&self.key);
        signer.sign(claims.as_bytes()).unwrap()
    }
}
