//! The unit, the configuration of the container, the scripts of the Debian package, and the configurations of the manual.

use std::fs;
use std::path::Path;
use std::process::Command;

use jeton_server::{Config, Permission};
use serde_json::json;

use super::root;

const BINARY: &str = "/usr/bin/jeton";

/// The unit, with a program that exists here.
fn unit() -> String {
    root("deploy/systemd/jeton.service").replace(BINARY, "/bin/true")
}

/// Returns what `systemd-analyze verify` finds. An unknown key is a warning, so the exit code does not tell.
fn problems(unit: &str) -> String {
    problems_of("jeton.service", &[("jeton.service", unit)])
}

/// The same for one of several units.
fn problems_of(name: &str, units: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, unit) in units {
        fs::write(folder.path().join(name), unit).unwrap();
    }
    let file = folder.path().join(name);
    let output = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(file)
        .output()
        .expect("systemd-analyze is in the Debian package systemd");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        said
    } else {
        format!("{said}{}", output.status)
    }
}

#[test]
fn unit_passes_systemd_analyze_verify() {
    assert_eq!(problems(&unit()), "");
    // The check finds a misspelled key and a program that does not exist.
    let misspelled = unit().replace("NoNewPrivileges=", "NoNewPrivilege=");
    assert!(problems(&misspelled).contains("NoNewPrivilege"));
    let missing = unit().replace("/bin/true", "/no/such/program");
    assert!(problems(&missing).contains("/no/such/program"));
}

/// The timer starts the unit of its name, which runs the script of the package.
#[test]
fn backup_units_pass_systemd_analyze_verify() {
    const SCRIPT: &str = "/usr/lib/jeton/jeton-backup";
    let service = root("deploy/systemd/jeton-backup.service");
    assert!(service.contains(&format!("\nExecStart={SCRIPT}\n")));
    let service = service.replace(SCRIPT, "/bin/true");
    let timer = root("deploy/systemd/jeton-backup.timer");
    let problems = |service: &str, timer: &str| {
        let units = [
            ("jeton-backup.service", service),
            ("jeton-backup.timer", timer),
        ];
        problems_of("jeton-backup.timer", &units)
    };
    assert_eq!(problems(&service, &timer), "");
    let wrong = timer.replace("03:00:00", "25:00:00");
    assert!(problems(&service, &wrong).contains("calendar specification"));
}

#[test]
fn unit_and_container_run_the_packaged_binary_and_configuration() {
    let unit = root("deploy/systemd/jeton.service");
    let container: serde_json::Value =
        serde_json::from_str(&root("deploy/container/config.json")).unwrap();
    let starts = format!("ExecStart={BINARY} serve --config /etc/jeton/jeton.toml\n");
    assert!(unit.contains(&starts));
    assert_eq!(container["Entrypoint"], json!([BINARY]));
    let arguments = json!(["serve", "--config", "/etc/jeton/jeton.toml"]);
    assert_eq!(container["Cmd"], arguments);
    assert_eq!(container["User"], "65532:65532", "not root");
    let config = Config::from_toml(&root("deploy/jeton.toml")).unwrap();
    let ports = container["ExposedPorts"].as_object().unwrap();
    let ports: Vec<&String> = ports.keys().collect();
    let listeners = [config.listen, config.admin_listen];
    let expected = listeners.map(|listener| format!("{}/tcp", listener.port()));
    assert_eq!(ports, expected.each_ref());
    assert!(config.data.starts_with("/var/lib/jeton"));
    assert!(config.clients.is_empty());
    assert!(config.listen.ip().is_loopback() && config.admin_listen.ip().is_loopback());
}

#[test]
fn scripts_of_the_debian_package_are_valid() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/debian");
    for script in ["postinst", "prerm"] {
        let checked = Command::new("sh")
            .arg("-n")
            .arg(deploy.join(script))
            .output();
        let checked = checked.unwrap();
        assert!(checked.status.success(), "{checked:?}");
    }
    let files = root("deploy/debian/conffiles");
    assert_eq!(files, "/etc/jeton/jeton.toml\n");
}

/// The client in scrape.yml and the configurations in the manual.
#[test]
fn configurations_of_the_manual_are_valid() {
    let base = "[tls]\ncertificate = 'a'\nkey = 'b'\nclient_ca = 'c'\n";
    let scrape = root("deploy/prometheus/scrape.yml");
    let comment: String = scrape
        .lines()
        .filter_map(|line| line.strip_prefix("#   "))
        .fold(String::new(), |text, line| text + line + "\n");
    let manual = root("docs/operating.md");
    let blocks = manual.split("```toml\n").skip(1);
    let mut blocks: Vec<&str> = blocks
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(!blocks.is_empty());
    blocks.push(&comment);
    for block in blocks {
        let config = Config::from_toml(&format!("{base}{block}")).unwrap();
        match config.clients.first() {
            Some(client) => assert_eq!(client.may, [Permission::Metrics], "{block}"),
            None => assert!(config.traces.is_some(), "{block}"),
        }
    }
}
