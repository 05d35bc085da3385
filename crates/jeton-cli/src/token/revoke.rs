use clap::{Args, ValueEnum};
use jeton::Limits;
use jeton_client::RevokeRequest;
use jeton_client::revoke_request::What;

use super::server::Server;
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::token_argument::{PastedHint, TokenArgument};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton token revoke @token
  jeton token revoke --every subject alice
  jeton token revoke --every key 7dp3…

When the command ends, the revocation is stored and in effect.

--every revokes the tokens that were issued before the revocation. Other servers with the same etcd apply it \
within the freshness bound; until then, the tokens that they issue are also revoked.")]
pub(super) struct Revoke {
    #[command(flatten)]
    server: Server,

    /// Revoke every token of a subject, client or key; pass its name in place of the token
    #[arg(long, value_name = "OF")]
    every: Option<Every>,

    #[command(flatten)]
    token: TokenArgument,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Every {
    /// Subject, by its `sub`
    Subject,
    /// Client, by its `client_id`
    Client,
    /// Key, by its `kid`
    Key,
}

impl Revoke {
    pub(super) fn run(self) -> Outcome {
        let mut given = None;
        let what = match self.every {
            None => {
                let token = self.token.read(&Limits::default())?;
                What::Token(given.insert(token).token.clone())
            }
            Some(every) => {
                let name = self.token.name()?.trim_end().to_owned();
                match every {
                    Every::Subject => What::Subject(name),
                    Every::Client => What::ClientId(name),
                    Every::Key => What::KeyId(name),
                }
            }
        };
        let request = RevokeRequest {
            issuer: self.server.issuer(),
            what: Some(what),
        };
        self.server
            .call(|client| async move { client.revoke(request).await })
            .map_err(|failure| match &given {
                Some(given) => PastedHint::Inspect.explain(explain_rejection(failure), given),
                None => explain_rejection(failure),
            })?;
        output::status("revoked");
        Ok(())
    }
}

/// Explains that a token that is not valid need not be revoked.
fn explain_rejection(failure: Failure) -> Failure {
    match failure.rejection() {
        Some(_) => failure.map_message(|reason| format!("{reason}: nothing to revoke")),
        None => failure,
    }
}
