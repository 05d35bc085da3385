//! A connection with a token of an HSM: the loaded module, a login, and sessions.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11 as Module};
use cryptoki::error::{Error as CallError, RvError};
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use jeton::key::{SigAlg, VerifyingKey};
use jeton::remote::{RemoteKey, Signature, SigningInput};
use jeton_server::Pkcs11;
use zeroize::Zeroizing;

use crate::error::{Error, return_value};
use crate::key::{ATTRIBUTES, mechanism, mechanism_type, public_key};

/// Longest PIN, bytes.
const PIN_BYTES: u64 = 256;

/// What a check signs. It is not a part of any token.
const PROBE: &[u8] = b"jeton signs this to check a key";

pub(crate) struct Connection {
    module: Module,
    slot: Slot,
    /// A login ends with the last session, so this one stays open.
    logged_in: Mutex<Session>,
    idle: Mutex<Vec<Session>>,
    /// Private keys by label, so that a signature needs one call.
    handles: Mutex<HashMap<String, ObjectHandle>>,
}

/// Reads the PIN from its file.
pub(crate) fn pin(settings: &Pkcs11) -> Result<Zeroizing<String>, String> {
    let file = &settings.pin_file;
    let failed = |why: String| {
        format!(
            "cannot read the PIN from {}: {why}: write it to this file, readable for the user of the server only",
            file.display()
        )
    };
    let mut text = Zeroizing::new(String::new());
    let opened = File::open(file).map_err(|error| failed(error.to_string()))?;
    let mode = opened.metadata().map(|found| found.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o007 != 0) {
        return Err(failed("every user of this machine can read it".to_owned()));
    }
    let read = opened.take(PIN_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| failed(error.to_string()))?;
    let pin = Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned());
    match pin.len() as u64 {
        0 => Err(failed("the file is empty".to_owned())),
        bytes if bytes > PIN_BYTES => Err(failed(format!("more than {PIN_BYTES} bytes"))),
        _ => Ok(pin),
    }
}

impl Connection {
    /// Loads the module and logs in.
    pub(crate) fn open(settings: &Pkcs11, pin: &str) -> Result<Connection, Error> {
        let path = settings.module.display();
        let module = Module::new(&settings.module).map_err(|error| {
            Error::other(format!(
                "cannot load the module {path}: {error}: `module` is the shared library of the HSM's vendor, for \
                 example /usr/lib/softhsm/libsofthsm2.so"
            ))
        })?;
        match module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
            Ok(()) | Err(CallError::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
            Err(error) => {
                return Err(Error::other(format!(
                    "the module {path} does not start: {}: check the configuration of the module",
                    return_value(&error)
                )));
            }
        }
        match log_in(settings, &module, pin) {
            Ok((slot, session)) => Ok(Connection {
                module,
                slot,
                logged_in: Mutex::new(session),
                idle: Mutex::default(),
                handles: Mutex::default(),
            }),
            Err(error) => {
                // A module finds new tokens only when it starts.
                let _ = module.finalize();
                Err(error)
            }
        }
    }

    /// Closes all sessions, and lets the module start again.
    pub(crate) fn close(self) {
        let Connection {
            module,
            logged_in,
            idle,
            ..
        } = self;
        drop(idle);
        drop(logged_in);
        let _ = module.finalize();
    }

    /// Returns the public key with this label.
    pub(crate) fn public(&self, label: &str, alg: SigAlg) -> Result<VerifyingKey, Error> {
        let session = lock(&self.logged_in);
        let handle = find(&session, label, ObjectClass::PUBLIC_KEY)?;
        let attributes = session.get_attributes(handle, &ATTRIBUTES)?;
        public_key(label, alg, &attributes)
    }

    /// Checks that the private key with this label is there.
    pub(crate) fn has_private(&self, label: &str) -> Result<(), Error> {
        find(&lock(&self.logged_in), label, ObjectClass::PRIVATE_KEY).map(drop)
    }

    /// Signs with the private key of that label.
    pub(crate) fn sign(&self, label: &str, input: &SigningInput<'_>) -> Result<Signature, Error> {
        let (mechanism, data) = mechanism(input)?;
        let idle = lock(&self.idle).pop();
        let session = match idle {
            Some(session) => session,
            None => self.module.open_ro_session(self.slot).map_err(no_session)?,
        };
        let key = self.handle(&session, label)?;
        let signature = session.sign(&mechanism, key, &data)?;
        lock(&self.idle).push(session);
        Ok(Signature::Fixed(signature))
    }

    fn handle(&self, session: &Session, label: &str) -> Result<ObjectHandle, Error> {
        let known = lock(&self.handles).get(label).copied();
        if let Some(handle) = known {
            return Ok(handle);
        }
        let handle = find(session, label, ObjectClass::PRIVATE_KEY)?;
        lock(&self.handles).insert(label.to_owned(), handle);
        Ok(handle)
    }

    /// Checks everything that signing with a key requires.
    pub(crate) fn check(&self, label: &str, alg: SigAlg) -> Result<(), Error> {
        let public = self.public(label, alg)?;
        self.has_private(label)?;
        let (wanted, name) = mechanism_type(alg)?;
        let has = self.module.get_mechanism_list(self.slot)?;
        if !has.contains(&wanted) {
            return Err(Error::other(format!(
                "the token has no {name}, which {} requires: choose an algorithm that the token has",
                alg.name()
            )));
        }
        {
            let session = lock(&self.logged_in);
            let key = find(&session, label, ObjectClass::PRIVATE_KEY)?;
            let attributes = session.get_attributes(key, &[AttributeType::Sign])?;
            if attributes.contains(&Attribute::Sign(false)) {
                return Err(Error::other(format!(
                    "the private key {label:?} may not sign (CKA_SIGN is false): create one that may"
                )));
            }
        }
        let unusable = |why: String| Error::other(format!("the key {label:?} did not sign: {why}"));
        let prepared = RemoteKey::new(public).prepare_payload(PROBE);
        let prepared = prepared.map_err(|error| unusable(error.to_string()))?;
        let signature = self.sign(label, &prepared.input());
        let signature = signature.map_err(|error| unusable(error.to_string()))?;
        let attached = prepared.attach(&signature);
        attached.map(drop).map_err(|error| {
            unusable(format!(
                "{error}: the public key and the private key must be one pair"
            ))
        })
    }
}

/// Opens a session on the token that the settings name, and logs in.
fn log_in(settings: &Pkcs11, module: &Module, pin: &str) -> Result<(Slot, Session), Error> {
    let slot = find_slot(settings, module)?;
    let session = module.open_ro_session(slot).map_err(no_session)?;
    let pin_file = settings.pin_file.display();
    match session.login(UserType::User, Some(&AuthPin::new(pin.into()))) {
        Ok(()) | Err(CallError::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => Ok((slot, session)),
        Err(CallError::Pkcs11(
            RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange,
            _,
        )) => Err(Error::WrongPin(format!(
            "the PIN in {pin_file} is wrong: correct the file. A wrong PIN is tried once, because a token locks after \
             a few attempts"
        ))),
        Err(CallError::Pkcs11(RvError::PinLocked, _)) => Err(Error::WrongPin(
            "the token is locked after too many wrong PINs: unlock it with the PIN of its security officer".to_owned(),
        )),
        Err(CallError::Pkcs11(RvError::UserPinNotInitialized, _)) => Err(Error::other(
            "the token has no user PIN: initialize it with the PIN of its security officer",
        )),
        Err(error) => Err(Error::other(format!(
            "cannot log in to the token: {}",
            return_value(&error)
        ))),
    }
}

fn find_slot(settings: &Pkcs11, module: &Module) -> Result<Slot, Error> {
    let slots = module.get_slots_with_initialized_token()?;
    let mut tokens = Vec::new();
    for slot in slots {
        let label = module.get_token_info(slot)?.label().to_owned();
        let is_wanted = match (&settings.token, settings.slot) {
            (Some(wanted), _) => *wanted == label,
            (None, wanted) => wanted == Some(slot.id()),
        };
        if is_wanted {
            return Ok(slot);
        }
        tokens.push(format!("{label:?} in slot {}", slot.id()));
    }
    let wanted = match (&settings.token, settings.slot) {
        (Some(label), _) => format!("no token has the label {label:?}"),
        (None, Some(slot)) => format!("slot {slot} has no initialized token"),
        (None, None) => "no token is named".to_owned(),
    };
    let found = if tokens.is_empty() {
        "the module shows no initialized token".to_owned()
    } else {
        format!("the module shows {}", tokens.join(", "))
    };
    Err(Error::other(format!(
        "{wanted}; {found}: correct `token` or `slot`, or connect the HSM"
    )))
}

/// Finds the key object with this label.
fn find(session: &Session, label: &str, class: ObjectClass) -> Result<ObjectHandle, Error> {
    let name = match class {
        ObjectClass::PRIVATE_KEY => "private",
        _ => "public",
    };
    let template = [Attribute::Class(class), Attribute::Label(label.into())];
    match session.find_objects(&template)?.as_slice() {
        [one] => Ok(*one),
        [] => Err(Error::other(format!(
            "the token has no {name} key with the label {label:?}: create the key pair under this label, or correct \
             `label`"
        ))),
        several => Err(Error::other(format!(
            "the token has {} {name} keys with the label {label:?}: give each key a label of its own",
            several.len()
        ))),
    }
}

fn no_session(error: CallError) -> Error {
    Error::other(format!(
        "the token opens no session: {}: `sessions` must not be more than the token allows",
        return_value(&error)
    ))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
