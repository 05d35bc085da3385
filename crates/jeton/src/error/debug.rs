use std::fmt;

/// Writes `name(CODE: "message")`.
pub(super) fn write_debug(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    code: &str,
    message: &dyn fmt::Display,
) -> fmt::Result {
    write!(f, "{name}({code}: \"{message}\")")
}
