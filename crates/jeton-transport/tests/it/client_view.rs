//! What tonic's own client sees.

use std::net::SocketAddr;

use prost::Message;
use tonic::metadata::{KeyAndValueRef, MetadataMap};
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status};

/// What a client gets: a message or a status, and the metadata.
pub(super) type Received = Result<(Vec<u8>, Vec<String>), (String, String, Vec<u8>, Vec<String>)>;

pub(super) async fn channel(address: SocketAddr) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    endpoint.connect().await.unwrap()
}

fn metadata(map: &MetadataMap) -> Vec<String> {
    let shown = map.iter().map(|entry| match entry {
        KeyAndValueRef::Ascii(key, value) => format!("{key}: {value:?}"),
        KeyAndValueRef::Binary(key, value) => format!("{key}: {:?}", value.to_bytes().unwrap()),
    });
    let mut shown: Vec<String> = shown.filter(|entry| !entry.starts_with("date:")).collect();
    shown.sort();
    shown
}

pub(super) fn received<M: Message>(result: Result<Response<M>, Status>) -> Received {
    match result {
        Ok(response) => {
            let metadata = metadata(response.metadata());
            Ok((response.get_ref().encode_to_vec(), metadata))
        }
        Err(status) => Err((
            format!("{:?}", status.code()),
            status.message().to_owned(),
            status.details().to_vec(),
            metadata(status.metadata()),
        )),
    }
}
