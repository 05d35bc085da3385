//! Envoy.

use std::fs;

use super::{
    Api, OAuth, Proxy, basic, of_guide, passes_nothing, passes_requests_with_a_valid_token_only,
};

fn start(oauth: &OAuth, api: &Api, credentials: &str) -> Proxy {
    let places = [
        ("127.0.0.1:8420", oauth.fixture.address().to_string()),
        ("/forward-auth/api", "/tenant/forward-auth/api".to_owned()),
        ("Basic …", credentials.to_owned()),
    ];
    let filter = of_guide("\nEnvoy, in `http_filters`:", &places).replace('\n', "\n            ");
    let cluster = |name: &str, port: u16| {
        format!(
            "
  - name: {name}
    load_assignment:
      cluster_name: {name}
      endpoints:
      - lb_endpoints:
        - endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}}}"
        )
    };
    let clusters = [
        cluster("api", api.address.port()),
        cluster("jeton", oauth.fixture.address().port()),
    ];
    let clusters = clusters.concat();
    Proxy::start("JETON_ENVOY", |folder, address| {
        let port = address.port();
        let configuration = format!(
            r#"
static_resources:
  listeners:
  - address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: api
          route_config:
            virtual_hosts:
            - {{name: api, domains: ["*"], routes: [{{match: {{prefix: /}}, route: {{cluster: api}}}}]}}
          http_filters:
          - {filter}
          - name: envoy.filters.http.router
            typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
  clusters:{clusters}
"#
        );
        let file = folder.join("envoy.yaml");
        fs::write(&file, configuration).unwrap();
        [
            "-c",
            &file.display().to_string(),
            "--disable-hot-restart",
            "--concurrency",
            "1",
        ]
        .map(str::to_owned)
        .into()
    })
}

#[test]
#[ignore = "needs Envoy"]
fn envoy_passes_requests_with_a_valid_token_only() {
    let (oauth, api) = (OAuth::with(""), Api::start());
    let envoy = start(&oauth, &api, &basic("reader", &oauth.secret));
    passes_requests_with_a_valid_token_only(&oauth, &api, &envoy);
}

#[test]
#[ignore = "needs Envoy"]
fn envoy_with_wrong_credentials_passes_nothing() {
    let (oauth, api) = (OAuth::with(""), Api::start());
    let envoy = start(&oauth, &api, &basic("reader", "wrong"));
    passes_nothing(&oauth, &api, &envoy);
}
