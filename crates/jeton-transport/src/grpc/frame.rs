//! The frame around a gRPC message: a compression flag, a length, and the message.

use bytes::Bytes;
use prost::Message;
use tonic::Status;

/// Bytes of a gRPC frame header: the compression flag and the message length.
pub const FRAME_HEADER: usize = 5;

/// Encodes a message with its frame header, in one allocation.
pub fn frame(message: &impl Message) -> Result<Bytes, Status> {
    let mut frame = Vec::with_capacity(FRAME_HEADER + message.encoded_len());
    frame.resize(FRAME_HEADER, 0);
    message.encode_raw(&mut frame);
    write_header(frame)
}

/// Writes the frame header into the space reserved for it.
pub fn write_header(mut frame: Vec<u8>) -> Result<Bytes, Status> {
    let length = u32::try_from(frame.len() - FRAME_HEADER).map_err(|_| {
        Status::resource_exhausted("the response is longer than a gRPC frame can be")
    })?;
    // Flag 0: not compressed.
    frame[0] = 0;
    frame[1..FRAME_HEADER].copy_from_slice(&length.to_be_bytes());
    Ok(frame.into())
}

/// The compression flag and the message length in a frame header. `None` if it is incomplete.
pub(super) fn read_header(arrived: &[u8]) -> Option<(u8, usize)> {
    let [flag, length @ ..] = *arrived.first_chunk::<FRAME_HEADER>()?;
    Some((flag, u32::from_be_bytes(length) as usize))
}
