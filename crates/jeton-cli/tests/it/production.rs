//! Runs every command of docs/guide/production.md, in its order, on an empty folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use jeton_testkit::{free_port, until, write_program};

use crate::operating::{Machine, blocks, page};

/// Tests a configuration, or starts a server with it, like nginx.
const NO_NGINX: &str = "#!/bin/sh\nset -eu\n[ $# = 0 ] || [ \"$1\" = -t ] || [ \"$1\" = -s ]\n[ -f ROOT/nginx/conf.d/jeton.conf ]\n";

/// Starts the nginx that the variable names, or lets it read its configuration again.
const NGINX: &str = r#"#!/bin/sh
set -eu
if [ $# = 0 ] && [ -s ROOT/nginx/pid ]; then set -- -s reload; fi
exec "$JETON_NGINX" -c ROOT/nginx/nginx.conf -e ROOT/nginx/errors "$@"
"#;

/// If root starts nginx, its worker would run as another user, who cannot write to the folder.
const NGINX_CONF: &str = "user root; worker_processes 1; pid ROOT/nginx/pid; error_log ROOT/nginx/errors;
events {}
http {
    access_log off;
    client_body_temp_path ROOT/nginx/body; fastcgi_temp_path ROOT/nginx/fastcgi;
    proxy_temp_path ROOT/nginx/proxy; scgi_temp_path ROOT/nginx/scgi; uwsgi_temp_path ROOT/nginx/uwsgi;
    include ROOT/nginx/conf.d/*.conf;
}
";

/// A machine with nginx, Prometheus and the package. Without a real nginx, the server itself is at its address.
pub(crate) fn machine(has_nginx: bool) -> Machine {
    let mut machine = Machine::new();
    for folder in [
        "nginx/conf.d",
        "prometheus",
        "units",
        "libexec",
        "doc/prometheus",
    ] {
        fs::create_dir_all(machine.path(folder)).unwrap();
    }
    let public = if has_nginx {
        format!("127.0.0.1:{}", free_port())
    } else {
        machine.address()
    };
    machine.places = vec![
        ("https://tokens.example", format!("https://{public}")),
        ("listen 443 ssl", format!("listen {public} ssl")),
        ("/etc/nginx", "ROOT/nginx".to_owned()),
        ("/etc/prometheus", "ROOT/prometheus".to_owned()),
        ("/usr/share/doc/jeton", "ROOT/doc".to_owned()),
        ("/usr/lib/jeton", "ROOT/libexec".to_owned()),
    ];
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let of_package = |name: &str| fs::read_to_string(deploy.join(name)).unwrap();
    for unit in ["jeton-backup.service", "jeton-backup.timer"] {
        let text = machine.placed(&of_package(&format!("systemd/{unit}")));
        fs::write(machine.path("units").join(unit), text).unwrap();
    }
    let script = machine.placed(&of_package("systemd/jeton-backup"));
    write_program(&machine.path("libexec/jeton-backup"), &script);
    for name in ["alerts.yml", "scrape.yml"] {
        let text = machine.placed(&of_package(&format!("prometheus/{name}")));
        fs::write(machine.path("doc/prometheus").join(name), text).unwrap();
    }
    machine.program("nginx", if has_nginx { NGINX } else { NO_NGINX });
    let configuration = machine.placed(NGINX_CONF);
    fs::write(machine.path("nginx/nginx.conf"), configuration).unwrap();
    machine
}

/// The serial number of the certificate that a server shows.
fn serial(machine: &Machine, address: &str) -> String {
    machine.run(&format!(
        "openssl s_client -connect {address} < /dev/null 2> /dev/null | openssl x509 -noout -serial"
    ))
}

/// Follows the page.
fn follow(machine: &Machine) {
    let page = page("guide/production.md");
    let (setup, tasks) = page.split_once("\n## Tasks\n").unwrap();
    let run_all = |text: &str| {
        let mut said = String::new();
        for (language, block) in blocks(text) {
            match language.as_str() {
                "sh" => said = machine.run(&block),
                "text" => {}
                other => panic!("unknown language {other:?}"),
            }
        }
        said
    };
    let said = run_all(setup);
    assert_eq!(said.lines().last(), Some("jeton_ready 1"));
    // The backup made at that time is the one that the page restores.
    let backups = || fs::read_dir(machine.path("backups")).unwrap().count();
    assert_eq!(backups(), 1);
    let task = |heading: &str| {
        let (_, rest) = tasks.split_once(&format!("\n### {heading}\n")).unwrap();
        rest.split("\n### ").next().unwrap()
    };
    let keys = "jeton admin key list https://tokens.example --json";
    let states = || {
        let keys: serde_json::Value = serde_json::from_str(&machine.run(keys)).unwrap();
        let keys = keys.as_array().unwrap().iter();
        keys.map(|key| key["state"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(states(), ["signing"]);
    run_all(task("Rotate a key"));
    assert_eq!(states(), ["signing", "published"]);
    run_all(task("Replace a compromised key"));
    let audit = machine.run("jeton admin audit");
    for act in ["key.rotate", "key.compromised"] {
        assert!(audit.contains(act), "{act}: {audit}");
    }
    assert_eq!(states()[0], "signing");
    run_all(task("Revoke"));
    let rules = || machine.run("jeton admin revoke list https://tokens.example");
    assert!(
        rules().contains("shop") && rules().contains("user-7"),
        "{}",
        rules()
    );
    // After that, what the page repeats is revoked.
    run_all(task("Restore"));
    assert!(
        !rules().contains("shop") && rules().contains("user-7"),
        "{}",
        rules()
    );
    // The key that had been replaced signed again, and was replaced again.
    assert_eq!(states()[0], "signing");
    assert!(machine.run("jeton admin audit").contains("key.compromised"));

    let addresses = ["127.0.0.1:8420", "https://tokens.example"].map(|name| {
        let address = machine.placed(name);
        address.trim_start_matches("https://").to_owned()
    });
    let before = addresses.each_ref().map(|address| serial(machine, address));
    run_all(task("Renew the certificates"));
    for (address, before) in addresses.iter().zip(before) {
        until("it has the new certificate", || {
            serial(machine, address) != before
        });
    }
    machine.run("jeton admin status");

    // A client that asks for what it may not have.
    machine.run(
        "! jeton token get --client shop --secret-file operator/shop.secret --scope none 2> /dev/null",
    );
    let mut said = String::new();
    until("its line is in the log", || {
        said = run_all(task("Find the failing client"));
        !said.is_empty()
    });
    let line: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(line["client"], "shop", "{said}");
    assert!(line["why"].as_str().unwrap().contains("scope"), "{said}");
}

#[test]
fn every_command_of_the_production_guide_works() {
    follow(&machine(false));
}

/// Stops nginx at the end of the test.
struct Stopped(Machine);

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Ok(pid) = fs::read_to_string(self.0.path("nginx/pid")) {
            let _ = Command::new("kill").args(["-TERM", pid.trim()]).status();
        }
    }
}

#[test]
#[ignore = "needs nginx: cargo xtask test --only proxies"]
fn nginx_of_the_production_guide_limits_requests() {
    let machine = Stopped(machine(true));
    follow(&machine.0);
    // More than the burst, and faster than the rate.
    let many = "curl --silent --parallel --parallel-max 40 --cacert authority/authority.pem --output /dev/null \
                --write-out '%{http_code}\\n' 'https://tokens.example/livez?[1-3000]'";
    let said = machine.0.run(many);
    let count = |status: &str| said.lines().filter(|line| *line == status).count();
    assert!(count("200") >= 100 && count("429") > 0, "{said}");
    assert_eq!(count("200") + count("429"), 3000, "{said}");
}
