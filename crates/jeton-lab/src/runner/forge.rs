//! For each format and algorithm: the keys, the tokens that every verifier works on, and the
//! tokens that every verifier must refuse.

use serde_json::Value;

use super::empty_key::with_an_empty_key;
use super::mint::{Mint, Owner};
use super::tamper::{Part, tamper};
use crate::suite::{
    Cell, ClaimsSet, ClaimsSets, Contract, Dialect, Format, KeyForm, KeyHandling, POOL_SIZE,
};
use crate::wire::{ClaimsPool, KeyText, Keys, Policy, Prepare};

/// What the subjects of one dialect share.
///
/// All verifiers get the same tokens, minted by the library itself: equal bytes, equal work.
#[derive(Debug)]
pub(super) struct Forge {
    pub dialect: Dialect,
    mint: Mint,
    pub claims: Vec<Value>,
    pub tokens: Vec<String>,
    controls: Vec<Control>,
    set: ClaimsSet,
}

/// A token that must be refused.
#[derive(Debug, Clone)]
pub(super) struct Control {
    /// What is wrong with it, as it is put in a sentence: "accepts …".
    pub what: &'static str,
    pub token: String,
    /// Whether the signature alone shows it, so that `verify-signature` must refuse it too.
    pub by_signature: bool,
}

impl Forge {
    /// Keys, tokens and controls for one dialect.
    ///
    /// # Errors
    /// A sentence, where the lab cannot make such keys.
    pub(super) fn new(dialect: &Dialect, sets: &ClaimsSets) -> Result<Self, String> {
        let unknown = || format!("the lab has no claims `{}`", dialect.claims);
        let set = sets.named(&dialect.claims).ok_or_else(unknown)?;
        let mint = Mint::new(dialect, Owner::Lab)?;
        let claims = set.pool(dialect.format);
        let tokens: Vec<String> = claims
            .iter()
            .map(|c| mint.token(c))
            .collect::<Result<_, _>>()?;
        let mut forge = Self {
            dialect: dialect.clone(),
            mint,
            claims,
            tokens,
            controls: Vec::new(),
            set,
        };
        forge.controls = forge.make_controls()?;
        Ok(forge)
    }

    /// The order that makes a driver ready for a cell.
    ///
    /// # Errors
    /// A sentence, where the lab cannot write the key as the cell wants it.
    pub(super) fn prepare(&self, cell: &Cell) -> Result<Prepare, String> {
        let key_text = match cell.key_handling {
            KeyHandling::Text(form) => Some(self.key_text(form)?),
            KeyHandling::Prepared | KeyHandling::ParsedPerCall => None,
        };
        let (issuer, audience) = self.set.policy();
        Ok(Prepare {
            contract: cell.contract.name().into(),
            format: cell.format.name().into(),
            alg: cell.alg.clone(),
            enc: cell.enc.clone(),
            key_handling: cell.key_handling.name().into(),
            keys: self.keys_for(cell.contract),
            key_text,
            claims: ClaimsPool {
                name: cell.claims.clone(),
                values: self.claims.clone(),
            },
            policy: Policy { issuer, audience },
            practice: None,
            tokens: cell.contract.opens_tokens().then(|| self.tokens.clone()),
        })
    }

    /// The order of a cell with tokens that it has never seen: the `pass`th so many. `None` where
    /// claims cannot be varied so often, or a line has no room.
    pub(super) fn prepare_fresh(&self, cell: &Cell, pass: usize, tokens: usize) -> Option<Prepare> {
        let format = self.dialect.format;
        let tokens = self.set.at_most(format, tokens);
        let first = POOL_SIZE + pass * tokens;
        let claims: Vec<Value> = (first..first + tokens)
            .map(|index| self.set.value(format, index))
            .collect();
        let repeats = claims.iter().any(|c| self.claims.contains(c)) || {
            let last = claims.last();
            claims.len() > 1 && claims.first() == last
        };
        if repeats {
            return None;
        }
        let made: Result<Vec<String>, _> = claims.iter().map(|c| self.mint.token(c)).collect();
        let mut prepare = self.prepare(cell).ok()?;
        prepare.tokens = Some(made.ok()?);
        prepare.claims.values = claims;
        Some(prepare)
    }

    /// The tokens that a cell must refuse: all of them if it checks claims, else those that the
    /// signature alone gives away.
    pub(super) fn controls(&self, cell: &Cell) -> impl Iterator<Item = &Control> {
        let all = cell.contract.checks_claims() && !cell.is_reference();
        self.controls.iter().filter(move |c| all || c.by_signature)
    }

    /// Orders of a round trip that must fail, because what was made must not be accepted.
    pub(super) fn impossible_trips(&self, cell: &Cell) -> Result<Vec<Impossible>, String> {
        let honest = self.prepare(cell)?;
        let refusable = self.set.refusable(self.dialect.format).into_iter();
        let trips = refusable.map(|(what, claims)| {
            let mut prepare = honest.clone();
            prepare.claims.values = vec![claims];
            Impossible { what, prepare }
        });
        Ok(trips.collect())
    }

    /// An order to load a key that is none: its text ends in the middle.
    pub(super) fn impossible_key(&self, cell: &Cell) -> Result<Prepare, String> {
        let mut prepare = self.prepare(cell)?;
        if let Some(text) = &mut prepare.key_text {
            for key in [&mut text.private, &mut text.public].into_iter().flatten() {
                key.truncate(key.len() / 2);
            }
        }
        Ok(prepare)
    }

    /// What the lab's own library reads in a token that a subject made.
    pub(super) fn open(&self, token: &str) -> Result<Value, String> {
        self.mint.open(token)
    }

    fn key_text(&self, form: KeyForm) -> Result<KeyText, String> {
        let text = self.mint.key_text(form);
        text.ok_or_else(|| {
            let (format, form) = (self.dialect.format, form.name());
            format!("the lab has no {form} text of {format} keys of this algorithm")
        })
    }

    fn keys_for(&self, contract: Contract) -> Keys {
        self.mint.keys_for(contract)
    }

    fn make_controls(&self) -> Result<Vec<Control>, String> {
        let mut controls = Vec::new();
        let by_signature = |what, token| Control {
            what,
            token,
            by_signature: true,
        };
        if self.dialect.format != Format::Unsecured {
            let honest = &self.tokens[0];
            for (what, part) in Part::of(self.dialect.format) {
                let changed = tamper(self.dialect.format, honest, *part);
                // Direct encryption has no encrypted key that could be changed.
                if let Some(changed) = changed {
                    controls.push(by_signature(*what, changed));
                } else if *part != Part::EncryptedKey {
                    return Err("a token of the lab's own lacks a part".into());
                }
            }
            let what = if self.dialect.format.is_encrypted() {
                "a token encrypted with another key"
            } else {
                "a token signed with another key"
            };
            let stranger = Mint::new(&self.dialect, Owner::Stranger)?;
            controls.push(by_signature(what, stranger.token(&self.claims[0])?));
        }
        let alg = self.dialect.alg.as_deref().unwrap_or_default();
        if self.dialect.format == Format::Jwt
            && let Some(token) = with_an_empty_key(alg, &self.claims[0])
        {
            controls.push(by_signature("a token signed with an empty key", token));
        }
        for (what, claims) in self.set.refusable(self.dialect.format) {
            controls.push(Control {
                what,
                token: self.mint.token(&claims)?,
                by_signature: false,
            });
        }
        Ok(controls)
    }
}

/// An order that a careful driver cannot fulfil.
#[derive(Debug, Clone)]
pub(super) struct Impossible {
    /// What it would have to accept, as it is put in a sentence: "accepts …".
    pub what: &'static str,
    pub prepare: Prepare,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::suite::STANDARD;

    fn forge(format: Format, alg: &str, enc: Option<&str>) -> Forge {
        let dialect = Dialect {
            format,
            alg: (!alg.is_empty()).then(|| alg.to_owned()),
            enc: enc.map(str::to_owned),
            key_bits: None,
            claims: STANDARD.into(),
        };
        Forge::new(&dialect, &ClaimsSets::issued_at(1_700_000_000, None)).unwrap()
    }

    #[test]
    fn every_control_differs_from_every_honest_token() {
        for (format, alg, enc, dots, all, by_signature) in [
            (Format::Jwt, "HS256", None, 2, 9, 5),
            (Format::Jwt, "ES256", None, 2, 8, 4),
            (Format::Jwe, "dir", Some("A256GCM"), 4, 9, 5),
            (Format::Jwe, "RSA-OAEP", Some("A256GCM"), 4, 10, 6),
            (Format::V4Local, "", None, 2, 8, 4),
        ] {
            let forge = forge(format, alg, enc);
            let controls = &forge.controls;
            assert_eq!(controls.len(), all, "{format} {alg}");
            for (i, control) in controls.iter().enumerate() {
                assert!(!forge.tokens.contains(&control.token), "{}", control.what);
                assert_eq!(control.token.matches('.').count(), dots);
                assert!(controls[..i].iter().all(|c| c.token != control.token));
                if control.by_signature {
                    assert!(forge.open(&control.token).is_err(), "{}", control.what);
                }
            }
            let signed = controls.iter().filter(|c| c.by_signature).count();
            assert_eq!(signed, by_signature, "{format} {alg}");
        }
    }

    #[test]
    fn each_contract_gets_the_half_of_the_key_that_it_needs() {
        let halves = |forge: &Forge, contract| {
            let keys = forge.keys_for(contract);
            (keys.private.is_some(), keys.public.is_some())
        };
        let rsa = forge(Format::Jwe, "RSA-OAEP", Some("A256GCM"));
        assert_eq!(halves(&rsa, Contract::Encrypt), (false, true));
        assert_eq!(halves(&rsa, Contract::Decrypt), (true, false));
        assert_eq!(halves(&rsa, Contract::RoundTrip), (true, true));
        assert_eq!(halves(&rsa, Contract::GenerateKey), (false, false));
        let dir = forge(Format::Jwe, "dir", Some("A256GCM"));
        for contract in [Contract::Encrypt, Contract::Decrypt, Contract::RoundTrip] {
            assert_eq!(halves(&dir, contract), (true, false), "{contract}");
        }
        let signed = forge(Format::Jwt, "ES256", None);
        assert_eq!(halves(&signed, Contract::Sign), (true, true));
        assert_eq!(halves(&signed, Contract::Verify), (false, true));
        let paseto = forge(Format::V4Public, "", None);
        let keys = |contract| paseto.keys_for(contract).paserk.unwrap();
        assert!(keys(Contract::Verify).secret.is_none());
        assert!(keys(Contract::RoundTrip).secret.is_some());
        assert!(keys(Contract::RoundTrip).public.is_some());
    }

    #[test]
    fn a_key_to_load_comes_as_text() {
        let forge = forge(Format::Jwt, "ES256", None);
        let mut cell = Cell::new("rust/x", "x", "1", "rust");
        cell.alg = Some("ES256".into());
        cell.contract = Contract::LoadKey;
        cell.key_handling = KeyHandling::Text(KeyForm::Pem);
        let order = serde_json::to_value(forge.prepare(&cell).unwrap()).unwrap();
        assert_eq!(order["key_handling"], "pem");
        assert_eq!(order["key_text"]["form"], "pem");
        let private = order["key_text"]["private"].as_str().unwrap();
        assert!(private.starts_with("-----BEGIN PRIVATE KEY-----"));
        assert!(order.get("tokens").is_none());
        cell.key_handling = KeyHandling::Text(KeyForm::Paserk);
        let why = forge.prepare(&cell).unwrap_err();
        assert_eq!(
            why,
            "the lab has no paserk text of jwt keys of this algorithm"
        );
    }
}
