use super::duplicates::Names;
use super::span::Span;
use super::{Bounds, Kind, ScanError, Text, Value};

/// Scans a text once.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    max_depth: u32,
    values_left: usize,
}

impl<'a> Scanner<'a> {
    #[inline]
    pub(super) fn new(text: &'a str, bounds: Bounds) -> Self {
        Scanner {
            text,
            at: 0,
            max_depth: bounds.depth,
            values_left: bounds.values,
        }
    }

    /// Creates a scanner inside a validated text.
    #[inline]
    pub(super) fn at(text: &'a str, at: usize) -> Self {
        Scanner {
            at,
            ..Scanner::new(text, u32::MAX.into())
        }
    }

    /// Scans a text that must be exactly one object. `member` is called for its members.
    #[inline]
    pub(super) fn outer_object<E: From<ScanError>>(
        &mut self,
        member: impl FnMut(Text<'a>, Value<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.ahead() != Some(b'{') {
            return Err(ScanError::Syntax.into());
        }
        self.object(1, member)?;
        match self.ahead() {
            None => Ok(()),
            Some(_) => Err(ScanError::Syntax.into()),
        }
    }

    /// Scans a text that must be exactly one value.
    pub(super) fn only_value(&mut self) -> Result<Value<'a>, ScanError> {
        let value = self.value(0)?;
        match self.ahead() {
            None => Ok(value),
            Some(_) => Err(ScanError::Syntax),
        }
    }

    /// Returns the position: at or after the byte at which the scanner stopped.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Whether the text is exactly one value that is not an object.
    pub(super) fn is_other_value(&mut self) -> bool {
        self.ahead() != Some(b'{') && self.value(0).is_ok() && self.ahead().is_none()
    }

    /// Returns the next element of a validated array. The position must be before the element.
    pub(super) fn next_element(&mut self, first: bool) -> Option<Value<'a>> {
        // `[` precedes the first element, `,` the others, and `]` ends the array.
        match (self.ahead()?, first) {
            (b'[', true) | (b',', false) => self.at += 1,
            _ => return None,
        }
        match self.ahead()? {
            b']' => None,
            _ => self.value(0).ok(),
        }
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and returns the next byte.
    #[inline(always)]
    fn ahead(&mut self) -> Option<u8> {
        match self.peek() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => self.ahead_of_space(),
        }
    }

    #[inline(never)]
    fn ahead_of_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    #[inline(always)]
    fn value(&mut self, depth: u32) -> Result<Value<'a>, ScanError> {
        let byte = self.ahead();
        let start = self.at;
        let kind = match byte {
            Some(b'"') => return Ok(Value::of_string(self.string()?)),
            Some(b'{') => {
                self.inner_object(depth + 1)?;
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
        Ok(Value::other(kind, Span::new(self.text, start, self.at)))
    }

    #[inline(never)]
    fn inner_object(&mut self, depth: u32) -> Result<(), ScanError> {
        self.object(depth, |_, _| Ok(()))
    }

    /// The position must be at the opening brace.
    #[inline(always)]
    fn object<E: From<ScanError>>(
        &mut self,
        depth: u32,
        mut member: impl FnMut(Text<'a>, Value<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        if depth > self.max_depth {
            return Err(ScanError::Depth {
                limit: self.max_depth,
            }
            .into());
        }
        self.at += 1;
        if self.ahead() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        let mut names = Names::new();
        loop {
            let name = self.string()?;
            self.count()?;
            if !names.insert(name) {
                return Err(ScanError::Duplicate.into());
            }
            if self.ahead() != Some(b':') {
                return Err(ScanError::Syntax.into());
            }
            self.at += 1;
            let value = self.value(depth)?;
            member(name, value)?;
            let byte = self.ahead();
            self.at += 1;
            match byte {
                Some(b',') => {}
                Some(b'}') => return Ok(()),
                _ => return Err(ScanError::Syntax.into()),
            }
        }
    }

    /// The position must be at the opening bracket.
    #[inline(never)]
    fn array(&mut self, depth: u32) -> Result<(), ScanError> {
        if depth > self.max_depth {
            return Err(ScanError::Depth {
                limit: self.max_depth,
            });
        }
        self.at += 1;
        if self.ahead() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.count()?;
            self.value(depth)?;
            let byte = self.ahead();
            self.at += 1;
            match byte {
                Some(b',') => {}
                Some(b']') => return Ok(()),
                _ => return Err(ScanError::Syntax),
            }
        }
    }

    fn count(&mut self) -> Result<(), ScanError> {
        self.values_left = self.values_left.checked_sub(1).ok_or(ScanError::TooMany)?;
        Ok(())
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, ScanError> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(ScanError::Syntax);
        }
        self.at += word.len();
        Ok(kind)
    }

    #[inline(always)]
    fn string(&mut self) -> Result<Text<'a>, ScanError> {
        if self.ahead() != Some(b'"') {
            return Err(ScanError::Syntax);
        }
        self.at += 1;
        let start = self.at;
        self.plain_run();
        let has_escapes = self.peek() != Some(b'"');
        if has_escapes {
            self.rest_of_string()?;
        }
        let written = Span::new(self.text, start, self.at);
        self.at += 1;
        Ok(Text::from_checked(written, has_escapes))
    }

    /// Scans from the first byte that is not plain to the end of the string. It is a separate function so that
    /// strings without escapes stay fast.
    #[inline(never)]
    fn rest_of_string(&mut self) -> Result<(), ScanError> {
        loop {
            match self.peek() {
                Some(b'"') => return Ok(()),
                Some(b'\\') => self.escape()?,
                // A control character, or the end of the text.
                _ => return Err(ScanError::Syntax),
            }
            self.plain_run();
        }
    }

    /// Advances to the next quote, backslash or control character.
    #[inline(always)]
    fn plain_run(&mut self) {
        let (eights, rest) = self.text.as_bytes()[self.at..].as_chunks();
        for eight in eights {
            // The lanes of `stop` mark bytes that need a closer look.
            let stop = special_lanes(u64::from_le_bytes(*eight));
            if stop != 0 {
                self.at += (stop.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += eight.len();
        }
        let is_special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        self.at += rest.iter().position(is_special).unwrap_or(rest.len());
    }

    fn escape(&mut self) -> Result<(), ScanError> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let unit = self.unit()?;
                if (0xdc00..0xe000).contains(&unit) {
                    return Err(ScanError::Syntax);
                }
                if (0xd800..0xdc00).contains(&unit) {
                    // A high surrogate must be followed by a low surrogate.
                    if self.peek() != Some(b'\\') {
                        return Err(ScanError::Syntax);
                    }
                    self.at += 1;
                    if self.peek() != Some(b'u') || !(0xdc00..0xe000).contains(&self.unit()?) {
                        return Err(ScanError::Syntax);
                    }
                }
            }
            _ => return Err(ScanError::Syntax),
        }
        Ok(())
    }

    /// Reads the UTF-16 unit of `uXXXX`.
    fn unit(&mut self) -> Result<u32, ScanError> {
        let digits = self
            .text
            .as_bytes()
            .get(self.at + 1..self.at + 5)
            .ok_or(ScanError::Syntax)?;
        let mut unit = 0;
        for digit in digits {
            unit = unit * 16 + char::from(*digit).to_digit(16).ok_or(ScanError::Syntax)?;
        }
        self.at += 5;
        Ok(unit)
    }

    fn number(&mut self) -> Result<(), ScanError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(ScanError::Syntax),
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

    fn digits(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return Err(ScanError::Syntax);
        }
        Ok(())
    }
}

/// Sets the high bit of each byte that is a quote, a backslash or below 0x20. Only the lowest set bit is
/// exact, because a borrow can set bits above it; callers use only the lowest.
fn special_lanes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // A lane becomes negative where its byte is special. Bytes that are not ASCII are not special.
    let quote = (word ^ (ONES * u64::from(b'"'))).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    let control = word.wrapping_sub(ONES * 0x20);
    (quote | backslash | control) & !word & HIGH
}
