//! A collector for OTLP over HTTP, which keeps what it gets.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Longer than anything takes on a busy machine.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// A request to the collector.
pub(super) struct Received {
    pub(super) path: String,
    pub(super) headers: HashMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// Ends with the test.
pub(super) struct TestCollector {
    pub(super) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    rejects: Arc<AtomicI64>,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TestCollector {
    pub(super) fn start() -> TestCollector {
        TestCollector::at("127.0.0.1:0", None)
    }

    /// Listens on an address, which may be one that a collector had before.
    pub(super) fn at(address: &str, tls: Option<Arc<ServerConfig>>) -> TestCollector {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let (received, is_stopped) = (
            Arc::<Mutex<Vec<_>>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let rejects = Arc::<AtomicI64>::default();
        let (to, stopped, rejected) = (received.clone(), is_stopped.clone(), rejects.clone());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        let (to, tls, rejected) = (to.clone(), tls.clone(), rejected.clone());
                        thread::spawn(move || {
                            let body = response(rejected.load(Ordering::Relaxed));
                            drop(serve(stream, tls, &to, &body));
                        });
                    }
                    Err(_) => thread::sleep(Duration::from_millis(5)),
                }
            }
        });
        TestCollector {
            address,
            received,
            rejects,
            is_stopped,
            thread: Some(thread),
        }
    }

    /// The table of the configuration that sends every request's span here.
    pub(super) fn config(&self) -> String {
        format!(
            "[traces]\nendpoint = 'http://{}'\nsample_ratio = 1.0\n",
            self.address
        )
    }

    /// Takes the next requests, and says that it rejects this number of spans of each.
    pub(super) fn reject(&self, spans: i64) {
        self.rejects.store(spans, Ordering::Relaxed);
    }

    pub(super) fn received(&self) -> std::sync::MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap()
    }

    /// The spans so far, with the attributes of their resource.
    pub(super) fn resources(&self) -> Vec<(Vec<KeyValue>, Vec<Span>)> {
        let received = self.received();
        let requests = received
            .iter()
            .map(|one| ExportTraceServiceRequest::decode(&one.body[..]).unwrap());
        let resources = requests.flat_map(|request| request.resource_spans);
        resources
            .map(|one| {
                let spans = one.scope_spans.into_iter().flat_map(|scope| scope.spans);
                (one.resource.unwrap().attributes, spans.collect())
            })
            .collect()
    }

    pub(super) fn spans(&self) -> Vec<Span> {
        let resources = self.resources().into_iter();
        resources.flat_map(|(_, spans)| spans).collect()
    }

    /// Waits until the condition holds.
    pub(super) fn wait_for(&self, holds: impl Fn(&TestCollector) -> bool) {
        let until = Instant::now() + TIMEOUT;
        while !holds(self) {
            assert!(Instant::now() < until, "{} spans", self.spans().len());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for TestCollector {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

fn serve(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    received: &Mutex<Vec<Received>>,
    body: &[u8],
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    match tls {
        None => respond(stream, received, body),
        Some(config) => {
            let connection = ServerConnection::new(config).map_err(io::Error::other)?;
            respond(StreamOwned::new(connection, stream), received, body)
        }
    }
}

/// Answers one request, so that a collector that has stopped answers none.
fn respond(
    stream: impl Read + Write,
    received: &Mutex<Vec<Received>>,
    response: &[u8],
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let (first, rest) = lines.split_first().ok_or(io::ErrorKind::UnexpectedEof)?;
    let headers: HashMap<String, String> = rest
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    stream.read_exact(&mut body)?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    received.lock().unwrap().push(Received {
        path,
        headers,
        body,
    });
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        response.len()
    );
    let whole = [head.as_bytes(), response].concat();
    stream.get_mut().write_all(&whole)?;
    stream.get_mut().flush()
}

/// The body of an answer that rejects this number of spans.
fn response(rejected_spans: i64) -> Vec<u8> {
    let partial_success = (rejected_spans != 0).then(|| ExportTracePartialSuccess {
        rejected_spans,
        error_message: "too old".to_owned(),
    });
    ExportTraceServiceResponse { partial_success }.encode_to_vec()
}

/// The attributes as text, `name=value`.
pub(super) fn attributes(from: &[KeyValue]) -> Vec<String> {
    let text = |one: &KeyValue| match one.value.clone().and_then(|value| value.value) {
        Some(any_value::Value::StringValue(text)) => format!("{}={text}", one.key),
        Some(any_value::Value::IntValue(number)) => format!("{}={number}", one.key),
        other => format!("{}={other:?}", one.key),
    };
    let mut texts: Vec<_> = from.iter().map(text).collect();
    texts.sort();
    texts
}
