//! The log on standard error. It never contains a token, a key or a secret.
//!
//! A log line about a call has the call's name, its outcome, the caller's name and the issuer. Libraries
//! log at `info` at most: at finer levels some of them print network data.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

use crate::config::{Log, LogFormat, LogLevel};

/// Starts the log for the whole process. Further calls have no effect.
pub(crate) fn start(log: &Log) {
    let level = level(log.level);
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::INFO))
        .with_target("jeton", level)
        .with_target("jeton_server", level)
        .with_target("jeton_transport", level)
        .with_target("jeton_issuer", level);
    let lines = fmt::layer().with_writer(io::stderr).with_target(false);
    let started = match log.format {
        LogFormat::Text => {
            let lines = lines.with_ansi(false).with_filter(targets);
            tracing_subscriber::registry().with(lines).try_init()
        }
        LogFormat::Json => {
            let lines = lines.json().with_filter(targets);
            tracing_subscriber::registry().with(lines).try_init()
        }
    };
    // Fails if the process already has a subscriber; events then go to that one.
    drop(started);
}

fn level(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
