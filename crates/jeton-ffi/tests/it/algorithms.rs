//! The names of the algorithms in other languages. `JETON_WRITE=1` writes the files: `cargo xtask sdk algorithms`.

use std::fmt::Write as _;

use jeton::danger::Pbes2Alg;
use jeton::key::{ContentEnc, KeyManagementAlg, KeyWrapAlg, MacAlg, SigAlg};

use crate::codes::assert_written;

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
        ],
    );
}

fn macs() -> Vec<&'static str> {
    MacAlg::ALL.iter().map(|alg| alg.name()).collect()
}

fn signatures() -> Vec<&'static str> {
    SigAlg::ALL.iter().map(|alg| alg.name()).collect()
}

/// The algorithms of keys that encrypt, without passwords.
fn key_management() -> Vec<&'static str> {
    let wrapping = KeyWrapAlg::ALL.iter().map(|alg| alg.name());
    let asymmetric = KeyManagementAlg::ALL.iter().map(|alg| alg.name());
    ["dir"]
        .into_iter()
        .chain(wrapping)
        .chain(asymmetric)
        .collect()
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
