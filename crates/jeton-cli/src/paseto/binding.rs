use clap::Args;
use zeroize::Zeroizing;

use crate::exit::Outcome;
use crate::input::Source;

/// What a token is bound to beside its claims.
#[derive(Debug, Args)]
pub(crate) struct BoundTo {
    /// The footer, which stands in the token in plain sight: the text itself, @FILE, or -
    #[arg(long, value_name = "TEXT|@FILE|-")]
    footer: Option<Source>,

    /// The implicit assertion, which is not in the token and both sides know: the text, @FILE, or -
    #[arg(long, value_name = "TEXT|@FILE|-")]
    implicit: Option<Source>,
}

impl BoundTo {
    /// The footer, if the caller named one.
    pub(crate) fn footer(&self) -> Outcome<Option<Zeroizing<Vec<u8>>>> {
        self.footer.as_ref().map(Source::bytes).transpose()
    }

    /// The implicit assertion; empty if there is none.
    pub(crate) fn implicit(&self) -> Outcome<Zeroizing<Vec<u8>>> {
        match &self.implicit {
            Some(source) => source.bytes(),
            None => Ok(Zeroizing::default()),
        }
    }
}
