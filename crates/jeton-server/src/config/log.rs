//! Level and format of the log.

use serde::Deserialize;

/// Level and format of the log on standard error.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// The lowest level that is logged.
    pub level: LogLevel,
    /// Text or JSON.
    pub format: LogFormat,
    /// Whether lines about refused tokens have the values of claims. These are personal data.
    pub claims: bool,
}

/// A level of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LogFormat {
    Text,
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Log {
            level: LogLevel::Info,
            format: LogFormat::Text,
            claims: false,
        }
    }
}
