//! In place of `traces/` in a build without the feature `otel`. None of these types has a value, so no code for traces
//! remains.

use http::Request;
use jeton_transport::{Peer, ResponseFuture};

use crate::config::Config;
use crate::error::{ConfigError, Error, Result};

#[derive(Debug)]
pub(crate) enum RequestTracer {}

#[derive(Debug)]
pub(crate) enum RequestSpan {}

impl RequestTracer {
    pub(crate) fn start(config: &Config) -> Result<Option<RequestTracer>> {
        RequestTracer::check(config).map(|()| None)
    }

    /// Fails if the configuration asks for traces.
    pub(crate) fn check(config: &Config) -> Result<()> {
        match &config.traces {
            None => Ok(()),
            Some(_) => Err(Error::Config(ConfigError {
                file: None,
                line: None,
                key: "traces".to_owned(),
                what: "this build cannot export traces: build it with `cargo build --release -p jeton-cli \
                       --features otel`, or remove [traces]"
                    .to_owned(),
            })),
        }
    }

    pub(crate) fn begin<B>(
        &self,
        _: &Peer,
        _: &Request<B>,
        _: impl FnOnce(&str) -> Option<&'static str>,
    ) -> Option<RequestSpan> {
        match *self {}
    }

    pub(crate) fn stop(&self) {
        match *self {}
    }

    pub(crate) fn write_metrics(&self, _: &mut String) {
        match *self {}
    }
}

impl RequestSpan {
    pub(crate) fn follow(self, _: impl FnOnce() -> ResponseFuture) -> ResponseFuture {
        match self {}
    }
}

/// Runs work in a child span of the current request, which never has a span.
pub(crate) fn in_child_span<W>(_: &'static str, work: W) -> W {
    work
}

#[cfg(test)]
mod tests {
    use super::RequestTracer;
    use crate::Config;

    #[test]
    fn traces_in_a_build_without_them_are_an_error() {
        let asked = "[traces]\nendpoint = 'http://127.0.0.1:1'\nsample_ratio = 1.0\n";
        let config = Config::from_toml(asked).expect("valid");
        for refused in [
            RequestTracer::check(&config),
            RequestTracer::start(&config).map(drop),
        ] {
            let error = refused.map_err(|error| error.to_string());
            assert_eq!(
                error,
                Err("`traces`: this build cannot export traces: build it with `cargo build --release -p jeton-cli \
                     --features otel`, or remove [traces]"
                    .to_owned())
            );
        }
        let without = Config::from_toml("").expect("valid");
        assert!(RequestTracer::check(&without).is_ok());
    }
}
