//! The columns of the table of settings.

use crate::format::Format;

/// A setting of a constructor.
#[derive(Debug)]
pub struct Setting {
    /// The member of the JSON text. C and Python use this name.
    pub name: &'static str,
    /// The type of the value.
    pub kind: Kind,
    /// What it does. The first sentence begins with a verb. `{leeway}` is another setting of the constructor.
    pub about: &'static str,
    /// The default, or empty.
    pub default: &'static str,
    /// The accepted values, or empty if the kind determines them.
    pub range: &'static str,
    /// The formats to which it applies.
    pub formats: &'static [Format],
    /// For its formats, this setting is required, or one that excludes it.
    pub required: bool,
    /// The setting that must not be set with this one.
    pub excludes: Option<&'static str>,
    /// Whether it can be used with a remote key set.
    pub with_remote_keys: bool,
    /// The option in Go.
    pub go: Name,
    /// The option in Node.
    pub node: Name,
    /// The method in Java.
    pub java: Name,
    /// The parameter in Python.
    pub python: Name,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Flag,
    /// A text.
    Text,
    /// One text or a list of texts.
    Texts,
    /// A list of texts.
    List,
    /// A JSON object.
    Object,
    /// A duration in whole seconds.
    Seconds,
    /// A whole number.
    Count,
    /// The name of an algorithm of a key.
    Algorithm,
    /// The name of a signature algorithm.
    SignatureAlgorithm,
    /// The name of a content encryption.
    Encryption,
    /// The names of one or several content encryptions.
    Encryptions,
    /// The format of a token or a key.
    Format,
    /// The serialization of a JWS or a JWE.
    Serialization,
    /// The settings of [`LIMITS`](super::LIMITS).
    Limits,
    /// A key or a key set, which is an argument and not a member of the JSON text.
    Key,
}

/// The name of a setting in a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// The JSON name in the spelling of the language. The code of the option is written from the table.
    Derived,
    /// Another name. The code of the option is written from the table.
    Is(&'static str),
    /// The name of an option whose code is written by hand.
    ByHand(&'static str),
    /// The language has no option: a function or a key determines the value.
    Absent,
}

impl Setting {
    /// A setting for tokens of all formats, without a default.
    pub(super) const fn of(name: &'static str, kind: Kind, about: &'static str) -> Setting {
        Setting {
            name,
            kind,
            about,
            default: "",
            range: "",
            formats: Format::ALL,
            required: false,
            excludes: None,
            with_remote_keys: true,
            go: Name::Derived,
            node: Name::Derived,
            java: Name::Derived,
            python: Name::Derived,
        }
    }
}

impl Kind {
    /// Returns what is expected instead of a value of another type.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Kind::Flag => "must be true or false",
            Kind::Text | Kind::Algorithm | Kind::SignatureAlgorithm | Kind::Encryption => {
                "must be one text"
            }
            Kind::Texts | Kind::Encryptions => "must be a text or a list of texts",
            Kind::List => "must be a list of texts",
            Kind::Object => "must be an object",
            Kind::Seconds => "must be a whole number of seconds, 0 or more",
            Kind::Count => "must be a whole number, 0 or more",
            Kind::Format => "must be the name of a format",
            Kind::Serialization => "must be compact, flattened or general",
            Kind::Limits => "must be an object of limits",
            Kind::Key => "must be a key",
        }
    }
}

/// The settings of a constructor, read from JSON text.
pub(crate) trait Options {
    /// The rows.
    const ROWS: &'static [Setting];

    /// Returns the rows of the settings that have another value than their default.
    fn given(&self) -> Vec<&'static Setting>;
}

/// The value of a setting.
pub(crate) trait Value {
    /// The kind of the row, unless the row states a more precise one.
    const KIND: Kind;

    /// Returns whether the setting has another value than its default.
    fn is_set(&self) -> bool;
}

/// Declares settings: a struct to deserialize, and the rows. A doubled row is a doubled field, which does not compile.
/// A row is `name: type, "what it does." { column: value }`.
macro_rules! settings {
    (
        $(#[$doc:meta])*
        $visibility:vis $options:ident, $rows:ident {
            $($name:ident: $type:ty, $about:literal { $($column:ident: $value:expr),* $(,)? })*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        $visibility struct $options {
            $(#[doc = $about] pub(crate) $name: $type,)*
        }

        $(#[$doc])*
        pub const $rows: &[Setting] = &[$(Setting {
            $($column: $value,)*
            ..Setting::of(stringify!($name), <$type as Value>::KIND, $about)
        }),*];

        impl Options for $options {
            const ROWS: &'static [Setting] = $rows;

            fn given(&self) -> Vec<&'static Setting> {
                let is_set = [$(Value::is_set(&self.$name)),*];
                let rows = $rows.iter().zip(is_set);
                rows.filter_map(|(row, is_set)| is_set.then_some(row)).collect()
            }
        }
    };
}

pub(super) use settings;
