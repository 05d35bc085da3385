//! `jeton.v1.AdminService`.

use jeton_proto::v1::{
    CreateIssuerRequest, CreateRevocationsRequest, EndRevocationsRequest, GetIssuerRequest,
    ImportKeyRequest, ListAuditRequest, ListIssuersRequest, ReportCompromisedKeyRequest,
    RotateKeyRequest, SetIssuerRequest, StatusRequest, key::State, revocation_rule::Kind,
};
use tonic::Code;

use crate::harness::{ISS, TestServer, reason};

#[test]
fn admin_service_manages_issuers_and_keys() {
    let fixture = TestServer::plain();
    let mut admin = fixture.admin();
    let settings = r#"{"iss":"new","profiles":[{"name":"p","alg":"EdDSA","lifetime_seconds":60,"audiences":["a"]}]}"#;
    fixture.runtime.block_on(async {
        let create = || CreateIssuerRequest {
            settings_json: settings.to_owned(),
        };
        let made = admin.create_issuer(create()).await.unwrap().into_inner();
        assert_eq!(made.keys.len(), 1);
        assert_eq!(made.keys[0].state, State::Signing as i32);
        let again = admin.create_issuer(create()).await.unwrap_err();
        assert_eq!(again.code(), Code::AlreadyExists);

        let listed = admin
            .list_issuers(ListIssuersRequest {})
            .await
            .unwrap()
            .into_inner();
        assert_eq!(listed.issuers, [ISS, "new"]);

        let rotate = RotateKeyRequest {
            issuer: "new".to_owned(),
            kind: "EdDSA".to_owned(),
        };
        let rotated = admin.rotate_key(rotate).await.unwrap().into_inner();
        assert_eq!(rotated.keys[1].state, State::Published as i32);

        let report = ReportCompromisedKeyRequest {
            issuer: "new".to_owned(),
            kid: rotated.keys[0].kid.clone(),
        };
        let after = admin
            .report_compromised_key(report)
            .await
            .unwrap()
            .into_inner();
        assert!(after.keys.iter().all(|key| key.kid != rotated.keys[0].kid));
        assert!(
            after
                .keys
                .iter()
                .any(|key| key.state == State::Signing as i32)
        );

        let set = SetIssuerRequest {
            settings_json: settings.replace("60", "120"),
        };
        let set = admin.set_issuer(set).await.unwrap().into_inner();
        assert!(set.settings_json.contains("120"));
        let get = GetIssuerRequest {
            issuer: "new".to_owned(),
        };
        assert_eq!(
            admin
                .get_issuer(get)
                .await
                .unwrap()
                .into_inner()
                .settings_json,
            set.settings_json
        );

        let status = admin.status(StatusRequest {}).await.unwrap().into_inner();
        assert!(status.is_ready && status.fault.is_empty());
    });
}

#[test]
fn admin_error_names_the_field_and_no_key() {
    let fixture = TestServer::plain();
    let mut admin = fixture.admin();
    fixture.runtime.block_on(async {
        let settings_json = r#"{"iss":"x","max_age_seconds":1801,"profiles":[{"name":"p","alg":"ES256","lifetime_seconds":60,"audiences":["a"]}]}"#.to_owned();
        let refused = admin.create_issuer(CreateIssuerRequest { settings_json }).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(refused.message().contains("half of publish_before_use_seconds"), "{refused:?}");

        let import = ImportKeyRequest {
            issuer: ISS.to_owned(),
            kind: "ES256".to_owned(),
            private_key: r#"{"kty":"EC","crv":"P-256","d":"SECRETSECRET"}"#.to_owned(),
        };
        let refused = admin.import_key(import).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(!format!("{refused:?}").contains("SECRETSECRET"));

        let rotate = RotateKeyRequest { issuer: "none".to_owned(), kind: "ES256".to_owned() };
        assert_eq!(reason(&admin.rotate_key(rotate).await.unwrap_err()), "UNKNOWN_ISSUER");
    });
}

#[test]
fn administrator_ends_a_revocation() {
    let fixture = TestServer::plain();
    let mut admin = fixture.admin();
    let issued = fixture.issue("access", "alice");
    let end = |kind: Kind, name: &str| EndRevocationsRequest {
        issuer: ISS.to_owned(),
        kind: kind as i32,
        names: vec![name.to_owned()],
    };
    fixture.runtime.block_on(async {
        let create = CreateRevocationsRequest {
            issuer: ISS.to_owned(),
            kind: Kind::Subject as i32,
            names: vec!["alice".to_owned()],
            expires_at: 0,
        };
        admin.create_revocations(create).await.unwrap();
    });
    assert_eq!(
        reason(&fixture.verify(&issued.token).unwrap_err()),
        "TOKEN_REVOKED"
    );
    fixture.runtime.block_on(async {
        let ended = admin.end_revocations(end(Kind::Subject, "alice")).await;
        assert!(ended.unwrap().into_inner().revision > 0);
        let unknown = admin
            .end_revocations(end(Kind::Subject, "alice"))
            .await
            .unwrap_err();
        assert_eq!(unknown.code(), Code::NotFound);
        assert_eq!(unknown.message(), "no such revocation is in force");
        let unspecified = admin.end_revocations(end(Kind::Unspecified, "alice")).await;
        assert_eq!(unspecified.unwrap_err().code(), Code::InvalidArgument);
        let list = ListAuditRequest {
            act: "revoke.end".to_owned(),
            ..ListAuditRequest::default()
        };
        let mut entries = admin.list_audit(list).await.unwrap().into_inner();
        let entry = entries.message().await.unwrap().unwrap();
        assert_eq!(
            (entry.actor.as_str(), entry.issuer.as_str()),
            ("admin-token", ISS)
        );
        assert!(entry.about[0].ends_with("/subject/alice"), "{entry:?}");
        assert!(entries.message().await.unwrap().is_none());
    });
    fixture.verify(&issued.token).unwrap();
}

#[test]
fn data_listener_does_not_serve_admin_service() {
    let fixture = TestServer::plain();
    let channel = fixture.channel(fixture.address());
    let mut admin = jeton_proto::v1::admin_service_client::AdminServiceClient::new(channel);
    let status = fixture
        .runtime
        .block_on(admin.status(StatusRequest {}))
        .unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
}
