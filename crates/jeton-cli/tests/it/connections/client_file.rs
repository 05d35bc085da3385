//! The client file: bad input, and `jeton admin context`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{ISSUERS, jeton};
use crate::data_folder::private;

fn write(folder: &Path, text: &str) -> std::path::PathBuf {
    let file = folder.join("client.toml");
    private(&file, text);
    file
}

#[test]
fn unknown_context_is_an_error_with_those_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let list = |variables: &[(&str, &str)], options: &[&str]| {
        jeton(at, variables, &[&ISSUERS[..], options].concat())
    };
    let file = ("JETON_CLIENT_FILE", "client.toml");
    let said = list(&[], &["--context", "x"]).fails(&["has no context \"x\"", "it has none"]);
    assert!(
        said.contains("`jeton admin context set x --admin-server URL`"),
        "{said}"
    );
    // The variable names a file that must exist.
    list(&[file], &[]).fails(&["client.toml: cannot read the file"]);
    write(
        at,
        "[context.production]\nserver = 'http://127.0.0.1:1'\n[context.staging]\nadmin_server = 'http://127.0.0.1:1'\n",
    );
    for (variables, options, of) in [
        (&[file][..], &["--context", "prodction"][..], "--context: "),
        (
            &[file, ("JETON_CONTEXT", "prodction")],
            &[],
            "JETON_CONTEXT: ",
        ),
    ] {
        list(variables, options).fails(&[
            of,
            "client.toml has no context \"prodction\"",
            "did you mean production? contexts: production, staging",
        ]);
    }
    list(&[file], &["--context", "production"])
        .fails(&["the context \"production\" has no `admin_server`"]);
    write(
        at,
        "current = 'old'\n[context.new]\nserver = 'http://127.0.0.1:1'\n",
    );
    list(&[file], &[]).fails(&["`current`: ", "has no context \"old\"", "contexts: new"]);
}

#[test]
fn file_that_others_can_read_or_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let secret = "[context.a]\nadmin_server = 'http://127.0.0.1:1'\nbearer = 'token'\n";
    let public = "[context.a]\nadmin_server = 'http://127.0.0.1:1'\n";
    let show = |text: &str, mode: u32| {
        let file = write(at, text);
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let path = file.to_str().unwrap().to_owned();
        jeton(
            at,
            &[("JETON_CLIENT_FILE", &path)],
            &["admin", "context", "show", "a"],
        )
    };
    for (text, mode, what) in [
        (
            secret,
            0o644,
            "mode 0644: others can read it, and it names secrets: `bearer`",
        ),
        (secret, 0o640, "mode 0640: others can read it"),
        (secret, 0o666, "mode 0666: others can write it"),
        (public, 0o664, "mode 0664: others can write it"),
    ] {
        let said = show(text, mode).fails(&[what]);
        let command = said
            .lines()
            .find_map(|line| line.strip_prefix("hint: "))
            .unwrap();
        assert!(command.starts_with("chmod 600 "), "{command}");
        let done = std::process::Command::new("sh")
            .args(["-c", command])
            .status()
            .unwrap();
        assert!(done.success());
        let mode = fs::metadata(at.join("client.toml"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        show(text, 0o600).succeeds();
    }
    show(public, 0o644).succeeds();
}

#[test]
fn unknown_member_is_an_error_with_the_nearest_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let read = |text: &str| {
        write(at, text);
        jeton(
            at,
            &[("JETON_CLIENT_FILE", "client.toml")],
            &["admin", "context", "list"],
        )
    };
    for (text, what) in [
        (
            "[context.a]\nadmin_sever = 'x'\n",
            "client.toml:2: `admin_sever`: unknown member; did you mean `admin_server`?",
        ),
        (
            "curent = 'a'\n",
            "client.toml:1: `curent`: unknown member; did you mean `current`?",
        ),
        (
            "[context.a]\nsecret = 'canary'\n",
            "client.toml:2: `secret`: unknown field, expected one of `server`",
        ),
        ("[contexts]\n", "unknown member; did you mean `context`?"),
        (
            "[context.a]\nclient_key = 'k'\n",
            "`client_key` requires `client_certificate`",
        ),
        (
            "[context.a]\nserver = 7\n",
            "client.toml:2: `server`: invalid type",
        ),
        ("[context.a]\nserver = \"canary\n", "client.toml:2"),
        ("[context.a]\n[context.a]\n", "client.toml:2"),
    ] {
        let said = read(text).fails(&[what]);
        assert!(!said.contains("canary"), "{said}");
    }
}

#[test]
fn context_commands_write_a_file_that_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let context = |args: &[&str]| jeton(at, &[], &[&["admin", "context"], args].concat());
    let empty = context(&["list"]);
    assert!(empty.err.contains("has no contexts"), "{}", empty.err);
    empty.succeeds();
    context(&["use", "a"]).fails(&["has no context \"a\""]);
    context(&["show"]).fails(&["no context is the current one"]);
    context(&["set", "a", "--server", "tokens.example"])
        .fails(&["--server: 14 bytes are not a URL"]);
    context(&["set", "a b", "--server", "https://a"])
        .fails(&["NAME: 3 bytes, expected 1 to 64 letters"]);
    let a = [
        "set",
        "a",
        "--admin-server",
        "https://a.example:8421",
        "--ca",
        "ca.pem",
        "--bearer",
        "my \"token\"",
    ];
    context(&a).succeeds();
    let file = at.join("configuration/jeton/client.toml");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    context(&a).fails(&["has the context \"a\" already", "edit the file"]);
    // What a person has added stays.
    let text = fs::read_to_string(&file).unwrap();
    private(&file, &format!("# mine\n{text}"));
    context(&["set", "b", "--server", "https://b.example"]).succeeds();
    context(&["use", "b"]).succeeds();
    context(&["use", "a"]).succeeds();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("# mine\n"), "{text}");
    assert_eq!(text.matches("current = ").count(), 1, "{text}");
    assert_eq!(
        context(&["list"]).succeeds(),
        "*  a  -                  https://a.example:8421\n   b  https://b.example  -\n"
    );
    let shown = context(&["show"]).succeeds();
    let ca = at.join("ca.pem").display().to_string();
    assert!(shown.contains(&format!("ca            {ca}\n")), "{shown}");
    assert!(shown.contains("my \"token\"\n"), "{shown}");
}
