//! Failures of calls to a server, with what corrects them.

use jeton_client::Error;
use jeton_server::OTHER_LISTENER;

use super::problem;
use super::settings::{Listener, Origin, Settings};
use crate::exit::Failure;

/// Returns the failure of a call, with a hint.
pub(crate) fn failed(error: &Error, listener: Listener, settings: &Settings) -> Failure {
    let failure = match error {
        Error::Rejected { message, .. } => Failure::rejected(message.clone()),
        other => Failure::error(other.to_string()),
    };
    match error {
        Error::Unreachable(message) => unreachable(message, settings),
        Error::Unavailable(_) => failure.hint("try again; the log of the server has the cause"),
        Error::Denied(_) if settings.has_credentials() => failure.hint(
            "no client of the server has these credentials, or it lacks the right: see [[client]] in the \
             configuration of the server, and its log",
        ),
        Error::Denied(_) => failure.hint(match listener {
            Listener::Data => {
                "to authenticate, add `--bearer FILE` or `--client-certificate FILE --client-key FILE`"
            }
            Listener::Admin => {
                "to authenticate, add `--bearer FILE` or `--client-certificate FILE --client-key FILE`; for a server \
                 without clients, name its data folder with `--data DIR`"
            }
        }),
        Error::InvalidRequest(message) if message == OTHER_LISTENER => {
            failure.hint(match listener {
                Listener::Data => "`jeton token` calls the data listener: add `--server URL`",
                Listener::Admin => "`jeton admin` calls the admin listener: add `--server URL`",
            })
        }
        _ => failure,
    }
}

/// Returns the failure for a server that cannot be reached. Connects once more to find the reason.
pub(crate) fn unreachable(message: &str, settings: &Settings) -> Failure {
    if let Some(problem) = problem::find(settings) {
        return problem.failure(settings);
    }
    let failure = Failure::error(message.to_owned());
    match &settings.origin {
        Origin::Option | Origin::Default => failure
            .hint("to start a service, run `jeton serve`; to call another one, add `--server URL`"),
        origin => failure.hint(format!(
            "{origin} names the server; to call another one, add `--server URL`"
        )),
    }
}
