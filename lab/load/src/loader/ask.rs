//! Single calls outside a load, which return their answers.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use tokio::task::LocalSet;
use tokio::time::timeout;

use super::exchange::{Exchange, NotConnected};
use super::http_request::HttpRequest;
use super::tally::End;

/// The time limit of one answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Sends a request several times, one after another on one connection. With a server of several
/// processes, one process handles the connection, so its answers follow each other. Stops at the
/// first error.
pub(crate) fn ask(target: SocketAddr, http: &HttpRequest, times: usize) -> Result<Vec<Bytes>, End> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|_| End::NotConnected)?;
    let exchange = Exchange::new(target, http);
    let asked = async {
        let mut send = exchange
            .connect()
            .await
            .map_err(|NotConnected| End::NotConnected)?;
        let mut bodies = Vec::new();
        for _ in 0..times {
            let answered = timeout(ANSWER_LIMIT, exchange.once(&mut send)).await;
            let body = answered
                .map_err(|_| End::Unanswered)?
                .map_err(|ended| ended.end)?;
            bodies.push(body);
        }
        Ok(bodies)
    };
    LocalSet::new().block_on(&runtime, asked)
}

/// Sends a request once on a new connection.
pub(crate) fn ask_once(target: SocketAddr, http: &HttpRequest) -> Result<Bytes, End> {
    ask(target, http, 1)?.pop().ok_or(End::Garbage)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use http::{HeaderMap, HeaderValue, Response};

    use super::super::answer::Answer;
    use super::super::request::Request;
    use super::*;
    use jeton_lab_harness::grpc::{framed, put_text};
    use jeton_lab_model::servers::{Algorithm, Call};

    /// Answers each call with the number of its connection, and its number on the connection.
    fn numbers_its_connections() -> SocketAddr {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                for connection in 0.. {
                    let (stream, _) = listener.accept().await.unwrap();
                    tokio::spawn(number_its_calls(stream, connection));
                }
            });
        });
        address
    }

    async fn number_its_calls(stream: tokio::net::TcpStream, connection: u32) {
        let mut server = h2::server::handshake(stream).await.unwrap();
        let mut calls = 0;
        while let Some(Ok((_, mut respond))) = server.accept().await {
            let mut message = Vec::new();
            put_text(&mut message, 1, &format!("{connection}"));
            put_text(&mut message, 2, &format!("{calls}"));
            calls += 1;
            let mut stream = respond.send_response(Response::new(()), false).unwrap();
            stream.send_data(framed(&message), false).unwrap();
            let status =
                HeaderMap::from_iter([("grpc-status".parse().unwrap(), HeaderValue::from(0))]);
            stream.send_trailers(status).unwrap();
        }
    }

    #[test]
    fn ask_sends_all_requests_on_one_connection() {
        let target = numbers_its_connections();
        let request = Request::generate_jwt(Algorithm::Hs256);
        let asked = |times| -> Vec<(String, String)> {
            let bodies = ask(target, &request.http, times).unwrap();
            let read = |body: &Bytes| {
                let answer = Answer::read(Call::GenerateJwt, body).unwrap();
                (answer.token.unwrap().to_owned(), answer.sub.to_owned())
            };
            bodies.iter().map(read).collect()
        };
        let said = |words: &[(&str, &str)]| -> Vec<(String, String)> {
            let words = words.iter();
            words.map(|(a, b)| ((*a).into(), (*b).into())).collect()
        };
        assert_eq!(asked(3), said(&[("0", "0"), ("0", "1"), ("0", "2")]));
        assert_eq!(asked(1), said(&[("1", "0")]));
    }
}
