//! The names of the algorithms in other languages, and in jeton's drivers. `JETON_WRITE=1` writes the files: `cargo
//! xtask sdk algorithms`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jeton::danger::Pbes2Alg;
use jeton::key::{ContentEnc, KeyManagementAlg, KeyWrapAlg, MacAlg, SigAlg, SigningKey};
use serde_json::Value;

use crate::codes::{assert_written, read};

const NOTE: &str = "Written from the tables of crates/jeton/src/key by `cargo xtask sdk algorithms`. Do not change it here.";

const PASETO: [&str; 4] = ["v3.local", "v3.public", "v4.local", "v4.public"];

#[test]
fn algorithms_of_other_languages_match_the_table() {
    assert_written(
        "algorithms",
        &[
            ("sdk/go/algorithm.go", go()),
            ("sdk/node/src/algorithms.ts", typescript()),
            (
                "sdk/java/core/src/main/java/io/github/jeton/Algorithm.java",
                java(),
            ),
            ("sdk/python/python/jeton/_algorithms.py", python()),
        ],
    );
}

/// The files of jeton's drivers that list algorithms. The driver for Rust reads the table itself.
const DRIVERS: [&str; 10] = [
    "drivers/go/jeton/driver.toml",
    "drivers/go/jeton/main.go",
    "drivers/java/jeton/driver.toml",
    "drivers/java/jeton/JetonDriver.java",
    "drivers/java/jeton/JetonJwe.java",
    "drivers/node/jeton/driver.js",
    "drivers/node/jeton/driver.toml",
    "drivers/python/jeton/driver.py",
    "drivers/python/jeton/driver.toml",
    "drivers/rust/jeton/driver.toml",
];

#[test]
fn algorithms_of_the_drivers_match_the_table() {
    let files = DRIVERS.map(|path| (path, with_lists(path)));
    assert_written("algorithms", &files);
}

/// Returns the text of a file with its lists, each between a line with `begin: KIND, written by …` and a line with
/// `end: KIND`.
fn with_lists(path: &str) -> String {
    let mut text = String::new();
    let written = read(path);
    let mut lines = written.lines();
    let mut count = 0;
    while let Some(line) = lines.next() {
        text.extend([line, "\n"]);
        let Some((before, rest)) = line.split_once("begin: ") else {
            continue;
        };
        let (kind, _) = rest.split_once(", written by").unwrap();
        let indent = &before[..before.len() - before.trim_start().len()];
        text += &quoted(path, indent, &names_of(kind));
        let end = format!("end: {kind}");
        let end = lines.find(|line| line.ends_with(&end)).unwrap();
        text.extend([end, "\n"]);
        count += 1;
    }
    assert!(count > 0, "{path} has no list");
    text
}

fn names_of(kind: &str) -> Vec<&'static str> {
    match kind {
        "MACs" => macs(),
        "signatures" => signatures(),
        "MACs and signatures" => [macs(), signatures()].concat(),
        "secrets for JWE" => [vec!["dir"], key_wrapping()].concat(),
        "key pairs for JWE" => asymmetric(),
        "keys for JWE" => key_management(),
        "passwords" => passwords(),
        _ => panic!("unknown kind of algorithms: {kind}"),
    }
}

/// Writes names as the strings of a list, in lines of at most 100 characters.
fn quoted(path: &str, indent: &str, names: &[&str]) -> String {
    let quote = if path.ends_with(".js") { '\'' } else { '"' };
    let mut text = String::new();
    let mut line = String::new();
    for name in names {
        let item = format!("{quote}{name}{quote},");
        if !line.is_empty() && indent.len() + line.len() + 1 + item.len() > 100 {
            writeln!(text, "{indent}{line}").unwrap();
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += &item;
    }
    // A list of arguments in Java ends without a comma.
    let last = match path.rsplit_once('.') {
        Some((_, "java" | "js")) => line.trim_end_matches(','),
        _ => &line,
    };
    writeln!(text, "{indent}{last}").unwrap();
    text
}

fn macs() -> Vec<&'static str> {
    MacAlg::ALL.iter().map(|alg| alg.name()).collect()
}

fn signatures() -> Vec<&'static str> {
    SigAlg::ALL.iter().map(|alg| alg.name()).collect()
}

fn key_wrapping() -> Vec<&'static str> {
    KeyWrapAlg::ALL.iter().map(|alg| alg.name()).collect()
}

fn asymmetric() -> Vec<&'static str> {
    KeyManagementAlg::ALL.iter().map(|alg| alg.name()).collect()
}

/// The algorithms of keys that encrypt, without passwords.
fn key_management() -> Vec<&'static str> {
    [vec!["dir"], key_wrapping(), asymmetric()].concat()
}

fn passwords() -> Vec<&'static str> {
    Pbes2Alg::ALL.iter().map(|alg| alg.name()).collect()
}

fn content_encryptions() -> Vec<&'static str> {
    ContentEnc::ALL.iter().map(|enc| enc.name()).collect()
}

fn go() -> String {
    let mut text = format!(
        "// {NOTE}\n\npackage jeton\n\n\
         // Algorithm is the name of an algorithm: a JWA name, or a PASETO version and purpose.\ntype Algorithm string\n"
    );
    let signing = [macs(), signatures()].concat();
    for (about, kind, names) in [
        ("Signature and MAC algorithms.", "Algorithm", signing),
        (
            "Key management algorithms of JWE. [Direct] needs [WithContentEncryption].",
            "Algorithm",
            key_management(),
        ),
        (
            "PASETO versions and purposes.",
            "Algorithm",
            PASETO.to_vec(),
        ),
        (
            "Content encryption algorithms.",
            "Encryption",
            content_encryptions(),
        ),
    ] {
        if kind == "Encryption" {
            text += "\n// Encryption is the name of a content encryption algorithm (`enc`).\ntype Encryption string\n";
        }
        writeln!(text, "\n// {about}\nconst (").unwrap();
        let width = names.iter().map(|name| go_name(name).len()).max().unwrap();
        for name in names {
            writeln!(text, "\t{:width$} {kind} = \"{name}\"", go_name(name)).unwrap();
        }
        text += ")\n";
    }
    let paseto = PASETO.map(go_name).join(", ");
    text + &format!(
        "\n// isPaseto reports whether this is a PASETO algorithm.\nfunc (a Algorithm) isPaseto() bool {{\n\tswitch a {{\n\
         \tcase {paseto}:\n\t\treturn true\n\t}}\n\treturn false\n}}\n"
    )
}

/// `RSA-OAEP-256` as `RSAOAEP256`, `v4.public` as `V4Public`.
fn go_name(name: &str) -> String {
    match name.split_once('.') {
        Some((version, purpose)) => {
            let (first, rest) = purpose.split_at(1);
            format!("{}{}{rest}", version.to_uppercase(), first.to_uppercase())
        }
        None if name == "dir" => "Direct".to_owned(),
        None => name.replace(['-', '+'], ""),
    }
}

fn typescript() -> String {
    let mut text = format!("// {NOTE}\n");
    let kinds = [
        ("SignatureAlgorithm", "Signature algorithms.", signatures()),
        (
            "MacAlgorithm",
            "MAC algorithms, which use a secret.",
            macs(),
        ),
        (
            "KeyManagementAlgorithm",
            "Key management algorithms, which encrypt or derive the content encryption key.",
            key_management(),
        ),
        (
            "PasswordAlgorithm",
            "Key management algorithms that use a password.",
            passwords(),
        ),
        (
            "PasetoAlgorithm",
            "PASETO versions and purposes.",
            PASETO.to_vec(),
        ),
    ];
    let of_keys: Vec<&str> = kinds.iter().map(|(name, ..)| *name).collect();
    for (name, about, names) in &kinds {
        union(&mut text, name, about, names);
    }
    let all = of_keys.join("\n  | ");
    write!(
        text,
        "\n/** The algorithm of a key. */\nexport type Algorithm =\n  | {all}\n"
    )
    .unwrap();
    union(
        &mut text,
        "ContentEncryption",
        "Content encryption algorithms.",
        &content_encryptions(),
    );
    text
}

fn union(text: &mut String, name: &str, about: &str, names: &[&str]) {
    write!(text, "\n/** {about} */\nexport type {name} =\n").unwrap();
    for names in names.chunks(6) {
        let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        writeln!(text, "  | {}", names.join(" | ")).unwrap();
    }
}

fn python() -> String {
    let mut text =
        format!("# {NOTE}\n\"\"\"The names of the signature and MAC algorithms.\"\"\"\n");
    for (name, names) in [("MACS", macs()), ("SIGNATURES", signatures())] {
        write!(text, "\n{name} = (\n").unwrap();
        text += &quoted("_algorithms.py", "    ", &names);
        text += ")\n";
    }
    text += "\n#: The algorithm of the keys of each curve (`crv`).\nCURVES = {\n";
    let mut known = BTreeSet::new();
    for (curve, name) in curves() {
        // `EdDSA` and `Ed25519` have the same curve.
        if known.insert(curve.clone()) {
            writeln!(text, "    \"{curve}\": \"{name}\",").unwrap();
        }
    }
    text + "}\n"
}

/// The curve of each algorithm whose keys have one. RSA keys take long to generate, and have none.
fn curves() -> impl Iterator<Item = (String, &'static str)> {
    let all = SigAlg::ALL.iter().copied();
    let fixed = all.filter(|alg| alg.signature_bytes().is_some());
    fixed.filter_map(|alg| {
        let public = SigningKey::generate(alg).unwrap().verifying_key();
        let jwk: Value = serde_json::from_str(&public.to_jwk()).unwrap();
        Some((jwk["crv"].as_str()?.to_owned(), alg.name()))
    })
}

fn java() -> String {
    let mut text = format!(
        "package io.github.jeton;\n\n// {NOTE}\n\n\
         /** What a key is for: an algorithm of RFC 7518 and its successors, or a version and purpose of PASETO. */\n\
         public enum Algorithm {{\n"
    );
    let of_macs = MacAlg::ALL.iter().map(|alg| {
        let words = format!("HMAC with SHA-{}", alg.key_bytes() * 8);
        (alg.name(), words)
    });
    let of_signatures = (SigAlg::ALL.iter()).map(|alg| (alg.name(), alg.description().to_owned()));
    let encrypting = [key_management(), passwords(), PASETO.to_vec()].concat();
    let encrypting = encrypting
        .into_iter()
        .map(|name| (name, words_of_encryption(name)));
    let all: Vec<String> = of_macs
        .chain(of_signatures)
        .chain(encrypting)
        .map(|(name, words)| format!("    /** {words}. */\n    {}(\"{name}\")", java_name(name)))
        .collect();
    text += &all.join(",\n");
    text + r#";

    private final String standardName;

    Algorithm(String standardName) {
        this.standardName = standardName;
    }

    /** Returns the name in the standard, which is also the value of {@code alg}. */
    public String standardName() {
        return standardName;
    }

    /** Returns whether this is a PASETO algorithm. */
    public boolean isPaseto() {
        return ordinal() >= V3_LOCAL.ordinal();
    }

    /** Returns the algorithm with this name in the standard. Case counts. */
    public static Algorithm of(String standardName) {
        for (Algorithm algorithm : values()) {
            if (algorithm.standardName.equals(standardName)) {
                return algorithm;
            }
        }
        throw new JetonException(ErrorCode.INVALID_OPTION, "option `algorithm`: not a supported algorithm");
    }
}
"#
}

/// `ECDH-ES+A128KW` as `ECDH_ES_A128KW`.
fn java_name(name: &str) -> String {
    name.to_uppercase().replace(['-', '+', '.'], "_")
}

fn words_of_encryption(name: &str) -> String {
    let bits = |name: &str| name.trim_start_matches('A')[..3].to_owned();
    match name {
        "dir" => "The secret encrypts the content of JWEs".to_owned(),
        "RSA-OAEP" => "RSA-OAEP with SHA-1".to_owned(),
        "ECDH-ES" => {
            "Diffie-Hellman on an elliptic curve: the agreed key encrypts the content".to_owned()
        }
        _ => match name.split_once('.') {
            Some((version, "local")) => {
                format!("PASETO version {}, encrypted with a secret", &version[1..])
            }
            Some((version, _)) => format!("PASETO version {}, signed", &version[1..]),
            None if name.starts_with("PBES2-") => {
                "A password for JWEs (PBES2), imported with {@link KeyImporter#insecurePassword}"
                    .to_owned()
            }
            None => match (
                name.strip_prefix("RSA-OAEP-"),
                name.strip_prefix("ECDH-ES+"),
            ) {
                (Some(hash), _) => format!("RSA-OAEP with SHA-{hash}"),
                (_, Some(wrap)) => {
                    format!("Diffie-Hellman with AES key wrap of {} bits", bits(wrap))
                }
                _ if name.ends_with("GCMKW") => {
                    format!("AES-GCM key wrap with {} bits", bits(name))
                }
                _ => format!("AES key wrap with {} bits", bits(name)),
            },
        },
    }
}
