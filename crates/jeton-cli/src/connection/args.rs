//! The options of a call to a server, and what the environment and the client file add.

use std::path::{Path, PathBuf};

use clap::Args;

use super::client_file::{ClientFile, Context};
use super::settings::{IdentityFiles, Listener, Origin, Settings, variable};
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::shell::quoted;

/// The environment variables of the options.
mod variables {
    pub(super) const CONTEXT: &str = "JETON_CONTEXT";
    pub(super) const SERVER: &str = "JETON_SERVER";
    /// Counts before [`SERVER`] for the admin listener.
    pub(super) const ADMIN_SERVER: &str = "JETON_ADMIN_SERVER";
    pub(super) const CA: &str = "JETON_CA";
    pub(super) const CLIENT_CERTIFICATE: &str = "JETON_CLIENT_CERTIFICATE";
    pub(super) const CLIENT_KEY: &str = "JETON_CLIENT_KEY";
    pub(super) const BEARER: &str = "JETON_BEARER";
}

/// The data listener of a server without a configuration.
const DEFAULT_SERVER: &str = "http://127.0.0.1:8420";

/// The options of a call to a server. `jeton admin` and `jeton token` have the same.
#[derive(Debug, Args)]
pub(crate) struct ServerOptions {
    /// URL of the service's data listener [env: JETON_SERVER] [default: that of the context, or http://127.0.0.1:8420]
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// Context of the client file, which names servers and credentials [env: JETON_CONTEXT] [default: `current` of the file]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// PEM file with the certificate authorities that verify the server [env: JETON_CA] [default: those of the system]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// PEM file with the client certificate [env: JETON_CLIENT_CERTIFICATE]
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_certificate: Option<PathBuf>,

    /// PEM file with the private key of --client-certificate [env: JETON_CLIENT_KEY]
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    client_key: Option<PathBuf>,
}

/// The context in force.
struct Chosen {
    name: String,
    context: Context,
    /// Whether the option names it, for this call.
    is_by_option: bool,
}

/// What the options, the environment or a context say.
#[derive(Default)]
struct Layer {
    server: Option<(String, Origin)>,
    ca: Option<PathBuf>,
    identity: Option<IdentityFiles>,
    bearer: Option<PathBuf>,
}

impl Layer {
    fn has_credentials(&self) -> bool {
        self.identity.is_some() || self.bearer.is_some()
    }
}

impl ServerOptions {
    /// Whether the command names a server: by its URL, or by a context.
    pub(crate) fn names_server(&self) -> bool {
        self.server.is_some() || self.context.is_some()
    }

    /// Returns the server and the credentials, by options, environment and client file. `bearer` is the option of this
    /// name. `None`: nothing names an admin listener.
    pub(crate) fn settings(
        &self,
        listener: Listener,
        bearer: Option<&Path>,
    ) -> Outcome<Option<Settings>> {
        let chosen = self.chosen()?;
        let options = Layer {
            server: (self.server.clone()).map(|url| (url, Origin::Option)),
            ca: self.ca.clone(),
            identity: identity(&self.client_certificate, &self.client_key),
            bearer: bearer.map(Path::to_owned),
        };
        let environment = environment(listener)?;
        let context = match &chosen {
            Some(chosen) => chosen.layer(listener),
            None => Layer::default(),
        };
        let layers = [options, environment, context];
        let server = layers.iter().position(|layer| layer.server.is_some());
        let (url, origin) = match (server.and_then(|at| layers[at].server.clone()), &chosen) {
            (Some(server), _) => server,
            (None, Some(chosen)) => return Err(chosen.has_no_server(listener)),
            (None, None) if listener == Listener::Data => {
                (DEFAULT_SERVER.to_owned(), Origin::Default)
            }
            (None, None) => return self.check_without_server(bearer).map(|()| None),
        };
        // Credentials are of one source: a certificate of the environment is not sent with a token of the context.
        let source = layers.iter().position(Layer::has_credentials);
        let credentials = source.map(|at| &layers[at]);
        // A certificate that a later source adds is for servers with TLS.
        let is_usable = url.starts_with("https://") || source <= server;
        let mut settings = Settings {
            origin,
            ca: layers.iter().find_map(|layer| layer.ca.clone()),
            identity: credentials
                .and_then(|layer| layer.identity.clone())
                .filter(|_| is_usable || server.is_none()),
            bearer: credentials.and_then(|layer| layer.bearer.clone()),
            data: None,
            url,
        };
        if let Some(chosen) = chosen {
            let is_of_context = source == Some(layers.len() - 1);
            chosen.limit(listener, is_of_context, &mut settings);
        }
        Ok(Some(settings))
    }

    /// Fails if an option has no effect without a server. `jeton admin` is about a store then.
    pub(crate) fn check_without_server(&self, bearer: Option<&Path>) -> Outcome {
        let without_effect = [
            ("--bearer", bearer.is_some()),
            ("--ca", self.ca.is_some()),
            ("--client-certificate", self.client_certificate.is_some()),
        ];
        match without_effect.iter().find(|(_, is_set)| *is_set) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::error(format!("{option} requires a server"))
                .hint("to name its admin listener, add `--server URL`")),
        }
    }

    fn chosen(&self) -> Outcome<Option<Chosen>> {
        let (named, of) = match &self.context {
            Some(name) => (Some(name.clone()), "--context"),
            None => (text(variables::CONTEXT)?, variables::CONTEXT),
        };
        let file = ClientFile::read()?;
        let Some(name) = named.or_else(|| file.current.clone()) else {
            return Ok(None);
        };
        let context = file.context(&name, of)?.clone();
        Ok(Some(Chosen {
            name,
            context,
            is_by_option: self.context.is_some(),
        }))
    }
}

impl Chosen {
    fn layer(&self, listener: Listener) -> Layer {
        let context = &self.context;
        let server = context.server(listener).map(str::to_owned);
        Layer {
            server: server.map(|url| (url, Origin::Context(self.name.clone()))),
            ca: context.ca.clone(),
            identity: identity(&context.client_certificate, &context.client_key),
            bearer: context.bearer.clone(),
        }
    }

    fn has_no_server(&self, listener: Listener) -> Failure {
        let member = match listener {
            Listener::Data => "server",
            Listener::Admin => "admin_server",
        };
        Failure::error(format!("the context {:?} has no `{member}`", self.name))
            .hint("add it to the client file, or add `--server URL`")
    }

    /// Removes the bearer token of the context, if the call goes to another server: every server that receives it can
    /// use it. For the same reason, the data folder with the admin token is that of the server.
    fn limit(self, listener: Listener, is_token_of_context: bool, settings: &mut Settings) {
        let is_own = self.context.server(listener) == Some(&*settings.url);
        if is_own || self.is_by_option {
            settings.data = self.context.data;
        } else if settings.bearer.is_some() && is_token_of_context {
            settings.bearer = None;
            output::note(format_args!(
                "the bearer token of the context {:?} is not sent to another server; to send it, add `--context {}`",
                self.name,
                quoted(&self.name)
            ));
        }
    }
}

/// The certificate and the key, which a source has both or none of.
fn identity(certificate: &Option<PathBuf>, key: &Option<PathBuf>) -> Option<IdentityFiles> {
    Some(IdentityFiles {
        certificate: certificate.clone()?,
        key: key.clone()?,
    })
}

fn environment(listener: Listener) -> Outcome<Layer> {
    use variables as names;
    let file = |name| variable(name).map(PathBuf::from);
    let (certificate, key) = (file(names::CLIENT_CERTIFICATE), file(names::CLIENT_KEY));
    for (set, name, other) in [
        (&certificate, names::CLIENT_CERTIFICATE, names::CLIENT_KEY),
        (&key, names::CLIENT_KEY, names::CLIENT_CERTIFICATE),
    ] {
        if set.is_some() && variable(other).is_none() {
            return Err(Failure::error(format!("{name} requires {other}")));
        }
    }
    let server = |name: &'static str| -> Outcome<_> {
        Ok(text(name)?.map(|url| (url, Origin::Variable(name))))
    };
    let own = match listener {
        Listener::Data => None,
        Listener::Admin => server(names::ADMIN_SERVER)?,
    };
    Ok(Layer {
        server: match own {
            Some(own) => Some(own),
            None => server(names::SERVER)?,
        },
        ca: file(names::CA),
        identity: identity(&certificate, &key),
        bearer: file(names::BEARER),
    })
}

/// Returns an environment variable that is a text.
fn text(name: &str) -> Outcome<Option<String>> {
    let text = variable(name).map(std::ffi::OsString::into_string);
    text.transpose()
        .map_err(|_| Failure::error(format!("{name}: not UTF-8 text")))
}
