//! DER as a tree that can be changed and written again, also wrongly.

/// One element.
#[derive(Clone, Debug)]
pub struct Element {
    pub tag: u8,
    pub content: Content,
    pub length: Length,
}

#[derive(Clone, Debug)]
pub enum Content {
    Bytes(Vec<u8>),
    /// Elements inside, after these bytes: a BIT STRING that contains DER begins with its unused bits.
    Elements(Vec<u8>, Vec<Element>),
}

/// How the length is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Der,
    /// With so many bytes more than needed.
    Long(u8),
    Indefinite,
    /// Wrong by this number.
    Off(i8),
}

const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;

impl Element {
    pub fn new(tag: u8, bytes: &[u8]) -> Element {
        Element {
            tag,
            content: Content::Bytes(bytes.to_vec()),
            length: Length::Der,
        }
    }

    /// Reads the only element, and what is inside of it.
    pub fn read(der: &[u8]) -> Option<Element> {
        match Self::read_all(der)?.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        }
    }

    fn read_all(mut der: &[u8]) -> Option<Vec<Element>> {
        let mut all = Vec::new();
        while !der.is_empty() {
            let (element, rest) = Self::read_first(der)?;
            all.push(element);
            der = rest;
        }
        Some(all)
    }

    /// Reads the first element, and returns the bytes after it.
    pub fn read_first(der: &[u8]) -> Option<(Element, &[u8])> {
        let (&[tag, first], rest) = der.split_first_chunk::<2>()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x83 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let length = bytes
                    .iter()
                    .fold(0, |all, byte| all << 8 | usize::from(*byte));
                (length, rest)
            }
            _ => return None,
        };
        let (bytes, rest) = rest.split_at_checked(length)?;
        let inside = |skipped: usize| -> Option<Content> {
            let (head, tail) = bytes.split_at_checked(skipped)?;
            let all = Self::read_all(tail)?;
            Some(Content::Elements(head.to_vec(), all))
        };
        let content = match tag {
            _ if tag & 0x20 != 0 => inside(0),
            OCTET_STRING if matches!(bytes.first(), Some(0x30 | 0x04)) => inside(0),
            BIT_STRING if bytes.get(1) == Some(&0x30) => inside(1),
            _ => None,
        };
        let content = content.unwrap_or_else(|| Content::Bytes(bytes.to_vec()));
        let length = Length::Der;
        Some((
            Element {
                tag,
                content,
                length,
            },
            rest,
        ))
    }

    pub fn write(&self) -> Vec<u8> {
        let mut content = match &self.content {
            Content::Bytes(bytes) => bytes.clone(),
            Content::Elements(head, all) => {
                let inside = all.iter().flat_map(Element::write);
                head.iter().copied().chain(inside).collect()
            }
        };
        let length = match self.length {
            Length::Off(by) => content.len().saturating_add_signed(isize::from(by)),
            _ => content.len(),
        };
        let digits: Vec<u8> = length
            .to_be_bytes()
            .into_iter()
            .skip_while(|b| *b == 0)
            .collect();
        let mut all = vec![self.tag];
        match self.length {
            Length::Indefinite => {
                all.push(0x80);
                content.extend([0, 0]);
            }
            Length::Long(more) => {
                all.push(0x80 | (digits.len() as u8 + more));
                all.extend(std::iter::repeat_n(0, usize::from(more)));
                all.extend(digits);
            }
            _ if length < 0x80 => all.push(length as u8),
            _ => {
                all.push(0x80 | digits.len() as u8);
                all.extend(digits);
            }
        }
        all.extend(content);
        all
    }

    /// The number of elements, this one included.
    pub fn count(&self) -> usize {
        match &self.content {
            Content::Bytes(_) => 1,
            Content::Elements(_, all) => 1 + all.iter().map(Element::count).sum::<usize>(),
        }
    }

    /// The element with this number, counted from the outside.
    pub fn at(&mut self, mut number: usize) -> Option<&mut Element> {
        if number == 0 {
            return Some(self);
        }
        number -= 1;
        let Content::Elements(_, all) = &mut self.content else {
            return None;
        };
        for element in all {
            let count = element.count();
            if number < count {
                return element.at(number);
            }
            number -= count;
        }
        None
    }
}
