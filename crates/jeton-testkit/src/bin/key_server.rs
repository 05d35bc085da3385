//! Starts the key server for tests in other languages: `key-server FETCH.JSON AUTHORITY.PEM`. It writes the certificate
//! authority to the second file, prints its addresses as one line of JSON, and ends when its standard input ends.

use std::io::{self, Write as _};

use jeton_testkit::KeyServer;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what| arguments.next().ok_or_else(|| io::Error::other(what));
    let data = std::fs::read_to_string(next("expected the file fetch.json")?)?;
    let authority = next("expected a file for the certificate authority")?;
    let server = KeyServer::start(&data)?;
    std::fs::write(&authority, &server.authority)?;
    let addresses = serde_json::json!({
        "http": server.http,
        "https": server.https,
        "proxy": server.proxy,
        "authority": authority,
    });
    let mut stdout = io::stdout();
    writeln!(stdout, "{addresses}")?;
    stdout.flush()?;
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}
