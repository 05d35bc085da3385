//! The token service: gRPC and HTTP over [`jeton_issuer`].
//!
//! A server has two listeners. The data listener has `jeton.v1.TokenService` and, for verifiers and
//! resource servers, key sets, metadata, introspection and revocation over HTTP on the same port. The
//! admin listener has `jeton.v1.AdminService` and the metrics.
//!
//! Without a configuration, the server listens on loopback only (trial mode). It creates a data folder,
//! a key-encryption key and a trial issuer. The data listener then serves every local process.
//! AdminService requires a token from the data folder ([`Server::admin_token_file`]). The server refuses
//! to listen on a non-loopback address unless TLS, client authentication and a key-encryption key are
//! configured.
//!
//! ```
//! use jeton_server::{Config, Server};
//!
//! let folder = std::env::temp_dir().join(format!("jeton-server-doc-{}", std::process::id()));
//! let config = Config::from_toml(&format!(
//!     "data = {:?}\nlisten = '127.0.0.1:0'\nadmin_listen = '127.0.0.1:0'", folder
//! ))?;
//! let server = Server::start(config)?;
//! println!("listening on {}", server.data_address());
//! server.stop();
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), jeton_server::Error>(())
//! ```

// Configuration
mod config;
pub mod limits;

// Authentication, authorization and request checks
mod admin_token;
mod admin_url;
mod argon2_queue;
mod assertion_rules;
mod auth;
mod authority;
mod basic;
mod certificate_renewal;
mod certificates;
mod client_auth;
mod client_secret;
mod clients;
mod cross_origin;
mod form;
mod hosts;
mod issuer_url;
mod key_command;
mod named_issuer;
mod page_links;
mod permissions;
mod rate_limit;
mod refusal;
mod slow_comparisons;
mod token_rights;
mod verify_clock;

// Outside issuers
mod claim_pattern;
mod stream_permits;
mod subject_template;
mod token_rules;
mod trusts;

// Services and routing
mod config_check;
mod etcd_store;
mod grpc;
mod hsm;
mod http;
mod node;
mod offline;
mod request_check;
mod route;
mod service;

// Listeners, connections and load control
mod server;

// The comparison with plain tonic
#[cfg(test)]
mod plain_tonic_test;

// Errors, logs, metrics, traces and health
mod error;
mod failure;
mod health_log;
mod issuer_error;
mod logs;
mod metrics;
mod sd_notify;
#[cfg(feature = "otel")]
mod traces;
#[cfg(not(feature = "otel"))]
#[path = "traces/not_compiled.rs"]
mod traces;
// Its test, in the build of all tests, which has the feature.
#[cfg(all(test, feature = "otel"))]
#[allow(dead_code)]
#[path = "traces/not_compiled.rs"]
mod traces_not_compiled;

pub use admin_token::ADMIN_TOKEN_FILE;
pub use admin_url::ADMIN_URL_FILE;
pub use claim_pattern::ClaimPattern;
pub use client_secret::{Argon2idHash, ClientSecret, SecretError, SecretHash};
pub use config::{
    AllowedToken, Bearer, Client, Config, Etcd, GenerateJwt, Grant, Limits, Log, LogFormat,
    LogLevel, Permission, Pkcs11, Pkcs11Key, Tls, Traces, Trust, WhenStale, read_toml,
};
pub use error::{ConfigError, Error, Result};
pub use hsm::{HsmKeys, Pkcs11Provider};
pub use key_command::key_from_command;
pub use offline::OfflineResult;
pub use refusal::Refusal;
pub use route::OTHER_LISTENER;
pub use server::{IssuableProfile, Reload, Server};
pub use subject_template::SubjectTemplate;
