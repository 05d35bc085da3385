//! Changes of a key in PEM: lines, white space, labels, headers, line ends, several blocks.

use base64_simd::STANDARD;

use crate::random::Random;

const LABELS: [&str; 16] = [
    "PUBLIC KEY",
    "PRIVATE KEY",
    "RSA PUBLIC KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "EC PUBLIC KEY",
    "ENCRYPTED PRIVATE KEY",
    "ANY PRIVATE KEY",
    "DSA PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "EC PARAMETERS",
    "CERTIFICATE",
    "ED25519 PRIVATE KEY",
    "PARAMETERS",
    "public key",
    "",
];

const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
const PARAMETERS: &str =
    "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

/// Writes a block as OpenSSL does.
pub fn write(label: &str, der: &[u8]) -> String {
    let body = wrapped(&STANDARD.encode_to_string(der), 64);
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

/// The label and the DER of the first block.
pub fn read(text: &str) -> Option<(String, Vec<u8>)> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once("-----END ")?;
    let body: String = body.split_whitespace().collect();
    Some((label.to_owned(), STANDARD.decode_to_vec(body).ok()?))
}

fn wrapped(body: &str, length: usize) -> String {
    let characters: Vec<char> = body.chars().collect();
    let lines = characters.chunks(length).map(String::from_iter);
    lines.collect::<Vec<String>>().join("\n")
}

/// The first block, in parts that can be changed.
struct Block {
    before: String,
    begin: String,
    body: String,
    end: String,
    after: String,
}

impl Block {
    fn read(text: &str) -> Option<Block> {
        let begin = text.find("-----BEGIN ")?;
        let body = begin + 11 + text[begin + 11..].find("-----")? + 5;
        let end = body + text[body..].find("-----END ")?;
        let after = end + 9 + text[end + 9..].find("-----")? + 5;
        Some(Block {
            before: text[..begin].to_owned(),
            begin: text[begin..body].to_owned(),
            body: text[body..end].to_owned(),
            end: text[end..after].to_owned(),
            after: text[after..].to_owned(),
        })
    }

    fn write(&self) -> String {
        [
            &self.before,
            &self.begin,
            &self.body,
            &self.end,
            &self.after,
        ]
        .map(String::as_str)
        .concat()
    }
}

/// Changes the text once and returns what was done, or nothing if this change does not apply.
pub fn change(text: &mut String, donor: &str, random: &mut Random) -> Option<&'static str> {
    let mut block = Block::read(text)?;
    let name = match random.below(6) {
        0 | 1 => body(&mut block.body, random)?,
        2 => frame(&mut block, random)?,
        3 => around(&mut block, donor, random),
        4 => line_ends(&mut block, random),
        _ => characters(&mut block.body, random)?,
    };
    *text = block.write();
    Some(name)
}

fn body(body: &mut String, random: &mut Random) -> Option<&'static str> {
    let plain: String = body.split_whitespace().collect();
    let lines: Vec<&str> = body.trim().lines().collect();
    let (new, name) = match random.below(9) {
        0 => {
            let length = random.pick(&[1, 4, 48, 60, 63, 65, 72, 76, 77, 80, 128, 1000]);
            (format!("\n{}\n", wrapped(&plain, length)), "line length")
        }
        1 => (plain, "no line ends"),
        2 => (format!("\n{plain}\n"), "one line"),
        3 => {
            let space = random.pick(&[" ", "\t", "  ", "\u{b}", "\u{c}"]);
            let text: String = lines
                .iter()
                .map(|line| format!("\n{line}{space}"))
                .collect();
            (text + "\n", "space at the end of each line")
        }
        4 => {
            let space = random.pick(&[" ", "\t", "    "]);
            let text: String = lines
                .iter()
                .map(|line| format!("\n{space}{line}"))
                .collect();
            (text + "\n", "space at the start of each line")
        }
        5 => (format!("\n{body}"), "empty line first"),
        6 => (format!("{body}\n"), "empty line last"),
        7 => {
            let at = random.below(lines.len() + 1);
            let mut lines = lines;
            lines.insert(at, "");
            (format!("\n{}\n", lines.join("\n")), "empty line inside")
        }
        _ => {
            let header = random.pick(&[
                "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0011\n\n",
                "Comment: a key\n\n",
                "Comment: a key\n",
                "Proc-Type: 4,CLEAR\n\n",
                "X: \n\n",
            ]);
            (format!("\n{header}{}", body.trim_start()), "header")
        }
    };
    *body = new;
    Some(name)
}

fn frame(block: &mut Block, random: &mut Random) -> Option<&'static str> {
    let label = block.begin.get(11..block.begin.len() - 5)?.to_owned();
    let other = random.pick(&LABELS);
    Some(match random.below(9) {
        0 | 1 => {
            block.begin = format!("-----BEGIN {other}-----");
            block.end = format!("-----END {other}-----");
            "label"
        }
        2 => {
            block.end = format!("-----END {other}-----");
            "label at the end"
        }
        3 => {
            block.begin = format!("-----BEGIN {label} -----");
            block.end = format!("-----END {label} -----");
            "space in the label"
        }
        4 => {
            let line = random.pick(&[
                "----BEGIN X-----",
                "------BEGIN X------",
                "---- BEGIN X ----",
            ]);
            block.begin = line.replace('X', &label);
            "hyphens"
        }
        5 => {
            block.end.clear();
            "no end"
        }
        6 => {
            block.end.truncate(block.end.len() - 5);
            "no hyphens at the end"
        }
        7 => {
            block.begin = block.begin.to_lowercase();
            "lower case"
        }
        _ => {
            let space = random.pick(&[" ", "\t", " \u{a0}", "  "]);
            if random.once_in(2) {
                block.begin.push_str(space);
                "space after BEGIN"
            } else {
                block.end.push_str(space);
                "space after END"
            }
        }
    })
}

fn around(block: &mut Block, donor: &str, random: &mut Random) -> &'static str {
    let own = format!("{}{}{}\n", block.begin, block.body, block.end);
    match random.below(12) {
        0 => {
            block.before.insert(0, '\u{feff}');
            "byte order mark"
        }
        1 => {
            block
                .before
                .insert_str(0, "Bag Attributes\n    friendlyName: key\n");
            "text before"
        }
        2 => {
            block.after.push_str("the end\n");
            "text after"
        }
        3 => {
            block.before.push_str(CERTIFICATE);
            "certificate before"
        }
        4 => {
            block.after.push_str(CERTIFICATE);
            "certificate after"
        }
        5 => {
            block.before.push_str(PARAMETERS);
            "EC parameters before"
        }
        6 => {
            block.after.push('\n');
            block.after.push_str(donor);
            "another key after"
        }
        7 => {
            block.after.push('\n');
            block.after.push_str(&own);
            "the same key after"
        }
        8 => {
            block
                .before
                .push_str(random.pick(&[" ", "\t", "\n\n", "# ", "-- "]));
            "characters before BEGIN"
        }
        9 => {
            block
                .after
                .push_str(random.pick(&["\n\n", " ", "\0", "\"", "\u{1a}"]));
            "characters after END"
        }
        10 => {
            block.before.push('"');
            block.after.push('"');
            "quotes"
        }
        _ => {
            block.before.push_str("-----BEGIN ");
            "BEGIN before"
        }
    }
}

fn line_ends(block: &mut Block, random: &mut Random) -> &'static str {
    let (end, name) = random.pick(&[
        ("\r\n", "CRLF"),
        ("\r", "CR"),
        ("\n\r", "LF CR"),
        ("\\n", "escaped line ends"),
        (" ", "spaces for line ends"),
        ("\u{2028}", "Unicode line ends"),
    ]);
    for part in [&mut block.before, &mut block.body, &mut block.after] {
        *part = part.replace('\n', end);
    }
    name
}

fn characters(body: &mut String, random: &mut Random) -> Option<&'static str> {
    let places: Vec<usize> = (body.char_indices())
        .filter(|(_, one)| one.is_ascii_alphanumeric())
        .map(|(at, _)| at)
        .collect();
    let at = *places.get(random.below(places.len().max(1)))?;
    Some(match random.below(9) {
        0 => {
            *body = body.replace('+', "-").replace('/', "_");
            "alphabet of base64url"
        }
        1 if body.contains('=') => {
            *body = body.replace('=', "");
            "no padding"
        }
        2 => {
            body.insert_str(body.trim_end().len(), random.pick(&["=", "==", "===="]));
            "more padding"
        }
        3 => {
            body.insert(at, random.pick(b" \t\n\x0b\x0c\r") as char);
            "white space inside"
        }
        4 => {
            body.insert(
                at,
                random.pick(&['*', '.', ':', '\0', 'ä', '\u{a0}', '\u{200b}', '-']),
            );
            "another character"
        }
        5 => {
            body.remove(at);
            "character missing"
        }
        6 => {
            body.insert(at, random.pick(b"Az09+/=") as char);
            "character more"
        }
        7 => {
            // The last character before the padding has bits that count for nothing.
            let last = *places.last()?;
            let next = (body.as_bytes()[last] + 1) as char;
            body.replace_range(last..=last, next.encode_utf8(&mut [0; 4]));
            "last character"
        }
        _ => {
            let other = random.pick(b"AzQgw09") as char;
            body.replace_range(at..=at, other.encode_utf8(&mut [0; 4]));
            "character"
        }
    })
}
