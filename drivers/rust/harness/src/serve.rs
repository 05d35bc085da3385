//! Serves the protocol: reads a line, writes a line. Runs the timed loop with its threads and
//! clock.

use crate::Driver;
use crate::error::DriverError;
use crate::protocol::{PROTOCOL, Request, Run};
use crate::work::Work;
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// The maximum length of a line in either direction, in bytes, including its newline.
pub const LINE_MAX_BYTES: usize = 8 << 20;

/// Serves `D` on standard input and output until `bye` or the end of the input.
///
/// # Errors
///
/// If reading or writing fails.
pub fn serve<D: Driver>() -> io::Result<()> {
    serve_on::<D>(&mut io::stdin().lock(), &mut io::stdout().lock())
}

pub(crate) fn serve_on<D: Driver>(
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<()> {
    let mut state = State { works: Vec::new() };
    let mut line = Vec::new();
    while read_line(input, &mut line)? {
        let (answer, done) = state.answer::<D>(&line);
        let mut text = answer.to_string();
        if text.len() >= LINE_MAX_BYTES {
            text = error_answer(DriverError::failed(
                "the answer exceeds the maximum length of a line",
            ))
            .to_string();
        }
        text.push('\n');
        output.write_all(text.as_bytes())?;
        output.flush()?;
        if done {
            break;
        }
    }
    Ok(())
}

/// Reads the next line. A line that is too long is read to its end and truncated, so it is not
/// valid JSON.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let limit = LINE_MAX_BYTES as u64;
    let read = input.by_ref().take(limit).read_until(b'\n', line)?;
    if read == LINE_MAX_BYTES && line.last() != Some(&b'\n') {
        line.clear();
        input.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

/// The prepared operation; several if the request has several verifiers.
struct State {
    works: Vec<Box<dyn Work>>,
}

impl State {
    /// Returns the answer, and whether it was the last.
    fn answer<D: Driver>(&mut self, line: &[u8]) -> (Value, bool) {
        let request = match serde_json::from_slice(line) {
            Ok(request) => request,
            Err(error) => {
                let reason = format!("not a valid request, or longer than a line may be: {error}");
                return (error_answer(DriverError::Invalid(reason)), false);
            }
        };
        let done = matches!(request, Request::Bye);
        // A library that panics has failed. The next request is answered all the same.
        let answer = catch_unwind(AssertUnwindSafe(|| self.fulfil::<D>(request)));
        let answer =
            answer.unwrap_or_else(|panic| Err(DriverError::failed(panic_message(&*panic))));
        (answer.unwrap_or_else(error_answer), done)
    }

    fn fulfil<D: Driver>(&mut self, request: Request) -> Result<Value, DriverError> {
        match request {
            Request::Hello { protocol: PROTOCOL } => Ok(hello::<D>()),
            Request::Hello { .. } => Err(DriverError::unsupported("only protocol 1 is supported")),
            Request::Prepare(prepare) => {
                self.works.clear();
                for prepare in prepare.verifiers() {
                    let request = prepare.into_request()?;
                    if !D::OFFERS.iter().any(|offer| offer.covers(&request)) {
                        let reason = format!("{} does not offer this", D::LIBRARY);
                        return Err(DriverError::Unsupported(reason));
                    }
                    self.works.push(D::prepare(request)?);
                }
                Ok(json!({"ok": true}))
            }
            Request::Token { index } => {
                let token = self.prepared(0)?.token(index)?;
                Ok(json!({"ok": true, "token": token}))
            }
            Request::Verify { token, verifier } => verify(self.prepared(verifier)?, &token),
            Request::Run(run) => timed(self.prepared(0)?, run),
            Request::Bye => Ok(json!({"ok": true})),
        }
    }

    fn prepared(&self, verifier: usize) -> Result<&dyn Work, DriverError> {
        let work = self.works.get(verifier).map(|work| &**work);
        work.ok_or_else(|| DriverError::invalid("nothing is prepared"))
    }
}

fn hello<D: Driver>() -> Value {
    let mut offers = Vec::new();
    for offer in D::OFFERS {
        for alg in each_or_none(offer.algs) {
            for enc in each_or_none(offer.encs) {
                offers.push(json!({
                    "format": offer.format, "alg": alg, "enc": enc,
                    "contracts": offer.operations, "key_handling": offer.key_handling,
                    "key_text": offer.key_text,
                }));
            }
        }
    }
    json!({
        "ok": true, "protocol": PROTOCOL,
        "library": D::LIBRARY, "version": D::version(),
        "language": "rust", "runtime": env!("JETON_DRIVER_RUSTC"),
        "counts": ["bytes", "allocs"], "offers": offers,
        "by_driver": D::BY_DRIVER, "extras": D::EXTRAS, "practices": D::PRACTICES,
    })
}

fn each_or_none(names: &'static [&'static str]) -> Vec<Option<&'static str>> {
    match names {
        [] => vec![None],
        names => names.iter().copied().map(Some).collect(),
    }
}

fn verify(work: &dyn Work, token: &str) -> Result<Value, DriverError> {
    let verdict = catch_unwind(AssertUnwindSafe(|| work.verify(token)));
    let verdict = verdict.unwrap_or_else(|panic| Ok(Err(panic_message(&*panic))));
    Ok(match verdict? {
        Ok(claims) => json!({"ok": true, "accepted": true, "claims": claims}),
        Err(reason) => json!({"ok": true, "accepted": false, "reason": one_line(&reason)}),
    })
}

/// The result of one thread.
struct ThreadRun {
    end: Instant,
    checksum: u64,
    counts: jeton_testkit::Counts,
}

fn timed(work: &dyn Work, run: Run) -> Result<Value, DriverError> {
    if run.threads == 0 {
        return Err(DriverError::invalid("run requires at least one thread"));
    }
    let (elapsed, thread_runs) = if run.threads == 1 {
        let mut start = Instant::now();
        let thread_run = thread_run(work, run, || start = Instant::now());
        let thread_run = thread_run.map_err(DriverError::Failed)?;
        (thread_run.end - start, vec![thread_run])
    } else {
        on_threads(work, run)?
    };
    let checksum = thread_runs.iter().fold(0_u64, |sum, thread_run| {
        sum.wrapping_add(thread_run.checksum)
    });
    let counted =
        |of: fn(&ThreadRun) -> u64| run.count.then(|| thread_runs.iter().map(of).sum::<u64>());
    Ok(json!({
        "ok": true,
        "elapsed_ns": u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        "checksum": checksum,
        "bytes": counted(|thread_run| thread_run.counts.bytes),
        "allocs": counted(|thread_run| thread_run.counts.allocations),
    }))
}

/// Measures from the moment the last thread is ready to the moment the last thread has finished.
fn on_threads(work: &dyn Work, run: Run) -> Result<(Duration, Vec<ThreadRun>), DriverError> {
    let (ready, go) = (Barrier::new(run.threads + 1), Barrier::new(run.threads + 1));
    let (start, thread_runs) = thread::scope(|scope| {
        let threads: Vec<_> = (0..run.threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut waited = false;
                    let thread_run = catch_unwind(AssertUnwindSafe(|| {
                        thread_run(work, run, || {
                            waited = true;
                            ready.wait();
                            go.wait();
                        })
                    }));
                    // A thread that failed before the barriers must not leave the others waiting
                    // there.
                    if !waited {
                        ready.wait();
                        go.wait();
                    }
                    thread_run.unwrap_or_else(|panic| Err(panic_message(&*panic)))
                })
            })
            .collect();
        ready.wait();
        let start = Instant::now();
        go.wait();
        let thread_runs: Result<Vec<ThreadRun>, String> = threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| Err(panic_message(&*panic)))
            })
            .collect();
        (start, thread_runs)
    });
    let thread_runs = thread_runs.map_err(DriverError::Failed)?;
    let end = thread_runs
        .iter()
        .map(|thread_run| thread_run.end)
        .max()
        .unwrap_or(start);
    Ok((end - start, thread_runs))
}

/// Runs one thread's operations. `ready` is called immediately before the first one.
fn thread_run(work: &dyn Work, run: Run, ready: impl FnOnce()) -> Result<ThreadRun, String> {
    let mut operations = work.start();
    operations(1)?;
    ready();
    let (counts, checksum) = if run.count {
        jeton_testkit::count(|| operations(run.iterations))
    } else {
        (jeton_testkit::Counts::default(), operations(run.iterations))
    };
    let end = Instant::now();
    Ok(ThreadRun {
        end,
        checksum: checksum?,
        counts,
    })
}

fn error_answer(error: DriverError) -> Value {
    let (error, reason) = match &error {
        DriverError::Unsupported(reason) => ("unsupported", reason),
        DriverError::Invalid(reason) => ("invalid", reason),
        DriverError::Failed(reason) => ("failed", reason),
    };
    json!({"ok": false, "error": error, "reason": one_line(reason)})
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("no message"))
}

fn one_line(reason: &str) -> String {
    reason.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::work::{self, Rejection, Signer};
    use crate::{
        ClaimsVisitor, KeyForm, KeyHandling, Offer, Operation, Practice, PrepareRequest,
        locked_version,
    };

    /// Its tokens are "token-0", "token-1", …. Claims named `panics` or `fails` make it do so.
    struct Fake;

    impl Driver for Fake {
        const LIBRARY: &'static str = "fake";
        const OFFERS: &'static [Offer] = &[Offer {
            format: "jwt",
            algs: &["HS256"],
            operations: &[
                Operation::Sign,
                Operation::Verify,
                Operation::RoundTrip,
                Operation::LoadKey,
            ],
            key_handling: &[KeyHandling::Prepared],
            key_text: &[KeyForm::Jwk],
            ..Offer::NOTHING
        }];

        const PRACTICES: &'static [Practice] = &[Practice::Defaults, Practice::Documented];

        fn version() -> String {
            locked_version(
                "[[package]]\nname = \"fake\"\nversion = \"1.2.3\"\n",
                "fake",
            )
        }

        fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
            if request.operation == Operation::Verify {
                return Ok(Box::new(PanickingVerifier));
            }
            if request.operation == Operation::LoadKey {
                let text = request.key_text()?.private()?;
                return work::keys(move || text.parse::<u64>().map_err(DriverError::failed));
            }
            let trip = request.operation == Operation::RoundTrip;
            let crate::Pool::Map(pool) = request.pool else {
                return Err(DriverError::invalid("expected a map"));
            };
            if trip {
                return Ok(work::round_trip(FakeSigner(pool), Longer(8)));
            }
            Ok(work::sign(FakeSigner(pool)))
        }
    }

    /// Accepts tokens of at least this many bytes.
    struct Longer(usize);

    impl crate::Verifier for Longer {
        type Scratch = ();

        fn verify<L: ClaimsVisitor>(
            &self,
            _: &mut (),
            token: &str,
            visit: L,
        ) -> Result<L::Output, Rejection> {
            if token.len() < self.0 {
                return Err("too short".to_owned());
            }
            Ok(visit.visit(&()))
        }
    }

    struct FakeSigner(Vec<crate::Map>);

    impl Signer for FakeSigner {
        type Scratch = ();
        type Token = String;

        fn pool(&self) -> usize {
            self.0.len()
        }

        fn sign(&self, _: &mut (), index: usize) -> Result<String, String> {
            let claims = &self.0[index];
            assert!(!claims.contains_key("panics"), "as asked");
            if claims.contains_key("fails") {
                return Err("as\nasked".to_owned());
            }
            Ok(format!("token-{index}"))
        }
    }

    struct PanickingVerifier;

    impl Work for PanickingVerifier {
        fn verify(&self, token: &str) -> Result<Result<Value, Rejection>, DriverError> {
            assert!(token != "panics", "as asked");
            Ok(Err("not this one".to_owned()))
        }

        fn start(&self) -> Box<dyn FnMut(u64) -> Result<u64, String> + '_> {
            Box::new(Ok)
        }
    }

    fn exchange(requests: &[&str]) -> Vec<Value> {
        let mut output = Vec::new();
        let input = requests.join("\n");
        serve_on::<Fake>(&mut input.as_bytes(), &mut output).unwrap();
        let lines = output.split(|byte| *byte == b'\n');
        lines
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    fn prepare(operation: &str, alg: &str, values: &str) -> String {
        format!(
            r#"{{"op":"prepare","contract":"{operation}","format":"jwt","alg":"{alg}","enc":null,"key_handling":"prepared","keys":{{}},"claims":{{"name":"other","values":{values}}}}}"#
        )
    }

    #[test]
    fn hello_reports_linked_version_and_offers() {
        let answers = exchange(&[r#"{"op":"hello","protocol":1,"new":true}"#]);
        assert_eq!(answers[0]["version"], "1.2.3");
        assert_eq!(answers[0]["offers"][0]["alg"], "HS256");
        assert_eq!(answers[0]["offers"][0]["contracts"][1], "verify");
        assert_eq!(answers[0]["counts"], json!(["bytes", "allocs"]));
        assert_eq!(answers[0]["practices"], json!(["defaults", "documented"]));
    }

    #[test]
    fn request_outside_offers_is_unsupported() {
        let answers = exchange(&[
            &prepare("sign", "RS256", "[{}]"),
            &prepare("seal", "HS256", "[{}]"),
        ]);
        assert_eq!(answers[0]["error"], "unsupported");
        assert_eq!(answers[1]["error"], "unsupported");
    }

    #[test]
    fn every_line_gets_one_answer_until_bye() {
        let long = "x".repeat(LINE_MAX_BYTES + 1);
        let answers = exchange(&["{", &long, r#"{"op":"bye"}"#, r#"{"op":"bye"}"#]);
        let ok: Vec<_> = answers.iter().map(|answer| answer["ok"].clone()).collect();
        assert_eq!(ok, [false, false, true]);
        assert_eq!(answers[1]["error"], "invalid");
    }

    #[test]
    fn failed_prepare_leaves_nothing_prepared() {
        let (good, bad) = (
            prepare("sign", "HS256", "[{}]"),
            prepare("sign", "HS256", "[]"),
        );
        let answers = exchange(&[&good, &bad, r#"{"op":"token","index":0}"#]);
        assert_eq!(answers[2]["error"], "invalid");
    }

    #[test]
    fn run_checksum_covers_pool_and_threads() {
        let run = r#"{"op":"run","iterations":5,"threads":1,"count":true}"#;
        let threads = r#"{"op":"run","iterations":5,"threads":3}"#;
        let answers = exchange(&[&prepare("sign", "HS256", "[{},{}]"), run, threads]);
        let once: u64 = [b'0', b'1', b'0', b'1', b'0']
            .map(|last| 7 + u64::from(last))
            .iter()
            .sum();
        assert_eq!(answers[1]["checksum"], once);
        // `format!` allocates once for a token of up to eight bytes.
        assert_eq!(answers[1]["allocs"], 5);
        assert_eq!(answers[2]["checksum"], 3 * once);
        assert_eq!(answers[2]["allocs"], Value::Null);
    }

    #[test]
    fn round_trip_rejected_token_fails_the_run() {
        let run = r#"{"op":"run","iterations":2,"threads":1}"#;
        let answers = exchange(&[&prepare("round-trip", "HS256", "[{},{}]"), run]);
        // "token-0" has seven bytes; the verifier requires eight.
        assert_eq!(answers[1]["error"], "failed");
        let values = ["{}"; 11].join(",");
        let long = prepare("round-trip", "HS256", &format!("[{values}]"));
        let answers = exchange(&[&long, r#"{"op":"token","index":10}"#]);
        assert_eq!(answers[1]["token"], "token-10");
    }

    #[test]
    fn load_key_adds_one_per_key_to_checksum() {
        let load = |text: &str| {
            format!(
                r#"{{"op":"prepare","contract":"load-key","format":"jwt","alg":"HS256","key_handling":"jwk","keys":{{}},"key_text":{{"form":"jwk","private":{text}}},"claims":{{"name":"standard"}}}}"#
            )
        };
        let run = r#"{"op":"run","iterations":5,"threads":1}"#;
        let answers = exchange(&[&load("\"17\""), run, &load("\"x\""), &load("null")]);
        assert_eq!(answers[1]["checksum"], 5);
        assert_eq!(answers[2]["error"], "failed");
        assert_eq!(answers[3]["error"], "invalid");
    }

    #[test]
    fn library_error_or_panic_ends_run_not_driver() {
        for threads in [1, 3] {
            let run = format!(r#"{{"op":"run","iterations":2,"threads":{threads}}}"#);
            for values in [
                r#"[{"panics":1}]"#,
                r#"[{},{"panics":1}]"#,
                r#"[{},{"fails":1}]"#,
            ] {
                let answers = exchange(&[&prepare("sign", "HS256", values), &run, "{}"]);
                assert_eq!(answers[1]["error"], "failed");
                let reason = answers[1]["reason"].as_str().unwrap();
                assert!(reason.contains("as asked"), "{reason}");
                assert_eq!(answers.len(), 3);
            }
        }
    }

    #[test]
    fn verify_library_panic_is_a_rejection() {
        let prepare = prepare("verify", "HS256", "[]");
        let answers = exchange(&[&prepare, r#"{"op":"verify","token":"panics"}"#]);
        assert_eq!(answers[1]["accepted"], false);
        assert_eq!(answers[1]["reason"], "panicked: as asked");
    }
}
