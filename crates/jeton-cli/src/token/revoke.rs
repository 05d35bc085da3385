use clap::{Args, ValueEnum};
use jeton_client::RevokeRequest;
use jeton_client::revoke_request::What;

use super::server::Server;
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::source::TokenArgument;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton token revoke @token
  jeton token revoke --every subject alice
  jeton token revoke --every key 7dp3…

When it ends, the revocation is on disk and the service honours it.

After --every a token is accepted exactly if its server had seen the revocation when it issued the
token. The server that acknowledges has, the others of its etcd have within its freshness bound.")]
pub(super) struct Revoke {
    #[command(flatten)]
    server: Server,

    /// Revoke every token of a subject, a client or a key, which is named in the token's place
    #[arg(long, value_name = "OF")]
    every: Option<Every>,

    #[command(flatten)]
    token: TokenArgument,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Every {
    /// sub
    Subject,
    /// client_id
    Client,
    /// kid
    Key,
}

impl Revoke {
    pub(super) fn run(self) -> Outcome {
        let what = match self.every {
            None => What::Token(self.token.read()?),
            Some(every) => {
                let name = self.token.source()?.text("the name")?.trim_end().to_owned();
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
            .map_err(unless_over)?;
        output::status("revoked");
        Ok(())
    }
}

/// A token that is no good cannot be revoked, and need not be.
fn unless_over(failure: Failure) -> Failure {
    match failure.rejection() {
        Some(_) => failure.map_message(|reason| format!("{reason}: nothing to revoke")),
        None => failure,
    }
}
