//! A connection that breaks says what happened, and does not hang.

use jeton_client::{Connection, Error, VerifyRequest};
use tokio::net::TcpListener;

#[tokio::test]
async fn server_that_ends_after_the_connection_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let client = Connection::to(address).connect().await.unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    drop((accepted, listener));
    // The first call may still see the broken connection; later ones find nobody at the address.
    for _ in 0..3 {
        let error = client.verify(VerifyRequest::default()).await.unwrap_err();
        let Error::Unreachable(said) = error else {
            panic!("{error:?}");
        };
        assert!(said.starts_with("cannot reach the server: "), "{said}");
        assert!(said.len() > "cannot reach the server: ".len(), "{said}");
    }
}
