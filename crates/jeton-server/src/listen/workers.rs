//! The threads that answer, and how connections come to them.

use std::net::TcpStream as Handed;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, watch};

use super::{ServerState, ConnectionPermit};
use crate::error::{Error, Result};
use crate::limits::EVENT_INTERVAL;
use crate::route::Listener;
use crate::service::wait_until_true;

/// The workers, and whose turn it is.
pub(crate) struct Workers {
    senders: Vec<mpsc::UnboundedSender<(Handed, ConnectionPermit)>>,
    threads: Vec<JoinHandle<()>>,
    next: usize,
}

impl Workers {
    /// Starts so many. They end when `ending` says so, and drop what they are still at.
    pub(crate) fn start(
        count: usize,
        state: &Arc<ServerState>,
        ending: &watch::Receiver<bool>,
    ) -> Result<Workers> {
        let mut workers = Workers {
            senders: Vec::new(),
            threads: Vec::new(),
            next: 0,
        };
        for index in 0..count {
            let (sender, receiver) = mpsc::unbounded_channel();
            let (state, ending) = (state.clone(), ending.clone());
            let mut builder = Builder::new_current_thread();
            builder.enable_all().event_interval(EVENT_INTERVAL);
            let runtime = builder.build().map_err(Error::System)?;
            let thread = thread::Builder::new().name(format!("jeton-worker-{index}"));
            let thread = thread.spawn(move || runtime.block_on(work(&state, receiver, ending)));
            workers.threads.push(thread.map_err(Error::System)?);
            workers.senders.push(sender);
        }
        Ok(workers)
    }

    /// Hands a connection to whose turn it is.
    pub(crate) fn deal(&mut self, stream: TcpStream, permit: ConnectionPermit) {
        // It leaves the acceptor's runtime, and the worker takes it into its own.
        match stream.into_std() {
            Ok(stream) => {
                self.next = (self.next + 1) % self.senders.len();
                // A worker ends after the acceptor has: there is one to take it.
                let _ = self.senders[self.next].send((stream, permit));
            }
            Err(error) => tracing::warn!(%error, "a connection could not be handed on"),
        }
    }

    /// Waits until all have ended.
    pub(crate) fn join(self) {
        drop(self.senders);
        for thread in self.threads {
            // One that panicked has said so already.
            let _ = thread.join();
        }
    }
}

async fn work(
    state: &Arc<ServerState>,
    mut dealt: mpsc::UnboundedReceiver<(Handed, ConnectionPermit)>,
    mut ending: watch::Receiver<bool>,
) {
    let service = state.routes.service.clone();
    let bound = Duration::from_millis(service.limits.lag_milliseconds);
    let looking = tokio::spawn(async move { service.load.watch(bound).await });
    loop {
        let one = tokio::select! {
            one = dealt.recv() => one,
            () = wait_until_true(&mut ending) => break,
        };
        let Some((stream, permit)) = one else {
            // No more come; those that are here go on until the end is said.
            wait_until_true(&mut ending).await;
            break;
        };
        match TcpStream::from_std(stream) {
            Ok(stream) => super::spawn(state.clone(), stream, Listener::Data, permit),
            Err(error) => tracing::warn!(%error, "a connection could not be taken over"),
        }
    }
    looking.abort();
}
