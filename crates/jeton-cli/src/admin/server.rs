//! A running server, as the target of an administrative command.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use jeton_client::admin::messages as m;
use jeton_client::{AdminClient, Connection, Error};
use jeton_issuer::{AuditEntry, AuditFilter, AuditHead, AuditPart, AuditPositions, KeyKind};
use jeton_server::ADMIN_TOKEN_FILE;
use zeroize::Zeroizing;

use super::folder::FolderArgs;
use super::revocation::Revocations;
use super::view::{IssuerView, RuleView, StatusView, StoreView};
use crate::connection::{self, Listener, ServerOptions, Settings, http_post};
use crate::exit::{Failure, Outcome};

/// The arguments for a running server.
#[derive(Debug, Args)]
#[command(mut_arg("server", |server| {
    server
        .help("URL of the admin listener of a running server, to use instead of the store [env: JETON_ADMIN_SERVER or \
               JETON_SERVER]")
        .conflicts_with_all(["lock_timeout", "store"])
}))]
pub(super) struct ServerArgs {
    #[command(flatten)]
    options: ServerOptions,

    /// File with the bearer token for the server [env: JETON_BEARER] [default: admin-token in the data folder, for a
    /// server on this machine]
    #[arg(long, value_name = "FILE")]
    bearer: Option<PathBuf>,
}

/// A connection to a running server.
pub(super) struct Remote {
    runtime: tokio::runtime::Runtime,
    client: AdminClient,
    settings: Settings,
}

impl ServerArgs {
    /// Connects if the command names a server, or if it names no store and the environment or the client file names a
    /// server. `only_for_store`: an option of the command that no server has.
    pub(super) fn connect(
        &self,
        folder: &FolderArgs,
        only_for_store: Option<&str>,
    ) -> Outcome<Option<Remote>> {
        let bearer = self.bearer.as_deref();
        if folder.names_store() && !self.options.names_server() {
            return self.options.check_without_server(bearer).map(|()| None);
        }
        let Some(mut settings) = self.options.settings(Listener::Admin, bearer)? else {
            return Ok(None);
        };
        if let Some(option) = only_for_store {
            let what = format!(
                "{option} is for a store, and {} names a server",
                settings.origin
            );
            return Err(Failure::error(what).hint("to use a store, add `--data DIR`"));
        }
        if !settings.has_credentials() {
            settings.bearer = admin_token(&settings, folder)?;
        }
        let connection = settings.connection()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                Failure::error(format!("cannot start the network runtime: {error}"))
            })?;
        let client = runtime.block_on(connection.connect_admin());
        let client = client.map_err(|error| failed(&error, &settings))?;
        Ok(Some(Remote {
            runtime,
            client,
            settings,
        }))
    }
}

/// The file with the admin token of a server without clients. It listens on this machine only.
fn admin_token(settings: &Settings, folder: &FolderArgs) -> Outcome<Option<PathBuf>> {
    let data = match &settings.data {
        Some(data) if !folder.names_store() => data.clone(),
        _ => folder.place()?.path,
    };
    let file = data.join(ADMIN_TOKEN_FILE);
    Ok((Connection::is_local(&settings.url) && file.exists()).then_some(file))
}

impl Remote {
    fn call<T, F>(&self, work: impl FnOnce(AdminClient) -> F) -> Outcome<T>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let done = self.runtime.block_on(work(self.client.clone()));
        done.map_err(|error| failed(&error, &self.settings))
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

    pub(super) fn end_rules(&self, iss: &str, rules: &Revocations) -> Outcome {
        for request in rules.end_messages(iss) {
            self.call(async |c| c.end_revocations(request).await)?;
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
            chain: filter.chain.unwrap_or_default(),
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
                    chain: entry.chain,
                });
            }
            Ok(())
        })?;
        printed
    }

    /// The chains of the audit log.
    pub(super) fn audit_bases(&self) -> Outcome<AuditPositions> {
        let request = m::ListAuditChainsRequest {};
        let bases = self.call(async |c| c.list_audit_chains(request).await)?;
        let chains = bases.chains.into_iter().map(named);
        Ok(AuditPositions {
            store: bases.store,
            chains: chains.collect(),
        })
    }

    /// Passes the parts of an export to `each` until it fails.
    pub(super) fn export_audit(
        &self,
        ends: AuditPositions,
        each: &mut dyn FnMut(AuditPart) -> Outcome,
    ) -> Outcome {
        use m::export_audit_part::Part;
        let request = m::ExportAuditRequest {
            ends: Some(positions(ends)),
        };
        let mut written = Ok(());
        self.call(async |c| {
            let mut messages = c.export_audit(request).await?;
            while let (true, Some(message)) = (written.is_ok(), messages.next().await?) {
                written = match message.part {
                    Some(Part::Begin(begin)) => {
                        let (chain, before) = named(begin.before.unwrap_or_default());
                        each(AuditPart::Begin {
                            store: begin.store,
                            chain,
                            before,
                        })
                    }
                    Some(Part::Entry(entry)) => each(AuditPart::Entry(entry)),
                    Some(Part::End(_)) => each(AuditPart::End),
                    None => Ok(()),
                };
            }
            Ok(())
        })?;
        written
    }

    /// Returns the number of dropped entries.
    pub(super) fn drop_audit(&self, ends: AuditPositions) -> Outcome<u64> {
        let request = m::DropAuditRequest {
            ends: Some(positions(ends)),
        };
        Ok(self.call(async |c| c.drop_audit(request).await)?.entries)
    }

    /// Returns a URL that opens the page of the server once.
    pub(super) fn page_link(&self) -> Outcome<String> {
        let settings = &self.settings;
        let bearer = settings.bearer_token()?;
        let authorization = bearer.map(|token| Zeroizing::new(format!("Bearer {}", *token)));
        let authorization = authorization.as_ref().map(|value| value.as_str());
        let response =
            http_post::post(settings, "/page-link", Zeroizing::default(), authorization)?;
        let body: serde_json::Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let text = |name: &str| body.get(name).and_then(serde_json::Value::as_str);
        match (text("path"), text("error_description")) {
            (Some(path), _) => Ok(format!("{}{path}", settings.url.trim_end_matches('/'))),
            (None, Some(error)) => Err(Failure::error(error.to_owned())),
            (None, None) => Err(Failure::error(format!(
                "the server has no page: it responded with status {}",
                response.status.as_u16()
            ))
            .hint("an older version has none: `jeton admin status` shows the same facts")),
        }
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

fn named(position: m::AuditPosition) -> (String, AuditHead) {
    let m::AuditPosition {
        chain,
        number,
        hash,
    } = position;
    (chain, AuditHead { number, hash })
}

fn positions(positions: AuditPositions) -> m::AuditPositions {
    let position = |(chain, head): (String, AuditHead)| m::AuditPosition {
        chain,
        number: head.number,
        hash: head.hash,
    };
    m::AuditPositions {
        store: positions.store,
        chains: positions.chains.into_iter().map(position).collect(),
    }
}

/// Returns the failure of a call, with a hint.
fn failed(error: &Error, settings: &Settings) -> Failure {
    let message = error.to_string();
    let is = |known: jeton_issuer::Error| message == known.to_string();
    let hint = if is(jeton_issuer::Error::UnknownIssuer) {
        "to list the issuers, run `jeton admin issuer list --server URL`"
    } else if is(jeton_issuer::Error::UnknownKey) {
        "to list the keys, run `jeton admin key list ISSUER --server URL`"
    } else if is(jeton_issuer::Error::UnknownRule) {
        "to list the revocations, run `jeton admin revoke list ISSUER --server URL`"
    } else if is(jeton_issuer::Error::IssuerExists) {
        "to change its settings, run `jeton admin issuer set @issuer.json --server URL`"
    } else {
        return connection::failed(error, Listener::Admin, settings);
    };
    Failure::error(message).hint(hint)
}
