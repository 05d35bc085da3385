use std::fmt;

use super::suite::Suite;
use crate::error::{Misuse, Result};
use crate::limits;

/// What a new token is bound to beside its message: a footer, an implicit assertion, both or none.
///
/// ```
/// use jeton::paseto::Binding;
/// let binding = Binding::new().footer(r#"{"kid":"k4.lid.…"}"#).implicit_assertion(b"tenant-7");
/// ```
#[derive(Clone, Copy, Default)]
#[must_use = "a binding does nothing until a token is made with it"]
pub struct Binding<'a> {
    pub(super) footer: &'a [u8],
    pub(super) implicit_assertion: &'a [u8],
}

impl<'a> Binding<'a> {
    /// Bound to nothing.
    pub fn new() -> Self {
        Binding::default()
    }

    /// Stands in the token, authenticated and in plain sight. At most
    /// [`limits::FOOTER_BYTES`]; more is [`Misuse::FooterTooLarge`] when the token is made. An
    /// empty one is none.
    pub fn footer(mut self, footer: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.footer = footer.as_ref();
        self
    }

    /// Does not stand in the token; whoever verifies must know it. An empty one is none. Versions 1
    /// and 2 have none: [`Misuse::ImplicitAssertion`].
    pub fn implicit_assertion(mut self, assertion: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.implicit_assertion = assertion.as_ref();
        self
    }

    /// The footer; empty if there is none.
    pub(crate) fn footer_bytes(&self) -> &'a [u8] {
        self.footer
    }

    /// Whether a token of that version can be bound so.
    pub(super) fn check(&self, suite: &Suite) -> Result<()> {
        if !suite.implicit_assertion && !self.implicit_assertion.is_empty() {
            return Err(Misuse::ImplicitAssertion.into());
        }
        if self.footer.len() > limits::FOOTER_BYTES {
            return Err(Misuse::FooterTooLarge.into());
        }
        Ok(())
    }
}

impl fmt::Debug for Binding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding")
            .field("footer_bytes", &self.footer.len())
            .field("implicit_assertion_bytes", &self.implicit_assertion.len())
            .finish()
    }
}
