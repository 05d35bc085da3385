use clap::Args;
use jeton_client::IssueRequest;
use serde_json::json;

use super::server::Server;
use crate::exit::Outcome;
use crate::output;
use crate::source::{self, Source, Text};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton token issue --profile access --subject alice > token
  jeton token issue --profile access --subject alice --claims @file --json

Prints the token. The profile sets the format, the algorithm, the lifetime and the audiences.")]
pub(super) struct Issue {
    #[command(flatten)]
    server: Server,

    /// Profile of the issuer
    #[arg(long, value_name = "NAME")]
    profile: String,

    /// Subject of the token (`sub`)
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// Audience of the token (`aud`) [default: the first of the profile]
    #[arg(long, value_name = "TEXT")]
    audience: Option<String>,

    /// Custom claims, a JSON object: as text, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    claims: Option<Source>,

    /// Custom claims as text, never read as @FILE or -
    #[arg(long, value_name = "JSON", conflicts_with = "claims")]
    claims_text: Option<Text>,

    /// Print the token, its id and its expiry as JSON
    #[arg(long)]
    json: bool,
}

impl Issue {
    pub(super) fn run(self) -> Outcome {
        let claims = source::given(self.claims.as_ref(), self.claims_text.as_ref());
        let claims = claims.map(|claims| claims.text("--claims"));
        let request = IssueRequest {
            issuer: self.server.issuer(),
            profile: self.profile,
            subject: self.subject.unwrap_or_default(),
            audience: self.audience.unwrap_or_default(),
            claims_json: claims.transpose()?.unwrap_or_default(),
        };
        let issued = self
            .server
            .call(|client| async move { client.issue(request).await })?;
        if !self.json {
            output::line(&issued.token)
        } else {
            output::json(&json!({
                "token": issued.token,
                "token_id": issued.token_id,
                "expires_at": issued.expires_at,
            }))
        }
    }
}
