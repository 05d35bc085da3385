use clap::Args;
use jeton::danger;
use jeton::jwe::Encrypter;
use jeton::key::ContentEnc;

use crate::allow::{self, AllowArgs, Allowed, InsecureOption};
use crate::exit::{Failure, Outcome};
use crate::header_member::HeaderMember;
use crate::header_style::{self, HeaderStyle};
use crate::input::Member;
use crate::jose::Serialization;
use crate::keyfile::{ContentEncryption, EncryptionKeyFiles, Recipient};
use crate::limit_args::{self, NewTokenSize};
use crate::output;
use crate::source::{self, Source, Text};
use crate::token_argument::PayloadArgument;

/// The features that --allow enables here.
const SUPPORTED: [InsecureOption; 3] = [
    InsecureOption::Rsa1_5,
    InsecureOption::Zip,
    InsecureOption::Pbes2,
];

const ENC_HELP: &str = "Content encryption: A128GCM, A192GCM, A256GCM, A128CBC-HS256, A192CBC-HS384 or A256CBC-HS512 [default: A256GCM, or the algorithm of a `dir` key]";

const PAYLOAD_HELP: &str = "Plaintext as text, @FILE, or - for standard input";

#[derive(Debug, Args)]
#[command(
    mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)),
    mut_arg("enc", |enc| enc.help(ENC_HELP)),
    mut_arg("payload", |payload| payload.help(PAYLOAD_HELP)),
    after_help = "\
Examples:
  jeton jwe encrypt --key public.jwk --enc A256GCM 'any text'
  jeton jwe encrypt --key rsa.pub.pem --alg RSA-OAEP-256 @document.pdf
  jeton jwe encrypt --key secret.jwk --alg dir --enc A256GCM - < plaintext
  jeton jwe encrypt --key a.jwk --key b.jwk --serialization general @file
  jeton jwe encrypt --password-file password --allow pbes2 'any text'

The key selects the key management algorithm. Pass --alg only for a key without alg. A key on a curve without \
alg is used for ECDH-ES.

The plaintext is encrypted byte by byte.")]
pub(super) struct Encrypt {
    #[command(flatten)]
    key: EncryptionKeyFiles,

    #[command(flatten)]
    content: ContentEncryption,

    /// Serialization of the token; several recipients require general
    #[arg(long, value_name = "FORM", default_value = "compact")]
    serialization: Serialization,

    /// Additional authenticated data, not encrypted; JSON serializations only
    #[arg(long, value_name = "TEXT|@FILE|-")]
    aad: Option<Source>,

    /// Additional authenticated data as text, never read as @FILE or -
    #[arg(long, value_name = "TEXT", conflicts_with = "aad")]
    aad_text: Option<Text>,

    /// Media type of the token (`typ`)
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    /// Media type of the plaintext (`cty`)
    #[arg(long, value_name = "TYPE")]
    cty: Option<String>,

    /// Information about the sender, for ECDH-ES (`apu`)
    #[arg(long, value_name = "TEXT|@FILE|-")]
    apu: Option<Source>,

    /// Information about the sender as text, never read as @FILE or -
    #[arg(long, value_name = "TEXT", conflicts_with = "apu")]
    apu_text: Option<Text>,

    /// Information about the recipient, for ECDH-ES (`apv`)
    #[arg(long, value_name = "TEXT|@FILE|-")]
    apv: Option<Source>,

    /// Information about the recipient as text, never read as @FILE or -
    #[arg(long, value_name = "TEXT", conflicts_with = "apv")]
    apv_text: Option<Text>,

    /// Add a protected header member, for example x5t=THUMBPRINT (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<HeaderMember>,

    /// Add an unprotected header member; JSON serializations only (repeatable)
    #[arg(long, value_name = "NAME=TEXT")]
    unprotected: Vec<Member>,

    /// Compress before encryption; requires --allow zip
    #[arg(long)]
    zip: bool,

    /// PBKDF2 iterations for --password-file (`p2c`) [default: 600000]
    #[arg(long, value_name = "ROUNDS")]
    p2c: Option<u32>,

    /// Header style: compact, or report (with spaces, as in the published Java library tables)
    #[arg(
        long,
        value_name = "STYLE",
        default_value = "compact",
        hide_possible_values = true
    )]
    header_style: HeaderStyle,

    #[command(flatten)]
    size: NewTokenSize,

    #[command(flatten)]
    allow: AllowArgs,

    #[command(flatten)]
    payload: PayloadArgument,
}

impl Encrypt {
    pub(super) fn run(self) -> Outcome {
        let allowed = self.allow.check(&SUPPORTED)?;
        let recipients = self.recipients(&allowed)?;
        let encrypter = self.encrypter(&recipients, &allowed)?;
        let plaintext = self.payload.bytes()?;
        let token = match self.serialization {
            Serialization::Compact => encrypter.encrypt(&plaintext),
            Serialization::Flattened => encrypter.encrypt_flattened(&plaintext),
            Serialization::General => encrypter.encrypt_general(&plaintext),
        }
        .map_err(|error| self.failed(error, &recipients))?;
        if self.zip {
            limit_args::check_compressed(plaintext.len(), &token)?;
        }
        self.size.check(&token)?;
        output::line(&token)
    }

    fn recipients(&self, allowed: &Allowed) -> Outcome<Vec<Recipient>> {
        let recipients = self.key.load(self.content.enc, allowed)?;
        let Some(rounds) = self.p2c else {
            return Ok(recipients);
        };
        if !recipients.iter().any(Recipient::is_password) {
            return Err(Failure::error("--p2c requires --password-file"));
        }
        let with_rounds = recipients.into_iter().map(|key| key.rounds(rounds));
        with_rounds
            .collect::<jeton::Result<_>>()
            .map_err(|error| Failure::error(format!("--p2c: {error}")))
    }

    fn encrypter<'k>(
        &self,
        recipients: &'k [Recipient],
        allowed: &Allowed,
    ) -> Outcome<Encrypter<'k>> {
        let [first, others @ ..] = recipients else {
            return Err(Failure::error("no recipient: pass --key"));
        };
        let enc = self
            .content
            .enc
            .or(first.enc())
            .unwrap_or(ContentEnc::A256Gcm);
        let mut encrypter = Encrypter::new(first.key(), enc);
        for other in others {
            encrypter = encrypter.recipient(other.key());
        }
        if let Some(typ) = &self.typ {
            encrypter = encrypter.typ(typ.clone());
        }
        if let Some(cty) = &self.cty {
            encrypter = encrypter.content_type(cty.clone());
        }
        if let Some(aad) = source::given(self.aad.as_ref(), self.aad_text.as_ref()) {
            encrypter = encrypter.aad(&aad.bytes()?);
        }
        if let Some(apu) = source::given(self.apu.as_ref(), self.apu_text.as_ref()) {
            encrypter = encrypter.producer_info(&apu.bytes()?);
        }
        if let Some(apv) = source::given(self.apv.as_ref(), self.apv_text.as_ref()) {
            encrypter = encrypter.recipient_info(&apv.bytes()?);
        }
        for HeaderMember { name, value } in &self.header {
            encrypter = encrypter.header(name, value);
        }
        for Member { name, value } in &self.unprotected {
            encrypter = encrypter.unprotected(name, value);
        }
        if self.header_style == HeaderStyle::Report {
            encrypter = self.with_report_header(encrypter, first.alg(), enc)?;
        }
        if self.zip {
            allowed.require(InsecureOption::Zip, "--zip")?;
            encrypter = danger::compress(encrypter);
        }
        Ok(encrypter)
    }

    /// Sets the header of the report, which has only `alg`, `enc` and `typ`.
    fn with_report_header<'k>(
        &self,
        encrypter: Encrypter<'k>,
        alg: Option<&'static str>,
        enc: ContentEnc,
    ) -> Outcome<Encrypter<'k>> {
        let compact = matches!(self.serialization, Serialization::Compact);
        let has_header_option =
            self.typ.is_some() || self.cty.is_some() || self.zip || !self.header.is_empty();
        let wrong =
            "--header-style report requires the compact serialization and no other header option";
        let Some(alg) = alg.filter(|_| compact && !has_header_option) else {
            return Err(Failure::error(wrong));
        };
        danger::encrypt_under(encrypter, &header_style::encrypted(alg, enc.name()))
            .map_err(|error| Failure::error(error.to_string()))
    }

    fn failed(&self, error: jeton::Error, recipients: &[Recipient]) -> Failure {
        if self.header_style == HeaderStyle::Report
            && let jeton::Error::InvalidUse(jeton::error::InvalidUse::HeaderMember) = error
        {
            return Failure::error(
                "--header-style report cannot be used with this key: its algorithm adds header members",
            );
        }
        let failure = Failure::error(error.to_string());
        let is_direct = |key: &Recipient| matches!(key.alg(), Some("dir" | "ECDH-ES"));
        match self.serialization {
            // A direct key determines the content key, so there can be no other recipient.
            _ if recipients.len() > 1 && recipients.iter().any(is_direct) => failure.hint(
                "to make a key for one of several recipients, run `jeton key new --alg ECDH-ES+A256KW`",
            ),
            Serialization::General => failure,
            _ if recipients.len() > 1 => {
                failure.hint("for several recipients, add `--serialization general`")
            }
            Serialization::Flattened => failure,
            Serialization::Compact => match error {
                jeton::Error::InvalidUse(jeton::error::InvalidUse::CompactForm) => {
                    failure.hint("add `--serialization flattened`, or general")
                }
                _ => failure,
            },
        }
    }
}
