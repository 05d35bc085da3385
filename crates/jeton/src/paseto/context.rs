use std::fmt;

/// The additional data that a new token is bound to: a footer, an implicit assertion, both or none.
///
/// ```
/// use jeton::paseto::TokenContext;
/// let context = TokenContext::new().footer(r#"{"kid":"k4.lid.…"}"#).implicit_assertion(b"tenant-7");
/// ```
#[derive(Clone, Copy, Default)]
#[must_use = "a context does nothing until a token is made with it"]
pub struct TokenContext<'a> {
    pub(super) footer: &'a [u8],
    pub(super) implicit_assertion: &'a [u8],
}

impl<'a> TokenContext<'a> {
    /// Creates an empty context.
    pub fn new() -> Self {
        TokenContext::default()
    }

    /// Sets the footer. It is part of the token, authenticated but not encrypted. The maximum is
    /// [`FOOTER_BYTES`](crate::limits::FOOTER_BYTES); issuing returns
    /// [`InvalidUse::FooterTooLarge`](crate::error::InvalidUse::FooterTooLarge) otherwise. An empty footer equals no
    /// footer.
    pub fn footer(mut self, footer: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.footer = footer.as_ref();
        self
    }

    /// Sets the implicit assertion. It is not part of the token, so the verifier must know it. An empty one equals
    /// none. Versions 1 and 2 do not support it:
    /// [`InvalidUse::ImplicitAssertion`](crate::error::InvalidUse::ImplicitAssertion).
    pub fn implicit_assertion(mut self, assertion: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.implicit_assertion = assertion.as_ref();
        self
    }

    /// Returns the footer; empty if there is none.
    pub(crate) fn footer_bytes(&self) -> &'a [u8] {
        self.footer
    }
}

impl fmt::Debug for TokenContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenContext")
            .field("footer_bytes", &self.footer.len())
            .field("implicit_assertion_bytes", &self.implicit_assertion.len())
            .finish()
    }
}
