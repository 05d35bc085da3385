"""The tests that all Python drivers share. The driver is started as the lab starts it. Each of its
offers is tested with the tokens of drivers/testdata, which other code made.
"""

import copy
import json
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path
from typing import Any

TESTDATA = Path(__file__).resolve().parents[2] / "testdata" / "tokens.json"
DATA = json.loads(TESTDATA.read_text())
OPENERS = ("verify", "verify-signature", "decrypt")


class Process:
    """A driver's process, which gets one request at a time."""

    def __init__(self, script: str, folder: Path):
        command = [sys.executable, script]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe)

    def ask(self, request: dict[str, Any] | bytes) -> dict[str, Any]:
        """Sends a request, or a raw line."""
        line = request if isinstance(request, bytes) else json.dumps(request).encode()
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def get(self, request: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and requires an answer with `ok`."""
        answer = self.ask(request)
        assert answer["ok"], f"{request['op']}: {answer['reason']}"
        return answer

    def does(self, prepare: dict[str, Any]) -> bool:
        """Prepares the operation and runs it once. Returns whether that succeeded."""
        run = {"op": "run", "iterations": 1, "threads": 1}
        return self.ask(prepare)["ok"] and self.ask(run)["ok"]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


def tests_of(test_file: str, takes_empty_keys: tuple[str, ...] = ()) -> type[unittest.TestCase]:
    """Returns the tests of the driver beside `test_file`.

    `takes_empty_keys` are prefixes of the algorithms for which the library is known to accept an
    empty key.
    """
    folder = Path(test_file).resolve().parent
    manifest = tomllib.loads((folder / "driver.toml").read_text())
    offers = [
        {"key_text": [], **line, "alg": alg, "enc": enc}
        for line in manifest["offers"]
        for alg in line.get("algs", [None])
        for enc in line.get("encs", [None])
    ]
    members = {
        "folder": folder,
        "manifest": manifest,
        "offers": offers,
        "takes_empty_keys": takes_empty_keys,
    }
    for offer in offers:
        words = (offer["format"], offer["alg"], offer["enc"])
        name = "test_" + "_".join(word for word in words if word)
        members[name] = _test_of(offer)
    return type("SubjectTest", (_SubjectTest,), members)


def _test_of(offer: dict[str, Any]):
    def test(self: "_SubjectTest") -> None:
        self.check_offer(offer)

    return test


class _SubjectTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.driver = Process("driver.py", cls.folder)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.driver.close()

    def test_hello_offers_what_the_manifest_says(self) -> None:
        hello = self.driver.get({"op": "hello", "protocol": 1})
        self.assertEqual(hello["counts"], [])
        for member in ("library", "version"):
            self.assertEqual(hello[member], self.manifest[member])
        written = [
            {name: value for name, value in offer.items() if name not in ("algs", "encs")}
            for offer in self.offers
        ]
        self.assertCountEqual(hello["offers"], written)

    def test_two_threads_do_twice_the_work(self) -> None:
        offer = self.offers[0]
        row, _ = row_for(offer)
        self.driver.get(prepare_of(offer, row, "verify", "prepared"))
        answer = self.driver.get({"op": "run", "iterations": 4, "threads": 2})
        self.assertEqual(answer["checksum"], 2 * sum_of_claims(row, 4))

    def test_each_verifier_with_a_cache_has_its_own_policy(self) -> None:
        if "cached" not in self.driver.get({"op": "hello", "protocol": 1})["extras"]:
            self.skipTest("the library has no cache")
        offer = self.offers[0]
        row, _ = row_for(offer)
        prepare = prepare_of(offer, row, "verify", "prepared")
        policies = [prepare["policy"], {**prepare["policy"], "audience": "other"}]
        cached = [{"keys": prepare["keys"], "policy": policy} for policy in policies]
        self.driver.get({**prepare, "cached": cached})
        for verifier in (0, 1, 0):
            answer = self.driver.get({"op": "verify", "token": row["tokens"][0], "verifier": verifier})
            self.assertEqual(answer["accepted"], verifier == 0)

    def check_offer(self, offer: dict[str, Any]) -> None:
        row, exact = row_for(offer)
        if row is None:
            self.skipTest("drivers/testdata has no key for this offer")
        if not exact and (offer["alg"] or "").startswith("PBES2"):
            self.skipTest("a password is slow by design, and one content encryption is tested")
        checks = {
            "sign": self.makes,
            "encrypt": self.makes,
            "verify": self.opens,
            "decrypt": self.opens,
            "verify-signature": self.opens,
            "round-trip": self.goes_round,
            "generate-key": self.gets_keys,
            "load-key": self.loads_keys,
        }
        for operation in offer["contracts"]:
            # What does not depend on the content encryption is tested with one.
            if not exact and operation in (*OPENERS, "generate-key"):
                continue
            handlings = "key_text" if operation == "load-key" else "key_handling"
            for handling in offer[handlings]:
                if not exact and handling == "parsed-per-call":
                    continue
                with self.subTest(operation=operation, handling=handling):
                    checks[operation](offer, row, operation, handling)

    def makes(self, offer, row, operation, handling) -> None:
        self.driver.get(prepare_of(offer, row, operation, handling))
        values = claims_of(row)
        tokens = [
            self.driver.get({"op": "token", "index": index})["token"] for index in range(len(values))
        ]
        self.assert_sum(self.run_three(), [*tokens, tokens[0]])
        self.assertEqual(self.driver.ask({"op": "token", "index": 2})["error"], "invalid")

        opposite = "verify" if operation == "sign" else "decrypt"
        self.driver.get(prepare_of(offer, row, opposite, handling))
        for value, token in zip(values, tokens, strict=True):
            answer = self.driver.get({"op": "verify", "token": token})
            self.assertTrue(answer["accepted"], answer)
            self.assertEqual(answer["claims"], value)

        private = row["keys"]["private"]
        if private is not None and private["kty"] == "oct":
            empty = prepare_of(offer, row, operation, handling)
            empty["keys"]["private"]["k"] = ""
            takes = row["alg"].startswith(self.takes_empty_keys or ("-",))
            self.assertEqual(self.driver.does(empty), takes, "an empty key")

    def opens(self, offer, row, operation, handling) -> None:
        decodes = operation != "verify-signature"
        self.driver.get(prepare_of(offer, row, operation, handling))
        for value, token in zip(claims_of(row), row["tokens"], strict=False):
            answer = self.driver.get({"op": "verify", "token": token})
            self.assertTrue(answer["accepted"], answer)
            self.assertEqual(answer["claims"], value if decodes else None)
        for rejected in row["reject"]:
            if not decodes and not rejected["by_signature"]:
                continue
            answer = self.driver.get({"op": "verify", "token": rejected["token"]})
            self.assertFalse(answer["accepted"], f"accepts {rejected['what']}")
            if rejected["what"] == "an expired token":
                # Only the expiry may be wrong with it.
                self.assertRegex(answer["reason"].lower(), "expired")
        if row["tokens"]:
            self.assertEqual(self.run_three(), sum_of_claims(row, 3) if decodes else 3)

    def goes_round(self, offer, row, operation, handling) -> None:
        prepare = prepare_of(offer, row, operation, handling)
        self.driver.get(prepare)
        token = self.driver.get({"op": "token", "index": 0})["token"]
        self.assert_sum(self.run_three() - sum_of_claims(row, 3), [token] * 3)
        past = 1600000000 if is_jose(row) else "2020-09-13T12:26:40Z"
        prepare["claims"]["values"] = [{**claims_of(row)[0], "iat": past, "exp": past}]
        self.assertFalse(self.driver.does(prepare), "completes a round trip with an expired token")

    def gets_keys(self, offer, row, operation, handling) -> None:
        self.driver.get({**prepare_of(offer, row, operation, handling), "keys": {}})
        self.assertEqual(self.run_three(), 3)

    def loads_keys(self, offer, row, operation, handling) -> None:
        prepare = prepare_of(offer, row, operation, handling)
        prepare["key_text"] = text_of(row, handling)
        self.driver.get(prepare)
        self.assertEqual(self.run_three(), 3)
        for half in ("private", "public"):
            if text := prepare["key_text"][half]:
                prepare["key_text"][half] = text[: len(text) // 2]
        self.assertFalse(self.driver.does(prepare), "loads a truncated key")

    def run_three(self) -> int:
        return self.driver.get({"op": "run", "iterations": 3, "threads": 1})["checksum"]

    def assert_sum(self, checksum: int, tokens: list[str]) -> None:
        """Checks a sum: two tokens of the same claims differ only in their last base64url
        characters.
        """
        lengths = sum(len(token) for token in tokens)
        self.assertGreaterEqual(checksum, lengths + len(tokens) * ord("-"))
        self.assertLessEqual(checksum, lengths + len(tokens) * ord("z"))


def prepare_of(offer, row, operation: str, handling: str) -> dict[str, Any]:
    keys = copy.deepcopy(row["keys"])
    hides_private = operation in ("verify", "verify-signature", "encrypt")
    if keys["public"] and hides_private:
        keys["private"] = None
    if keys["public"] and operation == "decrypt":
        keys["public"] = None
    if keys["paserk"] and hides_private:
        keys["paserk"].pop("secret", None)
    prepare = {
        "op": "prepare",
        "contract": operation,
        "format": offer["format"],
        "alg": offer["alg"],
        "enc": offer["enc"],
        "key_handling": handling,
        "keys": keys,
        "claims": {"name": "standard", "values": claims_of(row)},
        "policy": DATA["policy"],
    }
    if operation in OPENERS:
        prepare["tokens"] = row["tokens"]
    return prepare


def text_of(row, form: str) -> dict[str, str | None]:
    keys = row["keys"]
    if form == "pem":
        return {"form": form, **row["pem"]}
    if form == "jwk":
        texts = {half: keys[half] and json.dumps(keys[half]) for half in ("private", "public")}
        return {"form": form, **texts}
    paserk = keys["paserk"]
    private = paserk.get("local") or paserk.get("secret")
    return {"form": form, "private": private, "public": paserk.get("public")}


def row_for(offer) -> tuple[dict[str, Any] | None, bool]:
    """Returns the row of an offer, or one whose keys fit too."""
    of = [row for row in DATA["rows"] if (row["format"], row["alg"]) == (offer["format"], offer["alg"])]
    exact = next((row for row in of if row["enc"] == offer["enc"]), None)
    return exact or next(iter(of), None), exact is not None


def is_jose(row) -> bool:
    return row["format"] in ("jwt", "jwe")


def claims_of(row) -> list[dict[str, Any]]:
    return copy.deepcopy(DATA["claims" if is_jose(row) else "paseto_claims"])


def sum_of_claims(row, iterations: int) -> int:
    values = claims_of(row)
    return sum(ord(values[i % len(values)]["jti"][-1]) for i in range(iterations))
