//! The log: lines on standard error, never with a token, a key or a secret.
//!
//! What is logged of a call is its name, how it ended, the caller's name and the issuer. Libraries
//! underneath are held at `info`: at finer levels some of them print what they read from the network.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

use crate::config::{Log, LogFormat, LogLevel};

/// Starts the log for the whole process. The second time it does nothing.
pub(crate) fn start(log: &Log) {
    let level = level(log.level);
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::INFO))
        .with_target("jeton", level)
        .with_target("jeton_server", level)
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
    // Another part of the process has a log already: ours goes there.
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
