"""A lab driver for HS256 with Python's hmac. It misbehaves as MISDEED names; without MISDEED it is correct.

    python3 driver.py NAME [MISDEED]

`correct` has no misdeed; the others are compared with it. FAKE_RUNS names a file that receives a line for each run: the
process, the iterations and the lead.
"""

import base64
import hashlib
import hmac
import json
import os
import subprocess
import sys
import time

NAME = sys.argv[1]
MISDEED = sys.argv[2] if len(sys.argv) > 2 else ""
VERSION = "9.9.9" if MISDEED == "other-version" else "1.0.0"


def b64(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


CACHE = {}
KEYS = []
# The drivers of one test write their process here; their folders are neighbours.
LAST_TO_RUN = os.path.join("..", "last-to-run")


def last_to_run():
    try:
        with open(LAST_TO_RUN) as last:
            return int(last.read())
    except FileNotFoundError:
        return None


class Prepared:
    def __init__(self, request):
        if MISDEED == "reads-text":
            self.key = unb64(json.loads(request["key_text"]["private"])["k"])
        else:
            self.key = unb64(request["keys"]["private"]["k"])
        if MISDEED == "empty-key":
            self.key = b""
        if self.key not in KEYS:
            KEYS.append(self.key)
        self.claims = request["claims"]["values"]
        self.policy = request["policy"]
        self.tokens = request.get("tokens")
        self.operation_name = request["contract"]

    def mac(self, signed):
        return b64(hmac.new(self.key, signed.encode(), hashlib.sha256).digest())

    def macs(self, signed):
        yield self.mac(signed)
        if MISDEED == "takes-empty-key":
            yield b64(hmac.new(b"", signed.encode(), hashlib.sha256).digest())

    def sign(self, claims):
        header = b64(b'{"alg":"HS256","typ":"JWT"}')
        signed = header + "." + b64(json.dumps(claims, separators=(",", ":")).encode())
        third = len(KEYS) > 2 and self.key == KEYS[2]
        if MISDEED == "signs-wrongly" or (MISDEED == "signs-wrongly-with-its-third-key" and third):
            return signed + "." + self.mac(signed + " ")
        return signed + "." + self.mac(signed)

    def verify(self, token):
        signed, _, signature = token.rpartition(".")
        if MISDEED != "accepts-tampered" and signature not in self.macs(signed):
            raise ValueError("signature is wrong")
        claims = json.loads(unb64(signed.split(".")[1]))
        if MISDEED != "accepts-expired" and claims.get("exp", 1 << 40) <= time.time():
            raise ValueError("token is expired")
        if claims.get("nbf", 0) > time.time():
            raise ValueError("token is not valid yet")
        if self.policy["issuer"] and claims.get("iss") != self.policy["issuer"]:
            raise ValueError("issuer is wrong")
        wanted = "" if MISDEED == "ignores-audience" else self.policy["audience"]
        if wanted and wanted not in claims.get("aud", []):
            raise ValueError("audience is wrong")
        if MISDEED == "changes-a-claim":
            claims["name"] = "Jane Doe"
        return claims

    def verify_or_recall(self, token):
        if MISDEED not in ("caches", "caches-openly", "shares-cache"):
            return self.verify(token)
        if token not in CACHE:
            CACHE[token] = self.verify(token)
        return CACHE[token]

    def trip(self, claims):
        token = self.sign(claims)
        opened = claims if MISDEED == "never-comes-back" else self.verify(token)
        return len(token) + ord(token[-1]) + ord(opened["jti"][-1])

    def operation(self, i):
        if self.operation_name == "sign":
            token = self.sign(self.claims[i % len(self.claims)])
            return len(token) + ord(token[-1])
        if self.operation_name == "round-trip":
            return self.trip(self.claims[i % len(self.claims)])
        return ord(self.verify_or_recall(self.tokens[i % len(self.tokens)])["jti"][-1])

    def checksum(self, iterations):
        if MISDEED != "extrapolates":
            return sum(self.operation(i) for i in range(iterations))
        # Each token of the pool once, then only sums.
        pool = len(self.tokens or self.claims)
        values = [self.operation(i) for i in range(min(pool, iterations))]
        cycles, rest = divmod(iterations, pool)
        if iterations < pool:
            return sum(values)
        return sum(values) * cycles + sum(values[:rest])

    def run(self, iterations, lead, threads):
        self.checksum(lead)
        start = time.perf_counter_ns()
        if MISDEED == "falls-asleep" and last_to_run() != os.getpid():
            time.sleep(0.1)
        if MISDEED == "needs-a-lead" and lead == 0:
            for _ in range(4):
                self.checksum(iterations)
        # One after the other: the lab must not see a difference.
        checksum = sum(self.checksum(iterations) for _ in range(threads))
        elapsed = time.perf_counter_ns() - start
        with open(LAST_TO_RUN, "w") as last:
            last.write(str(os.getpid()))
        if "FAKE_RUNS" in os.environ:
            with open(os.environ["FAKE_RUNS"], "a") as runs:
                runs.write(f"{os.getpid()} {iterations} {lead}\n")
        if MISDEED == "fast-clock":
            elapsed //= 6
        if MISDEED == "slow-clock":
            elapsed *= 20
        if MISDEED == "no-clock":
            elapsed = 0
        if MISDEED == "wrong-checksum" and iterations > 3:
            checksum += 1
        return {"elapsed_ns": elapsed, "checksum": checksum, "bytes": None, "allocs": None}


def hello():
    if MISDEED == "dies-in-hello":
        print("panic: no more", file=sys.stderr)
        os._exit(3)
    if MISDEED == "hangs-in-hello":
        time.sleep(600)
    offer = {
        "format": "jwt", "alg": "HS256", "enc": None,
        "contracts": ["sign", "verify", "round-trip"], "key_handling": ["prepared"],
    }
    return {
        "protocol": 1, "library": NAME, "version": VERSION,
        "language": os.environ.get("FAKE_LANGUAGE", "fake"),
        "runtime": os.environ.get("FAKE_RUNTIME", "python"), "counts": [], "offers": [offer],
        "takes_key_text": MISDEED == "reads-text",
        "leads": MISDEED == "needs-a-lead",
        "extras": ["cached"] if MISDEED in ("has-caches", "shares-cache") else [],
    }


def answer(request, prepared):
    op = request["op"]
    if op == "hello":
        return hello(), prepared
    if op == "prepare":
        if MISDEED == "has-a-child":
            child = subprocess.Popen(["sleep", "600"])
            with open(os.environ["FAKE_CHILDREN"], "a") as children:
                children.write(f"{child.pid}\n")
        if "cached" in request:
            return {}, [Prepared({**request, **one}) for one in request["cached"]]
        return {}, Prepared(request)
    if op == "token" and MISDEED == "makes-no-token":
        return {"ok": False, "error": "failed", "reason": "out of ink"}, prepared
    if op == "token":
        return {"token": prepared.sign(prepared.claims[request["index"]])}, prepared
    if op == "verify" and MISDEED == "dies-in-verify":
        print("fatal error: out of luck", file=sys.stderr)
        os._exit(7)
    if op == "verify" and MISDEED == "dies-once" and not os.path.exists(os.environ["FAKE_DEATH"]):
        open(os.environ["FAKE_DEATH"], "w").close()
        os._exit(7)
    if op == "verify":
        try:
            if isinstance(prepared, list):
                claims = prepared[request["verifier"]].verify_or_recall(request["token"])
            else:
                claims = prepared.verify(request["token"])
            return {"accepted": True, "claims": claims}, prepared
        except (ValueError, KeyError) as why:
            return {"accepted": False, "reason": str(why)}, prepared
    if op == "run":
        if MISDEED == "dies-in-run":
            print("fatal error: out of luck", file=sys.stderr)
            os._exit(7)
        if MISDEED == "floods":
            while True:
                sys.stdout.write("x" * 65536)
        if MISDEED == "talks-unasked":
            print('{"ok":true}')
        if MISDEED == "answers-nonsense":
            print("I am fine, thank you")
            sys.stdout.flush()
            return None, prepared
        try:
            return prepared.run(request["iterations"], request.get("lead", 0), request.get("threads", 1)), prepared
        except ValueError as why:
            return {"ok": False, "error": "failed", "reason": str(why)}, prepared
    return None, prepared


def main():
    prepared = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "bye":
            return
        reply, prepared = answer(request, prepared)
        if reply is not None:
            print(json.dumps({"ok": True, **reply}))
            sys.stdout.flush()


main()
