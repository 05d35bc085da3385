//! For each format and algorithm: the keys, the tokens that every verifier works on, and the
//! tokens that every verifier must refuse.

use base64_simd::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::mint::{Mint, with_an_empty_key};
use crate::suite::{AUDIENCE, Cell, Contract, Format, ISSUER, Standard};
use crate::wire::{ClaimsPool, Policy, Prepare};

/// What the subjects of one format and algorithm share.
///
/// All verifiers get the same tokens, minted by the library itself: equal bytes, equal work.
#[derive(Debug)]
pub(super) struct Forge {
    pub format: Format,
    pub alg: Option<String>,
    mint: Mint,
    pub claims: Vec<Value>,
    pub tokens: Vec<String>,
    controls: Vec<Control>,
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
    /// Keys, tokens and controls for one format and algorithm.
    ///
    /// # Errors
    /// A sentence, where the lab cannot make such keys.
    pub(super) fn new(
        format: Format,
        alg: Option<&str>,
        standard: Standard,
    ) -> Result<Self, String> {
        let mint = Mint::new(format, alg)?;
        let claims = standard.pool(format);
        let tokens: Vec<String> = claims
            .iter()
            .map(|c| mint.token(c))
            .collect::<Result<_, _>>()?;
        let mut forge = Self {
            format,
            alg: alg.map(str::to_owned),
            mint,
            claims,
            tokens,
            controls: Vec::new(),
        };
        forge.controls = forge.make_controls(standard)?;
        Ok(forge)
    }

    /// The order that makes a driver ready for a cell.
    pub(super) fn prepare(&self, cell: &Cell) -> Prepare {
        let mut keys = self.mint.keys().clone();
        let signs = cell.contract == Contract::Sign;
        if !signs && keys.public.is_some() {
            keys.private = None;
        }
        if let Some(paserk) = &mut keys.paserk
            && !signs
        {
            paserk.secret = None;
        }
        Prepare {
            contract: cell.contract.name().into(),
            format: cell.format.name().into(),
            alg: cell.alg.clone(),
            enc: None,
            key_handling: cell.key_handling.name().into(),
            keys,
            claims: ClaimsPool {
                name: Standard::NAME.into(),
                values: self.claims.clone(),
            },
            policy: Policy {
                issuer: ISSUER.into(),
                audience: AUDIENCE.into(),
            },
            tokens: (!signs).then(|| self.tokens.clone()),
        }
    }

    /// The tokens that a cell must refuse: all of them if it checks claims, else those that the
    /// signature alone gives away.
    pub(super) fn controls(&self, cell: &Cell) -> impl Iterator<Item = &Control> {
        let all = cell.contract == Contract::Verify && !cell.is_reference();
        self.controls.iter().filter(move |c| all || c.by_signature)
    }

    fn make_controls(&self, standard: Standard) -> Result<Vec<Control>, String> {
        let by_signature = |what, token| Control {
            what,
            token,
            by_signature: true,
        };
        let honest = &self.tokens[0];
        let mut controls = Vec::new();
        for (what, part) in [
            ("a token whose signature was changed", Part::Signature),
            ("a token whose claims were changed", Part::Claims),
            ("a token whose header was changed", Part::Header),
        ] {
            let changed = tamper(self.format, honest, part);
            let changed = changed.ok_or("a token of the lab's own has no such part")?;
            controls.push(by_signature(what, changed));
        }
        let stranger = Mint::new(self.format, self.alg.as_deref())?;
        controls.push(by_signature(
            "a token signed with another key",
            stranger.token(&self.claims[0])?,
        ));
        let alg = self.alg.as_deref().unwrap_or_default();
        if let Some(token) = with_an_empty_key(alg, &self.claims[0]) {
            controls.push(by_signature("a token signed with an empty key", token));
        }
        for (what, claims) in standard.refusable(self.format) {
            controls.push(Control {
                what,
                token: self.mint.token(&claims)?,
                by_signature: false,
            });
        }
        Ok(controls)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Header,
    Claims,
    Signature,
}

/// The token with one bit changed in one of its parts; it stays well-formed base64url, so that a
/// decoder does not refuse what only the signature should.
fn tamper(format: Format, token: &str, part: Part) -> Option<String> {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    if format.is_paseto() {
        if part == Part::Header {
            // The header is not base64 but two words; another version is the nearest lie.
            parts[0] = "v3".into();
            return Some(parts.join("."));
        }
        // Claims (after a nonce, if encrypted) and signature or tag are one base64url text.
        let body = parts.get_mut(2)?;
        let bytes = URL_SAFE_NO_PAD.decode_to_vec(body.as_bytes()).ok()?;
        let at = match part {
            Part::Signature => bytes.len().checked_sub(10)?,
            _ => bytes.len().min(40).checked_sub(1)?,
        };
        *body = flipped(bytes, at)?;
    } else {
        let text = match part {
            Part::Header => parts.first_mut()?,
            Part::Claims => parts.get_mut(1)?,
            Part::Signature => parts.get_mut(2)?,
        };
        let bytes = URL_SAFE_NO_PAD.decode_to_vec(text.as_bytes()).ok()?;
        // Inside a string of the JSON, so that it stays JSON: `JWT`, `user-…`.
        let find = |needle: &[u8]| bytes.windows(needle.len()).position(|w| w == needle);
        let at = match part {
            Part::Header => find(b"JWT").map(|at| at + 2),
            Part::Claims => find(b"user-").map(|at| at + 4),
            Part::Signature => None,
        };
        let at = at.unwrap_or(bytes.len() / 2);
        *text = flipped(bytes, at)?;
    }
    Some(parts.join("."))
}

fn flipped(mut bytes: Vec<u8>, at: usize) -> Option<String> {
    *bytes.get_mut(at)? ^= 1;
    Some(URL_SAFE_NO_PAD.encode_to_string(bytes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_control_differs_from_every_honest_token() {
        let forge = Forge::new(
            Format::Jwt,
            Some("HS256"),
            Standard::issued_at(1_700_000_000),
        )
        .unwrap();
        let controls = &forge.controls;
        assert_eq!(controls.len(), 9);
        for (i, control) in controls.iter().enumerate() {
            assert!(!forge.tokens.contains(&control.token), "{}", control.what);
            assert_eq!(control.token.matches('.').count(), 2);
            assert!(controls[..i].iter().all(|c| c.token != control.token));
        }
        assert_eq!(controls.iter().filter(|c| c.by_signature).count(), 5);
    }

    #[test]
    fn a_changed_header_is_still_json() {
        let forge = Forge::new(
            Format::Jwt,
            Some("HS256"),
            Standard::issued_at(1_700_000_000),
        )
        .unwrap();
        let changed = tamper(Format::Jwt, &forge.tokens[0], Part::Header).unwrap();
        let header = URL_SAFE_NO_PAD
            .decode_to_vec(changed.split('.').next().unwrap())
            .unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(
            (&header["alg"], &header["typ"]),
            (&"HS256".into(), &"JWU".into())
        );
    }
}
