use clap::Args;
use zeroize::Zeroizing;

use crate::exit::Outcome;
use crate::source::{self, Source, Text};

/// The footer and the implicit assertion of a token.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    /// Footer, which is authenticated and not encrypted: as text, @FILE, or - for standard input
    #[arg(long, value_name = "TEXT|@FILE|-")]
    footer: Option<Source>,

    /// Footer as text, never read as @FILE or -
    #[arg(long, value_name = "TEXT", conflicts_with = "footer")]
    footer_text: Option<Text>,

    /// Implicit assertion, which is authenticated and not part of the token: as text, @FILE, or - for standard input
    #[arg(long, value_name = "TEXT|@FILE|-")]
    implicit: Option<Source>,

    /// Implicit assertion as text, never read as @FILE or -
    #[arg(long, value_name = "TEXT", conflicts_with = "implicit")]
    implicit_text: Option<Text>,
}

impl ContextArgs {
    /// Returns the footer, if the caller passed one.
    pub(crate) fn footer(&self) -> Outcome<Option<Zeroizing<Vec<u8>>>> {
        let footer = source::given(self.footer.as_ref(), self.footer_text.as_ref());
        footer.map(Source::bytes).transpose()
    }

    /// Returns the implicit assertion, or nothing.
    pub(crate) fn implicit(&self) -> Outcome<Zeroizing<Vec<u8>>> {
        match source::given(self.implicit.as_ref(), self.implicit_text.as_ref()) {
            Some(source) => source.bytes(),
            None => Ok(Zeroizing::default()),
        }
    }
}
