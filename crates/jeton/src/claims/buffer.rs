use std::io;

use smallvec::SmallVec;

/// A buffer for claims. The claims of a typical token stay on the stack.
pub(crate) type Buffer = SmallVec<[u8; 1024]>;

/// Number of bytes that are zeroed at first. Most claims are shorter, and zeroing costs time too.
const FIRST: usize = 256;

/// Writes at the end of a buffer that is zeroed in advance. Claims are written in many small pieces, so
/// each piece costs one bounds check and one copy.
pub(super) struct Sink<'b> {
    buffer: &'b mut Buffer,
    at: usize,
}

impl<'b> Sink<'b> {
    pub(super) fn after(buffer: &'b mut Buffer) -> Self {
        let at = buffer.len();
        buffer.resize((at + FIRST).min(buffer.capacity()), 0);
        Sink { buffer, at }
    }

    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if end > self.buffer.len() {
            self.grow(end);
        }
        self.buffer[self.at..end].copy_from_slice(bytes);
        self.at = end;
    }

    /// Writes a JSON string. Nothing in the text may need escaping.
    #[inline]
    pub(super) fn quoted(&mut self, plain: &str) {
        let end = self.at + plain.len() + 2;
        if end > self.buffer.len() {
            self.grow(end);
        }
        let string = &mut self.buffer[self.at..end];
        string[0] = b'"';
        string[1..=plain.len()].copy_from_slice(plain.as_bytes());
        string[plain.len() + 1] = b'"';
        self.at = end;
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Drops what was written since this position.
    pub(super) fn rewind(&mut self, position: usize) {
        self.at = self.at.min(position);
    }

    /// Returns what was written since this position.
    pub(super) fn since(&self, position: usize) -> &[u8] {
        &self.buffer[position..self.at]
    }

    /// Truncates the buffer to what was written.
    pub(super) fn finish(self) {
        self.buffer.truncate(self.at);
    }

    #[cold]
    fn grow(&mut self, end: usize) {
        let doubled = 2 * self.buffer.len();
        let room = self.buffer.capacity();
        let length = if end <= room {
            doubled.min(room)
        } else {
            doubled
        };
        self.buffer.resize(end.max(length), 0);
    }
}

impl io::Write for Sink<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes(bytes);
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sink_appends_to_existing_bytes() {
        for pieces in [0, 1, 300, 5_000] {
            let mut buffer = Buffer::from_slice(b"before");
            let mut sink = Sink::after(&mut buffer);
            for _ in 0..pieces {
                sink.bytes(b"seven..");
            }
            sink.finish();
            assert_eq!(buffer.len(), 6 + 7 * pieces);
            assert!(
                buffer.starts_with(b"before") && buffer[6..].chunks(7).all(|c| c == b"seven..")
            );
        }
    }
}
