//! Keys in an HSM that may go away and return.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

use jeton::key::{SigAlg, VerifyingKey};
use jeton::remote::{Signature, SigningInput};
use jeton_issuer::{KeyKind, NamedKey, RemoteKeys};
use jeton_server::{HsmKeys, Pkcs11, Pkcs11Key};
use zeroize::Zeroizing;

use crate::connection::{self, Connection};
use crate::error::Error;

/// How often the thread looks after the connection.
const LOOK: Duration = Duration::from_secs(1);
/// How often it looks for the keys of an open connection.
const PROBE: Duration = Duration::from_secs(5);
/// Between two attempts to connect.
const REST: Duration = Duration::from_secs(1);

/// Keys in an HSM, as the configuration names them.
pub(crate) struct Hsm(Arc<Shared>);

struct Shared {
    settings: Pkcs11,
    /// Held for reading while the HSM signs. A new connection waits for running signatures, because it stops the
    /// module.
    connection: RwLock<Option<Connection>>,
    state: Mutex<State>,
}

/// What callers learn at once.
struct State {
    named: Vec<Pkcs11Key>,
    /// The public keys of `named`, by issuer and algorithm, or why one is not known.
    known: HashMap<(String, &'static str), Result<NamedKey, String>>,
    /// The keys that have signed, by label.
    used: BTreeMap<String, SigAlg>,
    fault: Option<String>,
    /// When the calls began that the HSM has not answered.
    running: BTreeMap<u64, Instant>,
    calls: u64,
    tried: Option<Instant>,
    /// A PIN that the token refused.
    wrong_pin: Option<(Zeroizing<String>, String)>,
}

const STARTING: &str = "the HSM is being connected";

impl Hsm {
    /// Connects, and starts the thread that looks after the connection. Waits for the HSM no longer than for a
    /// signature.
    pub(crate) fn start(settings: &Pkcs11) -> std::io::Result<Hsm> {
        let shared = Arc::new(Shared {
            settings: settings.clone(),
            connection: RwLock::new(None),
            state: Mutex::new(State {
                named: settings.keys.clone(),
                known: HashMap::new(),
                used: BTreeMap::new(),
                fault: Some(STARTING.to_owned()),
                running: BTreeMap::new(),
                calls: 0,
                tried: None,
                wrong_pin: None,
            }),
        });
        let (done, connected) = std::sync::mpsc::channel();
        let weak = Arc::downgrade(&shared);
        let thread = thread::Builder::new().name("jeton-hsm".to_owned());
        thread.spawn(move || {
            if let Some(shared) = weak.upgrade() {
                shared.look();
            }
            let _ = done.send(());
            look_after(&weak);
        })?;
        let _ = connected.recv_timeout(settings.timeout());
        Ok(Hsm(shared))
    }
}

fn look_after(shared: &Weak<Shared>) {
    loop {
        thread::sleep(LOOK);
        match shared.upgrade() {
            Some(shared) => shared.look(),
            None => return,
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects if there is no connection, and looks for the keys.
    fn look(&self) {
        let is_due = {
            let state = self.state();
            let is_new = |key: &Pkcs11Key| !state.known.contains_key(&name(key));
            let is_old = (state.tried).is_none_or(|tried| tried.elapsed() >= PROBE);
            state.fault.is_some() || is_old || state.named.iter().any(is_new)
        };
        if !is_due {
            return;
        }
        let is_open = self.connection.read().is_ok_and(|open| open.is_some());
        if !is_open {
            let _ = self.connect();
        } else if let Err(why) = self.probe() {
            self.lose(&why);
            let _ = self.connect();
        }
    }

    /// Opens a new connection, unless another thread has just tried.
    fn connect(&self) -> Result<(), String> {
        let mut connection = self
            .connection
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if connection.is_some() {
            return Ok(());
        }
        {
            let mut state = self.state();
            if let (Some(tried), Some(fault)) = (state.tried, &state.fault)
                && tried.elapsed() < REST
            {
                return Err(fault.clone());
            }
            state.tried = Some(Instant::now());
        }
        let opened = self.open();
        match opened {
            Ok(opened) => *connection = Some(opened),
            Err(why) => {
                self.state().fault = Some(why.clone());
                return Err(why);
            }
        }
        drop(connection);
        self.probe()
            .inspect_err(|why| self.state().fault = Some(why.clone()))
    }

    fn open(&self) -> Result<Connection, String> {
        let pin = connection::pin(&self.settings)?;
        if let Some((wrong, why)) = &self.state().wrong_pin
            && *wrong == pin
        {
            return Err(why.clone());
        }
        Connection::open(&self.settings, &pin).map_err(|error| {
            let why = error.to_string();
            if let Error::WrongPin(_) = error {
                self.state().wrong_pin = Some((pin, why.clone()));
            }
            why
        })
    }

    /// Looks for the named keys and for those in use. Fails if one in use is not there.
    fn probe(&self) -> Result<(), String> {
        let (named, used) = {
            let mut state = self.state();
            state.tried = Some(Instant::now());
            (state.named.clone(), state.used.clone())
        };
        let connection = self
            .connection
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(connection) = &*connection else {
            return Err(self.state().fault.clone().unwrap_or_default());
        };
        let find = |key: &Pkcs11Key| {
            let public = connection.public(&key.label, key.alg)?;
            connection.has_private(&key.label)?;
            Ok(NamedKey {
                label: key.label.clone(),
                public,
            })
        };
        let known = named.iter().map(|key| {
            let found = find(key).map_err(|error: Error| error.to_string());
            (name(key), found)
        });
        let known = known.collect();
        let missing = used
            .keys()
            .find_map(|label| connection.has_private(label).err());
        let mut state = self.state();
        state.known = known;
        state.fault = missing.map(|error| error.to_string());
        state.fault.clone().map_or(Ok(()), Err)
    }

    /// Closes the connection, because a call failed.
    fn lose(&self, why: &str) {
        let mut connection = self
            .connection
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = connection.take() {
            connection.close();
        }
        self.state().fault = Some(why.to_owned());
    }

    fn sign_once(&self, label: &str, input: &SigningInput<'_>) -> Result<Signature, String> {
        let call = {
            let mut state = self.state();
            state.calls += 1;
            let call = state.calls;
            state.running.insert(call, Instant::now());
            call
        };
        let signed = {
            let connection = self
                .connection
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            match &*connection {
                Some(connection) => connection
                    .sign(label, input)
                    .map_err(|error| error.to_string()),
                None => Err(self.state().fault.clone().unwrap_or_default()),
            }
        };
        self.state().running.remove(&call);
        signed
    }
}

fn name(key: &Pkcs11Key) -> (String, &'static str) {
    (key.issuer.clone(), key.alg.name())
}

impl RemoteKeys for Hsm {
    fn named(&self, iss: &str, kind: KeyKind) -> Option<Result<NamedKey, String>> {
        let state = self.0.state();
        let mut named = state.named.iter();
        let key = named.find(|key| key.issuer == iss && KeyKind::Jws(key.alg) == kind)?;
        let known = state.known.get(&name(key)).cloned();
        let unknown = || state.fault.clone().unwrap_or_else(|| STARTING.to_owned());
        Some(match known {
            Some(Ok(known)) if known.label == key.label => Ok(known),
            Some(Err(why)) => Err(why),
            _ => Err(unknown()),
        })
    }

    fn sign(
        &self,
        label: &str,
        _public: &VerifyingKey,
        input: &SigningInput<'_>,
    ) -> Result<Signature, String> {
        let shared = &self.0;
        shared.state().used.insert(label.to_owned(), input.alg());
        let why = match shared.sign_once(label, input) {
            Ok(signature) => return Ok(signature),
            Err(why) => why,
        };
        // The session may have ended. A new connection finds out whether the HSM is there.
        let is_open = shared.state().fault.is_none();
        if is_open {
            shared.lose(&why);
        }
        shared.connect()?;
        shared
            .sign_once(label, input)
            .inspect_err(|why| shared.lose(why))
    }

    fn fault(&self) -> Option<String> {
        let state = self.0.state();
        let oldest = state.running.values().next().map(Instant::elapsed);
        let silent = oldest.filter(|waited| *waited > self.0.settings.timeout());
        let silent = silent.map(|_| "the HSM does not answer".to_owned());
        state.fault.clone().or(silent)
    }
}

impl HsmKeys for Hsm {
    fn set_keys(&self, keys: &[Pkcs11Key]) {
        let mut state = self.0.state();
        if state.named != keys {
            keys.clone_into(&mut state.named);
            state.known.clear();
        }
    }
}

impl Drop for Hsm {
    fn drop(&mut self) {
        // A call that hangs must not stop the end of the server.
        let connection = self.0.connection.try_write();
        if let Ok(mut connection) = connection
            && let Some(connection) = connection.take()
        {
            connection.close();
        }
    }
}

impl fmt::Debug for Hsm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hsm")
    }
}
