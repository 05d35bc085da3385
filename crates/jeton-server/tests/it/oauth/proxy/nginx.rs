//! nginx.

use std::fs;

use super::{
    Api, OAuth, Proxy, access_token, basic, of_guide, passes_nothing,
    passes_requests_with_a_valid_token_only,
};

fn start(oauth: &OAuth, api: &Api, credentials: &str) -> Proxy {
    let places = [
        (
            "127.0.0.1:8420/",
            format!("{}/tenant/", oauth.fixture.address()),
        ),
        ("127.0.0.1:9000", api.address.to_string()),
        ("Basic …", credentials.to_owned()),
    ];
    let locations = of_guide("\nnginx. Set all three headers", &places);
    Proxy::start("JETON_NGINX", |folder, address| {
        let at = folder.display();
        // If root starts nginx, its worker would run as another user, who cannot write to the folder.
        let configuration = format!(
            "daemon off; user root; worker_processes 1; pid {at}/pid; error_log {at}/errors;
            events {{}}
            http {{
                access_log off;
                client_body_temp_path {at}/body; fastcgi_temp_path {at}/fastcgi;
                proxy_temp_path {at}/proxy; scgi_temp_path {at}/scgi; uwsgi_temp_path {at}/uwsgi;
                server {{
                    listen {address};
                    {locations}
                }}
            }}"
        );
        let file = folder.join("nginx.conf");
        fs::write(&file, configuration).unwrap();
        // Before nginx has read its configuration, it writes to another log.
        let errors = folder.join("errors").display().to_string();
        vec!["-c".into(), file.display().to_string(), "-e".into(), errors]
    })
}

#[test]
#[ignore = "needs nginx"]
fn nginx_passes_requests_with_a_valid_token_only() {
    let (oauth, api) = (OAuth::with(""), Api::start());
    let nginx = start(&oauth, &api, &basic("reader", &oauth.secret));
    // The decision cannot be asked for from outside.
    let bearer = format!("Bearer {}", access_token(&oauth.client_credentials(&[])));
    let valid = ("authorization", bearer.as_str());
    assert_eq!(nginx.ask("GET", "/check", &[valid], "").status, 404);
    passes_requests_with_a_valid_token_only(&oauth, &api, &nginx);
}

#[test]
#[ignore = "needs nginx"]
fn nginx_with_wrong_credentials_passes_nothing() {
    let (oauth, api) = (OAuth::with(""), Api::start());
    let nginx = start(&oauth, &api, &basic("reader", "wrong"));
    passes_nothing(&oauth, &api, &nginx);
}
