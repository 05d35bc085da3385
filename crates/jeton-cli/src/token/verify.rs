use clap::Args;
use jeton::Limits;
use jeton_client::VerifyRequest;

use super::server::Server;
use crate::exit::Outcome;
use crate::output;
use crate::token_argument::{PastedHint, TokenArgument};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton token verify --audience api @token
  jeton token verify --server https://id.example --bearer me --audience api -

Prints the claims exactly as the token contains them.

Exit codes: 0 verified; 1 rejected, with the reason on standard error; 2 invalid usage, or the service cannot be \
reached.")]
pub(super) struct Verify {
    #[command(flatten)]
    server: Server,

    /// Required audience (`aud`)
    #[arg(long, value_name = "TEXT")]
    audience: String,

    #[command(flatten)]
    token: TokenArgument,
}

impl Verify {
    pub(super) fn run(self) -> Outcome {
        let given = self.token.read(&Limits::default())?;
        let request = VerifyRequest {
            issuer: self.server.issuer(),
            audience: self.audience,
            token: given.token.clone(),
        };
        let verified = self
            .server
            .call(|client| async move { client.verify(request).await })
            .map_err(|failure| PastedHint::Inspect.explain(failure, &given))?;
        output::json_line(&verified.claims_json)
    }
}
