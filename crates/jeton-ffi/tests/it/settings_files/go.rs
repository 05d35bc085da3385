//! `sdk/go/settings.go`: the functions that set one value, and the names of all options.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jeton_bindings::settings::{
    DECRYPTION, ENCRYPTION, Format, GENERATED_KEY, IMPORTED_KEY, ISSUER, KEY_SET, Kind,
    REMOTE_KEYS, Setting, VERIFIER,
};

use super::names::{Language, camel, name};
use super::{NOTE, WIDTH, lower_first, sentences, wrapped, written};

/// What takes an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Issuer,
    Verifier,
    Bytes,
    Key,
    KeySet,
    Remote,
}

/// An option function.
struct Function {
    row: &'static Setting,
    uses: Vec<Use>,
    /// The documentation for each use, without repetition.
    about: Vec<String>,
}

pub(super) fn options() -> String {
    let mut text = format!("// {NOTE}\n\npackage jeton\n\nimport \"time\"\n");
    for (name, function) in functions() {
        text += &function.text(&name);
    }
    text += &names();
    text += "\n// contradicting maps a setting to the one that it excludes.\nvar contradicting = map[string]string{\n";
    text += &contradicting();
    let producers = ISSUER.iter().filter(|row| is_of_bytes(row));
    let producers = producers.filter(|row| {
        let of_verifier = VERIFIER.iter().filter(|row| is_of_bytes(row));
        !of_verifier.map(|row| row.name).any(|name| name == row.name)
    });
    let producers: Vec<String> = producers.map(|row| format!("\"{}\"", row.name)).collect();
    writeln!(
        text,
        "}}\n\n// producerOptions apply to signers and encrypters only. A verifier reads the values from the header.\n\
         var producerOptions = []string{{{}}}",
        producers.join(", ")
    )
    .unwrap();
    text
}

fn is_of_claims(row: &Setting) -> bool {
    [Format::Jwt, Format::Paseto]
        .iter()
        .any(|format| row.formats.contains(format))
}

/// The module has no bytes in a PASETO.
fn is_of_bytes(row: &Setting) -> bool {
    [Format::Jws, Format::Jwe]
        .iter()
        .any(|format| row.formats.contains(format))
}

fn uses_of_tokens(row: &Setting, of_claims: Use) -> Vec<Use> {
    let claims = is_of_claims(row).then_some(of_claims);
    let bytes = is_of_bytes(row).then_some(Use::Bytes);
    claims.into_iter().chain(bytes).collect()
}

/// The functions by name, in the order of the table.
fn functions() -> Vec<(String, Function)> {
    let mut functions: Vec<(String, Function)> = Vec::new();
    let mut add = |rows: &'static [Setting], uses_of: &dyn Fn(&Setting) -> Vec<Use>| {
        for row in written(rows, Language::Go) {
            let name = super::name_of(row, Language::Go);
            let about = sentences(row, rows, Language::Go);
            let uses = uses_of(row);
            match functions.iter_mut().find(|(other, _)| *other == name) {
                Some((_, function)) => {
                    assert_eq!(function.row.kind, row.kind, "{name}: write it by hand");
                    function.uses.extend(uses);
                    if !function.about.contains(&about) {
                        function.about.push(about);
                    }
                }
                None => functions.push((
                    name,
                    Function {
                        row,
                        uses,
                        about: vec![about],
                    },
                )),
            }
        }
    };
    add(ISSUER, &|row| uses_of_tokens(row, Use::Issuer));
    add(VERIFIER, &|row| uses_of_tokens(row, Use::Verifier));
    add(GENERATED_KEY, &|_| vec![Use::Key]);
    add(IMPORTED_KEY, &|_| vec![Use::Key]);
    add(KEY_SET, &|_| vec![Use::KeySet]);
    add(REMOTE_KEYS, &|_| vec![Use::Remote]);
    for (_, function) in &mut functions {
        function.uses.sort();
        function.uses.dedup();
    }
    functions
}

impl Function {
    fn text(&self, name: &str) -> String {
        let (kind, result) = match self.uses[..] {
            [Use::Issuer] => ("issuerOption", "IssuerOption"),
            [Use::Verifier] => ("verifierOption", "VerifierOption"),
            [Use::Issuer, Use::Verifier] => ("sharedOption", "Option"),
            [Use::Bytes] => ("bytesOption", "BytesOption"),
            [Use::Key] => ("keyOption", "KeyOption"),
            [Use::KeySet] => ("keySetOption", "KeySetOption"),
            [Use::Remote] => ("remoteOption", "RemoteOption"),
            _ => panic!("{name}: write it by hand, for {:?}", self.uses),
        };
        let mut about = format!("{name} {}", lower_first(&self.about[0]));
        if let [_, of_verifier] = &self.about[..] {
            about += &format!(" In a verifier, it {}", lower_first(of_verifier));
        }
        let setting = self.row.name;
        let value = camel(setting);
        let (parameter, call) = match self.row.kind {
            Kind::Flag => (String::new(), format!("c.set(\"{setting}\", true)")),
            Kind::Text => (
                format!("{value} string"),
                format!("c.set(\"{setting}\", {value})"),
            ),
            Kind::Texts => (
                format!("{value} ...string"),
                format!("c.set(\"{setting}\", oneOrList({value}))"),
            ),
            Kind::List => {
                about += " Further calls add more.";
                (
                    format!("{value} ...string"),
                    format!("c.add(\"{setting}\", {value})"),
                )
            }
            Kind::Seconds => {
                about += " It must be whole seconds.";
                (
                    format!("{value} time.Duration"),
                    format!("c.seconds(\"{setting}\", {value})"),
                )
            }
            Kind::Count => (
                format!("{value} int"),
                format!("c.set(\"{setting}\", {value})"),
            ),
            other => panic!("{name}: write it by hand: {other:?}"),
        };
        let about = wrapped(&about, "// ", "// ", WIDTH);
        format!(
            "\n{about}\nfunc {name}({parameter}) {result} {{\n\treturn {kind}(func(c *config) {{ {call} }})\n}}\n"
        )
    }
}

/// `optionNames`, as gofmt aligns it.
fn names() -> String {
    let of_keys = [ENCRYPTION.name, DECRYPTION.name]
        .into_iter()
        .zip([&ENCRYPTION, &DECRYPTION]);
    let tables = [
        ISSUER,
        VERIFIER,
        GENERATED_KEY,
        IMPORTED_KEY,
        KEY_SET,
        REMOTE_KEYS,
    ];
    let rows = tables.into_iter().flatten().map(|row| (row.name, row));
    let mut names = BTreeMap::new();
    for (setting, row) in rows.chain(of_keys) {
        if let Some(name) = name(row, Language::Go) {
            // An issuer has the option of its name, and a remote key set has a function.
            names.entry(setting).or_insert(name);
        }
    }
    let width = names.keys().map(|setting| setting.len()).max().unwrap() + 1;
    let mut text =
        "\n// optionNames maps settings to the options that set them, for error messages.\n\
                    var optionNames = map[string]string{\n"
            .to_owned();
    for (setting, name) in &names {
        let space = " ".repeat(width - setting.len());
        writeln!(text, "\t\"{setting}\":{space}\"{name}\",").unwrap();
    }
    text + "}\n"
}

fn contradicting() -> String {
    let pairs = [ISSUER, VERIFIER].into_iter().flatten();
    let pairs = pairs.filter_map(|row| row.excludes.map(|other| (row.name, other)));
    let pairs: BTreeMap<&str, &str> = pairs
        .flat_map(|(one, other)| [(one, other), (other, one)])
        .collect();
    let width = pairs.keys().map(|setting| setting.len()).max().unwrap() + 1;
    let lines = pairs.iter().map(|(one, other)| {
        let space = " ".repeat(width - one.len());
        format!("\t\"{one}\":{space}\"{other}\",\n")
    });
    lines.collect()
}
