//! Starts, reloads and stops a server.

use std::net::{SocketAddr, TcpListener as Bound};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jeton::{Clock, SystemClock};
use jeton_issuer::Node;
use jeton_proto::report::jwt_service_server;
use jeton_proto::v1::{admin_service_server, token_service_server};
use jeton_transport::{Listener, Shared, TlsConfig, Transport, Workers, wait_until_true};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use crate::admin_url::AdminUrlFile;
use crate::auth::Authenticator;
use crate::certificates::Certificates;
use crate::config::{ChangedKey, Config, Tls};
use crate::error::{Error, Result};
use crate::health_log::HealthLog;
use crate::hosts::Hosts;
use crate::hsm::Pkcs11Provider;
use crate::limits::NAME_MESSAGE_BYTES;
use crate::route::{Reflection, Routes};
use crate::service::Service;
use crate::traces::RequestTracer;
use crate::trusts::Trusts;
use crate::verify_clock::clock_of;
use crate::{certificate_renewal, hsm, logs, node, sd_notify};

/// Reads the configuration for a reload.
pub type Reload = Box<dyn Fn() -> Result<Config> + Send>;

/// A running server.
///
/// Dropping it stops the server at once. [`stop`](Server::stop) waits for running requests.
#[derive(Debug)]
pub struct Server {
    data: SocketAddr,
    admin: SocketAddr,
    pub(crate) service: Arc<Service>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
    _admin_url: Option<AdminUrlFile>,
}

/// A profile of an issuer that the server can issue tokens for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuableProfile {
    /// The issuer's `iss`.
    pub issuer: String,
    /// The profile's name.
    pub profile: String,
    /// The audience of its tokens if a request names none.
    pub audience: String,
}

/// Time limit to delete the record of this server from the store.
const LEAVING: Duration = Duration::from_secs(2);

/// The services that grpc.health.v1 knows: the server, and what it is for.
const HEALTH_NAMES: [&str; 2] = ["", token_service_server::SERVICE_NAME];

/// The state of the accepting thread.
struct RunningServer {
    /// The configuration at the start.
    config: Config,
    service: Arc<Service>,
    transport: Arc<Transport>,
    health: HealthReporter,
    workers: Workers,
    stop: watch::Sender<bool>,
    end: watch::Sender<bool>,
    generation: AtomicU64,
}

impl Server {
    /// Starts a server. It accepts requests when this returns.
    ///
    /// # Errors
    ///
    /// [`Error`]. In that case the server accepts no requests.
    pub fn start(config: Config) -> Result<Server> {
        Server::start_with(config, None, Arc::new(SystemClock))
    }

    /// Starts a server with a clock and a function that reloads the configuration.
    ///
    /// The clock decides when keys rotate and tokens expire. SIGHUP calls the function and applies issuers,
    /// clients with their permissions, trust entries, `hosts`, `log.claims` and certificates. Other keys need a restart.
    ///
    /// The limit of open files of the process is raised if it is too low for the connections.
    ///
    /// # Errors
    ///
    /// [`Error`]. In that case the server accepts no requests.
    pub fn start_with(
        config: Config,
        reload: Option<Reload>,
        clock: Arc<dyn Clock>,
    ) -> Result<Server> {
        Server::start_with_hsm(config, reload, clock, None)
    }

    /// Starts a server that can sign with keys in an HSM.
    ///
    /// # Errors
    ///
    /// [`Error`]. In that case the server accepts no requests. An HSM that does not answer is an error only if
    /// an issuer has to be created with a key in it.
    pub fn start_with_hsm(
        mut config: Config,
        reload: Option<Reload>,
        clock: Arc<dyn Clock>,
        provider: Option<Pkcs11Provider>,
    ) -> Result<Server> {
        logs::start(&config.log);
        let (source, key_is_given) = node::key_source(&config)?;
        config.check_exposure(key_is_given)?;
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let count = config.workers.unwrap_or_else(cores);
        let started = config.clone();
        config.limits.connections =
            jeton_transport::connections_within_descriptors(config.limits.connections, count)?;
        let tls = tls_config(&config)?;
        let traces = RequestTracer::start(&config)?;
        let (data, admin) = (bind(config.listen)?, bind(config.admin_listen)?);
        let address = |bound: &Bound| bound.local_addr().map_err(Error::System);
        let (data_address, admin_address) = (address(&data)?, address(&admin)?);

        let hsm = hsm::open(&config, provider)?;
        let source = source.source(&config)?;
        let node::Opened { node, etcd } = node::open(&config, source, hsm.as_ref(), clock)?;
        node::create_trial_issuer(&config, &node, &format!("http://{data_address}"))?;
        let (stop, stopping) = watch::channel(false);
        let (end, ending) = watch::channel(false);
        let shared = Shared::new(config.limits.transport(), stopping);
        let shared = Arc::new(shared);
        let certificates = Certificates::new(&config, etcd);
        let service = Service::new(node, &config, hsm, traces, shared.clone(), certificates)?;
        let service = Arc::new(service);
        certificate_renewal::note_end(&service, config.tls.as_ref());
        let (health, routes) = routes(service.clone())?;
        let handler = Box::new(routes);
        let transport = Transport::new(handler, shared, tls, data_address, admin_address);
        let transport = Arc::new(transport);
        let workers = Workers::start(count, &transport, &ending).map_err(Error::System)?;

        let running = RunningServer {
            config: started.clone(),
            service: service.clone(),
            transport,
            health,
            workers,
            stop: stop.clone(),
            end,
            generation: AtomicU64::new(0),
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Error::System)?;
        let thread = thread::Builder::new().name("jeton-accept".to_owned());
        let thread = thread
            .spawn(move || runtime.block_on(running.run(data, admin, reload)))
            .map_err(Error::System)?;
        Ok(Server {
            data: data_address,
            admin: admin_address,
            service,
            stop,
            thread: Some(thread),
            _admin_url: AdminUrlFile::write(&started, admin_address),
        })
    }

    /// The address of the data listener.
    pub fn data_address(&self) -> SocketAddr {
        self.data
    }

    /// The address of the admin listener.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin
    }

    /// The file with the bearer token for AdminService. `None` if clients are configured.
    pub fn admin_token_file(&self) -> Option<PathBuf> {
        let authenticator = self.service.authenticator.load();
        authenticator
            .admin_token()
            .map(|token| token.file().to_owned())
    }

    /// All profiles of all issuers.
    pub fn issuable_profiles(&self) -> Vec<IssuableProfile> {
        let node = &self.service.node;
        let mut profiles = Vec::new();
        for issuer in node.status().issuers {
            let Ok((settings, _)) = node.issuer(&issuer) else {
                continue;
            };
            profiles.extend(settings.profiles().iter().map(|profile| IssuableProfile {
                issuer: issuer.clone(),
                profile: profile.name.clone(),
                audience: profile.audiences[0].clone(),
            }));
        }
        profiles
    }

    /// Stops accepting requests, waits up to `drain_seconds` for running ones, and ends the server.
    pub fn stop(self) {
        let _ = self.stop.send(true);
        self.wait();
    }

    /// Waits until SIGTERM or SIGINT has stopped the server.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}

impl RunningServer {
    async fn run(mut self, data: Bound, admin: Bound, reload: Option<Reload>) {
        let (Ok(data), Ok(admin)) = (TcpListener::from_std(data), TcpListener::from_std(admin))
        else {
            tracing::error!("cannot register the listeners");
            return;
        };
        // Before the server says that it is ready: a SIGHUP without a handler ends the process.
        let signals = Signals::register();
        tokio::spawn(follow_health(self.health.clone(), self.service.clone()));
        tokio::spawn(certificate_renewal::follow(
            self.service.clone(),
            self.transport.clone(),
        ));
        tokio::spawn(jeton_transport::return_memory(
            self.service.transport.account.clone(),
        ));
        sd_notify::send(sd_notify::READY);
        tracing::info!("ready");

        let transport = self.transport.clone();
        let administer = jeton_transport::accept(self.transport.clone(), admin, Listener::Admin, {
            move |stream, permit| {
                jeton_transport::spawn(transport.clone(), stream, Listener::Admin, permit)
            }
        });
        let administer = tokio::spawn(administer);
        {
            let workers = &mut self.workers;
            let assign = |stream, permit| workers.assign(stream, permit);
            let accept =
                jeton_transport::accept(self.transport.clone(), data, Listener::Data, assign);
            let stopper = Stopper {
                delay: self.config.stop_delay(),
                shared: self.service.transport.clone(),
                health: self.health.clone(),
                stop: self.stop.clone(),
                at: None,
            };
            let signals = handle_signals(
                signals,
                stopper,
                &self.config,
                &self.service,
                &self.transport,
                &self.generation,
                reload,
            );
            tokio::join!(accept, signals);
        }
        let _ = administer.await;
        self.drain().await;
    }

    /// Waits for open connections, up to the time limit.
    async fn drain(self) {
        sd_notify::send(sd_notify::STOPPING);
        tracing::info!("stopping");
        self.service.transport.leave();
        stop_health(&self.health).await;
        let left = self.transport.drain(self.config.drain()).await;
        if left > 0 {
            tracing::warn!(
                connections = left,
                "connections closed before they finished"
            );
        }
        leave(&self.service.node).await;
        let _ = self.end.send(true);
        self.workers.join();
        if let Some(traces) = &self.service.traces {
            traces.stop();
        }
        if let Some(token) = self.service.authenticator.load().admin_token() {
            token.remove_file();
        }
        tracing::info!("stopped");
    }
}

/// The signals that the server handles.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn register() -> std::io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }
}

/// Stops the server after `stop_delay_seconds`.
struct Stopper {
    delay: Duration,
    shared: Arc<Shared>,
    health: HealthReporter,
    stop: watch::Sender<bool>,
    /// When the server stops. `None`: it has not been told to.
    at: Option<tokio::time::Instant>,
}

impl Stopper {
    /// The first time, reports that the server is not ready, and lets it accept calls for the delay. The second
    /// time, stops it.
    async fn tell(&mut self) {
        if self.delay.is_zero() || self.at.is_some() {
            let _ = self.stop.send(true);
            return;
        }
        self.shared.leave();
        self.at = Some(tokio::time::Instant::now() + self.delay);
        sd_notify::send(sd_notify::STOPPING);
        tracing::info!(seconds = self.delay.as_secs(), "not ready, stops later");
        report_not_serving(&self.health).await;
    }

    /// Stops the server when its time has come. Never returns before.
    async fn stop_in_time(&self) {
        match self.at {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
        let _ = self.stop.send(true);
    }
}

/// Handles signals until the server stops.
async fn handle_signals(
    signals: std::io::Result<Signals>,
    mut stopper: Stopper,
    config: &Config,
    service: &Service,
    transport: &Transport,
    generation: &AtomicU64,
    reload: Option<Reload>,
) {
    let mut stopping = stopper.stop.subscribe();
    let Ok(Signals {
        mut terminate,
        mut interrupt,
        mut hangup,
    }) = signals
    else {
        tracing::error!("cannot register signal handlers");
        wait_until_true(&mut stopping).await;
        return;
    };
    loop {
        tokio::select! {
            () = wait_until_true(&mut stopping) => return,
            () = stopper.stop_in_time() => return,
            _ = terminate.recv() => stopper.tell().await,
            _ = interrupt.recv() => stopper.tell().await,
            _ = hangup.recv() => match &reload {
                None => tracing::info!("SIGHUP ignored: there is no configuration file"),
                // Writing to the store may block, and SIGTERM must not wait for it.
                Some(reload) => tokio::select! {
                    () = reload_config(config, service, transport, generation, reload) => {}
                    () = wait_until_true(&mut stopping) => return,
                    () = stopper.stop_in_time() => return,
                    _ = terminate.recv() => stopper.tell().await,
                    _ = interrupt.recv() => stopper.tell().await,
                },
            },
        }
    }
}

async fn reload_config(
    started: &Config,
    service: &Service,
    transport: &Transport,
    generation: &AtomicU64,
    reload: &Reload,
) {
    match apply_reload(started, service, transport, generation, reload) {
        Ok(config) => {
            let node = service.node.clone();
            let configure = move || node::configure(&node, &config.issuers);
            // `configure` has logged its errors.
            let _ = tokio::task::spawn_blocking(configure).await;
            tracing::info!("configuration reloaded");
        }
        Err(error) => {
            tracing::error!(%error, "reload failed, the previous configuration stays in force")
        }
    }
}

/// Applies clients, hosts and certificates of a new configuration, all or none.
fn apply_reload(
    started: &Config,
    service: &Service,
    transport: &Transport,
    generation: &AtomicU64,
    reload: &Reload,
) -> Result<Config> {
    let mut config = reload()?;
    let needs_restart = started.needs_restart(&config);
    // Listeners and data folder stay, so exposure is checked for the existing ones.
    (config.listen, config.admin_listen) = (started.listen, started.admin_listen);
    config.data.clone_from(&started.data);
    let (_, key_is_given) = node::key_source(&config)?;
    config.check_exposure(key_is_given)?;
    let tls = tls_config(&config)?;
    let before = service.authenticator.load_full();
    let token = before.admin_token().cloned();
    let generation = 1 + generation.fetch_add(1, Ordering::Relaxed);
    let clock = clock_of(&service.node);
    let authenticator = Authenticator::new(&config, generation, token, &clock)?;
    authenticator.clients().continue_from(before.clients());
    let trusts = Trusts::from_config(&config, &clock, &service.trusts.load())?;
    // Nothing fails after this point.
    for ChangedKey { key, old, new } in needs_restart {
        tracing::warn!(
            field = key,
            old,
            new,
            "not changed: this key needs a restart"
        );
    }
    if tls.is_some() == started.tls.is_some() {
        transport.replace_tls(tls);
        certificate_renewal::note_end(service, config.tls.as_ref());
        service.certificates.tls.store(Arc::new(config.tls.clone()));
    }
    match (before.admin_token(), authenticator.admin_token()) {
        (Some(token), None) => token.remove_file(),
        (None, Some(token)) => tracing::warn!(
            admin_token = %token.file().display(),
            "no clients configured: the data listener now serves every local process"
        ),
        _ => {}
    }
    if let (Some(signing), Some(pkcs11)) = (&service.signing, &config.pkcs11) {
        signing.keys.set_keys(&pkcs11.keys);
    }
    service.authenticator.store(Arc::new(authenticator));
    service.trusts.store(Arc::new(trusts));
    service.hosts.store(Arc::new(Hosts::from_config(&config)));
    Ok(config)
}

/// Reads the certificates, if TLS is configured.
pub(crate) fn tls_config(config: &Config) -> Result<Option<TlsConfig>> {
    let files = config.tls.as_ref().map(Tls::files);
    Ok(files.map(jeton_transport::tls_config).transpose()?)
}

fn bind(address: SocketAddr) -> Result<Bound> {
    jeton_transport::bind(address).map_err(|error| Error::Listen(address, error))
}

fn routes(service: Arc<Service>) -> Result<(HealthReporter, Routes)> {
    let (health, health_server) = tonic_health::server::health_reporter();
    let mut data = vec![token_service_server::SERVICE_NAME];
    if service.generate_jwt.is_some() {
        data.push(jwt_service_server::SERVICE_NAME);
    }
    let routes = Routes {
        service,
        health: Box::new(health_server.max_decoding_message_size(NAME_MESSAGE_BYTES)),
        data_reflection: reflection(&data)?,
        admin_reflection: reflection(&[admin_service_server::SERVICE_NAME])?,
    };
    Ok((health, routes))
}

/// Builds reflection for these services and for health, which every listener serves.
fn reflection(services: &[&str]) -> Result<Reflection> {
    let builder = || {
        let builder = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(jeton_proto::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            // Error details, so that a client can decode them by reflection alone.
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
            .with_service_name("grpc.health.v1.Health");
        let add = |builder: tonic_reflection::server::Builder<'static>, service: &&str| {
            builder.with_service_name(*service)
        };
        services.iter().fold(builder, add)
    };
    let system_error = |error: tonic_reflection::server::Error| {
        Error::System(std::io::Error::other(error.to_string()))
    };
    let v1 = builder().build_v1().map_err(system_error)?;
    let v1alpha = builder().build_v1alpha().map_err(system_error)?;
    Ok(Reflection {
        v1: Box::new(v1.max_decoding_message_size(NAME_MESSAGE_BYTES)),
        v1alpha: Box::new(v1alpha.max_decoding_message_size(NAME_MESSAGE_BYTES)),
    })
}

/// Updates grpc.health.v1 to the state of `/readyz`, and logs changes of the node's health.
async fn follow_health(health: HealthReporter, service: Arc<Service>) {
    let mut every = tokio::time::interval(Duration::from_millis(500));
    let mut was = None;
    let mut health_log = HealthLog::default();
    while !service.transport.is_leaving() {
        let node = service.node.status();
        health_log.observe(&node);
        let is_ready = node.is_ready();
        if was != Some(is_ready) {
            let status = if is_ready {
                ServingStatus::Serving
            } else {
                ServingStatus::NotServing
            };
            for name in HEALTH_NAMES {
                health.set_service_status(name, status).await;
            }
            was = Some(is_ready);
        }
        every.tick().await;
    }
}

async fn report_not_serving(health: &HealthReporter) {
    for name in HEALTH_NAMES {
        health
            .set_service_status(name, ServingStatus::NotServing)
            .await;
    }
}

/// Reports that the server is not serving, and ends the streams of health watchers.
/// Tells the other servers that this one ends. A store that does not answer must not delay the end: then the lease of
/// the record ends.
async fn leave(node: &Node) {
    if !node.status().is_fresh {
        return;
    }
    let (node, (done, left)) = (node.clone(), oneshot::channel());
    std::thread::spawn(move || {
        if let Err(error) = node.leave() {
            tracing::warn!(%error, "cannot delete the record of this server");
        }
        let _ = done.send(());
    });
    let _ = timeout(LEAVING, left).await;
}

async fn stop_health(health: &HealthReporter) {
    report_not_serving(health).await;
    let mut health = health.clone();
    for name in HEALTH_NAMES {
        health.clear_service_status(name).await;
    }
}
