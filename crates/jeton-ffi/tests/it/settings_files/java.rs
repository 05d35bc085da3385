//! The methods of Java's builders, and `SettingNames`.

use std::fmt::Write as _;

use jeton_bindings::settings::{
    DECRYPTION, ENCRYPTION, Format, GENERATED_KEY, IMPORTED_KEY, ISSUER, KEY_SET, Kind, LIMITS,
    REMOTE_KEYS, Setting, VERIFIER,
};

use super::names::{Language, camel, name};
use super::{NOTE, Section, WIDTH, sentences, with_sections, wrapped, written};

const CLAIMS: &[Format] = &[Format::Jwt, Format::Paseto];
const BYTES: &[Format] = &[Format::Jws, Format::Jwe, Format::PasetoBytes];

/// Issuers of bytes have a method for the algorithm, and an argument for the key. Issuers of claims have one method.
const BYTES_ISSUER: &[(&str, &str)] = &[("enc", "contentEncryption"), ("encryption", "encryption")];
const BYTES_VERIFIER: &[(&str, &str)] = &[("decryption", "decryption")];

/// A class with methods that set one value.
struct Builder {
    file: &'static str,
    class: &'static str,
    rows: &'static [Setting],
    formats: &'static [Format],
}

macro_rules! source {
    ($file:literal) => {
        concat!("sdk/java/core/src/main/java/io/github/jeton/", $file)
    };
}

const BUILDERS: [Builder; 7] = [
    Builder {
        file: source!("Issuer.java"),
        class: "Builder",
        rows: ISSUER,
        formats: CLAIMS,
    },
    Builder {
        file: source!("Verifier.java"),
        class: "Builder",
        rows: VERIFIER,
        formats: CLAIMS,
    },
    Builder {
        file: source!("RemoteKeySet.java"),
        class: "Builder",
        rows: REMOTE_KEYS,
        formats: Format::ALL,
    },
    Builder {
        file: source!("KeyGenerator.java"),
        class: "KeyGenerator",
        rows: GENERATED_KEY,
        formats: Format::ALL,
    },
    Builder {
        file: source!("KeyImporter.java"),
        class: "KeyImporter",
        rows: IMPORTED_KEY,
        formats: Format::ALL,
    },
    Builder {
        file: source!("bytes/BytesIssuer.java"),
        class: "Builder",
        rows: ISSUER,
        formats: BYTES,
    },
    Builder {
        file: source!("bytes/BytesVerifier.java"),
        class: "Builder",
        rows: VERIFIER,
        formats: BYTES,
    },
];

pub(super) fn files() -> Vec<(&'static str, String)> {
    let names = (source!("internal/SettingNames.java"), names());
    let builders = BUILDERS.iter().map(|builder| {
        let section = Section {
            begin: "// BEGIN SETTINGS: written by `cargo xtask sdk settings`.\n",
            end: "// END SETTINGS\n",
            text: builder.methods(),
        };
        (builder.file, with_sections(builder.file, &[section]))
    });
    builders.chain([names]).collect()
}

impl Builder {
    /// The methods, and the space before the end of the section.
    fn methods(&self) -> String {
        let space = if self.class == "Builder" {
            "        "
        } else {
            "    "
        };
        let mut text = String::new();
        for row in written(self.rows, Language::Java) {
            if !self
                .formats
                .iter()
                .any(|format| row.formats.contains(format))
            {
                continue;
            }
            let mut about = sentences(row, self.rows, Language::Java);
            match row.kind {
                Kind::List => about += " Further calls add more.",
                Kind::Seconds => about += " It must be whole seconds.",
                _ => {}
            }
            let method = super::name_of(row, Language::Java);
            let setting = row.name;
            let call = match row.kind {
                Kind::Flag => Method::of(&method, "", format!("flag(\"{setting}\")")),
                Kind::Text | Kind::Texts | Kind::Encryption => {
                    let parameter = format!("String {method}");
                    Method::of(
                        &method,
                        &parameter,
                        format!("text(\"{setting}\", {method})"),
                    )
                }
                Kind::List => {
                    let all = camel(setting);
                    let value = format!("List.of(Text.required({all}, \"{all}\"))");
                    let parameter = format!("String... {all}");
                    Method::of(&method, &parameter, format!("add(\"{setting}\", {value})"))
                }
                Kind::Object => {
                    let parameter = format!("Map<String, ?> {method}");
                    Method::of(&method, &parameter, format!("map(\"{setting}\", {method})"))
                }
                Kind::Seconds => {
                    let parameter = format!("Duration {method}");
                    Method::of(
                        &method,
                        &parameter,
                        format!("seconds(\"{setting}\", {method})"),
                    )
                }
                Kind::Count => {
                    let parameter = format!("int {method}");
                    Method::of(
                        &method,
                        &parameter,
                        format!("number(\"{setting}\", {method})"),
                    )
                }
                other => panic!("{setting}: write it by hand: {other:?}"),
            };
            text += &call.text(&about, self.class, space);
            if row.kind == Kind::Texts {
                let several = format!("{method}s");
                let about = format!("Does the same as {{@link #{method}}}, with several values.");
                let parameter = format!("List<String> {several}");
                let call = format!("list(\"{setting}\", {several})");
                text += &Method::of(&several, &parameter, call).text(&about, self.class, space);
            }
        }
        text + space
    }
}

struct Method {
    signature: String,
    call: String,
}

impl Method {
    fn of(name: &str, parameter: &str, call: String) -> Method {
        Method {
            signature: format!("{name}({parameter})"),
            call,
        }
    }

    fn text(&self, about: &str, class: &str, space: &str) -> String {
        let Method { signature, call } = self;
        let about = comment(&javadoc(about), space);
        format!(
            "{about}\n{space}public {class} {signature} {{\n{space}    settings.{call};\n{space}    return this;\n{space}}}\n\n"
        )
    }
}

fn comment(about: &str, space: &str) -> String {
    let line = format!("{space}/** {about} */");
    if line.chars().count() <= WIDTH {
        return line;
    }
    let next = format!("{space} * ");
    let lines = wrapped(about, &next, &next, WIDTH);
    format!("{space}/**\n{lines}\n{space} */")
}

/// Writes a code in backticks as a tag.
fn javadoc(about: &str) -> String {
    let parts = about.split('`').enumerate();
    parts
        .map(|(at, part)| {
            if at % 2 == 0 {
                part.to_owned()
            } else {
                format!("{{@code {part}}}")
            }
        })
        .collect()
}

/// The names of the methods, for messages.
fn names() -> String {
    let mut text = format!(
        "package io.github.jeton.internal;\n\n\
         import static java.util.Map.entry;\n\n\
         import java.util.Map;\n\n\
         // {NOTE}\n\n\
         /** Settings of a builder, with the methods that set them. A caller does not know the settings. */\n\
         public enum SettingNames {{\n"
    );
    let keys = GENERATED_KEY.iter().chain(IMPORTED_KEY);
    let builders = [
        ("ISSUER", of_claims(ISSUER.iter().chain([&ENCRYPTION]))),
        ("VERIFIER", of_claims(VERIFIER.iter().chain([&DECRYPTION]))),
        ("LIMITS", of_claims(LIMITS.iter())),
        (
            "BYTES_ISSUER",
            of_bytes(ISSUER.iter().chain([&ENCRYPTION]), BYTES_ISSUER),
        ),
        (
            "BYTES_VERIFIER",
            of_bytes(VERIFIER.iter().chain([&DECRYPTION]), BYTES_VERIFIER),
        ),
        ("KEY", of_claims(keys)),
        ("KEY_SET", of_claims(KEY_SET.iter())),
        ("REMOTE_KEYS", of_claims(REMOTE_KEYS.iter())),
    ];
    let builders = builders.map(|(builder, names)| {
        let names: Vec<String> = names
            .into_iter()
            .map(|(setting, method)| format!("            entry(\"{setting}\", \"{method}\")"))
            .collect();
        format!("    {builder}(Map.ofEntries(\n{}))", names.join(",\n"))
    });
    text += &builders.join(",\n");
    let pairs = [ISSUER, VERIFIER].into_iter().flatten();
    let pairs: Vec<String> = pairs
        .filter_map(|row| {
            row.excludes
                .map(|other| format!("\"{}\", \"{other}\"", row.name))
        })
        .collect();
    writeln!(
        text,
        ";\n\n    /** Flags, with the setting that each excludes. */\n    static final Map<String, String> EXCLUDES = Map.of({});\n",
        pairs.join(", ")
    )
    .unwrap();
    text + r#"    private final Map<String, String> methods;

    SettingNames(Map<String, String> methods) {
        this.methods = methods;
    }

    /** Returns the method that sets a setting, or the setting itself. */
    String method(String setting) {
        return methods.getOrDefault(setting, setting);
    }
}
"#
}

type Names = Vec<(&'static str, String)>;

/// The settings whose method has another name.
fn of_claims(rows: impl Iterator<Item = &'static Setting>) -> Names {
    let names = rows.filter_map(|row| Some((row.name, name(row, Language::Java)?)));
    let mut names: Names = names
        .filter(|(setting, method)| setting != method)
        .collect();
    names.sort();
    names.dedup();
    names
}

fn of_bytes(
    rows: impl Iterator<Item = &'static Setting>,
    others: &[(&'static str, &str)],
) -> Names {
    let mut names =
        of_claims(rows.filter(|row| BYTES.iter().any(|format| row.formats.contains(format))));
    for (setting, method) in others {
        names.retain(|(other, _)| other != setting);
        if setting != method {
            names.push((*setting, (*method).to_owned()));
        }
    }
    names
}
