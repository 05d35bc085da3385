//! The client of AdminService.

use jeton_proto::v1::admin_service_client::AdminServiceClient;
use tonic::Streaming;

use crate::channels::Channels;
use crate::error::{Error, Result};

/// The messages of AdminService.
pub mod messages {
    pub use jeton_proto::v1::{
        AuditEntry, AuditPosition, AuditPositions, BackupPart, BackupRequest, BackupSummary,
        CheckStoreRequest, CheckStoreResponse, CreateIssuerRequest, CreateRevocationsRequest,
        CreateRevocationsResponse, DropAuditRequest, DropAuditResponse, EndRevocationsRequest,
        EndRevocationsResponse, ExportAuditPart, ExportAuditRequest, GetIssuerRequest,
        ImportKeyRequest, Issuer, Key, ListAuditChainsRequest, ListAuditRequest,
        ListIssuersRequest, ListIssuersResponse, ListRevocationsRequest, ReencryptKeysRequest,
        ReencryptKeysResponse, ReportCompromisedKeyRequest, Revocation, RevocationStamp,
        RotateKeyRequest, RunningNode, SetIssuerRequest, StatusRequest, StatusResponse,
        WithdrawKeyRequest, backup_part, export_audit_part, key, revocation_rule,
    };
}

use messages::*;

/// A client of AdminService, on the admin listener of a server: see
/// [`Connection::connect_admin`](crate::Connection::connect_admin).
#[derive(Clone)]
pub struct AdminClient {
    inner: AdminServiceClient<tonic::transport::Channel>,
    channels: Channels,
}

/// The messages of a stream.
pub struct Messages<T>(Streaming<T>);

impl<T> Messages<T> {
    /// Returns the next message. `None`: the stream is complete.
    ///
    /// # Errors
    ///
    /// [`Error`] if the stream broke.
    pub async fn next(&mut self) -> Result<Option<T>> {
        self.0.message().await.map_err(Error::of_status)
    }
}

impl<T> std::fmt::Debug for Messages<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Messages").finish_non_exhaustive()
    }
}

impl AdminClient {
    pub(crate) fn new(channels: Channels) -> AdminClient {
        AdminClient {
            inner: AdminServiceClient::new(channels.channel.clone()),
            channels,
        }
    }

    /// Lists the issuers that the caller may administer.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn list_issuers(&self, request: ListIssuersRequest) -> Result<ListIssuersResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().list_issuers(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Returns the settings and keys of an issuer.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn get_issuer(&self, request: GetIssuerRequest) -> Result<Issuer> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().get_issuer(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Creates an issuer with its first keys.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn create_issuer(&self, request: CreateIssuerRequest) -> Result<Issuer> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().create_issuer(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Changes the settings of an issuer.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn set_issuer(&self, request: SetIssuerRequest) -> Result<Issuer> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().set_issuer(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Publishes a new key, which signs after the pre-publication period.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn rotate_key(&self, request: RotateKeyRequest) -> Result<Issuer> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().rotate_key(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Removes a compromised key and rejects its tokens.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn report_compromised_key(
        &self,
        request: ReportCompromisedKeyRequest,
    ) -> Result<Issuer> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().report_compromised_key(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Imports a private key.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn import_key(&self, request: ImportKeyRequest) -> Result<Issuer> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().import_key(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Withdraws a published key that does not sign yet.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn withdraw_key(&self, request: WithdrawKeyRequest) -> Result<Issuer> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().withdraw_key(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Encrypts all private keys under the current key-encryption key of the server.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn reencrypt_keys(
        &self,
        request: ReencryptKeysRequest,
    ) -> Result<ReencryptKeysResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().reencrypt_keys(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Revokes token ids, subjects, clients or keys.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn create_revocations(
        &self,
        request: CreateRevocationsRequest,
    ) -> Result<CreateRevocationsResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().create_revocations(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Ends revocations of subjects, clients and keys before their time.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn end_revocations(
        &self,
        request: EndRevocationsRequest,
    ) -> Result<EndRevocationsResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().end_revocations(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Checks every record and the audit log.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn check_store(&self, request: CheckStoreRequest) -> Result<CheckStoreResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().check_store(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Returns the status of the server.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn status(&self, request: StatusRequest) -> Result<StatusResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().status(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Lists the revocations of subjects, clients and keys, and of token ids without an expiry.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn list_revocations(
        &self,
        request: ListRevocationsRequest,
    ) -> Result<Messages<Revocation>> {
        let request = self.channels.request(true, request);
        let response = self.inner.clone().list_revocations(request).await;
        Ok(Messages(response.map_err(Error::of_status)?.into_inner()))
    }

    /// Returns entries of the audit log, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn list_audit(&self, request: ListAuditRequest) -> Result<Messages<AuditEntry>> {
        let request = self.channels.request(true, request);
        let response = self.inner.clone().list_audit(request).await;
        Ok(Messages(response.map_err(Error::of_status)?.into_inner()))
    }

    /// Lists the chains of the audit log.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn list_audit_chains(
        &self,
        request: ListAuditChainsRequest,
    ) -> Result<AuditPositions> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().list_audit_chains(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Writes a checkpoint of the audit log, and returns the segments that a folder does not have yet.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn export_audit(
        &self,
        request: ExportAuditRequest,
    ) -> Result<Messages<ExportAuditPart>> {
        let request = self.channels.request(true, request);
        let response = self.inner.clone().export_audit(request).await;
        Ok(Messages(response.map_err(Error::of_status)?.into_inner()))
    }

    /// Deletes entries of the audit log that a folder has.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn drop_audit(&self, request: DropAuditRequest) -> Result<DropAuditResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().drop_audit(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Returns a backup of the store. The last part is a summary; without it, the backup is incomplete.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn backup(&self, request: BackupRequest) -> Result<Messages<BackupPart>> {
        let request = self.channels.request(true, request);
        let response = self.inner.clone().backup(request).await;
        Ok(Messages(response.map_err(Error::of_status)?.into_inner()))
    }
}

impl std::fmt::Debug for AdminClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdminClient").finish_non_exhaustive()
    }
}
