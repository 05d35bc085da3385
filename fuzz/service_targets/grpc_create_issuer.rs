//! `CreateIssuerRequest` with its settings: accepted settings read back as the same settings.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self};
use jeton_issuer::IssuerSettings;
use jeton_proto::v1::{CreateIssuerRequest, Issuer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| ["ES256", "HS256", "v4.public", "v4.local"].map(|alg| {
        let profile = format!(r#"{{"name":"p","alg":"{alg}","lifetime_seconds":60,"audiences":["a"]}}"#);
        let times = r#""publish_before_use_seconds":3600,"max_age_seconds":300,"rotate_every_seconds":2592000"#;
        let settings_json = format!(r#"{{"iss":"https://other.example","profiles":[{profile}],{times}}}"#);
        service::seed(&CreateIssuerRequest { settings_json })
    }).to_vec()),
    |data: &[u8]| service::with(|service| {
        let answer = service.call::<CreateIssuerRequest, _>("jeton.v1.AdminService/CreateIssuer", data);
        let answer: Option<Issuer> = answer;
        if let Some(issuer) = answer {
            service.has_changed();
            assert!(IssuerSettings::from_json(&issuer.settings_json).is_ok());
        }
    })
);
