use std::ops::Range;

/// A range of a text. The substring is only taken when needed, because most names and values are skipped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Span<'a> {
    /// Both ends must be on character boundaries.
    #[inline]
    pub(super) fn new(text: &'a str, start: usize, end: usize) -> Self {
        Span { text, start, end }
    }

    #[inline]
    pub(super) fn text(self) -> &'a str {
        &self.text[self.start..self.end]
    }

    #[inline]
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.text.as_bytes()[self.start..self.end]
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the whole text and the start of the range.
    pub(super) fn text_and_start(self) -> (&'a str, usize) {
        (self.text, self.start)
    }
}
