//! A connection to a server, and what each call adds.

use std::time::Duration;

use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;

/// A connection, and what each call adds.
#[derive(Clone)]
pub(crate) struct Channels {
    pub(crate) channel: Channel,
    pub(crate) bearer: Option<MetadataValue<Ascii>>,
    pub(crate) timeout: Duration,
}

impl Channels {
    /// Adds the credentials. Without a time limit for streams.
    pub(crate) fn request<T>(&self, is_stream: bool, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if !is_stream {
            request.set_timeout(self.timeout);
        }
        if let Some(bearer) = &self.bearer {
            let metadata = request.metadata_mut();
            metadata.insert("authorization", bearer.clone());
        }
        request
    }
}
