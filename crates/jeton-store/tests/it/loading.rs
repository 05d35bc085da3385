//! Tests the limit on changes during a load.

use jeton_store::{Error, Event, Key, MemoryStore, Prefix, Store, Txn, block_on, limits, load};

fn key(name: &str) -> Key {
    Key::of(["t", name]).unwrap()
}

fn put(store: &dyn Store, name: &str, value: &[u8]) {
    block_on(store.commit(Txn::new().put(key(name), value))).unwrap();
}

#[test]
fn load_with_too_many_changes_reports_bytes() {
    let store = MemoryStore::new();
    let value = vec![b'v'; limits::VALUE_BYTES];
    put(&store, "there", b"v");
    let loaded = block_on(load(&store, &Prefix::all(), |_| {
        for i in 0..=limits::LOADING_BYTES / limits::VALUE_BYTES {
            put(&store, &i.to_string(), &value);
        }
        Ok::<_, Error>(())
    }));
    let error = loaded.unwrap_err();
    let Error::ChangedTooMuch { bytes } = error else {
        panic!("{error}")
    };
    assert!(bytes > limits::LOADING_BYTES, "{bytes}");
    let said = error.to_string();
    assert!(said.contains(&bytes.to_string()), "{said}");
    let limit = limits::LOADING_BYTES.to_string();
    assert!(said.contains(&limit), "{said}");
    assert!(!error.is_outcome_unknown());
}

#[test]
fn load_keeps_last_change_of_a_key() {
    let store = MemoryStore::new();
    let value = vec![b'v'; limits::VALUE_BYTES];
    for name in ["a", "gone", "there"] {
        put(&store, name, b"v");
    }
    let times = 2 * limits::LOADING_BYTES / limits::VALUE_BYTES;
    let loaded = block_on(load(&store, &Prefix::all(), |_| {
        for _ in 0..times {
            put(&store, "a", &value);
        }
        put(&store, "a", b"last");
        let gone = Txn::new().delete(key("gone"));
        block_on(store.commit(gone)).unwrap();
        Ok::<_, Error>(())
    }));
    let changes = loaded.unwrap().changes;
    let newest = block_on(store.status()).unwrap().revision;
    assert_eq!(changes.revision, newest);
    let [Event::Put(put), Event::Deleted(deleted)] = &*changes.events else {
        panic!("{:?}", changes.events)
    };
    assert_eq!((&put.key, &*put.value), (&key("a"), &b"last"[..]));
    assert_eq!(*deleted, key("gone"));
}

#[test]
fn load_ends_with_error_of_reader() {
    let store = MemoryStore::new();
    put(&store, "there", b"v");
    let gave_up = block_on(load(&store, &Prefix::all(), |_| Err(Error::Closed)));
    assert_eq!(gave_up.map(drop).unwrap_err(), Error::Closed);
}
