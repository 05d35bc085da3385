//! `jeton doctor`: looks at a clock, a key set and a token, and says what is wrong with them together.

mod clock;
mod fetch;
mod findings;
mod keys;
mod times;
mod token;

use std::path::PathBuf;

use clap::Args;
use jeton::{Clock, SystemClock};

use crate::demands::Demands;
use crate::doors::{self, Door};
use crate::exit::{Failure, Outcome};
use crate::input::Source;
use crate::output;
use findings::Examined;

/// The doors that lead somewhere here.
const HERE: [Door; 2] = [Door::NoExpiry, Door::WeakKeys];

/// Look at a token, a key set, its address and the clock, and say what is wrong
#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| doors::among(allow, &HERE)), after_help = "\
Examples:
  jeton doctor --keys https://id.example/jwks.json @token
  jeton doctor --keys jwks.json --issuer https://id.example --audience api @token
  jeton doctor --keys https://id.example/jwks.json
  jeton doctor @token
  jeton doctor --json --keys jwks.json @token | jq '.[].findings[] | select(.state == \"wrong\")'

Of a key set: how it is served, which keys are no good, which are secret. Of a token: what was done
to its text on the way, what its times and its alg say, which key made it, and whether jeton jwt
verify takes it. Of the clock: how far it is from that of the server that the keys come from.

! is wrong, ? cannot be told. Exit code 0: nothing is wrong; 1: something is; 2: the call was wrong.
An address is asked once, past caches, for ten seconds at most; its certificate is judged by this
machine's authorities, or those of SSL_CERT_FILE.")]
pub(crate) struct Doctor {
    /// The keys that verify: a file (JWK, JWK Set, PEM or DER), or the address of a set
    #[arg(long, value_name = "FILE|URL")]
    keys: Option<PathBuf>,

    #[command(flatten)]
    demands: Demands,

    /// The media type (typ) that the token should have [default: JWT, or none]
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    /// Print it as JSON
    #[arg(long)]
    json: bool,

    /// The token: the text itself, @FILE, or - for standard input
    #[arg(value_name = "TOKEN|@FILE|-")]
    token: Option<Source>,
}

impl Doctor {
    pub(crate) fn run(self) -> Outcome {
        let doors = self.demands.open(&HERE)?;
        let mut keys = match &self.keys {
            Some(place) => Some(keys::look(place)?),
            None => None,
        };
        let date = keys.as_ref().and_then(|keys| keys.date.clone());
        let mut all = vec![clock::look(date)];
        let found = keys.as_mut().and_then(|keys| keys.found.take());
        all.extend(keys.map(|keys| keys.examined));
        if let Some(source) = &self.token {
            let now = self.demands.moment().unwrap_or_else(|| SystemClock.now());
            let call = token::Call {
                demands: &self.demands,
                typ: self.typ.as_deref(),
                doors: &doors,
                keys: found.as_ref(),
                now,
            };
            all.push(token::look(&source.bytes()?, &call));
        }
        match self.json {
            true => output::json(&all)?,
            false => output::text(&text(&all))?,
        }
        match all.iter().map(Examined::wrong_count).sum() {
            0 => Ok(()),
            1 => Err(Failure::fault("one thing is wrong")),
            count => Err(Failure::fault(format!("{count} things are wrong"))),
        }
    }
}

fn text(all: &[Examined]) -> String {
    let all: Vec<String> = all.iter().map(Examined::to_text).collect();
    all.join("\n")
}
