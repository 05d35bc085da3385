//! What is changed and how: a token, the claims before signing, or the verifier's key.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jws::{b64, unb64};
use jeton_lab_model::protocol::Keys;

/// The maximum number of changes to one input.
const CHANGES_MAX: usize = 3;

/// The input that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Changed {
    /// The token, after it was signed or encrypted: every driver must reject it.
    Token,
    /// The claims' JSON, before signing: the token is authentic with unusual claims.
    Claims,
    /// The verifier's key, as text.
    Key,
}

impl Changed {
    /// Returns the name in the corpus file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Claims => "claims",
            Self::Key => "key",
        }
    }
}

/// Changes that are applied one after another.
#[derive(Debug, Clone)]
pub(super) struct ChangeList {
    pub(super) changed: Changed,
    pub(super) changes: Vec<Change>,
}

/// The input for the drivers.
pub(super) struct MutatedInput {
    pub(super) token: String,
    pub(super) keys: Keys,
}

/// One change of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) kind: Mutator,
    /// The position, modulo the length of the text.
    at: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mutator {
    /// Flips a bit in the bytes of a part.
    Bit,
    /// Inserts a zero byte before a part.
    Zero,
    /// Replaces a character.
    Character,
    /// Inserts a character.
    Insert,
    /// Removes a character.
    Delete,
    /// Duplicates a part.
    Repeat,
    /// Truncates the text.
    Cut,
    /// Replaces a part's last character, which may have unused bits.
    LastCharacter,
}

const EVERY: [Mutator; 8] = [
    Mutator::Bit,
    Mutator::Zero,
    Mutator::Character,
    Mutator::Insert,
    Mutator::Delete,
    Mutator::Repeat,
    Mutator::Cut,
    Mutator::LastCharacter,
];

/// JSON has no parts.
const OF_JSON: [Mutator; 3] = [Mutator::Character, Mutator::Insert, Mutator::Delete];

impl ChangeList {
    /// Picks random changes of one input.
    pub(super) fn some(changed: Changed, random: &mut impl Rng) -> Self {
        let kinds: &[Mutator] = match changed {
            Changed::Claims => &OF_JSON,
            Changed::Token | Changed::Key => &EVERY,
        };
        let changes = (0..random.random_range(1..=CHANGES_MAX))
            .map(|_| Change {
                kind: kinds[random.random_range(0..kinds.len())],
                at: random.random(),
            })
            .collect();
        Self { changed, changes }
    }

    /// Returns the same changes without one of them.
    pub(super) fn without(&self, at: usize) -> Self {
        let mut fewer = self.clone();
        fewer.changes.remove(at);
        fewer
    }

    /// Applies the changes to a valid token and its payload. Returns nothing if nothing changes.
    pub(super) fn apply(&self, stage: &Stage, valid: &str, payload: &str) -> Option<MutatedInput> {
        let mut input = MutatedInput {
            token: valid.to_owned(),
            keys: stage.keys(),
        };
        match self.changed {
            Changed::Token => {
                input.token = self.of(valid);
                (input.token != valid).then_some(input)
            }
            Changed::Claims => {
                let odd = self.of(payload);
                input.token = stage.token(&odd);
                (odd != payload && !input.token.is_empty()).then_some(input)
            }
            Changed::Key => {
                for change in &self.changes {
                    change.apply_to_keys(&mut input.keys);
                }
                (input.keys != stage.keys()).then_some(input)
            }
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        let names = self.changes.iter().map(|c| format!("{:?}", c.kind));
        names.collect()
    }

    fn of(&self, text: &str) -> String {
        self.changes
            .iter()
            .fold(text.to_owned(), |text, change| change.of(&text))
    }
}

impl Change {
    /// Changes the one key that is present: a member of its JWK, or its PASERK.
    fn apply_to_keys(self, keys: &mut Keys) {
        if let Some(paserk) = &mut keys.paserk {
            let texts = [&mut paserk.local, &mut paserk.public];
            for text in texts.into_iter().flatten() {
                *text = self.of(text);
            }
            return;
        }
        for jwk in [&mut keys.private, &mut keys.public].into_iter().flatten() {
            let Value::Object(members) = jwk else {
                continue;
            };
            // The members that contain key material. Their names are public.
            let mut texts: Vec<&mut Value> = members
                .iter_mut()
                .filter(|(_, value)| value.is_string())
                .map(|(_, value)| value)
                .collect();
            let Some(place) = self.within(texts.len()) else {
                continue;
            };
            if let Some(text) = texts[place].as_str() {
                let changed = self.of(text);
                *texts[place] = Value::String(changed);
            }
        }
    }

    fn of(self, text: &str) -> String {
        let mut parts: Vec<String> = text.split('.').map(str::to_owned).collect();
        let mut letters: Vec<char> = text.chars().collect();
        // A text truncated at its first character has nothing left to change.
        let (Some(part), Some(place)) = (self.within(parts.len()), self.within(letters.len()))
        else {
            return text.to_owned();
        };
        match self.kind {
            Mutator::Bit => {
                let mut bytes = unb64(&parts[part]);
                if let Some(at) = self.within(bytes.len()) {
                    bytes[at] ^= 1 << (self.at % 8);
                    parts[part] = b64(bytes);
                }
                return parts.join(".");
            }
            Mutator::Zero => {
                let mut bytes = unb64(&parts[part]);
                if !bytes.is_empty() {
                    bytes.insert(0, 0);
                    parts[part] = b64(bytes);
                }
                return parts.join(".");
            }
            Mutator::Repeat => {
                let again = parts[part].clone();
                parts.insert(part, again);
                return parts.join(".");
            }
            Mutator::LastCharacter => {
                let last = parts[part].pop();
                let next = last.map(|c| char::from((c as u32 as u8).wrapping_add(1)));
                parts[part].extend(next);
                return parts.join(".");
            }
            Mutator::Character => letters[place] = strange(self.at),
            Mutator::Insert => letters.insert(place, strange(self.at)),
            Mutator::Delete => drop(letters.remove(place)),
            Mutator::Cut => letters.truncate(place),
        }
        letters.into_iter().collect()
    }

    /// Returns the position within this length; none if the length is zero.
    fn within(self, length: usize) -> Option<usize> {
        let length = u64::try_from(length).ok().filter(|l| *l > 0)?;
        usize::try_from(self.at % length).ok()
    }
}

/// Returns a character that decoders and JSON parsers treat differently.
fn strange(at: u64) -> char {
    const STRANGE: [char; 24] = [
        'A', 'b', '9', '-', '_', '+', '/', '=', ' ', '\n', '\r', '\t', '\0', '.', '%', 'é', '"',
        '\\', '{', ']', ',', 'e', '0', '\u{feff}',
    ];
    STRANGE[usize::try_from((at >> 17) % 24).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use jeton_lab_model::Format;

    #[test]
    fn change_of_any_text_returns_valid_text() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for text in ["", ".", "..", "é", "a.b", "v4.public.AAAA", "e30.e30.AAAA"] {
            for kind in EVERY {
                for _ in 0..200 {
                    let cut = Change {
                        kind: Mutator::Cut,
                        at: random.random(),
                    };
                    let change = Change {
                        kind,
                        at: random.random(),
                    };
                    assert!(change.of(text).len() <= 2 * text.len() + 4);
                    assert!(change.of(&cut.of(text)).len() <= 2 * text.len() + 4);
                }
            }
        }
    }

    #[test]
    fn change_affects_only_its_input() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for (format, alg) in [(Format::Jwt, "ES256"), (Format::V4Public, "")] {
            let Ok(stage) = Stage::new(format, alg, "", 1_800_000_000) else {
                unreachable!("the lab can generate these keys");
            };
            let payload = stage.claims().to_string();
            let valid = stage.token(&payload);
            for changed in [Changed::Token, Changed::Claims, Changed::Key] {
                let mut made = 0;
                for _ in 0..100 {
                    let changes = ChangeList::some(changed, &mut random);
                    let Some(input) = changes.apply(&stage, &valid, &payload) else {
                        continue;
                    };
                    made += 1;
                    assert_eq!(input.keys == stage.keys(), changed != Changed::Key);
                    assert_eq!(input.token == valid, changed == Changed::Key);
                }
                assert!(made > 50, "{changed:?}: {made}");
            }
        }
    }
}
