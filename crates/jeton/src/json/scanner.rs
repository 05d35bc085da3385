use super::duplicates::Names;
use super::{Bounds, Fault, Kind, Text, Value};

/// Walks over a text once.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    max_depth: u32,
    values_left: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, bounds: Bounds) -> Self {
        Scanner {
            text,
            at: 0,
            max_depth: bounds.depth,
            values_left: bounds.values,
        }
    }

    /// The text is one object and nothing else; `member` sees its members.
    pub(super) fn outer_object<E: From<Fault>>(
        &mut self,
        member: impl FnMut(Text<'a>, Value<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.space();
        if self.peek() != Some(b'{') {
            return Err(Fault::Syntax.into());
        }
        self.object(1, member)?;
        Ok(self.end()?)
    }

    /// The next element of an array that has been checked; the scanner stands before it.
    pub(super) fn next_element(&mut self, first: bool) -> Option<Value<'a>> {
        self.space();
        // `[` before the first element, `,` before the others; `]` ends it.
        match (self.peek()?, first) {
            (b'[', true) | (b',', false) => self.at += 1,
            _ => return None,
        }
        self.space();
        if self.peek() == Some(b']') {
            return None;
        }
        self.value(0).ok()
    }

    fn end(&mut self) -> Result<(), Fault> {
        self.space();
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err(Fault::Syntax)
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        self.space();
        if self.peek() != Some(byte) {
            return Err(Fault::Syntax);
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: u32) -> Result<Value<'a>, Fault> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'"') => return Ok(Value::of_string(self.string()?)),
            Some(b'{') => {
                self.object(depth + 1, |_, _| Ok::<_, Fault>(()))?;
                Kind::Object
            }
            Some(b'[') => {
                self.array(depth + 1)?;
                Kind::Array
            }
            Some(b't') => self.word("true", Kind::Bool)?,
            Some(b'f') => self.word("false", Kind::Bool)?,
            Some(b'n') => self.word("null", Kind::Null)?,
            _ => {
                self.number()?;
                Kind::Number
            }
        };
        Ok(Value::other(kind, &self.text[start..self.at]))
    }

    fn object<E: From<Fault>>(
        &mut self,
        depth: u32,
        mut member: impl FnMut(Text<'a>, Value<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        if depth > self.max_depth {
            return Err(Fault::Depth.into());
        }
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        let mut names = Names::new();
        loop {
            self.space();
            let name = self.string()?;
            self.count()?;
            if !names.insert(name) {
                return Err(Fault::Duplicate.into());
            }
            self.expect(b':')?;
            self.space();
            let value = self.value(depth)?;
            member(name, value)?;
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Fault::Syntax.into()),
            }
        }
    }

    fn array(&mut self, depth: u32) -> Result<(), Fault> {
        if depth > self.max_depth {
            return Err(Fault::Depth);
        }
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.count()?;
            self.space();
            self.value(depth)?;
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Fault::Syntax),
            }
        }
    }

    fn count(&mut self) -> Result<(), Fault> {
        self.values_left = self.values_left.checked_sub(1).ok_or(Fault::Many)?;
        Ok(())
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, Fault> {
        if !self.text[self.at..].starts_with(word) {
            return Err(Fault::Syntax);
        }
        self.at += word.len();
        Ok(kind)
    }

    fn string(&mut self) -> Result<Text<'a>, Fault> {
        if self.peek() != Some(b'"') {
            return Err(Fault::Syntax);
        }
        self.at += 1;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            self.plain_run();
            match self.peek() {
                Some(b'"') => {
                    let written = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(Text::from_checked(written, has_escapes));
                }
                Some(b'\\') => {
                    has_escapes = true;
                    self.escape()?;
                }
                // A control character, or the end of the text.
                _ => return Err(Fault::Syntax),
            }
        }
    }

    /// Goes on to the next quote, backslash or control character.
    fn plain_run(&mut self) {
        let bytes = self.text.as_bytes();
        // Eight bytes at a time; a lane of `stop` is set where its byte needs a look.
        while let Some(chunk) = bytes.get(self.at..self.at + 8) {
            let mut eight = [0; 8];
            eight.copy_from_slice(chunk);
            let word = u64::from_le_bytes(eight);
            let stop = special_lanes(word);
            if stop != 0 {
                self.at += (stop.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while let Some(byte) = bytes.get(self.at) {
            if *byte < 0x20 || *byte == b'"' || *byte == b'\\' {
                return;
            }
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let unit = self.unit()?;
                if (0xdc00..0xe000).contains(&unit) {
                    return Err(Fault::Syntax);
                }
                if (0xd800..0xdc00).contains(&unit) {
                    // A high surrogate is only half a character: the low half must follow.
                    if self.peek() != Some(b'\\') {
                        return Err(Fault::Syntax);
                    }
                    self.at += 1;
                    if self.peek() != Some(b'u') || !(0xdc00..0xe000).contains(&self.unit()?) {
                        return Err(Fault::Syntax);
                    }
                }
            }
            _ => return Err(Fault::Syntax),
        }
        Ok(())
    }

    /// The UTF-16 unit of a `uXXXX`.
    fn unit(&mut self) -> Result<u32, Fault> {
        let digits = self
            .text
            .as_bytes()
            .get(self.at + 1..self.at + 5)
            .ok_or(Fault::Syntax)?;
        let mut unit = 0;
        for digit in digits {
            unit = unit * 16 + char::from(*digit).to_digit(16).ok_or(Fault::Syntax)?;
        }
        self.at += 5;
        Ok(unit)
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(Fault::Syntax),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return Err(Fault::Syntax);
        }
        Ok(())
    }
}

/// The high bit of each byte that is a quote, a backslash or below 0x20. The lowest set bit is
/// exact; a borrow can set bits above it, which nobody reads.
fn special_lanes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero_in = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    zero_in(word ^ (ONES * u64::from(b'"'))) | zero_in(word ^ (ONES * u64::from(b'\\'))) | control
}
