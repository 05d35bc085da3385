use clap::Args;

use crate::exit::{Failure, Outcome};
use crate::input::Source;
use crate::keyfile::SigningKeyFile;
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton jws sign --key private.jwk 'any text'
  jeton jws sign --key private.jwk --cty application/pdf @contract.pdf > contract.jws
  jeton jws sign --key rsa.pem --alg PS256 - < payload

The payload is signed byte by byte as it is, with its last newline if it has one. For claims with an
expiry there is jeton jwt.")]
pub(super) struct Sign {
    #[command(flatten)]
    key: SigningKeyFile,

    /// The media type of the whole token (typ)
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    /// The media type of the payload (cty)
    #[arg(long, value_name = "TYPE")]
    cty: Option<String>,

    /// The payload: the text itself, @FILE, or - for standard input
    #[arg(value_name = "PAYLOAD|@FILE|-")]
    payload: Source,
}

impl Sign {
    pub(super) fn run(self) -> Outcome {
        let key = self.key.load()?;
        let payload = self.payload.bytes()?;
        let token = key
            .sign(&payload, self.typ.as_deref(), self.cty.as_deref())
            .map_err(|error| Failure::wrong(error.to_string()))?;
        output::note_size(&token);
        output::line(&token)
    }
}
