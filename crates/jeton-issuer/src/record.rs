//! Keys and encoding of records in the store: JSON with a schema number, so that a newer record is rejected
//! and an older one can be migrated.

#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicBool, Ordering};

use jeton_store::limits::KEY_BYTES;
use jeton_store::{Entry, Key, Prefix};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::hex::{hex, unhex};
use crate::key_kind::KeyKind;
use crate::remote_keys::KeyReader;
use crate::seal::{KeyEncryptionKey, RecordContext};
use crate::secret_key::SecretKey;
use crate::settings::IssuerSettings;

/// The schema that this version writes, except for remote keys.
const SCHEMA: u64 = 1;
/// The schema of a remote key: a version that does not know remote keys rejects it.
const REMOTE_KEY_SCHEMA: u64 = 2;
/// The schema of the heads of the audit log: a version that does not know chains of nodes rejects a backup
/// with them.
pub(crate) const AUDIT_SCHEMA: u64 = 3;
/// The newest schema that this version reads.
pub const NEWEST_SCHEMA: u64 = AUDIT_SCHEMA;

/// Whether this process plays the next version, which writes rules in a newer schema. For tests of two versions.
#[cfg(debug_assertions)]
static IS_NEXT_VERSION: AtomicBool = AtomicBool::new(false);

/// Lets this process read a newer schema, and write rules in it. For tests; a release has no such call.
#[cfg(debug_assertions)]
pub fn play_next_version() {
    IS_NEXT_VERSION.store(true, Ordering::Relaxed);
}

/// The newest schema that this process reads.
pub(crate) fn newest_schema() -> u64 {
    #[cfg(debug_assertions)]
    if IS_NEXT_VERSION.load(Ordering::Relaxed) {
        return NEWEST_SCHEMA + 1;
    }
    NEWEST_SCHEMA
}

/// Writes a rule.
pub(crate) fn write_rule<T: Serialize>(rule: &T) -> Vec<u8> {
    let newest = newest_schema();
    write_as(
        if newest > NEWEST_SCHEMA {
            newest
        } else {
            SCHEMA
        },
        rule,
    )
}

/// `/i/<issuer>`: the settings.
pub(crate) fn settings_key(iss: &str) -> Result<Key> {
    Ok(Key::of(["i", iss])?)
}

/// `/k/<issuer>/_set`: the keyring.
pub(crate) fn set_key(iss: &str) -> Result<Key> {
    Ok(Key::of(["k", iss, "_set"])?)
}

/// `/k/<issuer>/=<kid>`: an encrypted private key. The prefix prevents a collision with `_set`.
pub(crate) fn private_key(iss: &str, kid: &str) -> Result<Key> {
    Ok(Key::of(["k", iss, &format!("={kid}")])?)
}

/// Returns the kid in the last part of a [`private_key`]. None: not such a key. Only the first `=` is the
/// prefix.
pub(crate) fn kid_of(part: &str) -> Option<&str> {
    part.strip_prefix('=')
}

/// `/r/<issuer>/<expiry minute>/<hash>`: a revoked token.
pub(crate) fn revocation_key(iss: &str, minute: u32, hash: u128) -> Result<Key> {
    Ok(Key::of([
        "r",
        iss,
        &format!("{minute:010}"),
        &format!("{hash:032x}"),
    ])?)
}

/// Matches all revocations of one minute of an issuer.
pub(crate) fn revocations_of_minute(iss: &str, minute: u32) -> Result<Prefix> {
    Ok(Prefix::of(["r", iss, &format!("{minute:010}")])?)
}

/// `/u/<issuer>/<expiry minute>/<hash>`: an id that was used once.
pub(crate) fn used_key(iss: &str, minute: u32, hash: u128) -> Result<Key> {
    Ok(Key::of([
        "u",
        iss,
        &format!("{minute:010}"),
        &format!("{hash:032x}"),
    ])?)
}

/// `/o/<issuer>/<hash>`: the same id, whatever the expiry of its token. A token can be signed again with another one.
pub(crate) fn used_hash_key(iss: &str, hash: u128) -> Result<Key> {
    Ok(Key::of(["o", iss, &format!("{hash:032x}")])?)
}

/// The hash at the end of a [`used_key`].
pub(crate) fn used_hash(key: &Key) -> Option<u128> {
    u128::from_str_radix(&key.parts().last()?, 16).ok()
}

/// Matches all used ids of one minute of an issuer.
pub(crate) fn used_in_minute(iss: &str, minute: u32) -> Result<Prefix> {
    Ok(Prefix::of(["u", iss, &format!("{minute:010}")])?)
}

/// `/rule/<issuer>/<kind>/<name>`: a revocation rule.
pub(crate) fn rule_key(iss: &str, kind: &str, name: &str) -> Result<Key> {
    Ok(Key::of(["rule", iss, kind, name])?)
}

/// Checks that a rule about that name can be stored. Allocates nothing for nearly all names.
#[inline]
pub(crate) fn check_rule_name(field: &str, iss: &str, name: &str) -> Result<()> {
    // Each byte is encoded as three at most. The rest is for the names of the parts.
    let longest = 3 * (iss.len() + name.len()) + 32;
    if longest <= KEY_BYTES {
        Ok(())
    } else {
        check_long_rule_name(field, iss, name)
    }
}

#[inline(never)]
fn check_long_rule_name(field: &str, iss: &str, name: &str) -> Result<()> {
    let escaped = |part: &str| {
        let longer = part.bytes().filter(|b| matches!(b, b'/' | b'%'));
        part.len() + 2 * longer.count()
    };
    let bytes = "/rule//subject/".len() + escaped(iss) + escaped(name);
    if bytes <= KEY_BYTES {
        Ok(())
    } else {
        Err(Error::rule(
            field,
            format!(
                "has {bytes} bytes in the record that would revoke it (`/` and `%` count three times, \
             and so does the issuer's name), the limit is {KEY_BYTES}"
            ),
        ))
    }
}

/// Matches all rules of an issuer.
pub(crate) fn rules_of(iss: &str) -> Result<Prefix> {
    Ok(Prefix::of(["rule", iss])?)
}

/// `/c/rules`: the counter of revocation rules.
pub(crate) fn rule_counter_key() -> Result<Key> {
    Ok(Key::of(["c", "rules"])?)
}

/// `/n/<id>`: what a running node says about itself.
pub(crate) fn node_key(id: &str) -> Result<Key> {
    Ok(Key::of(["n", id])?)
}

/// Matches the records of nodes.
pub(crate) fn nodes() -> Result<Prefix> {
    Ok(Prefix::of(["n"])?)
}

/// Returns whether the record is one of a running node. It is of no use after its node has gone.
pub(crate) fn is_of_node(key: &Key) -> bool {
    key.as_str().starts_with("/n/")
}

/// Matches the audit log. No record that a node answers from is before its end.
pub(crate) fn audit_log() -> Result<Prefix> {
    Ok(Prefix::of(["a"])?)
}

/// `/a/<number>`: an entry of the main audit chain.
pub(crate) fn main_entry_key(number: u64) -> Result<Key> {
    Ok(Key::of(["a", &format!("{number:020}")])?)
}

/// `/a/<chain>/<number>`: an entry of the audit chain of a node.
pub(crate) fn node_entry_key(chain: &str, number: u64) -> Result<Key> {
    Ok(Key::of(["a", chain, &format!("{number:020}")])?)
}

/// `/a/_head`: the head of the main audit chain.
pub(crate) fn audit_head_key() -> Result<Key> {
    Ok(Key::of(["a", "_head"])?)
}

/// `/a/_joined`: the heads of open chains of nodes in the last checkpoints.
pub(crate) fn audit_joined_key() -> Result<Key> {
    Ok(Key::of(["a", "_joined"])?)
}

/// `/a/_chain/<chain>`: the head of the chain of a node.
pub(crate) fn node_head_key(chain: &str) -> Result<Key> {
    Ok(Key::of(["a", "_chain", chain])?)
}

/// Matches the heads of the chains of nodes.
pub(crate) fn node_heads() -> Result<Prefix> {
    Ok(Prefix::of(["a", "_chain"])?)
}

/// `/a/_base/<chain>`: the last entry of a chain that was exported and dropped.
pub(crate) fn audit_base_key(chain: &str) -> Result<Key> {
    Ok(Key::of(["a", "_base", chain])?)
}

/// Matches the last dropped entries of all chains.
pub(crate) fn audit_bases() -> Result<Prefix> {
    Ok(Prefix::of(["a", "_base"])?)
}

/// A record with its schema.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    schema: u64,
    record: T,
}

#[derive(Deserialize)]
struct SchemaOnly {
    schema: u64,
}

pub(crate) fn write<T: Serialize>(record: &T) -> Vec<u8> {
    write_as(SCHEMA, record)
}

pub(crate) fn write_as<T: Serialize>(schema: u64, record: &T) -> Vec<u8> {
    let versioned = Versioned { schema, record };
    serde_json::to_vec(&versioned).expect("records are maps of texts and numbers")
}

/// Returns the schema of a record that this version wrote, without parsing the rest.
pub(crate) fn schema_written(value: &[u8]) -> u64 {
    let digits = value.strip_prefix(br#"{"schema":"#).unwrap_or_default();
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |schema: u64, byte| {
        schema
            .saturating_mul(10)
            .saturating_add(u64::from(byte - b'0'))
    })
}

/// Returns the schema of a record, if this version reads it.
pub(crate) fn check_schema(key: &Key, value: &[u8]) -> Result<u64> {
    let read = serde_json::from_slice(value);
    let SchemaOnly { schema } = read.map_err(|_| Error::Record(key.to_string()))?;
    if schema > newest_schema() {
        return Err(Error::NewerRecord {
            key: key.to_string(),
            found: schema,
        });
    }
    Ok(schema)
}

pub(crate) fn read<T: DeserializeOwned>(entry: &Entry) -> Result<T> {
    read_value(&entry.key, &entry.value)
}

pub(crate) fn read_value<T: DeserializeOwned>(key: &Key, value: &[u8]) -> Result<T> {
    check_schema(key, value)?;
    // A migration goes here with the second schema of a record.
    let versioned: Result<Versioned<T>, _> = serde_json::from_slice(value);
    Ok(versioned
        .map_err(|_| Error::Record(key.to_string()))?
        .record)
}

/// A stored issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IssuerRecord {
    pub(crate) settings: IssuerSettings,
    /// A configuration file named the issuer, and no administrator has changed it since.
    pub(crate) is_configured: bool,
}

/// Stored beside the settings, because operators write those.
#[derive(Serialize, Deserialize)]
struct VersionedIssuer {
    schema: u64,
    record: IssuerSettings,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    configured: bool,
}

impl IssuerRecord {
    pub(crate) fn write(&self) -> Vec<u8> {
        let versioned = VersionedIssuer {
            schema: SCHEMA,
            record: self.settings.clone(),
            configured: self.is_configured,
        };
        serde_json::to_vec(&versioned).expect("settings are maps of texts and numbers")
    }

    pub(crate) fn read(entry: &Entry) -> Result<IssuerRecord> {
        check_schema(&entry.key, &entry.value)?;
        let damaged = |_| Error::Record(entry.key.to_string());
        let read: VersionedIssuer = serde_json::from_slice(&entry.value).map_err(damaged)?;
        Ok(IssuerRecord {
            settings: read.record,
            is_configured: read.configured,
        })
    }
}

/// A stored private key.
#[derive(Serialize, Deserialize)]
pub(crate) struct SealedKey {
    pub(crate) kind: KeyKind,
    /// Id of the key-encryption key.
    pub(crate) under: String,
    /// Nonce and ciphertext, hexadecimal.
    pub(crate) sealed: String,
}

impl SealedKey {
    pub(crate) fn seal(
        kek: &KeyEncryptionKey,
        iss: &str,
        kid: &str,
        kind: KeyKind,
        key: &SecretKey,
    ) -> Result<SealedKey> {
        SealedKey::seal_text(kek, iss, kid, kind, &key.to_text()?)
    }

    pub(crate) fn seal_text(
        kek: &KeyEncryptionKey,
        iss: &str,
        kid: &str,
        kind: KeyKind,
        text: &str,
    ) -> Result<SealedKey> {
        let context = RecordContext {
            iss,
            kid,
            kind,
            schema: SCHEMA,
        };
        Ok(SealedKey {
            kind,
            under: kek.id().to_owned(),
            sealed: hex(&kek.seal(&context, text)?),
        })
    }

    pub(crate) fn open_text(
        &self,
        keks: &[KeyEncryptionKey],
        iss: &str,
        kid: &str,
    ) -> Result<Zeroizing<String>> {
        let kek = keks.iter().find(|kek| kek.id() == self.under);
        let kek = kek.ok_or_else(|| Error::WrongKeyEncryptionKey {
            needed: self.under.clone(),
        })?;
        let context = RecordContext {
            iss,
            kid,
            kind: self.kind,
            schema: SCHEMA,
        };
        let sealed = unhex(&self.sealed).ok_or_else(|| Error::Record(format!("of key {kid}")))?;
        kek.open(&context, &sealed)
    }

    pub(crate) fn open(&self, reader: &KeyReader, iss: &str, kid: &str) -> Result<SecretKey> {
        let text = self.open_text(&reader.keks, iss, kid)?;
        SecretKey::read(reader, self.kind, &text)
    }

    /// Encodes the record.
    pub(crate) fn write(&self, is_remote: bool) -> Vec<u8> {
        if is_remote {
            write_as(REMOTE_KEY_SCHEMA, self)
        } else {
            write(self)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton_store::Revision;

    use super::*;

    /// As versions wrote it that called the pre-publication period `lead_seconds`.
    const OLD: &str = r#"{"schema":1,"record":{"iss":"https://id.example","profiles":[{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["api"]}],"lead_seconds":7200,"max_age_seconds":300,"rotate_every_seconds":2592000},"configured":true}"#;

    #[test]
    fn schema_of_every_written_record_is_found() {
        let issuer: VersionedIssuer = serde_json::from_str(OLD).unwrap();
        let issuer = IssuerRecord {
            settings: issuer.record,
            is_configured: true,
        };
        for (value, schema) in [
            (write(&7), SCHEMA),
            (write_as(AUDIT_SCHEMA, &"text"), AUDIT_SCHEMA),
            (write_as(1234, &7), 1234),
            (issuer.write(), SCHEMA),
            (b"{}".to_vec(), 0),
        ] {
            assert_eq!(schema_written(&value), schema);
        }
    }

    #[test]
    fn old_issuer_record_is_read_and_written_with_new_name() {
        let entry = Entry {
            key: settings_key("https://id.example").unwrap(),
            value: OLD.into(),
            changed: Revision::START,
        };
        let issuer = IssuerRecord::read(&entry).unwrap();
        assert_eq!(issuer.settings.publish_before_use_seconds(), 7200);
        assert!(issuer.is_configured);
        let written = String::from_utf8(issuer.write()).unwrap();
        let expected = OLD.replace("lead_seconds", "publish_before_use_seconds");
        assert_eq!(written, expected);
        let both = expected.replace(r#""max_age"#, r#""lead_seconds":7200,"max_age"#);
        let value = both.into_bytes();
        assert!(IssuerRecord::read(&Entry { value, ..entry }).is_err());
    }
}
