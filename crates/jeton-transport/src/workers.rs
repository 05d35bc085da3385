//! The worker threads, and the assignment of connections to them.

use std::io;
use std::net::TcpStream as StdTcpStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, watch};

use crate::connection_limit::ConnectionPermit;
use crate::limits::{BLOCKING_CALLS_AT_THE_END, EVENT_INTERVAL};
use crate::listener::Listener;
use crate::stop::wait_until_true;
use crate::{Transport, accept};

/// The workers. Connections are assigned in rotation.
pub struct Workers {
    senders: Vec<mpsc::UnboundedSender<(StdTcpStream, ConnectionPermit)>>,
    threads: Vec<JoinHandle<()>>,
    next: usize,
}

impl Workers {
    /// Starts the workers. When `ending` becomes true, they drop their connections and end.
    ///
    /// # Errors
    ///
    /// The system could not create a runtime or a thread.
    pub fn start(
        count: usize,
        transport: &Arc<Transport>,
        ending: &watch::Receiver<bool>,
    ) -> io::Result<Workers> {
        let mut workers = Workers {
            senders: Vec::new(),
            threads: Vec::new(),
            next: 0,
        };
        for index in 0..count {
            let (sender, receiver) = mpsc::unbounded_channel();
            let (transport, ending) = (transport.clone(), ending.clone());
            let mut builder = Builder::new_current_thread();
            builder.enable_all().event_interval(EVENT_INTERVAL);
            let runtime = builder.build()?;
            let thread = thread::Builder::new().name(format!("jeton-worker-{index}"));
            let thread = thread.spawn(move || {
                runtime.block_on(work(&transport, receiver, ending));
                // A call into an HSM cannot be interrupted, and may hang.
                runtime.shutdown_timeout(BLOCKING_CALLS_AT_THE_END);
            });
            workers.threads.push(thread?);
            workers.senders.push(sender);
        }
        Ok(workers)
    }

    /// Assigns a connection to the next worker.
    pub fn assign(&mut self, stream: TcpStream, permit: ConnectionPermit) {
        // Deregisters the stream from the runtime of the acceptor. The worker registers it with its own.
        match stream.into_std() {
            Ok(stream) => {
                self.next = (self.next + 1) % self.senders.len();
                // Workers end after the acceptor, so the channel is open.
                let _ = self.senders[self.next].send((stream, permit));
            }
            Err(error) => tracing::warn!(%error, "cannot pass a connection to a worker"),
        }
    }

    /// Waits until all workers have ended.
    pub fn join(self) {
        drop(self.senders);
        for thread in self.threads {
            // A panic was already printed by its thread.
            let _ = thread.join();
        }
    }
}

async fn work(
    transport: &Arc<Transport>,
    mut assigned: mpsc::UnboundedReceiver<(StdTcpStream, ConnectionPermit)>,
    mut ending: watch::Receiver<bool>,
) {
    let shared = transport.shared.clone();
    let delay_check =
        tokio::spawn(async move { shared.load.watch(shared.settings.worker_delay).await });
    loop {
        let connection = tokio::select! {
            connection = assigned.recv() => connection,
            () = wait_until_true(&mut ending) => break,
        };
        let Some((stream, permit)) = connection else {
            // No more connections come. Existing ones continue until the server ends.
            wait_until_true(&mut ending).await;
            break;
        };
        match TcpStream::from_std(stream) {
            Ok(stream) => accept::spawn(transport.clone(), stream, Listener::Data, permit),
            Err(error) => tracing::warn!(%error, "cannot register a connection"),
        }
    }
    delay_check.abort();
}
