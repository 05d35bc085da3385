//! A bare tonic server with jsonwebtoken: a Rust team's first version. jeton's server is compared
//! with it. Its service is the same as that of the other servers here.

mod arguments;
mod keys;
mod service;

/// `jwt.services`, generated from `proto/`. The tests of `jeton-proto` compare and write it.
#[allow(unreachable_pub, clippy::all)]
mod report {
    include!("generated/jwt.services.rs");
}

use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use arguments::Arguments;
use keys::Keys;
use report::jwt_service_server::JwtServiceServer;
use service::Service;

fn main() -> ExitCode {
    let served = Arguments::read(std::env::args().skip(1)).and_then(|arguments| serve(&arguments));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("server: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until the process is ended.
fn serve(arguments: &Arguments) -> Result<(), String> {
    let service = Service::new(Keys::load(arguments)?);
    let runtime = runtime(arguments.cores).map_err(|e| format!("cannot start the runtime: {e}"))?;
    runtime.block_on(async {
        let listen = arguments.listen;
        let unbound = |e: &dyn std::fmt::Display| format!("cannot listen on {listen}: {e}");
        let incoming = TcpIncoming::bind(listen).map_err(|e| unbound(&e))?;
        let address = incoming.local_addr().map_err(|e| unbound(&e))?;
        println!("listening on {address}");
        Server::builder()
            .add_service(JwtServiceServer::new(service))
            // As tonic does when it binds by itself: Nagle's algorithm is off.
            .serve_with_incoming(incoming.with_nodelay(Some(true)))
            .await
            .map_err(|e| format!("cannot serve: {e}"))
    })
}

/// Creates as many threads as the server has cores. A single thread needs no work stealing.
fn runtime(cores: usize) -> std::io::Result<Runtime> {
    match cores {
        1 => Builder::new_current_thread().enable_all().build(),
        cores => Builder::new_multi_thread()
            .worker_threads(cores)
            .enable_all()
            .build(),
    }
}
