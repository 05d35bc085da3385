//! Changes of a key in DER: tags, lengths, order, elements that are missing or too many, contents.

use crate::random::Random;
use crate::tlv::{Content, Element, Length};

/// Object identifiers of keys, curves and other things, as contents.
const OIDS: [&[u8]; 13] = [
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01",
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a",
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x07",
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b",
    b"\x2a\x86\x48\xce\x3d\x02\x01",
    b"\x2a\x86\x48\xce\x3d\x03\x01\x07",
    b"\x2b\x81\x04\x00\x0a",
    b"\x2b\x81\x04\x00\x21",
    b"\x2b\x81\x04\x00\x22",
    b"\x2b\x81\x04\x00\x23",
    b"\x2b\x65\x6e",
    b"\x2b\x65\x70",
    b"\x55\x1d\x0f",
];

const TAGS: [u8; 14] = [
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x30, 0x31, 0x80, 0x81, 0xa0, 0xa1, 0x24,
];

/// Changes the key once and returns what was done, or nothing if this change does not apply.
pub fn change(der: &mut Vec<u8>, donor: &[u8], random: &mut Random) -> Option<&'static str> {
    if der.is_empty() {
        return None;
    }
    if random.once_in(12) {
        return Some(outside(der, random));
    }
    let mut key = Element::read(der)?;
    let number = random.below(key.count());
    let name = inside(&mut key, number, donor, random)?;
    *der = key.write();
    Some(name)
}

fn outside(der: &mut Vec<u8>, random: &mut Random) -> &'static str {
    match random.below(6) {
        0 => {
            der.extend(
                random
                    .pick(&[&b"\0"[..], b"\n", b"\r\n", b"\0\0", b"\x05\0", b" "])
                    .iter(),
            );
            "bytes after the key"
        }
        1 => {
            der.insert(0, random.pick(b"\0\n \xef"));
            "byte before the key"
        }
        2 => {
            let end = random.below(der.len() + 1);
            der.truncate(end);
            "truncated"
        }
        3 => {
            der.extend_from_within(..);
            "twice"
        }
        4 => {
            let at = random.below(der.len());
            der[at] = random.byte();
            "any byte"
        }
        _ => {
            let at = random.below(der.len());
            der[at] ^= 1 << random.below(8);
            "any bit"
        }
    }
}

fn inside(
    key: &mut Element,
    number: usize,
    donor: &[u8],
    random: &mut Random,
) -> Option<&'static str> {
    let element = key.at(number)?;
    match random.below(14) {
        0 => {
            element.tag = random.pick(&TAGS);
            Some("tag")
        }
        1 => {
            element.length = random.pick(&[Length::Long(1), Length::Long(2), Length::Indefinite]);
            Some("length form")
        }
        2 => {
            element.length = random.pick(&[Length::Off(1), Length::Off(-1), Length::Off(4)]);
            Some("length")
        }
        3 => splice(element, donor, random),
        _ => match &mut element.content {
            Content::Elements(head, all) => elements(head, all, random),
            Content::Bytes(bytes) => contents(element.tag, bytes, random),
        },
    }
}

/// Exchanges an element for one of another key.
fn splice(element: &mut Element, donor: &[u8], random: &mut Random) -> Option<&'static str> {
    let mut donor = Element::read(donor)?;
    let number = random.below(donor.count());
    let other = donor.at(number)?;
    if other.tag != element.tag {
        return None;
    }
    *element = other.clone();
    Some("element of another key")
}

fn elements(head: &mut [u8], all: &mut Vec<Element>, random: &mut Random) -> Option<&'static str> {
    match random.below(6) {
        0 if !all.is_empty() => {
            all.remove(random.below(all.len()));
            Some("element missing")
        }
        1 if !all.is_empty() => {
            let at = random.below(all.len());
            all.insert(at, all[at].clone());
            Some("element twice")
        }
        2 if all.len() > 1 => {
            let (one, other) = (random.below(all.len()), random.below(all.len()));
            all.swap(one, other);
            (one != other).then_some("order")
        }
        3 if !head.is_empty() => {
            head[0] = random.pick(&[1, 7, 8, 0xff]);
            Some("unused bits")
        }
        _ => {
            let new = any_element(random);
            let at = random.below(all.len() + 1);
            let at = if random.once_in(2) { all.len() } else { at };
            all.insert(at, new);
            Some("element added")
        }
    }
}

fn any_element(random: &mut Random) -> Element {
    match random.below(8) {
        0 => Element::new(0x05, b""),
        1 => Element::new(0x02, &[random.byte() & 3]),
        2 => Element::new(0xa0, b""),
        3 => Element::new(
            0xa0,
            b"\x30\x0d\x06\x03\x55\x1d\x0f\x31\x06\x03\x04\x00\x80\x00\x00",
        ),
        4 => Element::new(0x81, b"\0\x04"),
        5 => Element::new(0xa1, b"\x03\x02\0\x04"),
        6 => Element::new(0x06, random.pick(&OIDS)),
        _ => Element::new(random.pick(&TAGS), &[random.byte()]),
    }
}

fn contents(tag: u8, bytes: &mut Vec<u8>, random: &mut Random) -> Option<&'static str> {
    match (tag, random.below(8)) {
        (0x02, 0) => {
            bytes.insert(0, 0);
            Some("INTEGER with a zero in front")
        }
        (0x02, 1) if bytes.first() == Some(&0) && bytes.len() > 1 => {
            bytes.remove(0);
            Some("INTEGER negative")
        }
        (0x02, 2) => {
            *bytes = vec![random.pick(&[0, 1, 2, 3, 0x7f, 0x80])];
            Some("INTEGER small")
        }
        (0x02, 3) => {
            let last = bytes.last_mut()?;
            *last = last.wrapping_add(1);
            Some("INTEGER larger by one")
        }
        (0x06, 0..=4) => {
            *bytes = random.pick(&OIDS).to_vec();
            Some("OID")
        }
        (0x03, 0) => {
            *bytes.first_mut()? = random.pick(&[1, 7, 8, 0xff]);
            Some("unused bits")
        }
        (0x03, 1) if bytes.get(1) == Some(&4) => {
            bytes[1] = 6 | (bytes.last()? & 1);
            Some("point in hybrid form")
        }
        (0x03, 2) if bytes.get(1) == Some(&4) => {
            bytes[1] = 2 | (bytes.last()? & 1);
            bytes.truncate(2 + (bytes.len() - 2) / 2);
            Some("point compressed")
        }
        (0x03, 3) if bytes.len() > 1 => {
            bytes.truncate(2);
            bytes[1] = 0;
            Some("point at infinity")
        }
        (0x03 | 0x04, 4) => {
            bytes.insert(usize::from(tag == 3), 0);
            Some("zero in front")
        }
        (0x04, 5) if bytes.len() > 1 => {
            bytes.remove(0);
            Some("first byte missing")
        }
        (_, 6) => {
            bytes.push(random.byte());
            Some("content longer")
        }
        (_, 7) => {
            bytes.pop()?;
            Some("content shorter")
        }
        _ => {
            let at = random.below(bytes.len().max(1));
            *bytes.get_mut(at)? = random.byte();
            Some("content")
        }
    }
}
