import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from build import build
from subject import Process

VALUES = [{"jti": "x1"}, {"jti": "é"}, {}]
TOKENS = [json.dumps(value, ensure_ascii=False) for value in VALUES]
LAST_BYTES = [ord("1"), 0xA9, 1]
MADE = [len(token) + ord("}") for token in TOKENS]
JWE = {"format": "jwe", "alg": "dir", "enc": "A128GCM"}


def prepare_request(operation, **more):
    prepare = {
        "op": "prepare",
        "contract": operation,
        "format": "jwt",
        "alg": "HS256",
        "enc": None,
        "key_handling": "prepared",
        "keys": {"private": {"kty": "oct", "k": "AAAA"}, "public": None, "paserk": None},
        "claims": {"name": "standard", "values": VALUES},
        "policy": {"issuer": "i", "audience": "a"},
    }
    return {**prepare, **more}


def run(iterations, threads=1):
    return {"op": "run", "iterations": iterations, "threads": threads}


class BuildTest(unittest.TestCase):
    def test_venv_is_kept_until_packages_change(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch("build.subprocess.run") as run:
            venv, requirements = Path(folder) / "venv", Path(folder) / "requirements.txt"
            run.side_effect = lambda command, check: venv.mkdir(exist_ok=True)
            made = []
            for text in ("PyJWT==2.15.0", "PyJWT==2.15.0", "PyJWT==2.15.1"):
                requirements.write_text(text)
                made.append(build(venv, requirements))
        self.assertEqual(made, [True, False, True])

    def test_failed_installation_is_tried_again(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch("build.subprocess.run") as run:
            venv, requirements = Path(folder) / "venv", Path(folder) / "requirements.txt"
            venv.mkdir()
            requirements.write_text("PyJWT==2.15.1")
            run.side_effect = [None, OSError]
            with self.assertRaises(OSError):
                build(venv, requirements)
            run.side_effect = None
            self.assertTrue(build(venv, requirements))


class HarnessTest(unittest.TestCase):
    def setUp(self):
        self.driver = Process("fake_driver.py", Path(__file__).resolve().parent)
        self.addCleanup(self.driver.close)

    def test_hello_reports_driver_and_offers(self):
        hello = self.driver.get({"op": "hello", "protocol": 1})
        self.assertEqual((hello["library"], hello["language"], hello["counts"]), ("fake", "python", []))
        handlings = {"key_handling": ["prepared", "parsed-per-call"], "key_text": []}
        operations = ["encrypt", "decrypt", "round-trip"]
        self.assertEqual(hello["offers"][1], {**JWE, "contracts": operations, **handlings})

    def test_invalid_request_gets_an_error_answer(self):
        for request, kind in [
            (b"nonsense", "invalid"),
            (b"\xff", "invalid"),
            (b"[]", "invalid"),
            ({"op": "dance"}, "invalid"),
            ({"op": "hello", "protocol": 2}, "unsupported"),
            ({"op": "prepare"}, "unsupported"),
            ({"op": "token", "index": 0}, "invalid"),
            ({"op": "verify", "token": "x"}, "invalid"),
            (run(1), "invalid"),
            (b"x" * (8 * 1024 * 1024 + 1), "invalid"),
            (prepare_request("sign", alg="ES256"), "unsupported"),
            (prepare_request("sign", enc="A128GCM"), "unsupported"),
            (prepare_request("sign", key_handling="in-a-vault"), "unsupported"),
            (prepare_request("sign", keys={"private": {}}), "unsupported"),
            (prepare_request("sign", keys={}), "invalid"),
            (prepare_request("sign", claims={"values": []}), "invalid"),
            (prepare_request("load-key", key_handling="pem"), "unsupported"),
            (prepare_request("load-key", key_handling="jwk"), "invalid"),
        ]:
            answer = self.driver.ask(request)
            self.assertEqual((answer["ok"], answer.get("error")), (False, kind), str(request)[:80])
        self.driver.get({"op": "hello", "protocol": 1})

    def test_failed_prepare_leaves_nothing_prepared(self):
        self.driver.get(prepare_request("sign"))
        self.driver.ask(prepare_request("sign", alg="ES256"))
        self.assertEqual(self.driver.ask(run(1))["error"], "invalid")

    def test_checksum_is_correct_on_one_and_three_threads(self):
        text = {"form": "jwk", "private": '{"kty":"oct"}', "public": None}
        both = [made + last for made, last in zip(MADE, LAST_BYTES, strict=True)]
        for parts, prepare in [
            (MADE, prepare_request("sign")),
            (LAST_BYTES, prepare_request("verify", tokens=TOKENS)),
            ([1, 1, 1], prepare_request("verify-signature", tokens=TOKENS)),
            (both, prepare_request("round-trip")),
            ([1, 1, 1], prepare_request("generate-key")),
            ([1, 1, 1], prepare_request("load-key", key_handling="jwk", key_text=text)),
            (LAST_BYTES, prepare_request("decrypt", tokens=TOKENS, **JWE)),
        ]:
            with self.subTest(operation=prepare["contract"]):
                self.driver.get(prepare)
                # Five operations cycle through the pool of three.
                checksum = 2 * parts[0] + 2 * parts[1] + parts[2]
                one = self.driver.get(run(5))
                self.assertEqual((one["checksum"], one["bytes"], one["allocs"]), (checksum, None, None))
                self.assertGreater(one["elapsed_ns"], 0)
                self.assertEqual(self.driver.get(run(5, 3))["checksum"], 3 * checksum)

    def test_checksum_of_bytes_token_counts_bytes(self):
        self.driver.get(prepare_request("encrypt", **JWE))
        length = len(TOKENS[0]) + len(TOKENS[1].encode()) + 2 * ord("}")
        self.assertEqual(self.driver.get(run(2))["checksum"], length)

    def test_token_is_made_from_the_claims_at_its_index(self):
        for prepare in (prepare_request("sign"), prepare_request("round-trip"), prepare_request("encrypt", **JWE)):
            self.driver.get(prepare)
            self.assertEqual(self.driver.get({"op": "token", "index": 1})["token"], TOKENS[1])
            for index in (3, -1, 0.5, "0"):
                self.assertEqual(self.driver.ask({"op": "token", "index": index})["error"], "invalid")

    def test_verify_library_exception_is_a_one_line_rejection(self):
        for bad, reason in (("bad", "bad token"), ("panic", "panic")):
            self.driver.get(prepare_request("verify", tokens=[bad]))
            answer = self.driver.get({"op": "verify", "token": bad})
            self.assertEqual((answer["accepted"], answer["reason"]), (False, reason))
            for threads in (1, 2):
                self.assertEqual(self.driver.ask(run(1, threads))["error"], "failed")

    def test_claims_that_json_cannot_express_are_null(self):
        self.driver.get(prepare_request("verify", tokens=TOKENS))
        for token in ('{"a":NaN}', '{"a":1e999}', '{"a":"\\ud800"}'):
            answer = self.driver.get({"op": "verify", "token": token})
            self.assertEqual((answer["accepted"], answer["claims"]), (True, None), token)
        whole = self.driver.get({"op": "verify", "token": '{"a":"\\ud83d\\ude00"}'})
        self.assertEqual(whole["claims"], {"a": "\U0001f600"})

    def test_key_is_loaded_once_if_prepared_per_call_if_parsed(self):
        for handling, loads in (("prepared", [1, 1]), ("parsed-per-call", [2, 3])):
            self.driver.get(prepare_request("sign", key_handling=handling, claims={"values": [{"count": 1}]}))
            for expected in loads:
                token = self.driver.get({"op": "token", "index": 0})["token"]
                self.assertEqual(json.loads(token), {"loads": expected})

    def test_run_with_numbers_out_of_range_is_invalid(self):
        self.driver.get(prepare_request("sign"))
        for request in (run(0), run(1.5), run(1, 0), run(1, 1025), run("1"), run(True)):
            self.assertEqual(self.driver.ask(request)["error"], "invalid")

    def test_bye_gets_an_answer(self):
        self.assertEqual(self.driver.ask({"op": "bye"}), {"ok": True})
