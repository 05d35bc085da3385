//! Carriers of tokens and their size limits.

/// A carrier of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// A request header line (RFC 6750, section 2.1).
    Header,
    /// A cookie with its name and attributes: browsers count all of it (RFC 6265, section 6.1).
    Cookie,
}

impl Carrier {
    /// Returns the name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }

    /// Returns the text around the token, with `…` for the token.
    pub(crate) fn around(self) -> &'static str {
        match self {
            Self::Header => "Authorization: Bearer …",
            Self::Cookie => "__Host-token=…; Path=/; Secure; HttpOnly; SameSite=Lax",
        }
    }

    /// Returns the size with a token.
    pub(crate) fn with(self, token_bytes: u64) -> u64 {
        let around = self.around().len() - '…'.len_utf8();
        token_bytes.saturating_add(around as u64)
    }
}

/// A size limit of a carrier.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) carrier: Carrier,
    pub(crate) bytes: u64,
    /// The origin of the limit.
    pub(crate) whose: &'static str,
}

/// The limits that are always checked.
pub(crate) const USUAL: [Budget; 3] = [
    Budget {
        carrier: Carrier::Cookie,
        bytes: 4_096,
        whose: "all browsers accept a cookie of this size, and few accept more (RFC 6265, section 6.1)",
    },
    Budget {
        carrier: Carrier::Header,
        bytes: 8_190,
        whose: "Apache httpd accepts no longer line (LimitRequestFieldSize), and nginx at most one byte more (large_client_header_buffers)",
    },
    Budget {
        carrier: Carrier::Header,
        bytes: 16_384,
        whose: "Node accepts no more for all header lines together (--max-http-header-size)",
    },
];
