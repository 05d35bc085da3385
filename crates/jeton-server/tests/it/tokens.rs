//! `jeton.v1.TokenService`.

use jeton_proto::v1::{
    IssueBatchRequest, IssueItem, IssueRequest, KeysRequest, RevokeRequest, TokenId,
    VerifyBatchRequest, VerifyRequest, WatchRevocationsRequest, issue_outcome, revoke_request,
    verify_outcome,
};
use tokio_stream::StreamExt as _;
use tonic::{Code, Request};

use crate::harness::{ISS, ISSUER, TestServer, is_soon, reason};

#[test]
fn token_is_issued_verified_and_revoked() {
    let fixture = TestServer::plain();
    for profile in ["access", "mac", "paseto"] {
        let issued = fixture.issue(profile, "alice");
        let verified = fixture.verify(&issued.token).unwrap();
        assert_eq!(verified.subject, "alice");
        assert_eq!(verified.token_id, issued.token_id);
        assert_eq!(verified.expires_at, issued.expires_at);
        assert!(verified.claims_json.contains(ISS));

        let request = RevokeRequest {
            what: Some(revoke_request::What::Token(issued.token.clone())),
            ..RevokeRequest::default()
        };
        let mut tokens = fixture.tokens();
        let revoked = fixture.runtime.block_on(tokens.revoke(request)).unwrap();
        assert!(revoked.into_inner().revision > 0);
        // The revocation is in force as soon as it is acknowledged.
        let refused = fixture.verify(&issued.token).unwrap_err();
        assert_eq!(refused.code(), Code::FailedPrecondition);
        assert_eq!(reason(&refused), "TOKEN_REVOKED");
    }
}

#[test]
fn revoke_accepts_subjects_ids_and_keys() {
    let fixture = TestServer::plain();
    let mut tokens = fixture.tokens();
    let issue = |subject: &str| fixture.issue("access", subject);
    let (one, two, three) = (issue("one"), issue("two"), issue("three"));
    let kid = fixture.verify(&three.token).unwrap().key_id;
    let mut revoke = |what| {
        let request = RevokeRequest {
            issuer: ISS.to_owned(),
            what: Some(what),
        };
        fixture.runtime.block_on(tokens.revoke(request)).unwrap();
    };
    revoke(revoke_request::What::Subject("one".to_owned()));
    assert_eq!(
        reason(&fixture.verify(&one.token).unwrap_err()),
        "TOKEN_REVOKED"
    );
    revoke(revoke_request::What::TokenId(TokenId {
        id: two.token_id.clone(),
        expires_at: two.expires_at,
    }));
    assert_eq!(
        reason(&fixture.verify(&two.token).unwrap_err()),
        "TOKEN_REVOKED"
    );
    assert!(fixture.verify(&three.token).is_ok());
    revoke(revoke_request::What::KeyId(kid));
    assert_eq!(
        reason(&fixture.verify(&three.token).unwrap_err()),
        "TOKEN_REVOKED"
    );
}

#[test]
fn error_names_the_invalid_field() {
    let fixture = TestServer::plain();
    let mut tokens = fixture.tokens();
    let mut issue = |request: IssueRequest| {
        let issued = fixture.runtime.block_on(tokens.issue(request));
        issued.err().unwrap()
    };
    let request = || IssueRequest {
        profile: "access".to_owned(),
        ..IssueRequest::default()
    };
    let cases = [
        (
            IssueRequest {
                profile: String::new(),
                ..request()
            },
            Code::InvalidArgument,
            "profile",
        ),
        (
            IssueRequest {
                profile: "none".into(),
                ..request()
            },
            Code::NotFound,
            "profile",
        ),
        (
            IssueRequest {
                issuer: "none".into(),
                ..request()
            },
            Code::NotFound,
            "issuer",
        ),
        (
            IssueRequest {
                audience: "none".into(),
                ..request()
            },
            Code::InvalidArgument,
            "audience",
        ),
        (
            IssueRequest {
                claims_json: "[]".into(),
                ..request()
            },
            Code::InvalidArgument,
            "claims_json",
        ),
        (
            IssueRequest {
                claims_json: "{\"exp\":1}".into(),
                ..request()
            },
            Code::InvalidArgument,
            "",
        ),
    ];
    for (request, code, named) in cases {
        let status = issue(request);
        assert_eq!(status.code(), code, "{status:?}");
        assert!(status.message().contains(named), "{status:?}");
        assert!(!reason(&status).is_empty());
    }

    let issued = fixture.issue("access", "a");
    let verify = |token: &str, audience: &str| {
        let request = VerifyRequest {
            audience: audience.to_owned(),
            token: token.to_owned(),
            ..VerifyRequest::default()
        };
        fixture
            .runtime
            .block_on(fixture.tokens().verify(request))
            .unwrap_err()
    };
    assert_eq!(
        reason(&verify(&issued.token, "other")),
        "TOKEN_AUDIENCE_MISMATCH"
    );
    assert_eq!(verify(&issued.token, "").code(), Code::InvalidArgument);
    let mut forged = issued.token.clone().into_bytes();
    let at = forged.len() - 10;
    forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
    let refused = verify(&String::from_utf8(forged).unwrap(), "api");
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert_eq!(reason(&refused), "TOKEN_INVALID_SIGNATURE");
    assert_eq!(reason(&verify("no token", "api")), "TOKEN_MALFORMED");
    // A request without anything to revoke.
    let request = RevokeRequest::default();
    let status = fixture
        .runtime
        .block_on(fixture.tokens().revoke(request))
        .unwrap_err();
    assert!(status.message().contains("`what`"), "{status:?}");
}

#[test]
fn batch_has_an_outcome_for_each_item() {
    let fixture = TestServer::with(&format!("[limits]\nbatch_items = 3\n{ISSUER}"));
    let mut tokens = fixture.tokens();
    let item = |claims: &str| IssueItem {
        subject: "s".to_owned(),
        claims_json: claims.to_owned(),
    };
    let batch = |items: Vec<IssueItem>| IssueBatchRequest {
        profile: "mac".to_owned(),
        items,
        ..IssueBatchRequest::default()
    };
    let request = batch(vec![item(""), item("no"), item("{\"a\":1}")]);
    let answer = fixture
        .runtime
        .block_on(tokens.issue_batch(request))
        .unwrap();
    let outcomes: Vec<_> = answer
        .into_inner()
        .outcomes
        .into_iter()
        .map(|one| one.outcome)
        .collect();
    let [
        Some(issue_outcome::Outcome::Issued(first)),
        Some(issue_outcome::Outcome::Error(error)),
        Some(issue_outcome::Outcome::Issued(third)),
    ] = &outcomes[..]
    else {
        panic!("another outcome");
    };
    assert_eq!(error.code, Code::InvalidArgument as i32);
    assert!(error.message.contains("claims_json"));

    let request = VerifyBatchRequest {
        audience: "api".to_owned(),
        tokens: vec![first.token.clone(), "x".to_owned(), third.token.clone()],
        ..VerifyBatchRequest::default()
    };
    let answer = fixture
        .runtime
        .block_on(tokens.verify_batch(request))
        .unwrap();
    let outcomes: Vec<_> = answer
        .into_inner()
        .outcomes
        .into_iter()
        .map(|one| one.outcome)
        .collect();
    assert!(matches!(
        &outcomes[..],
        [
            Some(verify_outcome::Outcome::Verified(_)),
            Some(verify_outcome::Outcome::Error(_)),
            Some(verify_outcome::Outcome::Verified(third)),
        ] if third.claims_json.contains("\"a\":1")
    ));

    let too_many = batch(vec![item(""); 4]);
    let status = fixture
        .runtime
        .block_on(tokens.issue_batch(too_many))
        .err()
        .unwrap();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("`items`: 4"), "{status:?}");
    let none = fixture
        .runtime
        .block_on(tokens.issue_batch(batch(Vec::new())));
    assert_eq!(none.err().unwrap().code(), Code::InvalidArgument);
}

#[test]
fn batch_error_is_the_outcome_of_each_item() {
    let fixture = TestServer::plain();
    let mut tokens = fixture.tokens();
    for (profile, audience, reason) in [
        ("none", "", "UNKNOWN_PROFILE"),
        ("", "", "INVALID_ARGUMENT"),
        ("mac", "none", "INVALID_ARGUMENT"),
    ] {
        let request = IssueBatchRequest {
            profile: profile.to_owned(),
            audience: audience.to_owned(),
            items: vec![IssueItem::default(); 3],
            ..IssueBatchRequest::default()
        };
        let answer = fixture.runtime.block_on(tokens.issue_batch(request));
        let outcomes = answer.unwrap().into_inner().outcomes;
        assert_eq!(outcomes.len(), 3);
        for outcome in outcomes {
            let Some(issue_outcome::Outcome::Error(error)) = outcome.outcome else {
                panic!("a token was issued");
            };
            assert_eq!(error.reason, reason);
        }
    }
}

#[test]
fn message_over_the_limit_is_rejected() {
    let fixture = TestServer::with(&format!("[limits]\nmessage_bytes = 5000\n{ISSUER}"));
    let status = fixture.verify(&"x".repeat(6000)).unwrap_err();
    assert!(
        matches!(status.code(), Code::OutOfRange | Code::ResourceExhausted),
        "{status:?}"
    );
    assert!(fixture.issue("access", "others go on").expires_at > 0);
}

#[test]
fn stream_continues_after_a_failed_item() {
    let fixture = TestServer::plain();
    let mut tokens = fixture.tokens();
    let outcomes = fixture.runtime.block_on(async {
        let requests = ["mac", "none", "mac"].map(|profile| IssueRequest {
            profile: profile.to_owned(),
            subject: "s".to_owned(),
            ..IssueRequest::default()
        });
        let answer = tokens
            .issue_stream(tokio_stream::iter(requests))
            .await
            .unwrap();
        answer.into_inner().collect::<Vec<_>>().await
    });
    let tokens_of: Vec<_> = outcomes
        .into_iter()
        .map(|outcome| match outcome.unwrap().outcome.unwrap() {
            issue_outcome::Outcome::Issued(issued) => Ok(issued.token),
            issue_outcome::Outcome::Error(error) => Err(error.reason),
        })
        .collect();
    assert_eq!(tokens_of[1], Err("UNKNOWN_PROFILE".to_owned()));
    assert_eq!(tokens_of.len(), 3);

    let verified = fixture.runtime.block_on(async {
        let token = |token: &str| VerifyRequest {
            audience: "api".to_owned(),
            token: token.to_owned(),
            ..VerifyRequest::default()
        };
        let requests = [token("x"), token(tokens_of[2].as_ref().unwrap())];
        let answer = tokens
            .verify_stream(tokio_stream::iter(requests))
            .await
            .unwrap();
        answer.into_inner().collect::<Vec<_>>().await
    });
    let last = verified.into_iter().next_back().unwrap().unwrap();
    assert!(
        matches!(last.outcome, Some(verify_outcome::Outcome::Verified(one)) if one.subject == "s")
    );
}

#[test]
fn watch_sends_earlier_and_later_revocations() {
    let fixture = TestServer::plain();
    let mut tokens = fixture.tokens();
    let (before, after) = (fixture.issue("access", "a"), fixture.issue("access", "b"));
    let revoke = |issued: &jeton_proto::v1::IssueResponse| RevokeRequest {
        what: Some(revoke_request::What::TokenId(TokenId {
            id: issued.token_id.clone(),
            expires_at: issued.expires_at,
        })),
        ..RevokeRequest::default()
    };
    let hash = |issued: &jeton_proto::v1::IssueResponse| {
        jeton_issuer::token_hash(ISS, &issued.token_id)
            .to_be_bytes()
            .to_vec()
    };
    fixture.runtime.block_on(async {
        tokens.revoke(revoke(&before)).await.unwrap();
        let request = Request::new(WatchRevocationsRequest::default());
        let mut updates = tokens
            .watch_revocations(request)
            .await
            .unwrap()
            .into_inner();
        let mut received = Vec::new();
        loop {
            let update = updates.message().await.unwrap().unwrap();
            received.extend(update.tokens.iter().map(|token| token.hash.clone()));
            if !update.is_snapshot {
                break;
            }
        }
        assert_eq!(received, [hash(&before)]);
        let revision = tokens
            .revoke(revoke(&after))
            .await
            .unwrap()
            .into_inner()
            .revision;
        let subject = revoke_request::What::Subject("c".to_owned());
        let request = RevokeRequest {
            what: Some(subject),
            ..RevokeRequest::default()
        };
        tokens.revoke(request).await.unwrap();
        let mut rules = Vec::new();
        while rules.is_empty() {
            let update = updates.message().await.unwrap().unwrap();
            if update.tokens.iter().any(|token| token.hash == hash(&after)) {
                assert!(update.revision >= revision);
                received.push(hash(&after));
            }
            rules.extend(update.rules);
        }
        assert_eq!(received.len(), 2);
        assert_eq!(rules[0].name, "c");
    });
}

#[test]
fn watch_beyond_the_limit_is_overloaded() {
    let fixture = TestServer::with(&format!("[limits]\nrevocation_watchers = 1\n{ISSUER}"));
    let mut tokens = fixture.tokens();
    fixture.runtime.block_on(async {
        let request = WatchRevocationsRequest::default;
        let first = tokens.watch_revocations(request()).await.unwrap();
        let second = tokens.watch_revocations(request()).await.unwrap_err();
        assert_eq!(second.code(), Code::ResourceExhausted);
        drop(first);
    });
}

#[test]
fn keys_are_the_same_over_grpc_and_http() {
    let fixture = TestServer::plain();
    let mut tokens = fixture.tokens();
    let keys = fixture
        .runtime
        .block_on(tokens.keys(KeysRequest::default()));
    let keys = keys.unwrap().into_inner();
    let http = crate::raw_http::get(fixture.address(), "/tenant/.well-known/jwks.json", &[]);
    assert_eq!(http.body, keys.jwk_set);
    assert_eq!(http.headers["etag"], keys.etag);
    assert_eq!(keys.paserks.len(), 1);
}

#[test]
fn request_must_name_one_of_several_issuers() {
    let second = "[[issuer]]\niss = 'b'\nprofiles = [{name = 'p', alg = 'EdDSA', lifetime_seconds = 60, audiences = ['api']}]";
    let fixture = TestServer::with(&format!("{ISSUER}\n{second}"));
    let mut tokens = fixture.tokens();
    let request = |issuer: &str, profile: &str| IssueRequest {
        issuer: issuer.to_owned(),
        profile: profile.to_owned(),
        ..IssueRequest::default()
    };
    let unnamed = fixture
        .runtime
        .block_on(tokens.issue(request("", "p")))
        .err()
        .unwrap();
    assert_eq!(unnamed.code(), Code::InvalidArgument);
    assert!(unnamed.message().contains("issuer"));
    let issued = fixture
        .runtime
        .block_on(tokens.issue(request("b", "p")))
        .unwrap()
        .into_inner();
    let verify = |issuer: &str| VerifyRequest {
        issuer: issuer.to_owned(),
        audience: "api".to_owned(),
        token: issued.token.clone(),
    };
    assert!(fixture.runtime.block_on(tokens.verify(verify("b"))).is_ok());
    assert!(
        fixture
            .runtime
            .block_on(tokens.verify(verify(ISS)))
            .is_err()
    );
}

#[test]
fn health_is_serving_until_the_server_stops() {
    let mut fixture = TestServer::plain();
    let health =
        tonic_health::pb::health_client::HealthClient::new(fixture.channel(fixture.address()));
    let check = |fixture: &TestServer| {
        let request = tonic_health::pb::HealthCheckRequest {
            service: "jeton.v1.TokenService".to_owned(),
        };
        fixture.runtime.block_on(health.clone().check(request))
    };
    assert!(is_soon(
        || check(&fixture).is_ok_and(|answer| answer.into_inner().status == 1)
    ));
    fixture.server.take().unwrap().stop();
    assert!(check(&fixture).is_err());
}
