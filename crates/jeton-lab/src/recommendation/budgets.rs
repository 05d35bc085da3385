//! What carries a token, and how much it holds.

/// What a token travels in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// A line of a request's header (RFC 6750, section 2.1).
    Header,
    /// A cookie, name before and attributes after it: browsers count all of it (RFC 6265, section
    /// 6.1).
    Cookie,
}

impl Carrier {
    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }

    /// What stands around the token, where the token is `…`.
    pub(crate) fn around(self) -> &'static str {
        match self {
            Self::Header => "Authorization: Bearer …",
            Self::Cookie => "__Host-token=…; Path=/; Secure; HttpOnly; SameSite=Lax",
        }
    }

    /// Its bytes with a token in it.
    pub(crate) fn with(self, token_bytes: u64) -> u64 {
        let around = self.around().len() - '…'.len_utf8();
        token_bytes.saturating_add(around as u64)
    }
}

/// So much and no more of a carrier is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) carrier: Carrier,
    pub(crate) bytes: u64,
    /// By whom.
    pub(crate) whose: &'static str,
}

/// The budgets that are met unasked.
pub(crate) const USUAL: [Budget; 3] = [
    Budget {
        carrier: Carrier::Cookie,
        bytes: 4_096,
        whose: "every browser takes a cookie of so many bytes, and few take more (RFC 6265, section 6.1)",
    },
    Budget {
        carrier: Carrier::Header,
        bytes: 8_190,
        whose: "Apache httpd takes no longer line (LimitRequestFieldSize), and nginx none of two bytes more (large_client_header_buffers)",
    },
    Budget {
        carrier: Carrier::Header,
        bytes: 16_384,
        whose: "Node takes no more for all lines of a header together (--max-http-header-size)",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_token_counts() {
        assert_eq!(
            Carrier::Header.with(0),
            "Authorization: Bearer ".len() as u64
        );
        assert_eq!(Carrier::Cookie.with(100), 100 + 53);
        assert_eq!(Carrier::Cookie.with(u64::MAX), u64::MAX);
    }
}
