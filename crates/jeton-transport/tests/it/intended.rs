//! The differences that are intended, and why. Everything else must be equal.
//!
//! `docs/reference/transport.md` has the table of the reasons; a test compares the two.

/// A reason for differences, as the page has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reason {
    /// The request.
    pub(super) request: &'static str,
    /// What this server does.
    pub(super) ours: &'static str,
    /// What plain tonic does.
    pub(super) tonic: &'static str,
    pub(super) why: &'static str,
}

/// The same differences of some calls.
pub(super) struct Intended {
    pub(super) reason: Reason,
    pub(super) calls: &'static [&'static str],
    /// Aspect, value of this server, value of plain tonic. `*` is any value, and `none` is no value.
    pub(super) aspects: &'static [(&'static str, &'static str, &'static str)],
}

const WORDING: Reason = Reason {
    request: "a malformed or too long message, or compression",
    ours: "the same code, and a text with the actual length and the limit",
    tonic: "the text of tonic",
    why: "every error of jeton is written by the same rules",
};
const UNKNOWN: Reason = Reason {
    request: "an unknown service or method",
    ours: "`UNIMPLEMENTED`, \"unknown service\" or \"unknown method\"",
    tonic: "`UNIMPLEMENTED` without a text",
    why: "a text helps the person who reads the log",
};
const METHOD: Reason = Reason {
    request: "gRPC with another method than POST",
    ours: "HTTP 405",
    tonic: "handles the call",
    why: "a web page can send GET without a CORS preflight",
};
const CONTENT_TYPE: Reason = Reason {
    request: "gRPC without exactly one content type `application/grpc` or `application/grpc+proto`",
    ours: "HTTP 415, as the gRPC protocol says",
    tonic: "handles the call",
    why: "a web page can send other content types without a CORS preflight",
};
const HOST: Reason = Reason {
    request: "a `Host` that contradicts `:authority`",
    ours: "HTTP 400",
    tonic: "handles the call",
    why: "a proxy in between may have read the other name (request smuggling)",
};
const ORIGIN: Reason = Reason {
    request: "an `Origin` of another site",
    ours: "HTTP 403 with `PERMISSION_DENIED`",
    tonic: "handles the call",
    why: "a web page must not use the server",
};
const DEADLINE: Reason = Reason {
    request: "a call that outlives its `grpc-timeout`",
    ours: "`DEADLINE_EXCEEDED`",
    tonic: "`CANCELLED`",
    why: "the gRPC specification has a code for it",
};
const STREAM_DEADLINE: Reason = Reason {
    request: "a stream that outlives its `grpc-timeout`",
    ours: "ends with `DEADLINE_EXCEEDED`",
    tonic: "continues: only the time to the first headers counts",
    why: "nobody reads the stream any more, and it holds memory and a permit",
};
const INVALID_TIMEOUT: Reason = Reason {
    request: "a malformed `grpc-timeout`",
    ours: "`INVALID_ARGUMENT`",
    tonic: "ignores the header",
    why: "the call would run without the deadline that its client wants",
};
const STALLED: Reason = Reason {
    request: "a message that never becomes complete, or a unary request that never ends",
    ours: "`DEADLINE_EXCEEDED` after `limits.client_stall_timeout_seconds`",
    tonic: "waits without limit",
    why: "otherwise a client holds memory at no cost",
};
const TWO_MESSAGES: Reason = Reason {
    request: "two messages in a unary call",
    ours: "`INTERNAL`",
    tonic: "ignores the second one",
    why: "the client means a stream, and part of its request would be lost",
};
const METADATA: Reason = Reason {
    request: "response metadata that a unary method sets",
    ours: "is not sent",
    tonic: "is sent",
    why: "no method of the service sets any",
};

pub(super) const REASONS: [Reason; 12] = [
    METHOD,
    CONTENT_TYPE,
    HOST,
    ORIGIN,
    UNKNOWN,
    WORDING,
    TWO_MESSAGES,
    STALLED,
    DEADLINE,
    STREAM_DEADLINE,
    INVALID_TIMEOUT,
    METADATA,
];

/// The response is HTTP, and plain tonic handles the call.
macro_rules! http {
    ($response:literal) => {
        &[
            ("response", $response, "gRPC"),
            ("grpc-status", "none", "0"),
        ]
    };
}

/// Only the text of the status differs.
macro_rules! text {
    ($reason:expr, $call:literal, $text:literal) => {
        Intended {
            reason: $reason,
            calls: &[$call],
            aspects: &[("grpc-message", $text, "*")],
        }
    };
}

const EXCEEDED: &str = "deadline%20exceeded%20(%60grpc-timeout%60)";
const TRUNCATED: &str = "the%20request%20message%20is%20truncated";

pub(super) const INTENDED: [Intended; 24] = [
    Intended {
        reason: METHOD,
        calls: &["GET", "PUT"],
        aspects: http!("HTTP 405: gRPC requires the method POST"),
    },
    Intended {
        reason: CONTENT_TYPE,
        calls: &[
            "content type of a web page",
            "content type of grpc-web",
            "content type with a parameter",
            "content type with json",
            "no content type",
            "two content types",
        ],
        aspects: http!(
            "HTTP 415: gRPC requires HTTP/2 and exactly one `content-type`: application/grpc or application/grpc+proto"
        ),
    },
    Intended {
        reason: HOST,
        calls: &["authority of another name"],
        aspects: http!(
            "HTTP 400: invalid `Host`: send exactly one, HOST or HOST:PORT, that matches the request target"
        ),
    },
    Intended {
        reason: ORIGIN,
        calls: &["origin of another site"],
        aspects: &[
            ("response", "gRPC with HTTP 403", "gRPC"),
            ("grpc-status", "7", "0"),
            (
                "grpc-message",
                "cross-origin%20request%20refused:%20%60Origin%60%20or%20%60Sec-Fetch-Site%60%20names%20another%20site",
                "none",
            ),
        ],
    },
    Intended {
        reason: UNKNOWN,
        calls: &["unknown service", "only a service"],
        aspects: &[
            ("grpc-message", "unknown%20service", "none"),
            ("header content-length", "none", "0"),
        ],
    },
    text!(UNKNOWN, "unknown method", "unknown%20method"),
    text!(UNKNOWN, "method in lower case", "unknown%20method"),
    text!(UNKNOWN, "path with a further part", "unknown%20method"),
    text!(
        UNKNOWN,
        "unknown method of AdminService",
        "unknown%20method"
    ),
    Intended {
        reason: UNKNOWN,
        calls: &["no method"],
        aspects: &[
            ("grpc-message", "unknown%20method", "none"),
            ("header content-length", "none", "0"),
        ],
    },
    Intended {
        reason: WORDING,
        calls: &[
            "half a frame header",
            "only a frame header",
            "truncated message",
        ],
        aspects: &[("grpc-message", TRUNCATED, "*")],
    },
    text!(WORDING, "no body", "the%20request%20has%20no%20message"),
    text!(
        WORDING,
        "one message and a half",
        "the%20request%20has%20more%20than%20one%20message"
    ),
    text!(
        WORDING,
        "compressed flag without encoding",
        "the%20message%20is%20compressed,%20but%20%60grpc-encoding%60%20is%20missing"
    ),
    text!(
        WORDING,
        "unknown flag",
        "the%20message's%20first%20byte%20is%20neither%200%20nor%201"
    ),
    text!(
        WORDING,
        "too long message",
        "the%20message%20has%205001%20bytes,%20maximum%205000"
    ),
    text!(
        WORDING,
        "gzip encoding",
        "compression%20is%20not%20supported"
    ),
    text!(
        WORDING,
        "unknown encoding",
        "compression%20is%20not%20supported"
    ),
    Intended {
        reason: TWO_MESSAGES,
        calls: &["two messages"],
        aspects: &[
            ("grpc-status", "13", "0"),
            (
                "grpc-message",
                "the%20request%20has%20more%20than%20one%20message",
                "none",
            ),
        ],
    },
    Intended {
        reason: STALLED,
        calls: &["message that never ends", "body that never ends"],
        aspects: &[
            ("response", "gRPC", "never ends"),
            ("grpc-status", "4", "none"),
            (
                "grpc-message",
                "timeout%20while%20receiving%20the%20request%20message",
                "none",
            ),
        ],
    },
    Intended {
        reason: DEADLINE,
        calls: &[
            "deadline before the message",
            "call that outlives its deadline",
        ],
        aspects: &[
            ("grpc-status", "4", "1"),
            ("grpc-message", EXCEEDED, "Timeout%20expired"),
        ],
    },
    Intended {
        reason: STREAM_DEADLINE,
        calls: &["deadline of a stream", "metadata and deadline of a stream"],
        aspects: &[
            ("response", "gRPC", "never ends"),
            ("grpc-status", "4", "none"),
            ("grpc-message", EXCEEDED, "none"),
        ],
    },
    Intended {
        reason: INVALID_TIMEOUT,
        calls: &[
            "timeout without a unit",
            "timeout with an unknown unit",
            "timeout with nine digits",
        ],
        aspects: &[
            ("grpc-status", "3", "0"),
            (
                "grpc-message",
                "%60grpc-timeout%60:%20expected%201%20to%208%20digits%20and%20one%20of%20H,%20M,%20S,%20m,%20u,%20n",
                "none",
            ),
        ],
    },
    Intended {
        reason: METADATA,
        calls: &["metadata of a method"],
        aspects: &[("header x-seen", "none", "sent")],
    },
];
