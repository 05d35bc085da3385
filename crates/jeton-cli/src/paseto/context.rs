use clap::Args;
use zeroize::Zeroizing;

use crate::exit::Outcome;
use crate::source::{self, Source, Text};

/// What a token is bound to beside its claims.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    /// The footer, which stands in the token in plain sight: the text itself, @FILE, or -
    #[arg(long, value_name = "TEXT|@FILE|-")]
    footer: Option<Source>,

    /// Like --footer, but always the text itself, even if a file has that name
    #[arg(long, value_name = "TEXT", conflicts_with = "footer")]
    footer_text: Option<Text>,

    /// The implicit assertion, which is not in the token and both sides know: the text, @FILE, or -
    #[arg(long, value_name = "TEXT|@FILE|-")]
    implicit: Option<Source>,

    /// Like --implicit, but always the text itself, even if a file has that name
    #[arg(long, value_name = "TEXT", conflicts_with = "implicit")]
    implicit_text: Option<Text>,
}

impl ContextArgs {
    /// The footer, if the caller named one.
    pub(crate) fn footer(&self) -> Outcome<Option<Zeroizing<Vec<u8>>>> {
        let footer = source::given(self.footer.as_ref(), self.footer_text.as_ref());
        footer.map(Source::bytes).transpose()
    }

    /// The implicit assertion; empty if there is none.
    pub(crate) fn implicit(&self) -> Outcome<Zeroizing<Vec<u8>>> {
        match source::given(self.implicit.as_ref(), self.implicit_text.as_ref()) {
            Some(source) => source.bytes(),
            None => Ok(Zeroizing::default()),
        }
    }
}
