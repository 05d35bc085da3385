use std::ops::Range;

/// Where something stands in a text. It is cut out when somebody asks for it: most names and values are
/// only stepped over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Span<'a> {
    /// The scanner has stood at both ends, and so between characters.
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

    /// The text from here to its end.
    pub(super) fn onwards(self) -> (&'a str, usize) {
        (self.text, self.start)
    }
}
