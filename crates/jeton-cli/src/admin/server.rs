//! A running server, as the target of an administrative command.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use jeton_client::admin::messages as m;
use jeton_client::{AdminClient, Connection, Error};
use jeton_issuer::{AuditEntry, AuditFilter, KeyKind};
use jeton_server::ADMIN_TOKEN_FILE;

use super::folder::FolderArgs;
use super::revocation::Revocations;
use super::view::{IssuerView, RuleView, StatusView, StoreView};
use crate::credentials::{Certificates, bearer_token};
use crate::exit::{Failure, Outcome};

/// The arguments for a running server.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    /// URL of the admin listener of a running server, to use instead of the store
    #[arg(long, value_name = "URL", conflicts_with_all = ["lock_timeout", "store"])]
    server: Option<String>,

    /// File with the bearer token for --server [default: admin-token in the data folder, for a server on this machine]
    #[arg(long, value_name = "FILE", requires = "server")]
    bearer: Option<PathBuf>,

    #[command(flatten)]
    certificates: Certificates,
}

/// A connection to a running server.
pub(super) struct Remote {
    runtime: tokio::runtime::Runtime,
    client: AdminClient,
}

impl ServerArgs {
    /// Connects if the command names a server.
    pub(super) fn connect(&self, folder: &FolderArgs) -> Outcome<Option<Remote>> {
        let Some(url) = &self.server else {
            return Ok(None);
        };
        let mut connection = self.certificates.add_to(Connection::to(&**url))?;
        if let Some(file) = self.token_file(url, folder)? {
            connection = connection.bearer_token(bearer_token(&file)?.as_str());
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                Failure::error(format!("cannot start the network runtime: {error}"))
            })?;
        let client = runtime.block_on(connection.connect_admin());
        let client = client.map_err(|error| failed(&error))?;
        Ok(Some(Remote { runtime, client }))
    }

    /// The admin token of a server without clients. It listens on this machine only.
    fn token_file(&self, url: &str, folder: &FolderArgs) -> Outcome<Option<PathBuf>> {
        if self.bearer.is_some() || self.certificates.has_identity() {
            return Ok(self.bearer.clone());
        }
        let file = folder.place()?.path.join(ADMIN_TOKEN_FILE);
        Ok((Connection::is_local(url) && file.exists()).then_some(file))
    }
}

impl Remote {
    fn call<T, F>(&self, work: impl FnOnce(AdminClient) -> F) -> Outcome<T>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let done = self.runtime.block_on(work(self.client.clone()));
        done.map_err(|error| failed(&error))
    }

    pub(super) fn issuers(&self) -> Outcome<Vec<String>> {
        let listed = self.call(async |c| c.list_issuers(m::ListIssuersRequest {}).await)?;
        Ok(listed.issuers)
    }

    pub(super) fn issuer(&self, iss: &str) -> Outcome<IssuerView> {
        let issuer = iss.to_owned();
        let found = self.call(async |c| c.get_issuer(m::GetIssuerRequest { issuer }).await)?;
        IssuerView::from_message(found)
    }

    pub(super) fn create_issuer(&self, settings_json: String) -> Outcome {
        let request = m::CreateIssuerRequest { settings_json };
        self.call(async |c| c.create_issuer(request).await)
            .map(drop)
    }

    pub(super) fn set_issuer(&self, settings_json: String) -> Outcome {
        let request = m::SetIssuerRequest { settings_json };
        self.call(async |c| c.set_issuer(request).await).map(drop)
    }

    pub(super) fn rotate(&self, iss: &str, kind: KeyKind) -> Outcome {
        let request = m::RotateKeyRequest {
            issuer: iss.to_owned(),
            kind: kind.name().to_owned(),
        };
        self.call(async |c| c.rotate_key(request).await).map(drop)
    }

    pub(super) fn compromised(&self, iss: &str, kid: &str) -> Outcome {
        let request = m::ReportCompromisedKeyRequest {
            issuer: iss.to_owned(),
            kid: kid.to_owned(),
        };
        self.call(async |c| c.report_compromised_key(request).await)
            .map(drop)
    }

    pub(super) fn import(&self, iss: &str, kind: KeyKind, text: &str) -> Outcome {
        let request = m::ImportKeyRequest {
            issuer: iss.to_owned(),
            kind: kind.name().to_owned(),
            private_key: text.to_owned(),
        };
        self.call(async |c| c.import_key(request).await).map(drop)
    }

    pub(super) fn withdraw(&self, iss: &str, kid: &str) -> Outcome {
        let request = m::WithdrawKeyRequest {
            issuer: iss.to_owned(),
            kid: kid.to_owned(),
        };
        self.call(async |c| c.withdraw_key(request).await).map(drop)
    }

    pub(super) fn reencrypt(&self) -> Outcome<u64> {
        let done = self.call(async |c| c.reencrypt_keys(m::ReencryptKeysRequest {}).await)?;
        Ok(done.keys)
    }

    pub(super) fn revoke(&self, iss: &str, revocations: &Revocations) -> Outcome {
        for request in revocations.messages(iss) {
            self.call(async |c| c.create_revocations(request).await)?;
        }
        Ok(())
    }

    pub(super) fn rules(&self, iss: &str) -> Outcome<Vec<RuleView>> {
        let issuer = iss.to_owned();
        self.call(async |c| {
            let mut rules = Vec::new();
            let request = m::ListRevocationsRequest { issuer };
            let mut messages = c.list_revocations(request).await?;
            while let Some(rule) = messages.next().await? {
                rules.push(RuleView::from_message(rule));
            }
            Ok(rules)
        })
    }

    pub(super) fn status(&self) -> Outcome<StatusView> {
        let status = self.call(async |c| c.status(m::StatusRequest {}).await)?;
        Ok(StatusView::from_message(status))
    }

    pub(super) fn check(&self) -> Outcome<StoreView> {
        let found = self.call(async |c| c.check_store(m::CheckStoreRequest {}).await)?;
        match found.damage.as_str() {
            "" => Ok(StoreView::from_message(found)),
            damage => Err(Failure::rejected(damage.to_owned())),
        }
    }

    /// Passes the matching entries to `each` until it fails.
    pub(super) fn audit(
        &self,
        filter: AuditFilter,
        each: &mut dyn FnMut(AuditEntry) -> Outcome,
    ) -> Outcome {
        let request = m::ListAuditRequest {
            issuer: filter.iss.unwrap_or_default(),
            actor: filter.actor.unwrap_or_default(),
            act: filter.act.unwrap_or_default(),
            about: filter.about.unwrap_or_default(),
            since: filter.since.unwrap_or_default(),
            until: filter.until.unwrap_or_default(),
            after: filter.after,
            last: u32::try_from(filter.last.unwrap_or_default()).unwrap_or(u32::MAX),
        };
        let mut printed = Ok(());
        self.call(async |c| {
            let mut messages = c.list_audit(request).await?;
            while let (true, Some(entry)) = (printed.is_ok(), messages.next().await?) {
                printed = each(AuditEntry {
                    number: entry.number,
                    at: entry.at,
                    actor: entry.actor,
                    act: entry.act,
                    iss: entry.issuer,
                    about: entry.about,
                    previous: entry.previous,
                });
            }
            Ok(())
        })?;
        printed
    }

    /// Writes a backup. Without a summary at its end it is incomplete.
    pub(super) fn back_up(&self, out: &mut dyn Write) -> Outcome<m::BackupSummary> {
        let mut written = Ok(());
        let summary = self.call(async |c| {
            let mut parts = c.backup(m::BackupRequest {}).await?;
            let mut summary = None;
            while let (true, Some(part)) = (written.is_ok(), parts.next().await?) {
                match part.part {
                    Some(m::backup_part::Part::Data(bytes)) => written = out.write_all(&bytes),
                    Some(m::backup_part::Part::Summary(last)) => summary = Some(last),
                    None => {}
                }
            }
            Ok(summary)
        })?;
        written.map_err(|error| Failure::error(format!("cannot write the backup: {error}")))?;
        summary.ok_or_else(|| Failure::error("the server ended the backup early"))
    }
}

/// Returns the failure of a call, with a hint.
fn failed(error: &Error) -> Failure {
    let message = error.to_string();
    let is = |known: jeton_issuer::Error| message == known.to_string();
    let hint = match error {
        Error::Unreachable(_) => Some("to start a server, run `jeton serve`"),
        Error::Unavailable(_) => Some("try again; the log of the server has the cause"),
        Error::Denied(_) => Some(
            "to authenticate, add `--bearer FILE` or `--client-certificate FILE --client-key FILE`; for a server \
             without clients, name its data folder with `--data DIR`",
        ),
        _ if is(jeton_issuer::Error::UnknownIssuer) => {
            Some("to list the issuers, run `jeton admin issuer list --server URL`")
        }
        _ if is(jeton_issuer::Error::UnknownKey) => {
            Some("to list the keys, run `jeton admin key list ISSUER --server URL`")
        }
        _ if is(jeton_issuer::Error::IssuerExists) => {
            Some("to change its settings, run `jeton admin issuer set @issuer.json --server URL`")
        }
        _ => None,
    };
    let failure = Failure::error(message);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
