//! Traces over OpenTelemetry (the feature `otel`): a server span for each sampled request.
//!
//! A request that is not sampled costs a look at two headers and a random number. A sampled one has a span with the
//! name of its method or route. No attribute has a part of a path, a token, a claim or the name of a caller: a collector
//! is read by more people than the service.
//!
//! `not_compiled.rs` has the same interface in a build without the feature.

mod collector;
mod export;
mod names;
mod parent;
mod sampling;
mod span;

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::Request;
use jeton_transport::Peer;
use opentelemetry::Context;
use opentelemetry::trace::{
    FutureExt as _, SpanBuilder, SpanContext, SpanKind, TraceContextExt as _, TraceFlags,
    Tracer as _, TracerProvider as _,
};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};

use self::collector::Collector;
use self::export::{BoundedQueue, Export, ObservedExporter};
use self::sampling::Sampling;
pub(crate) use self::span::RequestSpan;
use crate::config::{Config, Traces};
use crate::error::{ConfigError, Error, Result};
use crate::limits::{TRACE_EXPORT_TIMEOUT, TRACE_FLUSH_TIMEOUT};

/// Starts spans, and sends them to the collector.
pub(crate) struct RequestTracer {
    tracer: SdkTracer,
    provider: SdkTracerProvider,
    sampling: Sampling,
    export: Arc<Export>,
}

/// The tracer of the current request, for its child spans.
struct CurrentTracer(SdkTracer);

impl RequestTracer {
    /// Starts the thread that sends spans, if the configuration asks for traces. Sends no request yet.
    pub(crate) fn start(config: &Config) -> Result<Option<RequestTracer>> {
        let Some(traces) = &config.traces else {
            return Ok(None);
        };
        let export = Arc::new(Export::new(&traces.endpoint));
        let exporter = ObservedExporter::new(exporter(traces, &export)?, &export);
        let resource = Resource::builder()
            .with_service_name(traces.service_name.clone())
            .with_attribute(opentelemetry::KeyValue::new(
                "service.version",
                env!("CARGO_PKG_VERSION"),
            ));
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            // `Sampling` has decided before a span is built.
            .with_sampler(Sampler::AlwaysOn)
            .with_span_processor(BoundedQueue::new(exporter, &export))
            .build();
        Ok(Some(RequestTracer {
            tracer: provider.tracer("jeton-server"),
            provider,
            sampling: Sampling::new(traces),
            export,
        }))
    }

    /// Checks what a start would read.
    pub(crate) fn check(config: &Config) -> Result<()> {
        let Some(traces) = &config.traces else {
            return Ok(());
        };
        exporter(traces, &Arc::new(Export::new(&traces.endpoint))).map(drop)
    }

    /// Starts the span of a request, if it is sampled. `route` names the endpoint of a path that is not gRPC.
    pub(crate) fn begin<B>(
        &self,
        peer: &Peer,
        request: &Request<B>,
        route: impl FnOnce(&str) -> Option<&'static str>,
    ) -> Option<RequestSpan> {
        let parent = parent::parent(request.headers());
        if !self.sampling.is_sampled(parent) {
            return None;
        }
        let mut context = Context::new();
        if let Some(parent) = parent {
            let state = parent::trace_state(request.headers());
            let flags = TraceFlags::SAMPLED;
            let parent = SpanContext::new(parent.trace_id, parent.span_id, flags, true, state);
            context = context.with_remote_span_context(parent);
        }
        let target = names::target(peer, request, route);
        let span = SpanBuilder::from_name(target.name)
            .with_kind(SpanKind::Server)
            .with_attributes(target.attributes);
        let span = self.tracer.build_with_context(span, &context);
        let context = context
            .with_span(span)
            .with_value(CurrentTracer(self.tracer.clone()));
        Some(RequestSpan::new(context, target.is_grpc))
    }

    /// Sends the spans that wait, within a time limit. Further ones are dropped.
    pub(crate) fn stop(&self) {
        // The log has a line about a collector that is unreachable.
        let _ = self.provider.shutdown_with_timeout(TRACE_FLUSH_TIMEOUT);
    }

    pub(crate) fn write_metrics(&self, text: &mut String) {
        let export = &self.export;
        let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let _ = write!(
            text,
            "# HELP jeton_trace_collector_available Whether the collector took the latest spans.\n\
             # TYPE jeton_trace_collector_available gauge\njeton_trace_collector_available {}\n\
             # HELP jeton_trace_spans_exported Spans that the collector has taken.\n\
             # TYPE jeton_trace_spans_exported counter\njeton_trace_spans_exported_total {}\n\
             # HELP jeton_trace_spans_dropped Spans that were dropped, by reason.\n\
             # TYPE jeton_trace_spans_dropped counter\n\
             jeton_trace_spans_dropped_total{{reason=\"queue_full\"}} {}\n\
             jeton_trace_spans_dropped_total{{reason=\"export_failed\"}} {}\n\
             jeton_trace_spans_dropped_total{{reason=\"rejected\"}} {}\n\
             # HELP jeton_trace_sampled_parents_limited Requests not sampled because of `sampled_parents_per_minute`.\n\
             # TYPE jeton_trace_sampled_parents_limited counter\njeton_trace_sampled_parents_limited_total {}\n",
            u8::from(export.is_available()),
            load(&export.exported),
            load(&export.dropped_queue_full),
            load(&export.dropped_export_failed),
            load(&export.dropped_rejected),
            load(&self.sampling.limited),
        );
    }
}

impl fmt::Debug for RequestTracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestTracer").finish_non_exhaustive()
    }
}

/// Runs work in a child span of the current request, if that is sampled.
pub(crate) async fn in_child_span<T>(name: &'static str, work: impl Future<Output = T>) -> T {
    let current = Context::map_current(|context| {
        let CurrentTracer(tracer) = context.get()?;
        Some((tracer.clone(), context.clone()))
    });
    let Some((tracer, parent)) = current else {
        return work.await;
    };
    let span = SpanBuilder::from_name(name).with_kind(SpanKind::Internal);
    let context = parent.with_span(tracer.build_with_context(span, &parent));
    // The span ends with its context.
    work.with_context(context).await
}

fn exporter(traces: &Traces, export: &Arc<Export>) -> Result<SpanExporter> {
    let collector = Collector::new(traces, export.clone())?;
    let endpoint = format!("{}/v1/traces", traces.endpoint.trim_end_matches('/'));
    SpanExporter::builder()
        .with_http()
        .with_http_client(collector)
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(endpoint)
        .with_timeout(TRACE_EXPORT_TIMEOUT)
        .build()
        .map_err(|error| wrong("traces", error.to_string()))
}

fn wrong(key: &str, what: String) -> Error {
    Error::Config(ConfigError {
        file: None,
        line: None,
        key: key.to_owned(),
        what,
    })
}
