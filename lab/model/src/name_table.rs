//! Enums whose variants have names.

/// Declares an enum with a name for every variant: in the result file, in messages of drivers and on the command line.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $enum:ident { $($(#[$meaning:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        pub enum $enum {
            $($(#[$meaning])* #[serde(rename = $name)] $variant,)+
        }

        impl $enum {
            /// All variants, in their order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Finds a variant by name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $enum {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                let names = || Self::ALL.map(Self::name).join(", ");
                Self::named(name).ok_or_else(|| format!("must be one of: {}", names()))
            }
        }
    };
}
pub(crate) use named;
