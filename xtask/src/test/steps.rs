//! The steps of the test, those that show behaviour first.

use super::areas::Area::{Cli, Lab, Library, Sdk, Service};
use super::step::{Context, Load, Outcome, Part, Step};
use super::{
    attack, browser_attack, drivers, etcd, examples, features, fuzzing, grpcurl, helm, lab, lints,
    oauth_clients, programs, proxies, published, scripts, verifiers,
};
use crate::command::{Error, Workspace, on_path};
use crate::{arch, instructions, sdk, words};

/// A step of `cargo xtask test`, for all parts of the project, on a core of its own.
const FIRST: Step = Step {
    name: "",
    what: "",
    part: Part::First,
    areas: &[],
    load: Load::Computes,
    after: &[],
    run: |_| Ok(Outcome::Passed),
};

/// Of steps that use what the tests have built.
const AFTER_BUILD: &[&str] = &["test"];

/// Of steps that start all drivers, which two steps must not build at once.
const AFTER_DRIVERS: &[&str] = &[
    "sdk-go-more",
    "sdk-node-more",
    "sdk-python-types",
    "sdk-java-newest",
    "drivers-rust",
    "drivers-go",
    "drivers-java",
    "drivers-node",
    "drivers-python",
];

/// A step of `cargo xtask test --rest`.
const REST: Step = Step {
    part: Part::Rest,
    ..FIRST
};

pub(super) const STEPS: &[Step] = &[
    Step {
        name: "test",
        what: "unit, vector, behaviour and documentation tests of the workspace",
        load: Load::Compiles,
        run: |context| passed(programs::run(context.workspace, context.areas)),
        ..FIRST
    },
    Step {
        name: "sdk-go",
        what: "the library for Go: build, all cases, its own tests",
        areas: &[Sdk],
        after: AFTER_BUILD,
        run: |context| with(context, &["go"], sdk::go::run),
        ..FIRST
    },
    Step {
        name: "sdk-node",
        what: "the library for Node: build, all cases, its own tests",
        areas: &[Sdk],
        after: AFTER_BUILD,
        run: |context| with(context, &["node", "npm"], sdk::node::run),
        ..FIRST
    },
    Step {
        name: "sdk-python",
        what: "the library for Python: build, all cases, its own tests",
        areas: &[Sdk],
        after: AFTER_BUILD,
        run: |context| with(context, &["python3"], sdk::python::run),
        ..FIRST
    },
    Step {
        name: "sdk-java",
        what: "the library for Java: build, all cases, its own tests",
        areas: &[Sdk],
        after: AFTER_BUILD,
        run: |context| with(context, &["javac", "mvn"], sdk::java::run),
        ..FIRST
    },
    Step {
        name: "ffi",
        what: "the C interface: every case and function, exported symbols",
        areas: &[Sdk],
        after: &["test", "sdk-go"],
        run: |context| with(context, &["cc"], sdk::c::run),
        ..FIRST
    },
    Step {
        name: "lab",
        what: "the main job, sampled: lab run --quick of a library per language, into target/lab-smoke",
        areas: &[Lab],
        after: &["test", "sdk-go", "sdk-node", "sdk-python"],
        run: |context| lab::sample(context.workspace),
        ..FIRST
    },
    Step {
        name: "fmt",
        what: "sources are formatted",
        after: AFTER_BUILD,
        run: lints::fmt,
        ..FIRST
    },
    Step {
        name: "arch",
        what: "the map and the rules for sources (cargo xtask arch)",
        after: AFTER_BUILD,
        run: |context| passed(arch::run(context.workspace)),
        ..FIRST
    },
    Step {
        name: "words",
        what: "plain words and short sentences (cargo xtask words)",
        after: AFTER_BUILD,
        run: |context| passed(words::run(context.workspace)),
        ..FIRST
    },
    Step {
        name: "deny",
        what: "licences, bans and sources of the dependencies (deny.toml)",
        after: AFTER_BUILD,
        run: lints::deny,
        ..FIRST
    },
    Step {
        name: "build",
        what: "everything that the other steps use",
        load: Load::Compiles,
        run: |context| passed(programs::build(context.workspace)),
        ..REST
    },
    Step {
        name: "etcd",
        what: "the store's suite and several servers on a real etcd, which is killed",
        areas: &[Service],
        load: Load::Waits,
        after: &["build"],
        run: |context| etcd::run(context.workspace),
        ..REST
    },
    Step {
        name: "drivers-rust",
        what: "format, lints and tests of drivers/rust and servers/rust",
        areas: &[Lab],
        load: Load::Compiles,
        after: &["build"],
        run: |context| drivers::rust(context.workspace),
        ..REST
    },
    Step {
        name: "drivers-go",
        what: "gofmt, vet and tests of drivers/go and servers/go",
        areas: &[Lab],
        after: &["build"],
        run: |context| drivers::go(context.workspace),
        ..REST
    },
    Step {
        name: "drivers-java",
        what: "locked jars, lints and tests of drivers/java and servers/java",
        areas: &[Lab],
        after: &["build"],
        run: |context| drivers::java(context.workspace),
        ..REST
    },
    Step {
        name: "drivers-node",
        what: "syntax and tests of drivers/node and servers/node",
        areas: &[Lab],
        after: &["build"],
        run: |context| drivers::node(context.workspace),
        ..REST
    },
    Step {
        name: "drivers-python",
        what: "tests of drivers/python, and of docs/guide/add-a-library.md",
        areas: &[Lab],
        after: &["build"],
        run: |context| drivers::python(context.workspace),
        ..REST
    },
    Step {
        name: "fuzz",
        what: "each fuzz target of the library for two seconds",
        areas: &[Library],
        after: &["build"],
        run: |context| fuzzing::run(context.workspace),
        ..REST
    },
    Step {
        name: "whole",
        what: "tests with all cases, of which `test` takes a sample",
        areas: &[Cli],
        after: &["build"],
        run: |context| passed(programs::whole(context.workspace)),
        ..REST
    },
    Step {
        name: "oauth-clients",
        what: "OAuth client libraries of Go, Java, Node and Python get, use and revoke tokens",
        areas: &[Service],
        after: &["build"],
        run: |context| oauth_clients::run(context.workspace),
        ..REST
    },
    Step {
        name: "verifiers",
        what: "Go, Node, Java and Python verify the service's tokens while keys rotate",
        areas: &[Service],
        after: &["build"],
        run: |context| verifiers::run(context.workspace),
        ..REST
    },
    Step {
        name: "grpcurl",
        what: "the lines of docs/service.md, with the real grpcurl",
        areas: &[Cli, Service],
        after: &["build"],
        run: |context| grpcurl::run(context.workspace),
        ..REST
    },
    Step {
        name: "helm",
        what: "the chart of deploy/helm: valid and safe objects, and a configuration that the server accepts",
        areas: &[Service],
        after: &["build"],
        run: |context| helm::run(context.workspace),
        ..REST
    },
    Step {
        name: "proxies",
        what: "a real nginx caches a key set; nginx and Envoy ask the service whether requests may pass; what that costs",
        areas: &[Library, Service, Lab],
        after: &["build"],
        run: |context| proxies::run(context.workspace),
        ..REST
    },
    Step {
        name: "browser-attack",
        what: "a page of another site, in Chromium, neither reads nor changes a `jeton serve`",
        areas: &[Service],
        after: &["build"],
        run: |context| browser_attack::run(context.workspace),
        ..REST
    },
    Step {
        name: "sdk-go-more",
        what: "the library for Go with the race detector, staticcheck, vet, static programs, and installed from a module proxy",
        areas: &[Sdk],
        after: &["drivers-go"],
        run: |context| with(context, &["go"], sdk::go::more),
        ..REST
    },
    Step {
        name: "sdk-node-more",
        what: "the library for Node in bundles, with Hono, NestJS and Next.js, on Node 24, Bun and Deno",
        areas: &[Sdk],
        after: &["drivers-node"],
        run: |context| with(context, &["node", "npm"], sdk::node::more),
        ..REST
    },
    Step {
        name: "sdk-python-types",
        what: "the library for Python: types by mypy and pyright",
        areas: &[Sdk],
        after: &["drivers-python"],
        run: |context| with(context, &["python3"], sdk::python::types),
        ..REST
    },
    Step {
        name: "sdk-java-newest",
        what: "the library for Java on the newest JDK that is supported",
        areas: &[Sdk],
        after: &["drivers-java"],
        run: |context| java_newest(context.workspace),
        ..REST
    },
    Step {
        name: "memory",
        what: "the C interface under valgrind and sanitizers, and handles that were released",
        areas: &[Sdk],
        after: &["sdk-go-more"],
        run: |context| with(context, &["cc", "valgrind"], sdk::c::memory),
        ..REST
    },
    Step {
        name: "examples",
        what: "tokens that SoftHSM signs: format, lints and tests of examples/pkcs11",
        areas: &[Library],
        load: Load::Compiles,
        after: &["build"],
        run: |context| examples::run(context.workspace),
        ..REST
    },
    Step {
        name: "features",
        what: "jeton with sets of its features, without warnings; the smallest has few dependencies; a server without traces",
        areas: &[Library, Service],
        load: Load::Compiles,
        after: &["build"],
        run: |context| features::run(context.workspace),
        ..REST
    },
    Step {
        name: "key-readers",
        what: "jeton and other libraries read the same changed keys (studies/key-readers)",
        areas: &[Library],
        load: Load::Compiles,
        after: &["build"],
        run: |context| drivers::key_readers(context.workspace),
        ..REST
    },
    Step {
        name: "clippy",
        what: "lints of everything, with warnings denied",
        load: Load::Compiles,
        after: &["build"],
        run: lints::clippy,
        ..REST
    },
    Step {
        name: "doc",
        what: "rustdoc without warnings",
        load: Load::Compiles,
        after: &["build"],
        run: lints::doc,
        ..REST
    },
    Step {
        name: "instructions",
        what: "parsing, JSON, base64 and assembly cost no more instructions than their bounds",
        areas: &[Library],
        load: Load::Compiles,
        after: &["build"],
        run: |context| with(context, &["valgrind"], instructions::run),
        ..REST
    },
    Step {
        name: "scripts",
        what: "actionlint of .github/workflows, and shellcheck of their commands and of deploy/install.sh",
        run: |context| scripts::run(context.workspace),
        ..REST
    },
    Step {
        name: "published",
        what: "crates for crates.io can be packaged and describe themselves; no other crate can be published",
        after: &["build"],
        run: |context| published::run(context.workspace),
        ..REST
    },
    Step {
        name: "lab-all",
        what: "the main job: lab run --quick of all libraries, into target/lab-smoke",
        areas: &[Lab],
        after: AFTER_DRIVERS,
        run: |context| lab::smoke(context.workspace),
        ..REST
    },
    Step {
        name: "interop",
        what: "jeton with every other library, both ways: lab interop, into target/lab-interop",
        areas: &[Lab],
        after: &["lab-all"],
        run: |context| lab::interop(context.workspace),
        ..REST
    },
    Step {
        name: "attack",
        what: "lab attack on every driver that is built: jeton refuses all, known cases are as known",
        areas: &[Lab],
        after: &["interop"],
        run: |context| attack::run(context.workspace),
        ..REST
    },
    Step {
        name: "browser",
        what: "the pages of that run, of a full one, of inspect --web and of a server open in Chromium, offline, without an error",
        areas: &[Lab, Cli],
        after: &["lab-all"],
        run: |context| lab::browser(context.workspace),
        ..REST
    },
];

fn passed(outcome: Result<(), Error>) -> Result<Outcome, Error> {
    outcome.map(|()| Outcome::Passed)
}

/// Runs a step that needs these programs.
fn with(
    context: &Context<'_>,
    programs: &[&str],
    run: fn(&Workspace) -> Result<(), Error>,
) -> Result<Outcome, Error> {
    match programs.iter().find(|program| on_path(program).is_none()) {
        Some(missing) => Ok(Outcome::Skipped(format!("{missing} is not installed"))),
        None => passed(run(context.workspace)),
    }
}

fn java_newest(workspace: &Workspace) -> Result<Outcome, Error> {
    Ok(if sdk::java::newest(workspace)? {
        Outcome::Passed
    } else {
        Outcome::Skipped(format!("there is no JDK {}", sdk::java::NEWEST))
    })
}
