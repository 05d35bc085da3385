//! What happens between the end of a span and the collector: a bounded queue, batches, counters and one log line for
//! an outage. The batches are the SDK's.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter, SpanProcessor,
};

use crate::limits::{TRACE_BATCH_SPANS, TRACE_EXPORT_INTERVAL, TRACE_QUEUE_SPANS};

/// The state of the export. The requests only touch `waiting` and `dropped_queue_full`.
#[derive(Debug, Default)]
pub(super) struct Export {
    endpoint: String,
    /// Spans in the queue or on their way.
    waiting: AtomicUsize,
    pub(super) exported: AtomicU64,
    pub(super) dropped_queue_full: AtomicU64,
    pub(super) dropped_export_failed: AtomicU64,
    pub(super) dropped_rejected: AtomicU64,
    /// Spans that the collector rejected in the latest request, until the batch is counted.
    rejected: AtomicU64,
    is_out: AtomicBool,
    /// How the latest request to the collector ended.
    cause: Mutex<String>,
}

impl Export {
    pub(super) fn new(endpoint: &str) -> Export {
        Export {
            endpoint: endpoint.to_owned(),
            ..Export::default()
        }
    }

    pub(super) fn is_available(&self) -> bool {
        !self.is_out.load(Ordering::Relaxed)
    }

    pub(super) fn note_cause(&self, cause: String) {
        *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = cause;
    }

    /// Notes how many spans the collector rejected of a batch that it has taken otherwise.
    pub(super) fn note_rejected(&self, spans: u64) {
        self.rejected.store(spans, Ordering::Relaxed);
    }

    fn dropped(&self) -> u64 {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        load(&self.dropped_queue_full)
            + load(&self.dropped_export_failed)
            + load(&self.dropped_rejected)
    }

    /// Counts a batch, and logs the begin and the end of an outage.
    fn note(&self, spans: usize, is_exported: bool) {
        self.waiting.fetch_sub(spans, Ordering::AcqRel);
        let spans = spans as u64;
        let rejected = self.rejected.swap(0, Ordering::Relaxed).min(spans);
        if is_exported {
            self.exported.fetch_add(spans - rejected, Ordering::Relaxed);
            self.dropped_rejected.fetch_add(rejected, Ordering::Relaxed);
        } else {
            self.dropped_export_failed
                .fetch_add(spans, Ordering::Relaxed);
        }
        let was_out = self.is_out.swap(!is_exported, Ordering::Relaxed);
        match (was_out, is_exported) {
            (false, false) => {
                let cause = self.cause.lock().unwrap_or_else(PoisonError::into_inner);
                tracing::warn!(
                    collector = self.endpoint,
                    cause = cause.as_str(),
                    "cannot export traces: spans are dropped until the collector takes them"
                );
            }
            (true, true) => tracing::info!(
                collector = self.endpoint,
                dropped = self.dropped(),
                "the collector takes traces again"
            ),
            _ => {}
        }
    }
}

/// The SDK's batches behind a bound that counts what it drops. The SDK drops too, but does not say how much.
#[derive(Debug)]
pub(super) struct BoundedQueue {
    batches: BatchSpanProcessor,
    export: Arc<Export>,
}

impl BoundedQueue {
    pub(super) fn new(
        exporter: ObservedExporter<impl SpanExporter + 'static>,
        export: &Arc<Export>,
    ) -> BoundedQueue {
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(TRACE_QUEUE_SPANS)
            .with_max_export_batch_size(TRACE_BATCH_SPANS)
            .with_scheduled_delay(TRACE_EXPORT_INTERVAL);
        BoundedQueue {
            batches: BatchSpanProcessor::new(exporter, config.build()),
            export: export.clone(),
        }
    }
}

impl SpanProcessor for BoundedQueue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    /// Never blocks: the SDK's queue has room for all spans below the bound.
    fn on_end(&self, span: SpanData) {
        let waiting = &self.export.waiting;
        if waiting.fetch_add(1, Ordering::AcqRel) >= TRACE_QUEUE_SPANS {
            waiting.fetch_sub(1, Ordering::AcqRel);
            let dropped = &self.export.dropped_queue_full;
            dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.batches.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// The exporter, whose results are noted.
#[derive(Debug)]
pub(super) struct ObservedExporter<E> {
    exporter: E,
    export: Arc<Export>,
}

impl<E: SpanExporter> ObservedExporter<E> {
    pub(super) fn new(exporter: E, export: &Arc<Export>) -> ObservedExporter<E> {
        ObservedExporter {
            exporter,
            export: export.clone(),
        }
    }
}

impl<E: SpanExporter> SpanExporter for ObservedExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let exported = self.exporter.export(batch).await;
        self.export.note(spans, exported.is_ok());
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use opentelemetry::trace::{Tracer as _, TracerProvider as _};
    use opentelemetry_sdk::trace::SdkTracerProvider;

    use super::*;

    /// Exports nothing before the other end of the channel is gone.
    #[derive(Debug)]
    struct Hanging(Mutex<Receiver<()>>);

    impl SpanExporter for Hanging {
        async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
            let _ = self.0.lock().expect("not poisoned").recv();
            Ok(())
        }
    }

    #[test]
    fn spans_beyond_the_queue_are_dropped_and_counted() {
        let export = Arc::new(Export::new("http://collector.example"));
        let (release, hang) = channel();
        let exporter = ObservedExporter::new(Hanging(Mutex::new(hang)), &export);
        let provider = SdkTracerProvider::builder()
            .with_span_processor(BoundedQueue::new(exporter, &export))
            .build();
        let tracer = provider.tracer("test");
        // Ending a span never waits: this would not return.
        for _ in 0..TRACE_QUEUE_SPANS + 100 {
            drop(tracer.start("span"));
        }
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        assert_eq!(load(&export.dropped_queue_full), 100);
        assert_eq!(load(&export.exported), 0);
        drop(release);
        provider.shutdown().expect("all spans are exported");
        assert_eq!(load(&export.exported), TRACE_QUEUE_SPANS as u64);
        assert_eq!(load(&export.dropped_export_failed), 0);
        assert!(export.is_available());
    }
}
