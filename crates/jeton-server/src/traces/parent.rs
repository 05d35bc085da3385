//! The parent span in the headers of a request (W3C Trace Context). gRPC metadata are headers too.

use http::{HeaderMap, HeaderValue};
use opentelemetry::trace::{SpanId, TraceId, TraceState};

use crate::limits::TRACE_STATE_BYTES;

/// Length of version 00: `00-`, 32 digits, `-`, 16 digits, `-`, 2 digits.
const LENGTH: usize = 55;

/// The span of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parent {
    pub(super) trace_id: TraceId,
    pub(super) span_id: SpanId,
    pub(super) is_sampled: bool,
}

/// The parent that `traceparent` names. `None` without the header, or if it is invalid or repeated: then a new trace
/// begins. Allocates nothing.
pub(super) fn parent(headers: &HeaderMap) -> Option<Parent> {
    let mut values = headers.get_all("traceparent").iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    parse(value.as_bytes())
}

fn parse(value: &[u8]) -> Option<Parent> {
    let (known, more) = value.split_at_checked(LENGTH)?;
    let [version] = hexadecimal::<1>(&known[..2])?;
    // Later versions may append fields.
    let may_follow = match version {
        0x00 => more.is_empty(),
        0xff => false,
        _ => more.is_empty() || more[0] == b'-',
    };
    let is_separated = [2, 35, 52].into_iter().all(|at| known[at] == b'-');
    let (trace_id, span_id) = (hexadecimal(&known[3..35])?, hexadecimal(&known[36..52])?);
    let [flags] = hexadecimal::<1>(&known[53..])?;
    let is_valid = may_follow && is_separated && trace_id != [0; 16] && span_id != [0; 8];
    is_valid.then(|| Parent {
        trace_id: TraceId::from_bytes(trace_id),
        span_id: SpanId::from_bytes(span_id),
        is_sampled: flags & 1 == 1,
    })
}

/// Decodes lower-case digits.
fn hexadecimal<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

/// The vendors' values beside it. Empty if they are invalid or too long.
pub(super) fn trace_state(headers: &HeaderMap) -> TraceState {
    let values = || headers.get_all("tracestate").iter();
    let bytes: usize = values().map(|value| value.len() + 1).sum();
    if bytes > TRACE_STATE_BYTES + 1 {
        return TraceState::NONE;
    }
    let texts: Result<Vec<_>, _> = values().map(HeaderValue::to_str).collect();
    let state = texts.ok().and_then(|texts| texts.join(",").parse().ok());
    state.unwrap_or(TraceState::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn parse_accepts_the_versions_of_the_specification() {
        let parent = parse(VALID.as_bytes()).expect("valid");
        assert_eq!(parent.trace_id.to_string(), VALID[3..35]);
        assert_eq!(parent.span_id.to_string(), VALID[36..52]);
        assert!(parent.is_sampled);
        for (flags, is_sampled) in [("00", false), ("02", false), ("03", true), ("ff", true)] {
            let text = format!("{}{flags}", &VALID[..53]);
            let parent = parse(text.as_bytes()).expect("valid");
            assert_eq!(parent.is_sampled, is_sampled, "{text}");
        }
        for later in [
            VALID.replacen("00", "01", 1),
            format!("cc{}-more", &VALID[2..]),
        ] {
            assert!(parse(later.as_bytes()).is_some(), "{later}");
        }
    }

    #[test]
    fn parse_rejects_other_values() {
        let zeros = |from: usize, to: usize| {
            let mut text = VALID.to_owned();
            text.replace_range(from..to, &"0".repeat(to - from));
            text
        };
        for wrong in [
            String::new(),
            "00".to_owned(),
            VALID[..54].to_owned(),
            format!("{VALID}-more"),
            format!("{VALID} "),
            format!(" {VALID}"),
            VALID.to_uppercase(),
            VALID.replacen("00", "ff", 1),
            VALID.replacen("00", "0g", 1),
            format!("01{}x", &VALID[2..]),
            VALID.replace('-', "_"),
            VALID.replace("b7ad", "b7äd"),
            zeros(3, 35),
            zeros(36, 52),
        ] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
        let mut headers = HeaderMap::new();
        headers.append("traceparent", HeaderValue::from_static(VALID));
        assert!(parent(&headers).is_some());
        headers.append("traceparent", HeaderValue::from_static(VALID));
        assert_eq!(parent(&headers), None, "repeated");
    }

    #[test]
    fn trace_state_is_bounded() {
        let state = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(
                    "tracestate",
                    HeaderValue::from_str(value).expect("a header"),
                );
            }
            trace_state(&headers).header()
        };
        assert_eq!(state(&[]), "");
        assert_eq!(state(&["a=1", "b=2"]), "a=1,b=2");
        assert_eq!(state(&["no pair"]), "");
        // A value has at most 256 characters.
        let value = "x".repeat(252);
        let fits = [format!("a={value}"), format!("b={value}xxx")];
        let both = state(&[&fits[0], &fits[1]]);
        assert_eq!(both.len(), TRACE_STATE_BYTES);
        let longer = format!("{}x", fits[1]);
        assert_eq!(state(&[&fits[0], &longer]), "");
    }
}
