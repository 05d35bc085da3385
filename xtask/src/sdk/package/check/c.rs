//! The archive with the C library.

use super::super::target::{TARGETS, Target, Toolchain};
use super::{Context, Root, java};
use crate::command::{Error, run as run_command};

const TESTS: &str = "crates/jeton-ffi/tests/c";
const SOURCES: [&str; 4] = ["main.c", "cases.c", "everything.c", "json.c"];
const CASES: &str = "sdk/testdata/cases.jsonl";

/// Unpacks the archive for a platform into the root, and adds the test programs. Returns the folder in the root.
fn add(context: &Context<'_>, root: &Root<'_>, target: &Target) -> Result<String, Error> {
    let workspace = context.workspace;
    let name = format!("jeton-c-{}", target.triple);
    let mut unpack = workspace.command("tar");
    unpack.arg("-xzf");
    unpack.arg(context.built("c", &format!("{name}.tar.gz"))?);
    run_command(unpack.arg("-C").arg(root.path("")))?;
    root.add(&workspace.path(TESTS), "tests")?;
    root.add(&workspace.path(CASES), "cases.jsonl")?;
    Ok(format!("/check/{name}"))
}

/// Compiles the test program, and returns its path in the root. The compiler is one of the root, or zig.
fn compile(
    context: &Context<'_>,
    root: &Root<'_>,
    target: &Target,
    folder: &str,
    library: &str,
) -> Result<String, Error> {
    let compiler = if target.is_musl() { "musl-gcc" } else { "gcc" };
    let program = format!("/check/{library}-{}", target.triple);
    let local = |path: &str| {
        if root.target.is_native() {
            path.to_owned()
        } else {
            root.path(path.trim_start_matches("/check/"))
                .display()
                .to_string()
        }
    };
    let mut arguments = vec!["-std=c11".to_owned(), "-D_POSIX_C_SOURCE=200809L".into()];
    arguments.extend(["-I".into(), local(&format!("{folder}/include"))]);
    arguments.extend(SOURCES.map(|source| local(&format!("/check/tests/{source}"))));
    arguments.push(local(&format!("{folder}/lib/{library}")));
    arguments.extend(["-lpthread", "-ldl", "-lm"].map(str::to_owned));
    arguments.push(format!("-Wl,-rpath,{folder}/lib"));
    arguments.extend(["-o".into(), local(&program)]);
    if root.target.is_native() {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        root.run(&format!("/usr/bin/{compiler}"), &arguments)?;
    } else {
        let toolchain = Toolchain::set_up(context.workspace, &[find(target.triple)?])?;
        let mut cc = context.workspace.command(toolchain.program(target, "cc"));
        // gcc has it in its own library.
        run_command(cc.args(arguments).arg("-lunwind"))?;
    }
    Ok(program)
}

fn find(triple: &str) -> Result<&'static Target, Error> {
    let found = TARGETS.iter().find(|target| target.triple == triple);
    found.ok_or_else(|| Error::Failed(format!("unknown target {triple}")))
}

pub(super) fn cases(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let folder = add(context, root, root.target)?;
    for library in ["libjeton.a", "libjeton.so"] {
        let program = compile(context, root, root.target, &folder, library)?;
        root.run(&program, &["cases", "/check/cases.jsonl"])?;
        root.run(&program, &["use"])?;
    }
    Ok(())
}

/// The program that loads a library and looks for a function.
const LOADER: &str = "#include <dlfcn.h>\n#include <stdio.h>\nint main(int count, char **values) {\n\
    void *library = dlopen(values[1], RTLD_NOW);\n  if (!library || !dlsym(library, values[2])) {\n    \
    fprintf(stderr, \"%s\\n\", dlerror());\n    return 1;\n  }\n  return 0;\n}\n";

/// The static library in a program for musl, and the shared libraries of C and Java, which musl's linker loads.
pub(super) fn musl(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let target = find(&root.target.triple.replace("gnu", "musl"))?;
    let folder = add(context, root, target)?;
    let program = compile(context, root, target, &folder, "libjeton.a")?;
    root.run(&program, &["cases", "/check/cases.jsonl"])?;
    root.write("loader.c", LOADER)?;
    java::unpack_library(context, root, target)?;
    let architecture = target.triple.split('-').next().unwrap_or_default();
    if root.target.is_native() {
        let arguments = ["/check/loader.c", "-o", "/check/loader", "-ldl"];
        root.run("/usr/bin/musl-gcc", &arguments)?;
    } else {
        let toolchain = Toolchain::set_up(context.workspace, &[target])?;
        let mut cc = context.workspace.command(toolchain.program(target, "cc"));
        cc.arg(root.path("loader.c"))
            .arg("-o")
            .arg(root.path("loader"));
        run_command(cc.arg("-dynamic"))?;
    }
    let linker = format!("/lib/ld-musl-{architecture}.so.1");
    for (library, function) in [
        (format!("{folder}/lib/libjeton.so"), "jeton_verify"),
        (format!("/check/{}", java::LIBRARY), JAVA_FUNCTION),
    ] {
        root.run(&linker, &["/check/loader", &library, function])?;
    }
    Ok(())
}

const JAVA_FUNCTION: &str = "Java_io_github_jeton_internal_Native_version";
